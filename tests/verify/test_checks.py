"""What each check finds by itself: here the forger has rewritten the manifest and HISTORY.md as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.verification import CHECKS, CheckStatus
from runner.verification.checks.scores import ids
from runner.verification.context import RunContext

NAMES = {
    "metrics": "metrics.json", "raw": "raw_retrievals.jsonl", "run": "run.json", "timings": "timings.jsonl",
}  # fmt: skip


def put(document: Any, path: str, value: Any) -> None:
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps:
        document = document[step]
    document[last] = value


@pytest.mark.parametrize(
    ("place", "value", "check", "sentence"),
    [
        ("metrics:results/3/value", 0.5, "metrics", ".value is 0.5, made again "),
        ("metrics:results/3/metric", "recall_any@7", "metrics", "results[3] is pgmnemo, "),
        ("metrics:differences/0/value", 0.9, "metrics", "differences[pgmnemo, bm25"),
        ("metrics:definitions/MRR@50", "Something.", "metrics", "definitions.MRR@50 is Something."),
        ("metrics:metric_code", "9.0.0", "metrics", "metric_code is 9.0.0, made again "),
        ("metrics:schema", "pgmnemo/metrics/9", "schema", "names the schema pgmnemo/metrics/9; known here"),
        ("run:schema", "pgmnemo/run/9", "schema", "names the schema pgmnemo/run/9; known here"),
        ("run:verdict", "verified", "record", "verdict is verified, made again deviation"),
        ("run:gates/8/status", "passed", "record", "gates[embedder].status is passed, made again deviation"),
        ("run:gates/0/found", "better", "record", "gates[dataset].found is better, made again "),
        ("run:corpus/sha256", "0" * 64, "record", "guc_state.pgmnemo.tenant_id is "),
        ("run:corpus/shape/temporal", 4, "record", "gates[shape].status is passed, made again failed"),
        ("run:database/fingerprint", "0" * 64, "record", "gates[version].status is passed"),
        ("run:seed", 43, "record", "seed is 43, made again 42"),
        ("run:guc_state/pgmnemo.recency_weight", "0.3", "record", "recency_weight is 0.3, made again 0.1"),
        ("run:choice/limit", None, "record", "name is "),
        ("run:choice/limit", 3, "raw", "4 questions were asked, and not 3"),
        ("run:code/dirty", True, "record", "gates[tree].status is passed, made again "),
        ("run:protocol/version", "7.0.0", "record", "protocol 7.0.0 is not known here; known are: "),
        ("run:protocol/sha256", "0" * 64, "record", "protocol.sha256 is 0000"),
        ("run:started", "2020-01-01T00:00:00Z", "record", "name is "),
        ("run:resources/load_seconds", 99.0, "record", "the stages took "),
        ("run:passages", {"count": 9, "distinct": 8}, "record", "passages is {"),
        ("run:arms/0/name", "cosine", "raw", "the arms and scopes are not cosine, bm25, cosine, random"),
        ("run:latency/0/p50_ms", 0.1, "record", "latency[pgmnemo, conversation].p50_ms is 0.1, made again"),
        ("raw:0/gold", ["nowhere"], "raw", ": gold is garden/"),
        ("raw:0/size", 40, "raw", "size is 13, the first arm has 40"),
        ("raw:0/ranking/1/0", "elsewhere", "manifest", ""),
        ("raw:0/ranking/0/1", 0.0, "raw", "the scores do not fall with the ranks"),
        ("raw:0/ranking/0/1", "high", "schema", "raw_retrievals.jsonl, line 1, is not of its schema"),
        ("raw:0/ranking/0/2", [0.5], "raw", "a rank has not the components that run.json names"),
        ("timings:0/seconds", 5.0, "record", "latency[pgmnemo, conversation].p"),
        ("timings:0/question", "nobody", "timings", "has 4 questions of pgmnemo in conversation, and not"),
    ],
)  # fmt: skip
def test_a_fault_has_its_sentence(run: Any, place: str, value: Any, check: str, sentence: str) -> None:
    name, _, path = place.partition(":")
    document = run.read(NAMES[name])
    put(document, path, value)
    run.write(NAMES[name], document)
    if check != "manifest":
        run.seal()
    answer = CHECKS[check](RunContext(run.folder, sql=run.sql))
    assert (answer.found, sentence in answer.sentence) == (CheckStatus.WRONG, True), answer.sentence


@pytest.mark.parametrize("name", ["metrics.json", "raw_retrievals.jsonl", "report.md", "timings.jsonl"])
def test_a_file_is_of_the_schema_that_the_edition_gives_it(run: Any, name: str) -> None:
    manifest = run.read("manifest.json")
    entry = next(one for one in manifest["files"] if one["name"] == name)
    own, entry["schema"] = entry["schema"], "pgmnemo/report/99"
    run.write("manifest.json", manifest)
    run.log()
    said = run.faults()["schema"]
    assert said.startswith(f"{name} names the schema pgmnemo/report/99; ")
    assert own in said


def test_a_number_in_the_report_alone(run: Any) -> None:
    run.edit("report.md", "n = 4", "n = 400")
    run.seal()
    run.log()
    assert list(run.faults()) == ["report"]


def test_a_blocked_run_has_nothing_to_verify(run: Any) -> None:
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


def test_the_corpus_knows_its_gold(run: Any) -> None:
    last = run.read("raw_retrievals.jsonl")[0]["ranking"][-1][0]
    faults = forge(run, every(0, "gold", [last]))
    assert list(faults) == ["questions", "ranked"]  # the lengths are of another gold, too
    assert f"gold is {last}, in the corpus " in faults["questions"]


def test_the_corpus_knows_its_segments(copy: Callable[[], Any]) -> None:
    def change(lines: list[Any]) -> None:
        lines[0]["ranking"][-1][0] = "nowhere"

    faults = forge(copy(), change)
    assert list(faults) == ["ranked"]
    assert "there is no segment nowhere to be found" in faults["ranked"]


def test_the_corpus_knows_its_questions(run: Any) -> None:
    key = run.read("raw_retrievals.jsonl")[1]["question"]
    run.edit("timings.jsonl", f'"{key}"', '"garden/q99"')
    faults = forge(run, every(1, "question", "garden/q99"))
    assert "1 questions are missing, among them " in faults["questions"]


@pytest.mark.parametrize("arm", ["random", "plain-bm25"])
def test_a_control_is_made_again(copy: Callable[[], Any], arm: str) -> None:
    def change(lines: list[Any]) -> None:
        line = next(line for line in lines if line["arm"] == arm)
        first, second, *rest = ids(line)
        line["ranking"] = [second, first, *rest]

    faults = forge(copy(), change)
    assert list(faults) == ["controls"]


def test_another_corpus_is_no_corpus_of_the_run(run: Any, tmp_path: Path, sample_path: Path) -> None:
    other = tmp_path / "sample.json"
    other.write_bytes(sample_path.read_bytes() + b"\n")
    faults = type(run)(run.folder, run.sql, other).faults(corpus=True)
    assert list(faults) == ["corpus"]
    assert "the corpus of the run f4ad1a8842af…" in faults["corpus"]
