"""The commands of docs/trust/check.md do in a clone what the page says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import run_blocks
from tests.reader import path

ROOT = Path(__file__).parents[2]


def test_the_command_of_it_ends_as_the_document_says(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a stranger needs a repository to clone")
    [block] = [one["text"] for one in run_blocks("docs/trust/check.md")]
    done = subprocess.run(
        ["sh", "-eu", "-c", block],
        cwd=tmp_path,
        env={
            **os.environ,
            "REPOSITORY": str(ROOT),
            "PYTHONHASHSEED": "42",
            "PATH": path(),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^holds +commit ", done.stdout, re.MULTILINE)
    assert "\nthe files alone were held, as --rerun 0 asks\n" in done.stdout
