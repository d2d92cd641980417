"""One tenant's load does not keep another one from its answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_tenant_is_answered_while_another_is_busy() -> None:
    command = [sys.executable, str(ROOT / "benchmarks/fairness.py"), "--seconds", "2", "--lessons", "300"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[0].split()[0] for row in rows] == ["rests", "stores", "asks"]
    assert [int(row[4]) for row in rows] == [0, 0, 0]
    assert max(int(row[3].replace(",", "")) for row in rows) < 15_000  # milliseconds, on a busy machine
    assert int(rows[1][6].replace(",", "")) > 0  # the busy one is told to wait
