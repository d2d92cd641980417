"""Is a lesson a session? (§2.2.1)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.records import Status


def granularity(facts: Facts) -> Finding:
    """DEVIATION for another granularity than the edition's: it is for comparison and never canonical."""
    wanted = facts.pins.granularity if facts.pins else facts.corpus.granularity
    expected = f"one lesson for each {wanted}"
    found = f"{facts.corpus.granularity} level, {len(facts.corpus.segments):,} lessons"
    if facts.canonical_granularity:
        return Finding(Status.PASSED, expected, found)
    return Finding(
        Status.DEVIATION, expected, f"{found}: non-canonical", resolve=f"use --granularity {wanted}"
    )


GATE = Gate("granularity", granularity, of_corpus=True)
