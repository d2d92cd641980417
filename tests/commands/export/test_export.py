"""A run goes out as TREC and BEIR and comes in again: the same figures by others' programs and by ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import OutputError, UsageError
from runner.cli import main
from runner.commands.export import export
from runner.commands.export.forms import documents
from runner.commands.score import score
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.segment_store import OnDiskSegments
from runner.protocol.editions import edition
from runner.protocol.metrics import metrics_for
from runner.protocol.templates import Session, WrittenText
from runner.records import Json
from runner.runs.results import Results
from tests.helping import kept_run

ROOT = Path(__file__).parents[3]
SAMPLE = kept_run("sample")
METRICS = metrics_for(edition(Results(SAMPLE).run.protocol.version))  # a later edition has more
CORPUS = ROOT / "benchmarks" / "sample" / "sample.json"
THEIRS = {"Success@5": "recall_any@5", "Success@10": "recall_any@10", "R@10": "recall_frac@10",
          "RR@50": "MRR@50", "nDCG@10": "nDCG@10"}  # fmt: skip


@pytest.fixture(scope="module")
def trec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("out") / "trec"
    export(SAMPLE, place)
    return place


@pytest.fixture(scope="module")
def beir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("out") / "beir"
    export(SAMPLE, place, form="beir", corpus=CORPUS)
    return place


@pytest.fixture
def copy(beir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(beir, tmp_path / "beir"))


def figures(document: Json, arm: str, scope: str) -> dict[str, float]:
    return {
        row["metric"]: row["value"]
        for row in document["results"]
        if (row["arm"], row["scope"], row["view"], row["type"]) == (arm, scope, "all", "all")
        and row["metric"] in METRICS
    }


def test_each_arm_in_each_scope_is_a_run_beside_the_qrels_of_the_scope(trec: Path) -> None:
    results = Results(SAMPLE)
    assert {path.relative_to(trec).as_posix() for path in trec.rglob("*.run")} == {
        f"{scope}/{arm}.run" for arm, scope in results.counts
    }
    first = (trec / "conversation" / "pgmnemo.run").read_text().splitlines()[0].split()
    row = results.rows[0]
    assert first == [row.question, "Q0", row.ranking[0].id, "1", "50", "pgmnemo"]


def test_the_command_that_its_readme_tells_gives_our_figures(trec: Path) -> None:
    """Every arm and scope by ir_measures, which breaks ties of score by id: none is left to break."""
    told, results, seen = (trec / "README.md").read_text(), Results(SAMPLE), 0
    _, *command = next(line for line in told.splitlines() if line.startswith("ir_measures ")).split()
    assert command[:2] == ["conversation/qrels.txt", "conversation/pgmnemo.run"]
    program = Path(sys.executable).with_name("ir_measures")
    for arm, scope in results.counts:
        asked = [program, f"{scope}/qrels.txt", f"{scope}/{arm}.run", *command[2:]]
        done = subprocess.run(asked, cwd=trec, capture_output=True, text=True, check=True)
        found = dict(line.split() for line in done.stdout.splitlines())
        ours = figures(results.metrics, arm, scope)
        assert set(found) == set(THEIRS)
        for theirs, metric in THEIRS.items():
            assert float(found[theirs]) == pytest.approx(ours[metric], abs=1e-9), (arm, scope, metric)
            seen += 1
    assert seen == 5 * len(results.counts)


def test_a_run_comes_in_again_with_the_figures_that_it_went_out_with(trec: Path) -> None:
    results = Results(SAMPLE)
    for scope in ("conversation", "pool"):
        stated = score(trec / scope / "bm25.run", "sample", scope=scope)
        before, after = figures(results.metrics, "bm25", scope), figures(stated.document, "bm25", scope)
        assert before.items() <= after.items()
        assert all(
            metric.startswith("budget_") for metric in after.keys() - before
        )  # a leg has none in a run


def test_equal_scores_go_out_in_the_order_of_the_run(folder_of: Callable[..., Path], tmp_path: Path) -> None:
    """Three ranks of one score, in an order that no id has: trec_eval would turn them round."""
    out = tmp_path / "out"
    export(folder_of(["b", "c", "a"]), out)
    ranked = [line.split() for line in (out / "conversation" / "pgmnemo.run").read_text().splitlines()]
    assert [columns[2] for columns in ranked] == ["b", "c", "a"]
    assert len({columns[4] for columns in ranked}) == 3


@pytest.fixture
def folder_of(tmp_path: Path, record: Callable[..., Any], shelve: Callable[..., Path]) -> Callable[..., Path]:
    def make(ids: list[str], question: str = "q") -> Path:
        line = {"question": question, "type": "t", "arm": "pgmnemo", "scope": "conversation", "project": "p",
                "size": 9, "gold": ["a"], "ranking": [[one, 1.0] for one in ids]}  # fmt: skip
        return shelve(tmp_path / "run", record(), raw=[line])

    return make


def test_an_id_that_no_trec_run_can_hold_is_refused_and_leaves_nothing(
    folder_of: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(OutputError, match="the id 'a question' has a blank in it"):
        export(folder_of(["a"], "a question"), tmp_path / "out")
    assert not list(tmp_path.glob("*out*"))


def test_a_folder_of_beir_is_the_corpus_again(beir: Path) -> None:
    before = SUITES["sample"].load(CORPUS)
    after = SUITES["file"].load(SUITES["file"].locate(beir, {}))
    assert {one.id: (one.project, one.text) for one in after.segments} == {
        one.id: (one.project, one.text) for one in before.segments
    }
    scored = [one for one in before.questions if one.scored]
    assert [(one.key, one.text, one.type, one.gold) for one in after.questions] == [
        (one.key, one.text, one.type, one.gold) for one in scored
    ]
    assert set(after.files) == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}


@pytest.mark.parametrize(("theirs", "ours"), [("conversation", "project"), ("pool", "pool")])
def test_a_run_beside_the_corpus_is_scored_by_ours_as_before(beir: Path, theirs: str, ours: str) -> None:
    stated = score(beir / "runs" / theirs / "pgmnemo.run", "file", data=beir, scope=ours)
    assert figures(stated.document, "pgmnemo", ours) == figures(Results(SAMPLE).metrics, "pgmnemo", theirs)


def test_a_qrels_of_trec_is_read_too(copy: Path) -> None:
    rows = [line.split("\t") for line in (copy / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    shutil.rmtree(copy / "qrels")
    (copy / "qrels.txt").write_text("".join(f"{key} 0 {one} {value}\n" for key, one, value in rows))
    before = SUITES["sample"].load(CORPUS)
    assert [one.gold for one in SUITES["file"].load(copy).questions] == [
        one.gold for one in before.questions if one.scored
    ]


@pytest.mark.parametrize(
    ("file", "line", "sentence"),
    [
        ("qrels/test.tsv", "garden/q01\tnobody\t1", r"cites 'nobody', which is the id of no session"),
        ("qrels/test.tsv", "nobody\tgarden/s01\t1", r"judge 'nobody', which is no question of queries"),
        ("qrels/test.tsv", "garden/q01 garden/s01", r"has 2 columns and not 3 \(query-id, corpus-id, sc"),
        ("qrels/test.tsv", "garden/q01\tgarden/s01\t1", r"judges .garden/s01. for .garden/q01. a second"),
        ("corpus.jsonl", '{"_id": "garden/s01", "text": "a"}', r"stands twice in|names no project, unlike"),
        ("qrels/test.tsv", "garden/q01\tgarden/s01\thigh", r"the judgement 'high' is no number"),
        ("corpus.jsonl", '{"text": "a"}', r"has no '_id' that is a text or a whole number"),
        ("corpus.jsonl", '{"_id": "x", "text": 7}', r"'text' of line 40 of corpus\.jsonl must be a text"),
        ("queries.jsonl", "{", r"line 37 of queries\.jsonl is not JSON"),
    ],
)  # fmt: skip
def test_a_broken_folder_of_beir_is_one_sentence(copy: Path, file: str, line: str, sentence: str) -> None:
    with (copy / file).open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(CorpusError, match=sentence):
        SUITES["file"].load(copy)


def test_what_is_there_is_not_overwritten(trec: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is there, and nothing is overwritten; name a new folder"):
        export(SAMPLE, trec)
    run = shutil.copytree(SAMPLE, tmp_path / "run")
    with pytest.raises(UsageError, match="lies in the results folder"):
        export(SAMPLE, run / "out")


def test_beir_needs_the_corpus_of_the_run(tmp_path: Path) -> None:
    other = tmp_path / "sample.json"
    other.write_text(CORPUS.read_text() + "\n")
    for form, corpus, sentence in (
        ("beir", None, "beir needs the texts, and a run holds none: name its corpus with"),
        ("beir", "nowhere", "--corpus names nowhere, which does not exist"),
        ("beir", other, "name the file that was measured"),
        ("csv", None, "there is no format named 'csv'; choose one of: trec, beir"),
    ):
        with pytest.raises(UsageError, match=sentence):
            export(SAMPLE, tmp_path / "out", form=form, corpus=corpus)


def test_the_command_lists_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(SAMPLE), "--output", str(tmp_path / "out")]) == 0
    told = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert told[0] == tmp_path / "out" / "README.md"
    assert all(path.is_file() for path in told)
    assert json.loads((SAMPLE / "run.json").read_text())["name"] in told[0].read_text()


def test_texts_are_never_written_where_they_could_be_committed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(UsageError, match=r"--output: .* lies in a git checkout, where text of the corpus"):
        export(SAMPLE, tmp_path / "beir", form="beir", corpus=CORPUS)
    assert not (tmp_path / "beir").exists()
    assert export(SAMPLE, tmp_path / "trec")  # holds no text


def test_lessons_that_stand_on_a_shelf_go_out_with_their_texts() -> None:
    corpus = SUITES["sample"].load(CORPUS)
    shelf = OnDiskSegments(lambda session: WrittenText(session.date, ()))
    for one in corpus.segments:
        shelf.add(replace(one, text=""), Session(one.text, ()))
    lines = documents(replace(corpus, segments=shelf), lambda project, name: f"{project}/{name}")
    assert [json.loads(line)["text"] for line in lines] == [one.text for one in corpus.segments]
