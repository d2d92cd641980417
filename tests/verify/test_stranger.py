"""The stranger's check of VERIFYING.md does in a clone what the document says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "benchmarks" / "VERIFYING.md").read_text(encoding="utf-8")
SECTION = DOCUMENT.partition("## A stranger's check\n")[2].partition("\n## ")[0]


def test_every_command_of_it_ends_as_the_document_says(tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None or not (ROOT / ".git").exists():
        pytest.skip("a stranger needs a repository to clone, and ssh-keygen")
    blocks = re.findall(r"^```sh\n(.+?)^```", SECTION, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        ["sh", "-eu", "-c", "echo BLOCK\n".join(blocks)],
        cwd=tmp_path,
        env={
            **os.environ,
            "REPOSITORY": str(ROOT),
            "PYTHONHASHSEED": "42",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    first, second, third = done.stdout.split("BLOCK\n")
    assert re.search(r"^not asked +signature +unsigned", first, re.MULTILINE)
    assert re.search(
        r"^holds +signature +signed by you@example\.org; the key is SHA256:", second, re.MULTILINE
    )
    assert "intact: " in first
    assert "signed by you@example.org" in second.rpartition("intact: ")[2]  # on the board, too
    assert re.search(r"^wrong +signature .+does not hold", third, re.MULTILINE)
    assert "not intact" in third
