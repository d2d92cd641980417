"""A run leaves the tracked files of a checkout alone, unless it is to be kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pgmnemo.errors import UsageError
from runner.bench import finish, pipeline, run_state
from runner.cli import main
from runner.runs.folder import RunFolder, interrupted
from runner.runs.history import HEADER
from runner.verification import CheckStatus, verify
from tests.finished import Finished

Finish = Callable[..., Finished]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of the runner, with a HISTORY.md and no run."""
    root = tmp_path / "checkout"
    (root / "benchmarks").mkdir(parents=True)
    (root / "HISTORY.md").write_text(HEADER)
    for module in (pipeline, run_state, finish):
        monkeypatch.setattr(module, "ROOT", root)
    return root


def asked(finished: Finished, checkout: Path) -> dict[str, CheckStatus]:
    answers = verify(finished.folder, sql=finished.sql).answers
    return {answer.check: answer.found for answer in answers if answer.check in ("history", "commit")}


def test_a_run_is_local_and_logged_nowhere(finish: Finish, checkout: Path) -> None:
    run = finish(output=None)
    assert run.folder.parent == checkout / "benchmarks" / "sample" / "local"
    assert (checkout / "HISTORY.md").read_text() == HEADER
    verified = verify(run.folder, sql=run.sql)
    assert verified.intact
    assert {
        one.check: one.sentence for one in verified.answers if one.found is CheckStatus.NOT_ASKED
    }.items() >= {
        (check, "not kept: `history add` with the folder moves it to results/ and logs it")
        for check in ("history", "commit")
    }


def test_a_run_deeper_in_a_local_folder_is_local_too(finish: Finish, checkout: Path) -> None:
    run = finish(output=checkout / "benchmarks" / "general" / "local" / "sample_hash")
    assert (checkout / "HISTORY.md").read_text() == HEADER
    assert verify(run.folder, sql=run.sql).intact
    assert main(["history", "add", str(run.folder)]) == 0
    assert (checkout / "benchmarks" / "general" / "results" / run.folder.name).is_dir()


def test_a_run_that_is_to_be_kept_is_logged(finish: Finish, checkout: Path) -> None:
    run = finish(output=None, keep=True)
    assert run.folder.parent == checkout / "benchmarks" / "sample" / "results"
    logged = (checkout / "HISTORY.md").read_text()
    assert f"- results: benchmarks/sample/results/{run.folder.name}\n" in logged
    assert asked(run, checkout)["history"] is CheckStatus.HOLDS


def test_a_local_run_is_kept_afterwards(
    finish: Finish, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = finish(output=None)
    kept = checkout / "benchmarks" / "sample" / "results" / run.folder.name
    assert main(["history", "add", str(run.folder)]) == 0
    assert f"moved to {kept}" in capsys.readouterr().out
    assert not run.folder.exists()
    assert asked(Finished(kept, run.corpus, run.sql), checkout)["history"] is CheckStatus.HOLDS


def test_a_name_is_taken_once_among_local_and_kept_runs(finish: Finish, checkout: Path) -> None:
    names = [finish(output=None, keep=keep).folder.name for keep in (False, True, False)]
    assert names == [names[0], f"{names[0]}_2", f"{names[0]}_3"]


def test_keeping_overwrites_no_other_run(
    finish: Finish, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = finish(output=None)
    other = checkout / "benchmarks" / "sample" / "results" / run.folder.name
    other.mkdir(parents=True)
    assert main(["history", "add", str(run.folder)]) == 3
    assert "is another run of that name: make the run anew with --keep" in capsys.readouterr().err
    assert run.folder.exists()
    assert (checkout / "HISTORY.md").read_text() == HEADER


OWN = "# Release history of MyApp\n\n## 2.0 · the big one\n"


def test_a_history_of_the_users_own_stays_as_it_is(finish: Finish, tmp_path: Path) -> None:
    (tmp_path / "HISTORY.md").write_text(OWN)
    with pytest.raises(UsageError, match=r"HISTORY\.md is no log of runs: name another place"):
        finish(output=tmp_path)
    assert (tmp_path / "HISTORY.md").read_text() == OWN
    assert [path.name for path in tmp_path.iterdir()] == ["HISTORY.md"]


def test_the_repository_is_no_folder_for_results(
    finish: Finish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PROTOCOL.md", "HISTORY.md"):
        (tmp_path / name).write_text(HEADER)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"--output names .*, the repository itself; name a folder"):
        finish(output=Path())
    assert (tmp_path / "HISTORY.md").read_text() == HEADER


def test_an_interrupted_run_is_known_from_one_that_works(tmp_path: Path) -> None:
    base = tmp_path / "local"
    left = RunFolder.start(base, "killed")
    (left.path / "raw_retrievals.jsonl").write_text("{}")
    left.close()
    assert [path.name for path in interrupted(base)] == [".killed.partial"]
    with RunFolder.resume(left.path):
        assert interrupted(base) == []
