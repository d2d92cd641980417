"""A toy gate: is the suite a small one?"""

from __future__ import annotations

from runner.protocol.gates import Gate, GateFinding, RunFacts
from runner.records import Status

SMALL = ("sample", "toy")


def small(facts: RunFacts) -> GateFinding:
    """PASSED for a small suite, FAILED for another."""
    suite = facts.run.choice.suite
    return GateFinding(Status.PASSED if suite in SMALL else Status.FAILED, f"one of {SMALL}", suite)


GATES = (Gate("toy", small),)
