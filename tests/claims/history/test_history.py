"""Runs and deviations are appended to HISTORY.md; an older entry stays byte for byte."""

from __future__ import annotations

import argparse
import json
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from runner.claims.history import log_deviation, log_run
from runner.claims.history.command import add_parser
from runner.errors import GateError, UsageError

NAME = "v0.2.1_20261121_minilm"


def make(root: Path, **changes: Any) -> Path:
    """A results folder of a small repository with a HISTORY.md."""
    folder = root / "benchmarks" / "locomo" / "results" / NAME
    folder.mkdir(parents=True)
    run = {
        "verdict": "deviation",
        "deviations": ["embedder: minilm"],
        "corpus": {"suite": "locomo"},
        "started": "2026-11-21T08:22:59Z",
    } | changes
    (folder / "run.json").write_text(json.dumps(run))
    digest = sha256((folder / "run.json").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps({"files": [{"name": "run.json", "sha256": digest}]}))
    (root / "HISTORY.md").write_text("# History\n\n## an older entry\n")
    return folder


def digest(folder: Path) -> str:
    return sha256((folder / "manifest.json").read_bytes()).hexdigest()


def test_a_run_is_appended_in_the_files_form(tmp_path: Path) -> None:
    folder = make(tmp_path)
    assert log_run(folder) == (tmp_path / "HISTORY.md", True)
    assert (tmp_path / "HISTORY.md").read_text() == (
        "# History\n\n## an older entry\n\n"
        f"## 2026-11-21 · locomo · {NAME}\n\n"
        f"- results: benchmarks/locomo/results/{NAME}\n"
        "- verdict: deviation\n"
        f"- manifest sha256: {digest(folder)}\n"
        "- deviation: embedder: minilm\n"
    )


def test_a_run_is_appended_once(tmp_path: Path) -> None:
    folder = make(tmp_path)
    log_run(folder)
    before = (tmp_path / "HISTORY.md").read_bytes()
    assert log_run(folder) == (tmp_path / "HISTORY.md", False)
    assert (tmp_path / "HISTORY.md").read_bytes() == before


def test_a_folder_that_was_changed_since_its_entry_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path)
    log_run(folder)
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text() + "\n")
    for attempt in (lambda: log_run(folder), lambda: log_deviation(folder, "late")):
        with pytest.raises(GateError, match="another manifest"):
            attempt()


def test_a_late_deviation_is_an_entry_of_its_own(tmp_path: Path) -> None:
    folder = make(tmp_path, verdict="verified", deviations=[])
    log_run(folder)
    before = (tmp_path / "HISTORY.md").read_text()
    log_deviation(folder, "clock: was\n  wrong", day=date(2026, 12, 1))
    after = (tmp_path / "HISTORY.md").read_text()
    assert after == before + (
        f"\n## 2026-12-01 · locomo · {NAME}\n\n"
        f"- results: benchmarks/locomo/results/{NAME}\n"
        "- verdict: deviation\n"
        f"- manifest sha256: {digest(folder)}\n"
        "- deviation: clock: was wrong\n"
    )


def test_a_deviation_needs_a_logged_run_and_words(tmp_path: Path) -> None:
    folder = make(tmp_path)
    with pytest.raises(UsageError, match="add the run first"):
        log_deviation(folder, "late")
    log_run(folder)
    with pytest.raises(UsageError, match="needs words"):
        log_deviation(folder, "  ")


def test_a_file_that_the_manifest_does_not_list_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (folder / "run.json").write_text("{}")
    with pytest.raises(GateError, match="is not the file"):
        log_run(folder)


def test_a_folder_without_a_history_above_says_so(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (tmp_path / "HISTORY.md").unlink()
    with pytest.raises(UsageError, match="--history"):
        log_run(folder)
    history = tmp_path / "elsewhere.md"
    log_run(folder, history=history)
    assert f"- results: benchmarks/locomo/results/{NAME}\n" in history.read_text()


def test_the_commands_say_what_they_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, parser = make(tmp_path), argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    for words in (["add", str(folder)], ["add", str(folder)], ["deviation", str(folder), "clock: late"]):
        options = parser.parse_args(["history", *words])
        assert options.handler(options) == 0
    said = [line.rpartition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    assert said == ["appended", "has it already", "appended"]
