"""run.json, metrics.json, manifest.json and BLOCKED.md: what they hold and what they never hold."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from pgmnemo.errors import OutputError
from runner.protocol.editions import current
from runner.protocol.metrics.document import metrics_document
from runner.records import Difference, GateResult, Json, Score, Status
from runner.runs.canonical import without_private_path
from runner.runs.environment import Code, code, machine, packages, peak_memory_mb
from runner.runs.folder import RunFolder
from runner.runs.run import Run, blocked_text, write_blocked, write_metrics, write_run
from runner.runs.storage import write_file

SCHEMAS = current().schemas
SCORE = Score("pgmnemo", "pool", "all", "all", "recall_any@5", 2 / 3, -0.0, 0.99999999999, 3)
DIFFERENCE = Difference("pgmnemo", "bm25", "pool", "all", "recall_any@5", 1 / 3, 0.1, 0.5, 3)


def _metrics(run: Run, score: Score = SCORE) -> Json:
    told = {"definitions": {"recall_any@5": "a"}, "intervals": {"mean": "b"}}
    return metrics_document(run, [score], [DIFFERENCE], code="1", **told)


def test_the_record_is_read_back_as_written(tmp_path: Path, run: Run) -> None:
    document = write_run(tmp_path, run)
    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    assert json.loads(text) == document
    assert text.endswith("}\n")
    assert list(document)[:3] == ["schema", "name", "verdict"]
    assert (document["schema"], document["started"]) == ("pgmnemo/run/6", "2026-05-09T23:59:00Z")


def test_the_record_holds_no_private_path(run: Run) -> None:
    text = json.dumps(run.document(), ensure_ascii=False)
    assert "/home/ada" not in text
    assert "…/sample.json" in text


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("no gold in /home/ada/data/locomo10.json, line 3", "no gold in …/locomo10.json, line 3"),
        ("see '/srv/a/b/' and ~/x/y.json", "see '…/b' and …/y.json"),
        ("https://example.org/a/b.json", "https://example.org/a/b.json"),
        ("conv-26/D3 of benchmarks/locomo/results", "conv-26/D3 of benchmarks/locomo/results"),
        ("pgmnemo/run/1, either/or, 1/2", "pgmnemo/run/1, either/or, 1/2"),
    ],
)
def test_a_path_is_published_by_its_last_part(text: str, published: str) -> None:
    assert without_private_path(text) == published


def test_the_home_folder_is_never_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada lovelace")
    assert without_private_path("/home/ada lovelace/data/locomo10.json") == "…/locomo10.json"


def test_figures_are_rounded_so_that_a_sum_s_order_cannot_be_seen(run: Run) -> None:
    document = _metrics(run)
    nudged = _metrics(run, replace(SCORE, value=SCORE.value + 1e-15))
    assert document == nudged
    row = document["results"][0]
    assert (row["value"], row["ci95_low"], row["ci95_high"]) == (0.6666666667, 0.0, 1.0)
    assert list(row) == [
        "arm", "scope", "view", "type", "metric", "value", "ci95_low", "ci95_high", "n", "trivial",
    ]  # fmt: skip


def test_metrics_repeat_the_pins_and_have_a_line_for_each_figure(tmp_path: Path, run: Run) -> None:
    record = run.document()
    write_metrics(tmp_path, _metrics(run))
    text = (tmp_path / "metrics.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert (document["schema"], document["system"]) == ("pgmnemo/metrics/3", "pgmnemo")
    assert (document["protocol_version"], document["protocol_sha256"]) == (
        record["protocol"]["version"],
        record["protocol"]["sha256"],
    )
    assert document["pgmnemo_version"] == "0.2.1"
    assert all(document[pin] == record[pin] for pin in ("guc_state", "seed", "embedder"))
    assert document["corpus"] == {"suite": "sample", "granularity": "session", **record["corpus"]}
    assert sum(line.startswith('    {"arm": ') for line in text.splitlines()) == 2


def test_a_figure_that_is_no_number_is_refused_by_name(run: Run) -> None:
    with pytest.raises(OutputError, match="pgmnemo pool all all recall_any@5: value is nan"):
        _metrics(run, replace(SCORE, value=float("nan")))


def test_the_manifest_lists_every_other_file(tmp_path: Path, run: Run) -> None:
    with RunFolder.start(tmp_path, run.name) as folder:
        write_run(folder.path, run)
        write_file(folder.path / "raw_retrievals.jsonl", "{}\n")
        done = folder.finish(SCHEMAS)
    manifest = json.loads((done / "manifest.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in manifest["files"]] == ["raw_retrievals.jsonl", "run.json"]
    assert [entry["schema"] for entry in manifest["files"]] == [SCHEMAS.raw, SCHEMAS.run]
    for entry in manifest["files"]:
        content = (done / entry["name"]).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())


def test_what_is_derived_or_half_written_is_in_no_manifest(tmp_path: Path, run: Run) -> None:
    with RunFolder.start(tmp_path, run.name) as folder:
        for name in ("report.html", ".run.json.draft", "report.md"):
            write_file(folder.path / name, "x")
        done = folder.finish(SCHEMAS)
    manifest = json.loads((done / "manifest.json").read_text(encoding="utf-8"))
    assert [(one["name"], one["schema"]) for one in manifest["files"]] == [("report.md", SCHEMAS.report)]


BLOCKED = """\
# BLOCKED: v0.2.1_20260509_hash

1 gate failed. No number of this run may be cited; run.json holds every gate.

## corpus hash

- **where:** …/sample.json
- **expected:** cd12
- **found:** ab34
- **resolve:** Fetch the file again.
"""


def test_a_blocked_run_says_why_and_has_no_figure(tmp_path: Path, run: Run) -> None:
    with RunFolder.start(tmp_path, run.name) as folder:
        write_metrics(folder.path, _metrics(run))
        write_file(folder.path / "report.md", "recall_any@5 94.4 %\n")
        write_blocked(folder.path, run)
        done = folder.finish(SCHEMAS)
    assert sorted(path.name for path in done.iterdir()) == ["BLOCKED.md", "manifest.json", "run.json"]
    assert (done / "BLOCKED.md").read_text(encoding="utf-8") == BLOCKED
    record = json.loads((done / "run.json").read_text(encoding="utf-8"))
    assert (record["verdict"], record["latency"]) == ("blocked", [])
    assert "results" not in record


def test_the_machine_is_described_without_its_name() -> None:
    described = machine()
    assert described.cores >= 1
    assert described.memory_gb > 0
    assert {"numpy", "jinja2"} <= set(packages())
    assert 1 < peak_memory_mb() < 1_000_000


def test_a_folder_within_another_checkout_has_no_commit(tmp_path: Path) -> None:
    assert code(tmp_path) == Code(None, None)
    assert code(Path(__file__).parent) == Code(None, None)


def test_words_in_blocked_md_are_harmless() -> None:
    gate = GateResult(
        "leak", Status.FAILED, "none", "<script>alert(1)</script> [x](javascript:alert(1)) \x1b[2J"
    )
    text = blocked_text("run", [gate])
    assert "<script" not in text
    assert "[x](javascript" not in text
    assert "\x1b" not in text
