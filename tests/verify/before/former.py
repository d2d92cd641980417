"""The tools of release 0.3.1, from this repository's own history, to ask them what today's are asked."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[3]
COMMIT = "870505f47af07c8319d528622c573e14a8d69bac"  # the last one of 0.3.1, before the runner was rebuilt
PATIENCE = 20.0  # seconds for a command that may hang
HUNG = 124
VERIFY = """
import json, sys
from pathlib import Path
from runner.claims.verify import verify
for line in sys.stdin:
    folder, corpus = json.loads(line)
    done = verify(folder, corpus=corpus, history=Path(folder).parent / "HISTORY.md")
    print(json.dumps([one.check for one in done.faults]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended: its exit code, 124 where it hung, and all that it printed."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class Tools:
    """A checkout whose tools are asked, by the Python that runs this."""

    name: str
    tree: Path

    def command(self, *words: str | Path, patience: float = PATIENCE) -> Said:
        """`python -m runner WORDS`."""
        try:
            done = subprocess.run(
                [sys.executable, "-m", "runner", *map(str, words)],
                cwd=self.tree, env=self.environ(), capture_output=True, text=True, timeout=patience,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Said(HUNG, "")
        return Said(done.returncode, done.stdout + done.stderr)

    def environ(self) -> Mapping[str, str]:
        """This checkout's own runner, whatever is installed, and settings of git that move nothing."""
        return {**os.environ, "PYTHONPATH": str(self.tree), "PYTHONHASHSEED": "42", "COLUMNS": "200"}

    def faults(self, asked: Sequence[tuple[Path, Path | None]]) -> list[list[str]]:
        """The checks of 0.3.1 that find a fault in each folder, with its corpus where one is given."""
        lines = "".join(
            json.dumps([str(folder), corpus and str(corpus)], default=str) + "\n" for folder, corpus in asked
        )
        done = subprocess.run(
            [sys.executable, "-c", VERIFY],
            cwd=self.tree, env=self.environ(), input=lines, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def former() -> Iterator[Tools]:
    """The tools of 0.3.1 in a temporary folder; CalledProcessError in a clone without that commit."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", COMMIT], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with TemporaryDirectory(prefix="before-") as place, tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(place, filter="data")
        yield Tools("0.3.1", Path(place))


def now() -> Tools:
    """The tools of this checkout."""
    return Tools("now", ROOT)
