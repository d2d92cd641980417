"""The job that stops a recall regression does so: its own commands, on the sample."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

CI = Path(__file__).parents[2] / "examples" / "ci"
JOB = yaml.safe_load((CI / "recall.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step["run"] for step in JOB["jobs"]["recall"]["steps"] if "run" in step}
Step = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's repository with the options of the memory, of which the target branch was measured."""
    top = tmp_path_factory.mktemp("repository")
    (top / "memory.args").write_text((CI / "memory.args").read_text())
    git = ["git", "-c", "user.name=ada", "-c", "user.email=ada@example.org", "-C", str(top)]
    for words in (
        "init -q",
        "add memory.args",
        "commit -qm first",
        "update-ref refs/remotes/origin/main HEAD",
    ):
        subprocess.run([*git, *words.split()], check=True)
    done = run(top, "Measure the branch that it is to join")
    assert done.returncode == 0, done.stderr
    return top


def run(top: Path, name: str) -> subprocess.CompletedProcess[str]:
    """A step, as GitHub runs it with `shell: bash`."""
    environ = {
        **os.environ, "GITHUB_BASE_REF": "main", "RUNNER_TEMP": str(top),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }  # fmt: skip
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]]
    return subprocess.run(command, cwd=top, env=environ, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    ("options", "code", "verdict"),
    [
        ("--set recency_weight=0.11", 0, "verdict: equivalent"),
        ("--set bm25_weight=0 --set passage_terms_weight=0", 1, "verdict: regressed"),
    ],
)
def test_a_change_passes_unless_recall_falls(repository: Path, options: str, code: int, verdict: str) -> None:
    (repository / "memory.args").write_text(f"--embedder none {options}\n")
    subprocess.run(["rm", "-rf", str(repository / "new")], check=True)
    measured = run(repository, "Measure the change")
    assert measured.returncode == 0, measured.stderr
    compared = run(repository, "Stop a regression")
    assert compared.returncode == code, compared.stdout + compared.stderr
    assert verdict in compared.stdout


def test_the_job_runs_bash_as_the_test_does_and_installs_what_it_runs() -> None:
    assert JOB["defaults"]["run"]["shell"] == "bash"
    assert list(STEPS) == [
        "Install", "Measure the branch that it is to join", "Measure the change", "Stop a regression",
    ]  # fmt: skip
    assert "-e .pgmnemo/runner" in STEPS["Install"]
