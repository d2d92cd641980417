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
from runner.protocol.editions.load import OLDER
from runner.runs.environment import git
from runner.runs.results import Results, read_results

OLD = ROOT / "benchmarks" / "sample" / "results" / "v0.4.0_20261122_minilm"
COMMIT = OLDER["1.4.0"]


@pytest.fixture
def worktree(tmp_path: Path) -> Iterator[Path]:
    if git(ROOT, "cat-file", "-e", f"{COMMIT}^{{commit}}").returncode:
        pytest.skip(f"this clone has no commit {COMMIT[:12]}, which reads the older editions")
    place = tmp_path / "pgmnemo-1.4.0"
    assert not git(ROOT, "worktree", "add", "--detach", str(place), COMMIT).returncode
    yield place
    git(ROOT, "worktree", "remove", "--force", str(place))


def test_the_commit_that_is_named_verifies_an_old_run(worktree: Path) -> None:
    with pytest.raises(OlderEdition) as error:
        runner.verify(OLD)
    asked, command = re.findall(r"`(.*?)`", str(error.value))
    assert asked == f"git worktree add ../{worktree.name} {COMMIT[:12]}"
    words = command.removeprefix("python ").split()
    done = subprocess.run(
        [sys.executable, *words, "--rerun", "0"], cwd=worktree, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "intact" in done.stdout


@pytest.mark.parametrize("version", OLDER)
def test_the_commit_has_each_older_edition(version: str) -> None:
    assert version not in known()
    done = git(ROOT, "cat-file", "-e", f"{OLDER[version]}:runner/editions/{version}/edition.toml")
    if git(ROOT, "cat-file", "-e", f"{OLDER[version]}^{{commit}}").returncode:
        pytest.skip(f"this clone has no commit {OLDER[version][:12]}")
    assert not done.returncode


def test_whoever_reads_an_old_run_is_told_the_same() -> None:
    sentence = rf"is a run of the older edition 1\.4\.0, which commit {COMMIT} of this repository verifies: "
    for read in (read_results, runner.cite, runner.rescore, lambda run: runner.compare(run, run)):
        with pytest.raises(OlderEdition, match=sentence) as error:
            read(OLD)
        assert error.value.code == 2
    assert Results(OLD).schemas  # its files can be listed and restored


def test_old_runs_stop_no_list_and_are_named_once(tmp_path: Path) -> None:
    from runner.commands.cite.marks import check

    board = runner.leaderboard([OLD.parent])
    assert {one.kind for one in board.asides if "older edition" in one.reason} == {"unreadable"}
    marks = "<!-- cite: sample/v0.4.0_20261122_minilm pgmnemo pool MRR@50 -->90.0 %<!-- /cite -->\n"
    page = tmp_path / "page.md"
    page.write_text(marks * 2)
    assert [one.line for one in check([page]).findings if "older edition" in one.message] == [1]
