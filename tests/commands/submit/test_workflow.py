"""The workflow for submissions: what its steps let through, run as they stand in the file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runner.commands.submit import submit
from tests.helping import kept_run
from tests.repositories import git

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / ".github" / "workflows" / "submission.yml"
SAMPLE = kept_run("sample")


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    document: dict[Any, Any] = pytest.importorskip("yaml").safe_load(WORKFLOW.read_text())
    return document


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    """A checkout `handed-in` with one commit, which is the base."""
    place = tmp_path / "handed-in"
    (place / "submissions").mkdir(parents=True)
    (place / "submissions" / "old.tar.gz").write_text("old")
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-qm", "base")
    return place


def step(workflow: dict[Any, Any], name: str, handed_in: Path) -> subprocess.CompletedProcess[str]:
    """Run one step as the service does: bash that ends with the first command that fails."""
    [found] = [one for one in workflow["jobs"]["verify"]["steps"] if one.get("name") == name]
    base = git(handed_in, "rev-list", "--max-parents=0", "HEAD")
    environ = {**os.environ, "BASE": base, "RUNNER_TEMP": str(handed_in.parent), "PYTHONPATH": str(ROOT),
               "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONHASHSEED": "42",
               "GITHUB_STEP_SUMMARY": str(handed_in.parent / "summary.md")}  # fmt: skip
    words = ["bash", "-eo", "pipefail", "-c", found["run"]]
    return subprocess.run(words, cwd=handed_in.parent, env=environ, capture_output=True, text=True)


def test_the_base_judges_with_the_least_rights(workflow: dict[Any, Any]) -> None:
    assert set(workflow[True]) == {"pull_request"}  # never pull_request_target, which bears secrets
    assert workflow["permissions"] == {"contents": "read"}
    code, handed = (one["with"] for one in workflow["jobs"]["verify"]["steps"][:2])
    assert "base.sha" in code["ref"]
    assert "path" not in code
    assert ("head.sha" in handed["ref"], handed["path"]) == (True, "handed-in")
    assert not any(one["persist-credentials"] for one in (code, handed))


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("submissions/new.tar.gz", True),
        ("submissions/old.tar.gz", False),
        ("submissions/-x y.tar.gz", False),
        ("runner/cli.py", False),
    ],
)
def test_a_pull_request_adds_archives_and_nothing_else(
    name: str, passes: bool, workflow: dict[Any, Any], handed_in: Path
) -> None:
    for path in dict.fromkeys(("submissions/good.tar.gz", name)):
        (handed_in / path).parent.mkdir(parents=True, exist_ok=True)
        (handed_in / path).write_text("new")
    git(handed_in, "add", ".")
    git(handed_in, "commit", "-qm", "new")
    assert (step(workflow, "Nothing but archives", handed_in).returncode == 0) is passes


def test_what_was_handed_in_is_verified_and_shown(workflow: dict[Any, Any], handed_in: Path) -> None:
    (handed_in / "submissions" / "old.tar.gz").unlink()
    made = submit(SAMPLE, handed_in / "submissions" / "new.tar.gz")
    (handed_in.parent / "changed").write_text("A\tsubmissions/new.tar.gz\n")
    assert step(workflow, "Verify", handed_in).returncode == 0
    assert step(workflow, "Show", handed_in).returncode == 0
    assert SAMPLE.name in (handed_in.parent / "summary.md").read_text()
    made.write_bytes(made.read_bytes()[:-9])
    assert step(workflow, "Verify", handed_in).returncode != 0
