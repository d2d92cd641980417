"""The environment in which the blocks of a page run.

It is that of the tests, or the virtual environment that PGMNEMO_READER names: tools/try_pages.py makes one
with exactly what a page installs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

GIVEN = os.environ.get("PGMNEMO_READER")
PROGRAMS = Path(GIVEN) / "bin" if GIVEN else Path(sys.executable).parent
PYTHON = PROGRAMS / "python"
END = "the block has run"
LOOP = f"""
import json, sys
names = {{"__name__": "__main__"}}
for line in sys.stdin:
    exec(compile(json.loads(line), "page", "exec"), names)
    print("{END}", flush=True)
"""


def path() -> str:
    """Return the PATH of the reader."""
    return f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"


class Session:
    """A Python in a folder, into which a reader types one block after the other."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.process = subprocess.Popen(
            [PYTHON, "-c", LOOP], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env={**os.environ, "PATH": path(), **environ},
        )  # fmt: skip

    def run(self, block: str) -> str:
        """Return what a block prints; fail where it ends the Python."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{json.dumps(block)}\n")
        self.process.stdin.flush()
        printed = ""
        for line in self.process.stdout:
            printed += line
            if printed.endswith(f"{END}\n"):
                return printed.removesuffix(f"{END}\n")
        raise AssertionError(f"{block}\n{printed}")

    def close(self) -> None:
        """End the Python as Ctrl-D does."""
        self.process.communicate(timeout=60)
