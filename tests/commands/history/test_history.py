"""Runs and deviations are appended to HISTORY.md; an older entry stays byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from runner.cli import main
from runner.commands.history import log_deviation, log_run
from runner.errors import UnusableRunError
from runner.records import Verdict
from runner.runs.history import HEADER
from runner.runs.manifest import write_manifest
from runner.runs.raw import RAW
from runner.runs.results import REPORT
from runner.runs.timings import TIMINGS

NAME = "v0.2.1_20261121_minilm"


Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path, record: Callable[..., Any], shelve: Callable[..., Path]) -> Make:
    """Makes the results folder of a small repository with a HISTORY.md."""

    def write(**changes: Any) -> Path:
        (tmp_path / "HISTORY.md").write_text(f"{HEADER}\n## an older entry\n")
        run = record(name=NAME, **changes)
        folder = shelve(tmp_path / run.path, run)
        for name in (RAW, TIMINGS, REPORT):
            (folder / name).write_text("{}\n")
        write_manifest(folder, run.edition.schemas)
        return folder

    return write


def digest(folder: Path) -> str:
    return sha256((folder / "manifest.json").read_bytes()).hexdigest()


def test_a_run_is_appended_in_the_files_form(make: Make, tmp_path: Path) -> None:
    folder = make()
    assert log_run(folder) == (tmp_path / "HISTORY.md", True)
    assert (tmp_path / "HISTORY.md").read_text() == (
        f"{HEADER}\n## an older entry\n\n"
        f"## 2026-11-21 · locomo · {NAME}\n\n"
        f"- results: benchmarks/locomo/results/{NAME}\n"
        "- verdict: deviation\n"
        f"- manifest sha256: {digest(folder)}\n"
        "- deviation: embedder: minilm\n"
    )


def test_a_run_is_appended_once(make: Make, tmp_path: Path) -> None:
    folder = make()
    log_run(folder)
    before = (tmp_path / "HISTORY.md").read_bytes()
    assert log_run(folder) == (tmp_path / "HISTORY.md", False)
    assert (tmp_path / "HISTORY.md").read_bytes() == before


def test_a_late_deviation_is_an_entry_of_its_own(make: Make, tmp_path: Path) -> None:
    folder = make(verdict=Verdict.VERIFIED, deviations=())
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


def test_a_folder_without_a_history_above_says_so(make: Make, tmp_path: Path) -> None:
    folder = make()
    (tmp_path / "HISTORY.md").unlink()
    with pytest.raises(UsageError, match="--history"):
        log_run(folder)
    history = tmp_path / "elsewhere.md"
    log_run(folder, history=history)
    assert f"- results: benchmarks/locomo/results/{NAME}\n" in history.read_text()


def test_the_commands_say_what_they_did(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(make())
    for words in (["add", folder], ["add", folder], ["deviation", folder, "clock: late"]):
        assert main(["history", *words]) == 0
    said = [line.rpartition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    assert said == ["appended", "has it already", "appended"]


@pytest.mark.parametrize("spoil", ["changed", "missing", "foreign"])
@pytest.mark.parametrize("logged", [False, True])
def test_a_folder_that_is_not_what_its_manifest_lists_is_refused(
    make: Make, tmp_path: Path, spoil: str, logged: bool
) -> None:
    folder = make()
    if logged:
        log_run(folder)
    before = (tmp_path / "HISTORY.md").read_bytes()
    if spoil == "changed":
        (folder / RAW).write_text("garbage")
    elif spoil == "missing":
        (folder / RAW).unlink()
    else:
        (folder / "foreign.txt").touch()
    with pytest.raises(UnusableRunError, match=r"the folder was changed since the run"):
        log_run(folder)
    assert (tmp_path / "HISTORY.md").read_bytes() == before
