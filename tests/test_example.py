"""The worked example runs as it stands, and prints what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
STEPS = re.findall(
    r"```bash\n(.+?)```(?:\n+(?:<!--.*?-->\n+)?```text\n(.+?)```)?",
    (ROOT / "benchmarks" / "EXAMPLE.md").read_text(encoding="utf-8"),
    re.DOTALL,
)
SETUP = STEPS[0][0]
[NOTE] = [commands for commands, _ in STEPS if "> $OUT/release-note.md" in commands]


@pytest.mark.parametrize(
    ("commands", "shown"),
    STEPS[1:],
    ids=[re.findall(r"runner (\w+)", commands)[-1] for commands, _ in STEPS[1:]],
)
def test_a_step_runs_and_prints_what_is_shown(commands: str, shown: str, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    places = {"PATH": path, "OUT": str(tmp_path)}
    before = NOTE if "release-note.md" in commands.replace(NOTE, "") else ""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", SETUP + before + commands],
        cwd=ROOT, env={**os.environ, **places}, capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    printed = {line.strip() for line in (done.stdout + done.stderr).splitlines()}
    assert [line for line in shown.splitlines() if line.strip() not in printed | {"", "…"}] == []


def test_the_example_goes_the_whole_way() -> None:
    text = "".join(commands for commands, _ in STEPS)
    for command in ("verify", "compare", "report", "cite --write", "cite --check", "leaderboard"):
        assert f"python -m runner {command}" in text
