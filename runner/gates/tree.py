"""Was the code that ran a commit, without changes? (§5)"""

from __future__ import annotations

from runner.gates.facts import RunFacts
from runner.gates.gate import Finding
from runner.records import Status

EXPECTED = "a known commit without uncommitted changes in the code"


def tree(facts: RunFacts) -> Finding:
    """DEVIATION when the commit is unknown or the code differs from it."""
    if facts.commit is None:
        resolve = "run from a git checkout of the repository"
        return Finding(Status.DEVIATION, EXPECTED, "no commit is known: not a git checkout", resolve=resolve)
    if facts.dirty is not False:
        resolve = "commit the changes, or put them away, and run again"
        return Finding(
            Status.DEVIATION, EXPECTED, f"uncommitted changes on top of {facts.commit}", resolve=resolve
        )
    return Finding(Status.PASSED, EXPECTED, facts.commit)
