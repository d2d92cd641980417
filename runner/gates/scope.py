"""Does the run ask every question, at every cutoff, in the canonical mode? (§4)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.records import Status


def scope(facts: Facts) -> Finding:
    """DEVIATION for a part of the questions, a missing cutoff, or any option that departs."""
    cutoffs = ", ".join(map(str, facts.edition.metrics.cutoffs))
    expected = f"every question, at k = {cutoffs}, without a departing option"
    departures = list(facts.run.choice.departures(facts.edition))
    if not departures:
        return Finding(Status.PASSED, expected, "as expected")
    return Finding(Status.DEVIATION, expected, "; ".join(departures), resolve="leave these options out")


GATE = Gate("scope", scope)
