"""Does the run ask every question, at every cutoff, in the canonical mode? (§4)"""

from __future__ import annotations

from collections.abc import Iterator

from runner.gates.facts import RunFacts
from runner.gates.gate import Finding
from runner.records import Status


def scope(facts: RunFacts) -> Finding:
    """DEVIATION for a part of the questions, a missing cutoff, or any option that departs."""
    cutoffs = ", ".join(map(str, facts.protocol.cutoffs))
    expected = f"every question, at k = {cutoffs}, without a departing option"
    departures = list(_departures(facts))
    if not departures:
        return Finding(Status.PASSED, expected, "as expected")
    return Finding(Status.DEVIATION, expected, "; ".join(departures), resolve="leave these options out")


def _departures(facts: RunFacts) -> Iterator[str]:
    if facts.limit is not None:
        yield f"only the first {facts.limit:,} questions (--limit)"
    if facts.types:
        yield f"only the types {', '.join(facts.types)} (--types)"
    missing = [k for k in facts.protocol.cutoffs if facts.cutoffs and k not in facts.cutoffs]
    if missing:
        yield f"no figure at k = {', '.join(map(str, missing))} (--k)"
    yield from (f"{name} {value}" for name, value in facts.departures.items())
