"""The sessions of benchmarks/agents/day.py, by words only."""

from __future__ import annotations

import re
import subprocess
import sys

from runner.paths import ROOT


def test_a_day_leaks_nothing_and_stores_no_secret() -> None:
    script = ROOT / "benchmarks" / "agents" / "day.py"
    done = subprocess.run(
        [sys.executable, script, "--embedder", "none"], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout
    met, needs = map(int, re.findall(r"(\d+) of (\d+) needs are met", done.stdout)[0])
    assert needs == 7
    assert met >= 5
    assert "3 of 3 corrections come first; 0 of 3 secrets are stored" in done.stdout
    assert "\n0 prompts are given what belongs to the other project" in done.stdout
