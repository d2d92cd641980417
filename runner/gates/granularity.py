"""Is a lesson a session? (§2.2.1)"""

from __future__ import annotations

from runner.gates.facts import RunFacts
from runner.gates.gate import Finding
from runner.records import Status


def granularity(facts: RunFacts) -> Finding:
    """DEVIATION for another granularity: it exists for comparison and is never canonical."""
    wanted = facts.pins.granularity if facts.pins else "session"
    expected = f"one lesson for each {wanted}"
    found = f"{facts.corpus.granularity} level, {len(facts.corpus.segments):,} lessons"
    if facts.corpus.granularity == wanted:
        return Finding(Status.PASSED, expected, found)
    return Finding(
        Status.DEVIATION, expected, f"{found}: non-canonical", resolve=f"use --granularity {wanted}"
    )
