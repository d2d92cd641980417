"""Folders of BEIR as its tools, the hub and LMEB write them: what is read, and what is refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.bench.request import Request, selected
from runner.cli import main
from runner.commands.score import score
from runner.commands.score.command import sentences, write_ids
from runner.errors import CorpusError, RankingsError
from runner.protocol.datasets import SUITES

FILE = SUITES["file"]
DOCUMENTS = [
    {"_id": "d1", "title": None, "text": "The router is a Fritz.", "metadata": None},
    {"_id": "d2", "title": "Leipzig", "text": "Ana moved there."},
    {"_id": 3, "text": "A third text.", "metadata": {}},
    {"_id": "d4", "title": "", "text": " \u200b\0"},
]
QUESTIONS = [
    {"_id": "q1", "text": "Which router?", "metadata": None},
    {"_id": 2, "text": "Where is Ana?"},
    {"_id": "q3", "text": "Who judged this?"},
    {"_id": "q4", "text": "What is empty?"},
    {"_id": "q5", "text": "Which third?"},
]
TEST = "query-id\tcorpus-id\tscore\nq1\td1\t1.0\n2\td2\t2\n2\td1\t0\nq4\td4\t1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "beir"
    (place / "qrels").mkdir(parents=True)
    jsonl(place / "corpus.jsonl", DOCUMENTS)
    jsonl(place / "queries.jsonl", QUESTIONS)
    (place / "qrels/test.tsv").write_text(TEST)
    (place / "qrels/train.tsv").write_text(TEST.replace("q1\td1", "q5\t3"))
    (place / "qrels/dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\t3\t1\n")
    return place


def jsonl(path: Path, records: list[Any]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def gold(folder: Path, split: str = "") -> dict[str, tuple[str, ...]]:
    return {one.key: one.gold for one in FILE.load(folder, split=split).questions if one.scored}


def test_a_folder_as_it_is_published_is_read_by_its_test_judgements(folder: Path) -> None:
    corpus = FILE.load(folder)
    assert [(one.id, one.text) for one in corpus.segments] == [
        ("d1", "The router is a Fritz."), ("d2", "Leipzig\nAna moved there."), ("3", "A third text."),
    ]  # fmt: skip
    assert gold(folder) == {"q1": ("d1",), "2": ("d2",), "q4": ()}
    assert (corpus.shape["empty"], corpus.shape["scored"], corpus.shape["answerable"]) == (1, 3, 2)
    assert set(corpus.files) == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}


def test_a_split_names_other_judgements(folder: Path) -> None:
    request = Request("file", data=folder, split="dev", embedder="none")
    corpus = FILE.chosen(folder, request.choice, request.edition)
    assert [one.question.key for one in selected(request.choice, corpus, request.edition)] == ["q3"]
    with pytest.raises(
        CorpusError, match=r"has judgements of dev, test, train, and not of held-out; .*--split"
    ):
        FILE.load(folder, split="held-out")
    (folder / "qrels/test.tsv").unlink()
    with pytest.raises(CorpusError, match=r"judgements of dev, train, and not of test; .*--split"):
        FILE.load(folder)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels/test.jsonl", '{"query-id": "q1", "corpus-id": "d1", "score": 1.0}\n'),
        ("qrels.tsv", "q1\td1\t1\n"),
        ("qrels.tsv", "q1\t0\td1\t1\n"),
        ("qrels.txt", "q1 0 d1 1\n"),
        ("qrels/test.tsv", "\nq1\t d1\t1e0 \r\n\n"),
        ("qrels/test.tsv", "\nqid\tdocid\trel\nq1\td1\t1\n"),
        ("qrels/test.tsv", "corpus_id\tquery_id\tscore\tnote\nd1\tq1\t1\tx\n"),
        ("qrels/test.tsv", "topic\titer\tdocno\trelevance\nq1\t0\td1\t1\n2\t0\td1\t-1\n"),
        ("qrels/test.jsonl", '{"score": 1, "corpus_id": "d1", "query_id": "q1", "note": null}\n'),
    ],
)
def test_judgements_of_other_forms_are_read(folder: Path, name: str, text: str) -> None:
    for path in (folder / "qrels").iterdir():
        path.unlink()
    (folder / name).write_text(text)
    assert gold(folder) == {"q1": ("d1",)}
    packed = folder / f"{name}.gz"
    packed.write_bytes(gzip.compress((folder / name).read_bytes()))
    (folder / name).unlink()
    assert gold(folder) == {"q1": ("d1",)}


def test_a_folder_of_lmeb_shares_its_documents_and_has_scenes(tmp_path: Path) -> None:
    place = tmp_path / "LoCoMo" / "single_hop"
    place.mkdir(parents=True)
    texts = {"conv_1_a": "One.", "conv_1_b": "Two.", "conv_2_a": "Three."}
    jsonl(
        place.parent / "corpus.jsonl", [{"id": one, "title": "", "text": text} for one, text in texts.items()]
    )
    scenes = [("conv_1", ["conv_1_a", "conv_1_b"]), ("conv_2", ["conv_2_a"])]
    candidates = [{"scene_id": scene, "candidate_doc_ids": ids} for scene, ids in scenes]
    jsonl(place.parent / "candidates.jsonl", candidates)
    jsonl(
        place / "queries.jsonl", [{"id": "conv_1_q1", "text": "Which?"}, {"id": "conv_2_q1", "text": "Who?"}]
    )
    (place / "qrels.tsv").write_text("conv_1_q1\tconv_1_b\t1\nconv_2_q1\tconv_2_a\t1\n")
    corpus = FILE.load(FILE.locate(place, {}))
    assert [one.project for one in corpus.segments] == ["conv_1", "conv_1", "conv_2"]
    assert [(one.project, one.gold) for one in corpus.questions] == [
        ("conv_1", ("conv_1_b",)), ("conv_2", ("conv_2_a",)),
    ]  # fmt: skip


def test_a_document_of_several_scenes_is_a_lesson_of_each(tmp_path: Path) -> None:
    place = tmp_path / "LongMemEval" / "multi_session"
    place.mkdir(parents=True)
    texts = {"a": "One.", "b": "Two.", "c": "Three."}
    jsonl(
        place.parent / "corpus.jsonl",
        [{"_id": {"$oid": "9"}, "id": one, "text": text} for one, text in texts.items()],
    )
    scenes = {"q_1": ["a", "b"], "q_2": ["b", "c", "c"]}
    candidates = [{"scene_id": scene, "candidate_doc_ids": ids} for scene, ids in scenes.items()]
    jsonl(place.parent / "candidates.jsonl", candidates)
    jsonl(place / "queries.jsonl", [{"id": "q_1", "text": "Which?"}, {"id": "q_2", "text": "Who?"}])
    (place / "qrels.tsv").write_text("q_1\tb\t1\nq_1\ta\t1\nq_2\tb\t1\n")
    corpus = FILE.load(FILE.locate(place, {}))
    assert [(one.project, one.id, one.text) for one in corpus.segments] == [
        ("q_1", "a", "One."), ("q_1", "q_1/b", "Two."), ("q_2", "q_2/b", "Two."), ("q_2", "c", "Three."),
    ]  # fmt: skip
    assert [one.gold for one in corpus.questions] == [("a", "q_1/b"), ("q_2/b",)]


@pytest.mark.parametrize(
    ("file", "line", "sentence"),
    [
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "again"}',
            r"line 6 of queries.* the id 'q1', as line 1 of que",
        ),
        (
            "queries.jsonl",
            '{"_id": 2, "text": "again"}',
            r"line 6 of queries.jsonl has the id '2', as line 2",
        ),
        ("queries.jsonl", '{"_id": true, "text": "?"}', r"line 6 .* has no '_id' that is a text or a whole"),
        ("corpus.jsonl", '{"_id": "x", "text": "a", "metadata": [1]}', r"'metadata' of line 5"),
        ("qrels/test.tsv", "q1\td2\tnan", r"the judgement 'nan' is no number"),
        ("qrels/test.tsv", "q1\t\t1", r"line 6 of qrels/test.tsv has 3 columns and not"),
        (
            "qrels/test.tsv",
            "q1\td2\tgood",
            r"line 6 .* 'good' is no number; write one, or a head line of query",
        ),
        (
            "qrels/test.tsv",
            "q9\td2\t1",
            r"judge 'q9', which is no question .*; remove its judgements, or add it",
        ),
        ("qrels/test.tsv", "q1\td9\t1", r"cites 'd9', .*; add it, or remove what cites it"),
        ("corpus.jsonl", '{"_id": "x", "text": "a", "text": "b"}', r"line 5 .*the key 'text' stands twice"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    folder: Path, file: str, line: str, sentence: str
) -> None:
    with (folder / file).open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(CorpusError, match=sentence):
        FILE.load(folder)


def test_judgements_of_nothing_and_a_folder_of_something_else_are_called_so(folder: Path) -> None:
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0\n")
    with pytest.raises(
        CorpusError, match=r"qrels/test.tsv judges no document above 0, .*; name another split"
    ):
        FILE.load(folder)
    (folder / "queries.jsonl").rename(folder / "queries.tsv")
    with pytest.raises(
        CorpusError, match=r"is a folder without queries\.jsonl; name a file, or a folder of BEIR"
    ):
        FILE.load(folder)


def test_a_file_has_no_splits(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", [{"id": "a", "turns": [{"text": "a"}]}, {"text": "?", "evidence": ["a"]}])
    with pytest.raises(CorpusError, match="no folder of BEIR and has no splits; leave --split out"):
        FILE.load(tmp_path / "a.jsonl", split="dev")


def run(lines: str) -> Callable[[Path], Path]:
    def written(folder: Path) -> Path:
        (folder.parent / "run.trec").write_text(lines)
        return folder.parent / "run.trec"

    return written


IN_MEMORY = run('{"q1": {"d2": 0.5, "d1": 9e-1},\n "2": {"d1": 0.7, "d2": 0.7}, "q3": {}}')
BY_BEIR = run("q1 Q0 d2 0 0.5 beir\nq1 Q0 d1 0 0.9 beir\n2 Q0 d1 0 0.7 beir\n2 Q0 d2 0 0.7 beir\n")
UNSORTED = run("q1 Q0 d2 7 0.5 x\nq1 Q0 d1 2 0.9 x\n2 Q0 d1 2 0.7 x\n2 Q0 d2 1 0.7 x\n")
JUDGED_OR_NOT = run("q1 Q0 d1 1 0.9 x\nq3 Q0 d2 1 0.9 x\nq4 Q0 d1 1 0.9 x\n2 Q0 d2 1 0.7 x\n")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            IN_MEMORY,
            "1 rankings have a rank or a score twice and are ordered by score, equal scores by id in",
        ),
        (
            BY_BEIR,
            "2 rankings have a rank or a score twice and are ordered by score, equal scores by id in",
        ),
        (UNSORTED, "1 rankings have equal scores, which their ranks order; trec_eval orders them by id"),
        (JUDGED_OR_NOT, "1 ranked questions cite no evidence"),
        (JUDGED_OR_NOT, "1 ranked questions cite what is no lesson at this level"),
    ],
)
def test_a_run_of_the_usual_tools_is_scored_and_says_how_it_was_ordered(
    folder: Path, made: Callable[[Path], Path], said: str
) -> None:
    stated = score(made(folder), "file", data=folder)
    assert {row.question: row.ranking[0].id for row in stated.rows} == {"q1": "d1", "2": "d2"}
    assert {row["n"] for row in stated.document["results"]} == {2}
    assert any(said in sentence for sentence in sentences(stated))


def test_a_score_asks_the_questions_of_a_run(folder: Path) -> None:
    request = Request("file", data=folder, embedder="none")
    asked = selected(request.choice, FILE.load(folder), request.edition)
    write_ids(folder.parent / "ids", "file", data=folder)
    written = (folder.parent / "ids" / "queries.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in written] == [one.question.key for one in asked] == ["q1", "2"]


def test_scores_that_rise_where_distinct_ranks_fall_are_refused(folder: Path) -> None:
    with pytest.raises(RankingsError, match="rise where the ranks fall"):
        score(run("q1 Q0 d2 1 0.5 x\nq1 Q0 d1 2 0.9 x\n")(folder), "file", data=folder)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({"q1": {"d1": "0.5"}}, r"question 'q1': a rank is an id, .* not \['d1', '0.5'\]"),
        ({"q1": {"d1": float("nan")}}, "question 'q1': the score nan is not finite"),
        ({"q1": {"d1": {"d2": 1}}}, "question 'q1': a rank is an id"),
        ({"question": "q1", "ranking": [True]}, "a rank is an id"),
    ],
)
def test_scores_that_are_no_numbers_are_refused(folder: Path, line: Any, sentence: str) -> None:
    with pytest.raises(RankingsError, match=sentence):
        score(run(json.dumps(line))(folder), "file", data=folder)


def test_raw_lines_may_have_ids_that_are_numbers(folder: Path) -> None:
    lines = [{"question": 2, "arm": None, "ranking": ["d2", 3]}, {"question": "q1", "ranking": [[3, 1]]}]
    stated = score(run("".join(json.dumps(line) + "\n" for line in lines))(folder), "file", data=folder)
    assert {row.question: [hit.id for hit in row.ranking] for row in stated.rows} == {
        "2": ["d2", "3"],
        "q1": ["3"],
    }


def test_claimed_gold_is_a_set(folder: Path) -> None:
    (folder / "qrels/test.tsv").write_text(TEST.replace("2\td1\t0", "2\td1\t1"))
    path = folder.parent / "raw.jsonl"
    jsonl(path, [{"question": "2", "gold": ["d2", "d1", "d2"], "ranking": ["d1"]}])
    assert score(path, "file", data=folder).rows[0].gold == ("d1", "d2")
    jsonl(path, [{"question": "2", "gold": ["d2"], "ranking": ["d1"]}])
    with pytest.raises(RankingsError, match=r"given as \['d2'\], in the corpus it is \['d1', 'd2'\]"):
        score(path, "file", data=folder)


def test_the_command_takes_a_split(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranked = run("q3 Q0 3 1 0.5 x\n")(folder)
    told = ["score", "--suite", "file", "--data", str(folder), "--rankings", str(ranked), "--json"]
    assert main([*told, "--split", "dev"]) == 0
    assert json.loads(capsys.readouterr().out)["corpus"]["scored"] == 1
    assert main(["score", "--suite", "sample", "--split", "dev", "--rankings", str(ranked)]) == 2
