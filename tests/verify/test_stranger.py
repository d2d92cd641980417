"""The stranger's check of docs/howto/verify.md does in a clone what the document says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.reader import path

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "howto" / "verify.md").read_text(encoding="utf-8")
SECTION = DOCUMENT.partition("## A stranger's check\n")[2].partition("\n## ")[0]


def test_the_command_of_it_ends_as_the_document_says(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a stranger needs a repository to clone")
    [block] = re.findall(r"^```sh\n(.+?)^```", SECTION, re.MULTILINE | re.DOTALL)
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
    assert done.stdout.endswith("\nthe files alone were held, as --rerun 0 asks\n")
