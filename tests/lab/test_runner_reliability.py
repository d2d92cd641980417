"""Short versions of `lab.reliability`: damaged inputs of every command, and runs that are killed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from runner.paths import ROOT

SHORT = {
    "inputs": ("--some", "16", "--seed", "7"),
    "resumes": ("--kills", "1", "--only", "sample, more systems"),
}


@pytest.mark.parametrize("name", SHORT)
def test_nothing_is_at_fault(name: str) -> None:
    command = [sys.executable, "-m", f"lab.reliability.{name}", *SHORT[name]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
