"""The programs of benchmarks/client: our own agent answers rightly, and both scripts print their tables."""

from __future__ import annotations

import subprocess
import sys

from runner.paths import ROOT


def printed(name: str, *words: str) -> list[str]:
    """What a script prints; it must end well."""
    script = ROOT / "benchmarks" / "client" / name
    done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_our_agent_answers_rightly_after_a_restart_and_beside_another_process() -> None:
    lines = printed("side_by_side.py", "--quick", "--only", "pgmnemo")
    [row] = [line for line in lines if line.startswith("|pgmnemo|")]
    *_, missing, _ = row.split("|")
    assert row.count("|") == 8
    lacking = [what for what in missing.strip().split("; ") if not what.startswith("a wall against")]
    assert lacking in ([], ["none of these"])


def test_the_overhead_is_printed_for_each_place_shell_and_verb() -> None:
    lines = printed("overhead.py", "--quick")
    for shell in ("sync", "async"):
        for verb in ("recall  ", "add", "recall, embedded"):
            assert sum(f"{shell:5} {verb}" in line for line in lines) == 3
    assert any(line.startswith("import: ") for line in lines)
    assert any(line.startswith("wheel: ") for line in lines)


def test_a_recall_over_two_tenants_is_measured_beside_one() -> None:
    _, *lines = printed("span.py", "sample")
    found = {line[:18].strip(): float(line[18:]) for line in lines}
    assert found["own tenant alone"] < found["span, by score"] <= found["undivided"] + 0.05
