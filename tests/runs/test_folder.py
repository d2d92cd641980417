"""The results folder: its name, that nothing is overwritten, resumption, and how it can fail."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import OutputError, UsageError
from runner.errors import ResumeFault
from runner.protocol.editions import current
from runner.runs.config import RunConfig
from runner.runs.environment import code, code_plan, git
from runner.runs.folder import RunFolder, folder_name, pin_plan, results_base
from runner.runs.record_files import LineWriter
from runner.runs.run import Arm, Run
from runner.runs.storage import write_file

SCHEMAS = current().schemas


def _named(run: Run, **choice: Any) -> str:
    """The name of the folder of a run of LoCoMo, made late on 9 May."""
    own = {"suite": "locomo", "level": "session", "embedder": "minilm", "version": "0.2.1"}
    return folder_name(replace(run, choice=RunConfig(**{**own, **choice})))


def test_the_name_says_version_day_embedder_and_labels(run: Run) -> None:
    assert _named(run, level="turn", limit=20) == "v0.2.1_20260509_minilm_turn_limit20"
    assert _named(run, embedder="none", mode="keyword") == "v0.2.1_20260509_none"


def test_the_name_begins_with_another_system_that_is_under_test(run: Run) -> None:
    other = replace(run, arms=(Arm("sqlite-fts5", "SQLite", "system", version="3.45.1"),))
    choice = {"system": "sqlite-fts5", "embedder": "none", "mode": "", "baselines": ("pgmnemo",)}
    assert _named(other, **choice) == "sqlite-fts5_3.45.1_20260509_none_side-by-side"
    assert _named(replace(run, arms=()), **choice) == "sqlite-fts5_20260509_none_side-by-side"


def test_a_label_cannot_leave_the_folder(run: Run) -> None:
    named = _named(run, embedder="../a b", types=("x/y",))
    assert named == "v0.2.1_20260509_a-b_x-y"


def test_the_base_is_the_output_or_the_repository(tmp_path: Path) -> None:
    assert results_base("locomo", tmp_path, Path("/nowhere")) == tmp_path
    (tmp_path / "benchmarks").mkdir()
    assert results_base("locomo", None, tmp_path) == tmp_path / "benchmarks" / "locomo" / "results"
    assert results_base("locomo", None, tmp_path, kept=False) == tmp_path / "benchmarks" / "locomo" / "local"
    with pytest.raises(UsageError, match="--output"):
        results_base("locomo", None, tmp_path / "nowhere")


def _finished(base: Path, text: str = "x") -> Path:
    with RunFolder.start(base, "run") as folder:
        (folder.path / "report.md").write_text(text, encoding="utf-8")
        return folder.finish(SCHEMAS)


def test_a_second_run_of_a_day_gets_a_number(tmp_path: Path) -> None:
    assert [_finished(tmp_path, text).name for text in "abc"] == ["run", "run_2", "run_3"]
    assert (tmp_path / "run" / "report.md").read_text(encoding="utf-8") == "a"
    assert not list(tmp_path.glob(".*"))


def test_runs_that_start_together_get_folders_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        finished = list(pool.map(lambda number: _finished(tmp_path, str(number)), range(48)))
    assert len(set(finished)) == 48
    assert {(path / "report.md").read_text(encoding="utf-8") for path in finished} == set(map(str, range(48)))


def test_a_run_that_wrote_nothing_leaves_nothing(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_folder_made_by_hand_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        (folder.path / "raw").touch()
        folder.target.mkdir()
        with pytest.raises(OutputError, match="appeared meanwhile"):
            folder.finish(SCHEMAS)
    assert not list(folder.target.iterdir())


@pytest.mark.parametrize("named", [".run.partial", "."])
def test_resume_takes_the_partial_folder_or_the_base_with_one(tmp_path: Path, named: str) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        (folder.path / "raw").touch()
    with RunFolder.resume(tmp_path / named) as again:
        assert (again.path, again.name) == (folder.path, "run")
        assert again.finish(SCHEMAS) == tmp_path / "run"


def test_resume_refuses_what_it_cannot_go_on_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        RunFolder.resume(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no run that was interrupted"):
        RunFolder.resume(tmp_path)
    with pytest.raises(UsageError, match="finished"):
        RunFolder.resume(_finished(tmp_path))
    for name in ("a", "b"):
        with RunFolder.start(tmp_path, name) as folder:
            (folder.path / "raw").touch()
    with pytest.raises(UsageError, match=r"several.*\.a\.partial, \.b\.partial"):
        RunFolder.resume(tmp_path)


@pytest.mark.parametrize("name", [".run.partial", "."])
@pytest.mark.parametrize("moment", ["the plan is gone", "the run has its name"])
def test_a_run_that_was_killed_when_it_was_done_is_not_begun_again(
    moment: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with RunFolder.start(tmp_path, "run") as folder:
        pin_plan(folder.path, {}, "08:00")
        (folder.path / "raw").touch()
        with monkeypatch.context() as patch:
            if moment == "the plan is gone":
                patch.setattr(RunFolder, "named", killed)
            else:
                patch.setattr("runner.runs.folder.sync_folder", lambda path: path == tmp_path and killed())
            with pytest.raises(KeyboardInterrupt):
                folder.finish(SCHEMAS)
    told = "is finished" if folder.path.exists() or name != "." else "no run that was interrupted"
    with pytest.raises(UsageError, match=told):
        RunFolder.resume(tmp_path / name)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["manifest.json", "raw"]
    assert not list(tmp_path.glob(".*"))


def test_a_run_at_work_cannot_be_resumed_by_another(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder, pytest.raises(UsageError, match="still working"):
        RunFolder.resume(folder.path)


def test_a_folder_that_nobody_planned_is_refused(tmp_path: Path) -> None:
    (tmp_path / "raw").touch()
    with pytest.raises(ResumeFault, match=r"no plan\.json, .*; start anew without --resume"):
        pin_plan(tmp_path, {}, "08:00")


def test_a_plan_of_other_fields_is_of_another_version_of_the_runner(tmp_path: Path) -> None:
    pin_plan(tmp_path, {"seed": 42}, "2026-05-09T08:00:00")
    with pytest.raises(ResumeFault, match="another version of the runner; start anew without --resume"):
        pin_plan(tmp_path, {"commit": "ab" * 20, "seed": 42}, "2026-05-09T08:00:00")


def test_the_plan_tells_one_state_of_the_code_from_another(tmp_path: Path) -> None:
    for words in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "a"]):
        git(tmp_path, *words)
    file = tmp_path / "runner" / "a.py"
    file.parent.mkdir()
    file.write_text("a = 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "a")

    def state() -> dict[str, str | None]:
        return code_plan(tmp_path, code(tmp_path))

    clean = state()
    assert clean == {"commit": code(tmp_path).commit, "uncommitted changes": "none"}
    file.write_text("a = 2\n")
    changed = state()
    git(tmp_path, "add", ".")
    assert state() == changed  # the same contents
    file.write_text("a = 3\n")
    other = state()
    (file.parent / "b.py").touch()
    states = [clean, changed, other, state()]
    (tmp_path / "pgmnemo").mkdir()  # the embedders' code
    (tmp_path / "pgmnemo" / "c.py").touch()
    states.append(state())
    assert len({one["uncommitted changes"] for one in states}) == 5
    assert {one["commit"] for one in states} == {clean["commit"]}
    assert code_plan(file.parent, code(file.parent)) == {"commit": None, "uncommitted changes": None}


def test_the_plan_does_not_stay_in_the_results(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        pin_plan(folder.path, {}, "08:00")
        assert [path.name for path in folder.finish(SCHEMAS).iterdir()] == ["manifest.json"]


def test_a_full_disk_is_one_sentence_and_leaves_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_file(tmp_path / "run.json", "{}\n")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="the disk is full"):
        write_file(tmp_path / "run.json", "x")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["{}\n"]
    with pytest.raises(OutputError, match="the disk is full"), LineWriter(tmp_path / "raw") as writer:
        writer.append("{}")
