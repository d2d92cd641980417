"""What git and HISTORY.md know of a run, and what a forger may try with them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runner.commands.history import log_deviation
from tests.repositories import git, merge_an_orphan


def commit(run: Any) -> Any:
    return next(answer for answer in run.verify().answers if answer.check == "commit")


def forged(run: Any) -> None:
    """Another processor, with all that follows from it."""
    record = run.read("run.json")
    record["machine"]["cpu"] = "another"
    run.write("run.json", record)
    run.render()
    run.seal()
    run.log()


@pytest.fixture
def committed(copy: Callable[[], Any]) -> Any:
    """The run in a repository of its own, beside its HISTORY.md."""
    run = copy()
    git(run.folder.parent, "init")
    git(run.folder.parent, "add", ".")
    git(run.folder.parent, "commit", "-m", "Added a run")
    return run


def test_a_committed_run_is_held_against_its_commit(committed: Any) -> None:
    answer = commit(committed)
    assert (answer.found, str(committed.folder.parent) in answer.sentence) == ("holds", True)
    forged(committed)
    assert list(committed.faults()) == ["commit"]
    git(committed.folder.parent, "commit", "-a", "-m", "Changed the run")
    assert "was changed after it had been committed" in committed.faults()["commit"]


def test_a_merge_that_was_forged_by_hand_is_seen(committed: Any) -> None:
    merge_an_orphan(committed.folder.parent, lambda: forged(committed))
    assert "was changed after it had been committed" in committed.faults()["commit"]


def test_a_merge_that_forges_what_no_side_has_is_seen(committed: Any) -> None:
    base = committed.folder.parent
    git(base, "checkout", "-b", "side")
    (base / "notes.txt").write_text("nothing")
    git(base, "add", "notes.txt")
    git(base, "commit", "-m", "Noted nothing")
    git(base, "checkout", "main")
    git(base, "merge", "--no-ff", "--no-commit", "side")
    forged(committed)
    git(base, "add", ".")
    git(base, "commit", "-m", "Merged")
    assert "was changed after it had been committed" in committed.faults()["commit"]


def test_a_replaced_commit_hides_nothing(committed: Any) -> None:
    base = committed.folder.parent
    forged(committed)
    git(base, "commit", "-a", "-m", "Changed the run")
    git(base, "checkout", "--orphan", "clean")
    git(base, "commit", "-m", "Added a run")
    git(base, "checkout", "main")
    git(base, "replace", "main", "clean")
    assert "was changed after it had been committed" in committed.faults()["commit"]


@pytest.mark.parametrize(
    ("name", "value"), [("log.follow", "true"), ("log.diffMerges", "off"), ("log.showRoot", "false")]
)
def test_what_the_user_has_set_moves_nothing(committed: Any, name: str, value: str) -> None:
    base = committed.folder.parent
    shutil.copytree(committed.folder, base / "another")  # log.follow takes it for the run under a former name
    git(base, "config", name, value)
    assert commit(committed).found == "holds"


def test_a_shallow_clone_is_not_asked(committed: Any, tmp_path: Path) -> None:
    base, clone = committed.folder.parent, tmp_path / "clone"
    forged(committed)
    git(base, "commit", "-a", "-m", "Changed the run")
    git(base, "clone", "--depth", "1", f"file://{base}", str(clone))
    answer = commit(type(committed)(clone / committed.folder.name, committed.sql, committed.corpus))
    assert (answer.found, "is a shallow clone" in answer.sentence) == ("not asked", True)


@pytest.fixture
def checkout(copy: Callable[[], Any], tmp_path: Path) -> Any:
    """The run in the place of a kept one, in a repository with its HISTORY.md."""
    run, top = copy(), tmp_path / "checkout"
    place = top / "benchmarks" / "sample" / "results" / run.folder.name
    shutil.copytree(run.folder, place)
    shutil.copy(run.path("HISTORY.md"), top)
    git(top, "init")
    git(top, "add", ".")
    git(top, "commit", "-m", "Added a run")
    return type(run)(place, run.sql, run.corpus)


def test_a_repository_within_the_results_is_not_the_one_that_counts(checkout: Any) -> None:
    assert checkout.faults() == {}
    results = checkout.folder.parent
    git(results, "init")
    git(results, "add", ".")
    git(results, "commit", "-m", "Added a run")
    assert "a git repository of its own stands in" in checkout.faults()["commit"]


def test_a_nearer_history_does_not_shadow_the_checkouts(checkout: Any) -> None:
    own = checkout.folder.parents[3] / "HISTORY.md"
    shutil.copy(own, checkout.folder.parent)
    own.write_text("# History\n")
    assert "has no entry of the run" in checkout.faults()["history"]


def test_a_run_is_not_committed_before_it_began(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    git(run.folder.parent, "init")
    git(run.folder.parent, "add", ".")
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{now - timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}")
    git(run.folder.parent, "commit", "-m", "Added a run")
    assert "brought the run before it is said to have begun" in run.faults()["commit"]


def test_a_deviation_that_once_stood_there_stays(committed: Any) -> None:
    log_deviation(committed.folder, "it was withdrawn")
    git(committed.folder.parent, "commit", "-a", "-m", "Told a deviation")
    assert committed.faults() == {}
    path = committed.path("HISTORY.md")
    path.write_text(path.read_text().rpartition("\n## ")[0])
    words = "HISTORY.md once gave the run the deviation it was withdrawn, and entries stay for good"
    assert committed.faults() == {"history": words}
    git(committed.folder.parent, "commit", "-a", "-m", "Took it back")
    assert committed.faults() == {"history": words}


@pytest.mark.parametrize(
    ("before", "after"), [("<!--\n", "\n-->\n"), ("```\n", "\n```\n"), ("<pre>\n", "\n</pre>\n")]
)
def test_an_entry_that_no_reader_sees_is_none(run: Any, before: str, after: str) -> None:
    head, entry = run.path("HISTORY.md").read_text().split("\n## ")
    run.path("HISTORY.md").write_text(f"{head}\n{before}## {entry}{after}")
    assert "has no entry of the run" in run.faults()["history"]


@pytest.mark.parametrize("suite", ["Sample", "SAMPLE", "s\u200bample", "\uff53ample", "elsewhere"])
def test_a_later_deviation_is_told_however_its_suite_is_spelled(run: Any, suite: str) -> None:
    path = run.path("HISTORY.md")
    head, entry = path.read_text().split("\n## ")
    later = entry.replace("· sample ·", f"· {suite} ·").split("\n- deviation")[0]
    path.write_text(f"{head}\n## {entry}\n## {later}\n- deviation: withdrawn\n")
    [answer] = [one for one in run.verify().answers if one.check == "history"]
    assert answer.sentence.endswith("; later it adds: withdrawn"), answer.sentence


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'fatal: detected dubious ownership in repository' >&2; exit 128", "of another user"),
        (None, "git cannot be run"),
    ],
)
def test_what_git_does_not_tell_is_not_called_uncommitted(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    if script:
        (programs / "git").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    answer = next(answer for answer in run.verify().answers if answer.check == "commit")
    assert (answer.found, said in answer.sentence) == ("not asked", True)
