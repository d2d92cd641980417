"""A run of an older edition is recognised, and verified at the commit that is named."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import runner
from runner.paths import ROOT
from runner.protocol.editions import OlderEdition, known
from runner.protocol.editions.load import FOLDER, OLDER
from runner.runs.environment import git
from runner.runs.results import Results, read_results

RUNS = {"1.4.0": "v0.4.0_20261122_minilm", "2.0.0": "v0.4.1_20261124_minilm"}  # of the sample
PLACES = {1: "runner/editions", 2: "runner/protocol/editions"}


@pytest.fixture(params=RUNS)
def version(request: pytest.FixtureRequest) -> str:
    if git(ROOT, "cat-file", "-e", f"{OLDER[request.param]}^{{commit}}").returncode:
        pytest.skip(f"this clone has no commit {OLDER[request.param][:12]}, which reads {request.param}")
    return str(request.param)


@pytest.fixture
def run(version: str, tmp_path: Path) -> Path:
    """The folder of a run that the commit holds."""
    folder = f"benchmarks/sample/results/{RUNS[version]}"
    packed = subprocess.run(
        ["git", "archive", OLDER[version], folder, "HISTORY.md"], cwd=ROOT, capture_output=True, check=True
    )
    subprocess.run(["tar", "x"], cwd=tmp_path, input=packed.stdout, check=True)
    return tmp_path / folder


@pytest.fixture
def worktree(version: str, tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / f"pgmnemo-{version}"
    assert not git(ROOT, "worktree", "add", "--detach", str(place), OLDER[version]).returncode
    yield place
    git(ROOT, "worktree", "remove", "--force", str(place))


def test_the_commit_that_is_named_verifies_an_old_run(worktree: Path, run: Path, version: str) -> None:
    with pytest.raises(OlderEdition) as error:
        runner.verify(run)
    asked, command = re.findall(r"`(.*?)`", str(error.value))
    assert asked == f"git worktree add ../pgmnemo-{version} {OLDER[version][:12]}"
    words = command.removeprefix("python ").split()
    done = subprocess.run(
        [sys.executable, *words, "--rerun", "0"], cwd=worktree, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "intact" in done.stdout


@pytest.mark.parametrize("older", OLDER)
def test_the_commit_has_each_older_edition(older: str) -> None:
    assert older not in known()
    if git(ROOT, "cat-file", "-e", f"{OLDER[older]}^{{commit}}").returncode:
        pytest.skip(f"this clone has no commit {OLDER[older][:12]}")
    pins = f"{OLDER[older]}:{PLACES[int(older[0])]}/{older}/edition.toml"
    assert not git(ROOT, "cat-file", "-e", pins).returncode


def test_an_edition_that_others_follow_is_kept_and_not_read() -> None:
    assert {path.name for path in FOLDER.glob("2.*")} - set(known()) == {"2.0.0", "2.1.0"}


def test_whoever_reads_an_old_run_is_told_the_same(run: Path, version: str) -> None:
    sentence = (
        rf"is a run of the older edition {re.escape(version)}, which commit {OLDER[version]} of this "
        "repository verifies: "
    )
    for read in (read_results, runner.cite, runner.rescore, lambda run: runner.compare(run, run)):
        with pytest.raises(OlderEdition, match=sentence) as error:
            read(run)
        assert error.value.code == 2
    assert Results(run).schemas  # its files can be listed and restored


def test_old_runs_stop_no_list_and_are_named_once(run: Path, tmp_path: Path) -> None:
    from runner.commands.cite.marks import check

    board = runner.leaderboard([run.parent])
    assert {one.kind for one in board.asides if "older edition" in one.reason} == {"unreadable"}
    page = tmp_path / "page.md"
    page.write_text(f"<!-- cite: {run} pgmnemo pool MRR@50 -->90.0 %<!-- /cite -->\n" * 2)
    assert [one.line for one in check([page]).findings if "older edition" in one.message] == [1]
