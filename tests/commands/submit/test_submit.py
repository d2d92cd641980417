"""A submission is verified before it is packed, holds one run alone, and is verified and ranked as it is."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.cli import main
from runner.commands.submit import submit
from runner.runs.archive import pack, unpacked
from runner.runs.history import entries
from runner.runs.reading import Results
from runner.verification import Found, verify
from tests.helping import kept_run

ROOT = Path(__file__).parents[3]
SAMPLE = kept_run("sample")


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return submit(SAMPLE, tmp_path_factory.mktemp("submission") / "run.tar.gz")


def test_a_submission_is_intact_as_its_run_is(submission: Path) -> None:
    found, own = runner.verify(submission), runner.verify(SAMPLE)
    assert found.intact
    assert found.document()["folder"] == SAMPLE.name
    told = {one.check: one for one in found.answers}
    assert told.pop("commit").found is Found.NOT_ASKED  # an archive is in no repository
    assert [one for one in own.answers if one.check in told] == list(told.values())


def test_it_holds_the_run_and_what_history_says_of_it_alone(submission: Path) -> None:
    with unpacked(submission) as folder:
        packed = Results(SAMPLE)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
            name: packed.content(name) for name in packed.names if name != "report.html"
        }
        [entry] = entries(folder.parents[3] / "HISTORY.md")
    assert entry in entries(ROOT / "HISTORY.md")
    assert entry.name == SAMPLE.name


def test_the_same_run_gives_the_same_bytes(submission: Path, tmp_path: Path) -> None:
    assert submit(SAMPLE, tmp_path / "again.tar.gz").read_bytes() == submission.read_bytes()


def test_a_run_that_is_not_kept_is_submitted_as_such(finish: Callable[..., Any], tmp_path: Path) -> None:
    run = finish(tmp_path / "benchmarks" / "sample" / "local", limit=2)
    for history in tmp_path.rglob("HISTORY.md"):
        history.unlink()
    (tmp_path / "HISTORY.md").write_text("# History\n")
    check = partial(verify, sql=run.sql)
    made = submit(run.folder, tmp_path / "run.tar.gz", check=check)
    found = check(made)
    assert found.intact
    [history] = [one for one in found.answers if one.check == "history"]
    assert (history.found, history.sentence.partition(":")[0]) == (Found.NOT_ASKED, "not kept")


def test_a_byte_changed_and_packed_anew_is_found_by_verify(
    submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.tar.gz"
    with tarfile.open(submission) as archive, bad.open("wb") as into:
        files = {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]
        [name] = (name for name in files if name.endswith("report.md"))
        pack(files | {name: files[name].replace(b"0", b"1", 1)}, into)
    assert main(["verify", str(bad)]) == 1
    assert "wrong      manifest   report.md has sha256" in capsys.readouterr().out


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(files: dict[str, bytes], into: Any) -> None:
        into.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runner.commands.submit.pack", full)
    with pytest.raises(runner.RunnerError, match=r"cannot be written \(No space left on device\)"):
        submit(SAMPLE, tmp_path / "run.tar.gz")
    assert not list(tmp_path.iterdir())


def test_archives_stand_on_the_board_beside_folders_and_bad_ones_apart(
    submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.tar.gz").write_bytes(submission.read_bytes()[:-9])
    page = tmp_path / "board.html"
    words = [submission, SAMPLE, tmp_path, "--json", "--output", page]
    assert main(["leaderboard", *map(str, words)]) == 0
    found = json.loads(capsys.readouterr().out)
    [group] = found["groups"]
    for board in group["boards"]:
        assert [row["folder"] for row in board["rows"]] == [submission.as_posix(), SAMPLE.as_posix()]
        assert [row["rank"] for row in board["rows"]] == [1, 1]
        assert {row["attested"] for row in board["rows"]} == {"self-run"}
        assert len({row["label"] for row in board["rows"]}) == 2
    [aside] = found["asides"]
    assert (aside["name"], aside["kind"]) == ("bad.tar.gz", "unreadable")
    assert "is no whole archive" in aside["reason"]
    assert "/pgmnemo-" not in page.read_text()  # no word of where it was unpacked
