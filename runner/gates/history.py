"""Can HISTORY.md take the entry of the run? A deviation is logged before it is published. (§1)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate, not_yet
from runner.records import Status


def history(facts: Facts) -> Finding:
    """FAILED when no entry can be appended, so that no deviation goes unlogged."""
    expected = f"an entry for the run can be appended to {facts.history}"
    if facts.history_ready is None:
        return not_yet(expected)
    if facts.history_ready:
        return Finding(Status.PASSED, expected, "it can", facts.history)
    resolve = "make the file writable, or name a folder that is with --output"
    return Finding(Status.FAILED, expected, "it cannot be written", facts.history, resolve)


GATE = Gate("history", history)
