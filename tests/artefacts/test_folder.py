"""The results folder: its name, that nothing is overwritten, resumption, and how it can fail."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.artefacts import RunFolder, folder_name, results_base
from runner.artefacts.plan import pin_plan
from runner.errors import OutputError, UsageError

DAY = datetime(2026, 5, 9, 23, 59, tzinfo=UTC)


def test_the_name_says_version_day_embedder_and_labels() -> None:
    assert folder_name("v0.2.1", DAY, "minilm", ["turn", "limit20"]) == "v0.2.1_20260509_minilm_turn_limit20"
    assert folder_name("0.2.1", DAY, "none") == "v0.2.1_20260509_none"


def test_a_label_cannot_leave_the_folder() -> None:
    assert folder_name("0.2.1", DAY, "../a b", ["x/y"]) == "v0.2.1_20260509_a-b_x-y"


def test_the_base_is_the_output_or_the_repository(tmp_path: Path) -> None:
    assert results_base("locomo", tmp_path, Path("/nowhere")) == tmp_path
    (tmp_path / "benchmarks").mkdir()
    assert results_base("locomo", None, tmp_path) == tmp_path / "benchmarks" / "locomo" / "results"
    with pytest.raises(UsageError, match="--output"):
        results_base("locomo", None, tmp_path / "nowhere")


def _finished(base: Path, text: str = "x") -> Path:
    with RunFolder.start(base, "run") as folder:
        (folder.path / "report.md").write_text(text, encoding="utf-8")
        return folder.finish()


def test_a_second_run_of_a_day_gets_a_number(tmp_path: Path) -> None:
    assert [_finished(tmp_path, text).name for text in "abc"] == ["run", "run_2", "run_3"]
    assert (tmp_path / "run" / "report.md").read_text(encoding="utf-8") == "a"
    assert not list(tmp_path.glob(".*"))


def test_an_interrupted_run_keeps_its_name(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        (folder.path / "raw").touch()
    assert _finished(tmp_path).name == "run_2"


def test_runs_that_start_together_get_folders_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        finished = list(pool.map(lambda number: _finished(tmp_path, str(number)), range(48)))
    assert len(set(finished)) == 48
    assert {(path / "report.md").read_text(encoding="utf-8") for path in finished} == set(map(str, range(48)))


def test_nothing_is_visible_before_the_end(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        (folder.path / "raw").touch()
        assert not folder.target.exists()
    assert [path.name for path in tmp_path.iterdir()] == [".run.partial"]


def test_a_run_that_wrote_nothing_leaves_nothing(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_folder_made_by_hand_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        (folder.path / "raw").touch()
        folder.target.mkdir()
        with pytest.raises(OutputError, match="appeared meanwhile"):
            folder.finish()
    assert not list(folder.target.iterdir())


@pytest.mark.parametrize("named", [".run.partial", "."])
def test_resume_takes_the_partial_folder_or_the_base_with_one(tmp_path: Path, named: str) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        (folder.path / "raw").touch()
    with RunFolder.resume(tmp_path / named) as again:
        assert (again.path, again.name) == (folder.path, "run")
        assert again.finish() == tmp_path / "run"


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


def test_a_run_at_work_cannot_be_resumed_by_another(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder, pytest.raises(UsageError, match="still working"):
        RunFolder.resume(folder.path)


def test_only_the_same_run_goes_on(tmp_path: Path) -> None:
    plan = {"version": "0.2.1", "k": (1, 5)}
    assert pin_plan(tmp_path, plan, "08:00") == "08:00"
    assert pin_plan(tmp_path, plan, "09:00") == "08:00"
    with pytest.raises(UsageError, match=r"had version = 0\.2\.1, this one 0\.3\.0"):
        pin_plan(tmp_path, plan | {"version": "0.3.0"}, "09:00")
    with pytest.raises(UsageError, match="had limit = None, this one 3"):
        pin_plan(tmp_path, plan | {"limit": 3}, "09:00")


def test_a_folder_that_nobody_planned_is_refused(tmp_path: Path) -> None:
    (tmp_path / "raw").touch()
    with pytest.raises(UsageError, match=r"no plan\.json"):
        pin_plan(tmp_path, {}, "08:00")


def test_the_plan_does_not_stay_in_the_results(tmp_path: Path) -> None:
    with RunFolder.start(tmp_path, "run") as folder:
        pin_plan(folder.path, {}, "08:00")
        assert [path.name for path in folder.finish().iterdir()] == ["manifest.json"]


def test_a_base_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for base in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError, match="--output"):
            RunFolder.start(base, "run")


def test_a_base_without_the_right_to_write_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(OutputError, match=r"cannot be written \(Permission denied\).*--output"):
        RunFolder.start(tmp_path, "run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_base_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="--output"):
        RunFolder.start(tmp_path / "below", "run")
