"""The workflow that measures, verifies and signs does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.runs.manifest import SIGNATURE
from tests.helping import kept_run
from tests.verify.sign.conftest import ROOT, Key

TEXT = (ROOT / ".github" / "workflows" / "measure.yml").read_text()

SAMPLE = kept_run("sample")


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    document: dict[Any, Any] = pytest.importorskip("yaml").safe_load(TEXT)
    return document


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with this code and HISTORY.md, in which one kept run is not committed yet."""
    top = tmp_path / "checkout"
    shutil.copytree(SAMPLE, top / SAMPLE.relative_to(ROOT))
    shutil.copy(ROOT / "HISTORY.md", top)
    (top / "runner").symlink_to(ROOT / "runner")
    (top / ".venv" / "bin").mkdir(parents=True)
    python = top / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    subprocess.run(["git", "init", "-q", top], check=True)
    return top


def carried_out(workflow: dict[Any, Any], name: str, top: Path, **environ: str) -> str:
    """What a step of the workflow prints, run as GitHub runs it."""
    [step] = (one for one in workflow["jobs"]["measure"]["steps"] if one.get("name") == name)
    given = {"PYTHONHASHSEED": "42", "MEASURED_SUITE": "sample", "RUNNER_TEMP": str(top.parent), **environ}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=top, env={**os.environ, **given}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_called_by_others_with_the_least_rights(workflow: dict[Any, Any]) -> None:
    assert set(workflow[True]) == {"workflow_call"}  # YAML 1.1 reads the key `on` as true
    assert workflow["permissions"] == {"contents": "read"}


def test_nothing_that_a_caller_gives_becomes_part_of_a_command(workflow: dict[Any, Any]) -> None:
    commands = [step["run"] for step in workflow["jobs"]["measure"]["steps"] if "run" in step]
    assert len(commands) == 5
    assert not [command for command in commands if re.search(r"\$\{\{", command)]


def test_it_verifies_and_signs_and_puts_the_signature_aside(
    workflow: dict[Any, Any], checkout: Path, new_key: Callable[..., Key]
) -> None:
    key = new_key().path.read_text()
    out = carried_out(workflow, "Verify and sign", checkout, SIGNING_KEY=key)
    run = checkout / SAMPLE.relative_to(ROOT)
    assert (run / SIGNATURE).read_bytes().startswith(b"-----BEGIN SSH SIGNATURE-----")
    assert out.count("intact: ") == 2
    assert "PRIVATE KEY" not in out
    carried_out(workflow, "Put aside", checkout)
    kept = checkout.parent / "kept"
    assert (kept / SAMPLE.relative_to(ROOT) / SIGNATURE).exists()
    assert (kept / "HISTORY.md").exists()


def test_without_the_secret_the_run_stays_unsigned(workflow: dict[Any, Any], checkout: Path) -> None:
    assert "unsigned" in carried_out(workflow, "Verify and sign", checkout, SIGNING_KEY="")
    assert not (checkout / SAMPLE.relative_to(ROOT) / SIGNATURE).exists()
