"""A toy gate: is the suite a small one?"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.records import Status

SMALL = ("sample", "toy")


def small(facts: Facts) -> Finding:
    suite = facts.run.choice.suite
    return Finding(Status.PASSED if suite in SMALL else Status.FAILED, f"one of {SMALL}", suite)


GATE = Gate("toy", small)
