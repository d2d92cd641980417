"""Is the results folder free of BLOCKED.md? (§5)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate, not_yet
from runner.records import Status

BLOCKED = "BLOCKED.md"
EXPECTED = f"no {BLOCKED} in the results folder"


def blocked(facts: Facts) -> Finding:
    """FAILED when BLOCKED.md is among the artefacts."""
    if facts.artefacts is None:
        return not_yet(EXPECTED)
    if facts.artefacts.get(BLOCKED):
        resolve = f"mend what {BLOCKED} says and run anew into another folder"
        return Finding(Status.FAILED, EXPECTED, f"{BLOCKED} is there", "results folder", resolve)
    return Finding(Status.PASSED, EXPECTED, "none", "results folder")


GATE = Gate("blocked", blocked)
