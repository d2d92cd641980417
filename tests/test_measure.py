"""The guides that measure and compare run as they are written, and print what they show."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.reader import path

ROOT = Path(__file__).resolve().parents[1]


def page(name: str) -> str:
    return (ROOT / "docs" / "howto" / name).read_text(encoding="utf-8")


def lines(text: str) -> set[str]:
    return {" ".join(line.split()) for line in text.splitlines()}


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("measure.md", ("sample", "report")),
        ("compare.md", ("verify", "compare", "gate", "report", "leaderboard", "cite --write")),
    ],
    ids=("measure.md", "compare.md"),
)
def test_every_block_runs_and_prints_what_is_shown(
    name: str, commands: tuple[str, ...], tmp_path: Path
) -> None:
    script = "".join(re.findall(r"```bash\n(.+?)```", page(name), re.DOTALL))
    for command in commands:
        assert f"python -m runner {command}" in script
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=600,
        env={**os.environ, "PATH": path(), "OUT": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    shown = lines("".join(re.findall(r"```text\n(.+?)```", page(name), re.DOTALL))) - {"", "…"}
    assert shown
    assert shown - lines(done.stdout + done.stderr) == set()
