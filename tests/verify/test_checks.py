"""What each check finds by itself: here the forger has rewritten the manifest and HISTORY.md as well."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAMES = {
    "metrics": "metrics.json",
    "raw": "raw_retrievals.jsonl",
    "run": "run.json",
    "timings": "timings.jsonl",
}


def put(document: Any, path: str, value: Any) -> None:
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps:
        document = document[step]
    document[last] = value


@pytest.mark.parametrize(
    ("place", "value", "check", "sentence"),
    [
        ("metrics:results/3/value", 0.5, "metrics", "value is 0.5, the raw rankings give"),
        ("metrics:results/3/ci95_low", 0.01, "metrics", "ci95_low is 0.01, the raw rankings give"),
        ("metrics:results/3/n", 400, "metrics", "n is 400, the raw rankings give 4"),
        ("metrics:results/3/metric", "recall_any@7", "metrics", "metric is recall_any@7"),
        ("metrics:differences/0/value", 0.9, "metrics", "differences: pgmnemo, bm25"),
        ("metrics:definitions/MRR@50", "Something.", "metrics", "definitions is not what"),
        ("metrics:metric_code", "9.0.0", "metrics", "code 9.0.0; that of protocol 1.6.0 is 1.1.0"),
        ("metrics:metric_code", "1.0.0", "metrics", "code 1.0.0; that of protocol 1.6.0 is 1.1.0"),
        ("metrics:schema", "pgmnemo/metrics/9", "schema", "names the schema pgmnemo/metrics/9; known here"),
        ("metrics:results/0/value", "high", "schema", "results[0].value must be number"),
        ("run:schema", "pgmnemo/run/9", "schema", "names the schema pgmnemo/run/9; known here"),
        ("run:verdict", "verified", "verdict", "the verdict is verified, but by its gates deviation"),
        ("run:deviations", [], "verdict", "the deviations are not those of the gates"),
        ("run:gates/8/status", "passed", "gates", "embedder is recorded as passed; by the facts it is dev"),
        ("run:corpus/sha256", "0" * 64, "gates", "dataset is recorded as passed; by the facts it is failed"),
        ("run:corpus/segments", 40, "header", "the corpus has 40 segments, but by its shape 39"),
        ("run:corpus/shape/temporal", 4, "gates", "shape is recorded as passed; by the facts it is failed"),
        ("run:database/fingerprint", "0" * 64, "gates", "version is recorded as passed"),
        ("run:database/pgmnemo", "0.2.2", "gates", "version is recorded as passed"),
        ("run:seed", 43, "gates", "seed is recorded as passed"),
        ("run:python_hash_seed", None, "gates", "seed is recorded as passed"),
        ("run:guc_state/pgmnemo.recency_weight", "0.3", "gates", "settings is recorded as passed"),
        ("run:choice/limit", None, "header", "by its version, day, embedder and options it is"),
        ("run:choice/limit", 3, "raw", "4 questions were asked, and not 3"),
        ("run:code/dirty", True, "gates", "tree is recorded as passed"),
        ("run:gates/0/gate", "data", "gates", "run.json records the gates data"),
        ("run:protocol/version", "7.0.0", "protocol", "protocol 7.0.0 is not known here; known are: "),
        ("run:protocol/sha256", "0" * 64, "protocol", "cite two protocols"),
        ("run:started", "2020-01-01T00:00:00Z", "header", "by its version, day, embedder and options it is"),
        ("run:resources/load_seconds", 99.0, "header", "the stages took "),
        ("run:resources/wall_seconds", 99.0, "header", "the run took 99.00 s, but ended"),
        ("run:components", {"cosine": "active"}, "header", "the components of the score are cosine, bm25"),
        ("run:passages", {"count": 9, "distinct": 8}, "header", "version 0.2.1 is given no passages"),
        ("run:headline", ["MRR@50"], "views", "headline: run.json has MRR@50, protocol 1.6.0 recall_any@5"),
        ("run:arms/0/name", "cosine", "raw", "the arms and scopes are not cosine, bm25, cosine, random in"),
        ("run:latency/0/p50_ms", 0.1, "timings", "are not the percentiles of timings.jsonl"),
        ("raw:0/gold", ["nowhere"], "raw", "is not what the first arm has there"),
        ("raw:0/size", 40, "raw", "13 ids in 13 ranks, not 40"),
        ("raw:9/type", "nonsense", "raw", "is not what the first arm has there"),
        ("raw:0/ranking/1/0", "elsewhere", "manifest", ""),
        ("raw:0/ranking/0/1", 0.0, "raw", "the scores do not fall with the ranks"),
        ("raw:0/ranking/0/1", "high", "schema", "raw_retrievals.jsonl, line 1, is not of its schema"),
        ("raw:0/ranking/0/2", [0.5], "raw", "a rank has not the components that run.json names"),
        ("timings:0/seconds", 5.0, "timings", "are not the percentiles"),
        ("timings:0/question", "nobody", "timings", "has 4 questions of pgmnemo in conversation, and not"),
    ],
)  # fmt: skip
def test_a_fault_has_its_sentence(
    copy: Callable[[], Any], place: str, value: Any, check: str, sentence: str
) -> None:
    run = copy()
    name, _, path = place.partition(":")
    document = run.read(NAMES[name])
    put(document, path, value)
    run.write(NAMES[name], document)
    if check != "manifest":
        run.seal()
        run.log()
    assert sentence in run.faults()[check]


@pytest.mark.parametrize(
    ("name", "own", "another"),
    [
        ("metrics.json", "pgmnemo/metrics/3", "pgmnemo/metrics/1"),
        ("raw_retrievals.jsonl", "pgmnemo/raw/3", "pgmnemo/raw/1"),
        ("report.md", "pgmnemo/report/5", "pgmnemo/report/2"),
        ("report.md", "pgmnemo/report/5", "pgmnemo/report/7"),
        ("run.json", "pgmnemo/run/5", "pgmnemo/run/2"),
        ("timings.jsonl", "pgmnemo/timings/1", "pgmnemo/timings/2"),
    ],
)
def test_a_file_is_of_the_schema_that_the_edition_gives_it(
    copy: Callable[[], Any], name: str, own: str, another: str
) -> None:
    run = copy()
    run.edit("manifest.json", own, another)
    run.log()
    sentence = f"{name} names the schema {another}; that of protocol 1.6.0 is {own}"
    assert run.faults()["schema"] == sentence


def test_a_record_of_a_former_schema_is_none_of_the_edition_in_force(copy: Callable[[], Any]) -> None:
    run = copy()
    [former] = (ROOT / "benchmarks" / "sample" / "results").glob("v0.3.1_20261121_minilm")
    own, record = run.read("run.json"), json.loads((former / "run.json").read_bytes())
    own["protocol"].pop("pins_sha256")
    run.write("run.json", record | {name: own[name] for name in ("name", "protocol", "started", "finished")})
    run.seal()
    run.log()
    sentence = "run.json names the schema pgmnemo/run/2; that of protocol 1.6.0 is pgmnemo/run/5"
    assert run.faults()["schema"] == sentence


def test_a_number_in_the_report_alone(copy: Callable[[], Any]) -> None:
    run = copy()
    run.edit("report.md", "n = 4", "n = 400")
    run.seal()
    run.log()
    assert list(run.faults()) == ["report"]


def test_a_blocked_run_has_nothing_to_verify(copy: Callable[[], Any]) -> None:
    run = copy()
    for name in ("metrics.json", "report.md", "timings.jsonl", "raw_retrievals.jsonl"):
        run.path(name).unlink()
    run.path("BLOCKED.md").write_text("# BLOCKED\n")
    run.seal()
    assert (
        run.faults()["complete"] == "BLOCKED.md is there: a blocked run has no number that could be verified"
    )


def forge(run: Any, change: Callable[[list[Any]], None]) -> dict[str, str]:
    """Change the raw rankings, compute everything anew, and rewrite HISTORY.md: the corpus alone tells."""
    lines = run.read("raw_retrievals.jsonl")
    change(lines)
    run.write("raw_retrievals.jsonl", lines)
    run.recompute()
    run.seal()
    run.log()
    assert run.faults() == {}
    faults: dict[str, str] = run.faults(corpus=True)
    return faults


def every(question: int, what: str, value: Any) -> Callable[[list[Any]], None]:
    """In all lines of one question."""

    def change(lines: list[Any]) -> None:
        key = lines[question]["question"]
        for line in lines:
            if line["question"] == key:
                line[what] = value(line) if callable(value) else value

    return change


def test_the_corpus_knows_its_gold(copy: Callable[[], Any]) -> None:
    run = copy()
    last = run.read("raw_retrievals.jsonl")[0]["ranking"][-1][0]
    faults = forge(run, every(0, "gold", [last]))
    assert list(faults) == ["gold"]
    assert f"the gold is {last}, in the corpus " in faults["gold"]


def test_the_corpus_knows_its_segments(copy: Callable[[], Any]) -> None:
    def change(lines: list[Any]) -> None:
        lines[0]["ranking"][-1][0] = "nowhere"

    faults = forge(copy(), change)
    assert list(faults) == ["ranked"]
    assert "there is no segment nowhere to be found" in faults["ranked"]


def test_the_corpus_knows_its_questions(copy: Callable[[], Any]) -> None:
    run = copy()
    key = run.read("raw_retrievals.jsonl")[1]["question"]
    run.edit("timings.jsonl", f'"{key}"', '"garden/q99"')
    faults = forge(run, every(1, "question", "garden/q99"))
    assert "1 questions are missing, among them " in faults["questions"]


def test_the_seed_knows_its_draw(copy: Callable[[], Any]) -> None:
    def change(lines: list[Any]) -> None:
        ranking = lines[-1]["ranking"]
        ranking[0], ranking[1] = ranking[1], ranking[0]

    faults = forge(copy(), change)
    assert list(faults) == ["chance"]


def test_another_corpus_is_no_corpus_of_the_run(
    copy: Callable[[], Any], tmp_path: Path, sample_path: Path
) -> None:
    run = copy()
    other = tmp_path / "sample.json"
    other.write_bytes(sample_path.read_bytes() + b"\n")
    faults = type(run)(run.folder, run.sql, other).faults(corpus=True)
    assert list(faults) == ["corpus"]
    assert "the corpus of the run f4ad1a8842af…" in faults["corpus"]
