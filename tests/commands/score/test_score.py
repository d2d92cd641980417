"""Somebody else's rankings: scored as a run's are, completed, and refused with the line that is wrong."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.commands.score import StatedScores, score
from runner.commands.score.command import sentences
from runner.errors import RankingsError
from runner.protocol.datasets import SUITES
from runner.records import Corpus
from runner.runs.results import Results
from runner.runs.schemas import schema_fault
from tests.helping import endings, is_sentence, kept_run

SAMPLE = kept_run("sample")
LOCOMO = kept_run("locomo")
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return SUITES["sample"].load(SUITES["sample"].locate(None, {}))


@pytest.fixture
def drawn(corpus: Corpus) -> dict[str, list[str]]:
    """A ranking of each question, drawn: some questions get fewer than all of their project."""
    chance, found = random.Random(7), {}
    for question in corpus.questions:
        own = [one.id for one in corpus.segments if one.project == question.project]
        found[question.key] = chance.sample(own, chance.randint(3, len(own)))
    return found


def trec(rankings: dict[str, list[str]], tag: str = "mine") -> str:
    return "".join(
        f"{question} Q0 {one} {rank} {1 / rank} {tag}\n"
        for question, ids in rankings.items()
        for rank, one in enumerate(ids, start=1)
    )


def written(tmp_path: Path, text: str | bytes, name: str = "theirs.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def values(stated: StatedScores, scope: str, kind: str = "all", arm: str = "mine") -> dict[str, float]:
    return {
        row["metric"]: row["value"]
        for row in stated.document["results"]
        if (row["arm"], row["scope"], row["view"], row["type"]) == (arm, scope, "all", kind)
    }


def raw_of(run: Path, to: Path) -> Path:
    """The raw file of a committed run, as the run wrote it."""
    (to / "raw_retrievals.jsonl").write_bytes(Results(run).content("raw_retrievals.jsonl"))
    return to / "raw_retrievals.jsonl"


def test_the_raw_file_of_a_committed_run_gives_the_figures_of_its_metrics(tmp_path: Path) -> None:
    metrics = Results(SAMPLE).metrics
    document = score(raw_of(SAMPLE, tmp_path), "sample").document
    assert document["results"] == metrics["results"]
    own = [one for one in metrics["differences"] if one["arm"] == "pgmnemo"]  # a strategy has legs, too
    assert document["differences"] == own
    assert document["verdict"] == "stated"
    assert document["corpus"]["registered"]
    assert document["missing"] == []
    assert schema_fault("pgmnemo/stated/1", document) is None


def test_a_trec_run_is_scored_as_ir_measures_scores_it(
    tmp_path: Path, corpus: Corpus, drawn: dict[str, list[str]]
) -> None:
    ir = pytest.importorskip("ir_measures")
    theirs = {
        "recall_any@5": ir.Success @ 5, "recall_any@10": ir.Success @ 10, "recall_frac@10": ir.R @ 10,
        "MRR@50": ir.RR @ 50, "nDCG@10": ir.nDCG @ 10,
    }  # fmt: skip
    path = written(tmp_path, trec(drawn))
    qrels = [ir.Qrel(one.key, gold, 1) for one in corpus.questions for gold in one.gold]
    wanted = ir.calc_aggregate(list(theirs.values()), qrels, ir.read_trec_run(str(path)))
    found = values(score(path, "sample"), "conversation")
    assert len(found) == 17 + 12  # of these within a budget
    for name, measure in theirs.items():
        assert found[name] == pytest.approx(wanted[measure], abs=1e-9), name


@pytest.mark.parametrize("form", ["table", "ranks of 0"])
def test_equal_scores_without_ranks_are_ordered_as_trec_eval_orders_them(
    tmp_path: Path, corpus: Corpus, drawn: dict[str, list[str]], form: str
) -> None:
    ir = pytest.importorskip("ir_measures")
    scores = {
        question: {one: (0.5, 1e-3, -2.0)[at % 3] for at, one in enumerate(ids)}
        for question, ids in drawn.items()
    }
    flat = [(question, one, score) for question, by_id in scores.items() for one, score in by_id.items()]
    lines = "".join(f"{question} Q0 {one} 0 {score:e} mine\n" for question, one, score in flat)
    path = written(tmp_path, lines if form == "ranks of 0" else json.dumps(scores, indent=1))
    qrels = [ir.Qrel(one.key, gold, 1) for one in corpus.questions for gold in one.gold]
    wanted = ir.calc_aggregate([ir.RR, ir.R @ 10], qrels, [ir.ScoredDoc(*one) for one in flat])
    found = values(
        stated := score(path, "sample"), "conversation", arm="mine" if form != "table" else "theirs"
    )
    assert stated.source.order
    assert found["MRR@50"] == pytest.approx(wanted[ir.RR], abs=1e-9)
    assert found["recall_frac@10"] == pytest.approx(wanted[ir.R @ 10], abs=1e-9)


def test_a_question_without_a_ranking_counts_as_nothing_found(
    tmp_path: Path, corpus: Corpus, drawn: dict[str, list[str]]
) -> None:
    ideal = {one.key: list(one.gold) for one in corpus.questions}
    half = dict(list(ideal.items())[:9])
    stated = score(written(tmp_path, trec(half)), "sample")
    assert set(values(stated, "conversation").values()) >= {9 / 36}
    assert dict(stated.missing) == {("mine", "conversation"): 27}
    rows = [row for row in stated.document["results"] if row["type"] == "all"]
    assert {row["n"] for row in rows} == {36}


def test_empty_rankings_count_nothing_and_are_said(tmp_path: Path, corpus: Corpus) -> None:
    lines = [json.dumps({"question": one.key, "ranking": []}) for one in corpus.questions]
    path = written(tmp_path, "\n".join(lines))
    told = list(sentences(score(path, "sample")))
    assert "36 of 36 questions have an empty ranking by theirs in conversation: each counts 0" in told
    told = list(sentences(score(written(tmp_path, lines[0]), "sample")))
    assert "35 of 36 questions have no ranking by theirs in conversation: each counts 0" in told
    assert "1 of 36 questions have an empty ranking by theirs in conversation: each counts 0" in told
    with pytest.raises(RankingsError, match=r"is a folder; name the file of rankings in it"):
        score(tmp_path, "sample")


def test_raw_lines_need_a_question_and_a_ranking_alone(tmp_path: Path, drawn: dict[str, list[str]]) -> None:
    lines = [{"question": key, "ranking": ids} for key, ids in drawn.items()]
    raw = score(written(tmp_path, "".join(json.dumps(line) + "\n" for line in lines)), "sample")
    other = score(written(tmp_path, gzip.compress(trec(drawn, "theirs").encode()), "run.gz"), "sample")
    assert raw.document["results"] == other.document["results"]
    assert (raw.source.form, other.source.form) == ("raw", "trec")


def test_ranks_from_0_and_lines_in_any_order_are_the_same_ranking(
    tmp_path: Path, drawn: dict[str, list[str]]
) -> None:
    first = score(written(tmp_path, trec(drawn)), "sample").document["results"]
    lines = trec(drawn).splitlines()
    moved = [re.sub(r" (\d+) (\S+ mine)$", lambda m: f" {int(m[1]) - 1} {m[2]}", line) for line in lines]
    random.Random(1).shuffle(moved)
    assert score(written(tmp_path, "\n".join(moved)), "sample").document["results"] == first


def test_over_the_pool_every_lesson_may_be_ranked_and_ranks_below_the_depth_are_cut(
    tmp_path: Path, corpus: Corpus, locomo_path: Path
) -> None:
    everything = [one.id for one in corpus.segments]
    path = written(tmp_path, trec({one.key: everything for one in corpus.questions}))
    pool = score(path, "sample", scope="pool")
    assert {row.scope for row in pool.rows} == {"pool"}
    assert {row.size for row in pool.rows} == {39}
    assert pool.cut == 0
    locomo = SUITES["locomo"].load(locomo_path)
    (last,) = locomo.questions[0].gold
    deep = [*(one.id for one in locomo.segments[:60] if one.id != last), last]
    path = written(tmp_path, trec({locomo.questions[0].key: deep}))
    stated = score(path, "locomo", data=locomo_path, scope="pool", name="Ann")
    assert (stated.cut, len(stated.rows[0].ranking), stated.by) == (1, 50, "Ann")
    assert values(stated, "pool")["recall_any@50"] == 0.0  # the gold stood below rank 50


def test_a_question_that_cites_no_evidence_is_left_out_and_said(tmp_path: Path, locomo_path: Path) -> None:
    corpus = SUITES["locomo"].load(locomo_path)
    uncited = next(one for one in corpus.questions if not one.scored)
    own = next(one.id for one in corpus.segments if one.project == uncited.project)
    cited = next(one for one in corpus.questions if one.project == uncited.project)
    path = written(tmp_path, trec({uncited.key: [own], cited.key: [own]}))
    stated = score(path, "locomo", data=locomo_path)
    assert stated.uncited == 1
    assert uncited.key not in {row.question for row in stated.rows}
    with pytest.raises(RankingsError, match="ranks no question that can be scored"):
        score(written(tmp_path, trec({uncited.key: [own]})), "locomo", data=locomo_path)


def test_readings_of_others_stand_beside_in_the_first_scope(tmp_path: Path, locomo_path: Path) -> None:
    corpus = SUITES["locomo"].load(locomo_path)
    path = written(tmp_path, trec({one.key: list(one.gold) for one in corpus.questions if one.scored}))
    found = score(path, "locomo", data=locomo_path).document["readings"]
    assert {(one["reading"], one["n"]) for one in found} == {("memini", 1981), ("mempalace", 1986)}
    assert {one["value"] for one in found if one["reading"] == "memini"} == {1.0}
    assert {one["value"] for one in found} - {1.0} == {0.9998321584}  # one question cites eleven sessions


def raw(change: Callable[[Lines], None]) -> Callable[[], str]:
    """Two raw lines of the committed sample, changed."""

    def text() -> str:
        lines = Results(SAMPLE).text("raw_retrievals.jsonl").splitlines()[:2]
        records = [json.loads(line) for line in lines]
        change(records)
        return "".join(json.dumps(record) + "\n" for record in records)

    return text


def put(key: str, value: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[1].update({key: value})


ONE = "garden/q01 Q0 garden/s01 1 0.9 mine\n"
TWO = "garden/q01 Q0 garden/s02 2 0.8 mine\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (ONE + TWO.replace(" 2 ", " -2 "), "line 2: the rank '-2' is no whole number from 0 on"),
        (ONE + TWO.replace(" 2 ", " ² "), "line 2: the rank '²' is no whole number"),
        (ONE + TWO.replace("0.8", "high"), "line 2: the score 'high' is no number"),
        (ONE.replace("mine", "ceiling"), "line 1: ceiling names what the gold alone decides"),
        ('{"question": "garden/q01", "rankings": []}', "line 1 is no raw retrieval"),
        ('{"question": "garden/q01", "ranking": ["garden/s01"], "rank": 1}', "line 1 is no raw retrieval"),
        ('{"question": "garden/q01", "ranking": {}}', "line 1: 'ranking' must be a list"),
        ('{"question": null, "ranking": []}', "line 1: 'question' must be a text"),
        ('{"question": "garden/q01", "ranking": [["garden/s01", 1e999]]}', "the score inf is not finite"),
        ('{"question": "garden/q01", "ranking": [[[1], 2]]}', "line 1: a rank is an id, [id, score] or ["),
        ('{"question": ', "line 1 is not JSON ("),
        ('{"garden/q01": {"garden/s01": NaN}}', "question 'garden/q01': the score nan is not finite"),
        ('{"garden/q01": {"garden/s01": "1"}}', "question 'garden/q01': a rank is an id, [id, score] or"),
        (
            '{"garden/q01": {"garden/s01": 1},\n"garden/q02": ["garden/s01"]}',
            "question 'garden/q02': a table of scores takes an object {document: score}, not a list",
        ),
        ('{"garden/q01": {}, "garden/q01": {}}', "theirs.txt: the key 'garden/q01' stands twice in one"),
        (b"garden/q01 Q0 \xe9 1 1 x", "theirs.txt, line 1, is not UTF-8; save the file as UTF-8"),
        (raw(put("size", 40)), "the size of question garden/q02 is given as 40, in the corpus it is 13"),
        (raw(put("tokens", [1])), "the tokens of question garden/q02 are given as [1], by the texts of the"),
        (raw(put("gold_tokens", 7)), "the gold_tokens of question garden/q02 are given as 7, by the texts"),
        (raw(put("type", "riddle")), "the type of question garden/q02 is given as 'riddle'"),
        (raw(lambda lines: lines.append(lines[0])), "line 3: pgmnemo ranks question garden/q01 twice in con"),
        (raw(put("ranking", ["boat/s01"])), "(scope conversation), and boat/s01 lies outside of it"),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_is_named_with_its_line(
    tmp_path: Path, text: str | bytes | Callable[[], str], sentence: str
) -> None:
    path = written(tmp_path, text() if callable(text) else text)
    with pytest.raises(RankingsError, match=re.escape(sentence)):
        score(path, "sample")
    assert RankingsError.code == 3


def test_another_suites_file_or_level_is_called_so(tmp_path: Path, locomo_path: Path) -> None:
    with pytest.raises(
        RankingsError, match=r"none of them is of locomo \(locomo10\.json\): it is another suite"
    ):
        score(raw_of(SAMPLE, tmp_path), "locomo", data=locomo_path)
    with pytest.raises(
        RankingsError, match=r"of question conv-26/q0 is given as .* another file or granularity"
    ):
        score(raw_of(LOCOMO, tmp_path), "locomo", data=locomo_path, granularity="turn")


def test_a_stranger_learns_the_ids_and_no_gold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "ids"
    assert main(["score", "--suite", "sample", "--ids", str(place)]) == 0
    assert "scope pool: rank all lessons for each question" in capsys.readouterr().out
    queries, documents = (
        [json.loads(line) for line in (place / name).read_text().splitlines()]
        for name in ("queries.jsonl", "documents.jsonl")
    )
    assert (len(queries), len(documents)) == (36, 39)
    assert {tuple(one) for one in queries} == {("id", "project", "text", "as_of")}
    run = {one["id"]: [two["id"] for two in documents if two["project"] == one["project"]] for one in queries}
    path = written(tmp_path, trec(run))
    assert main(["score", "--suite", "sample", "--rankings", str(path)]) == 0
    assert main(["score", "--suite", "sample", "--ids", str(place)]) == 2
    assert "queries.jsonl is there, and nothing is overwritten" in capsys.readouterr().err


def test_texts_are_never_written_where_they_could_be_committed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    for place in (tmp_path, tmp_path / "ids"):
        assert main(["score", "--suite", "sample", "--ids", str(place)]) == 2
        assert f"--ids: {place} lies in a git checkout, where text" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [".git"]


def test_the_command_says_whose_they_are_what_is_missing_and_that_nothing_was_seen(
    tmp_path: Path, drawn: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    drawn.pop("garden/q01")
    path = str(written(tmp_path, trec(drawn)))
    assert main(["score", "--suite", "sample", "--rankings", path, "--name", "Ann"]) == 0
    out = capsys.readouterr().out
    assert "the sample, session level, stated by Ann" in out
    assert "stated: rankings given by their author; nothing of how they were made was seen here" in out
    assert "1 of 36 questions have no ranking by mine in conversation: each counts 0" in out
    for words in ("multi-hop", "nDCG@10", "recall_all@50", "which is the committed sample suite"):
        assert words in out
    assert main(["score", "--suite", "sample", "--rankings", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert schema_fault("pgmnemo/stated/1", document) is None
    assert document["missing"] == [{"arm": "mine", "scope": "conversation", "questions": 1}]
    assert main(["score", "--suite", "sample"]) == 2
    assert "score takes --rankings FILE, or --ids DIR" in capsys.readouterr().err


SAID = endings("score")
ENDINGS: dict[str, tuple[str, ...]] = {  # the file of rankings, then words after `score --suite sample`
    "neither rankings nor ids": ("",),
    "an unknown scope": (ONE, "--rankings", "FILE", "--scope", "haystack"),
    "ids that are there": (ONE, "--ids", "THERE"),
    "no such file": ("", "--rankings", "/nonsense"),
    "a folder": ("", "--rankings", "THERE"),
    "an empty file": ("", "--rankings", "FILE"),
    "another suite's rankings": (ONE.replace("q01", "q99"), "--rankings", "FILE"),
    "an unknown question": (ONE + ONE.replace("q01", "q99"), "--rankings", "FILE"),
    "an unknown lesson": (ONE.replace("s01", "s99"), "--rankings", "FILE"),
    "a lesson of another project": (ONE.replace("garden/s01", "boat/s01"), "--rankings", "FILE"),
    "a lesson twice": (ONE + TWO.replace("s02", "s01"), "--rankings", "FILE"),
    "scores that rise": (ONE + TWO.replace("0.8", "8"), "--rankings", "FILE"),
    "a score that is not finite": (ONE.replace("0.9", "inf"), "--rankings", "FILE"),
    "a line of another form": ("garden/q01 garden/s01 1\n", "--rankings", "FILE"),
    "another gold": ('{"question": "garden/q01", "gold": [], "ranking": []}', "--rankings", "FILE"),
}


@pytest.mark.parametrize("cause", SAID)
def test_an_ending_is_its_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], cause: str) -> None:
    text, *words = ENDINGS[cause]
    (tmp_path / "queries.jsonl").touch()
    places = {"FILE": str(written(tmp_path, text)), "THERE": str(tmp_path)}
    assert main(["score", "--suite", "sample", *(places.get(word, word) for word in words)]) == int(
        SAID[cause]["code"]
    )
    told = capsys.readouterr().err.strip()
    assert is_sentence(SAID[cause], told), told


def test_a_named_pipe_is_called_so_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.trec")
    with pytest.raises(RankingsError, match=r"run\.trec is a named pipe and no regular file"):
        score(tmp_path / "run.trec", "sample")
