"""Was the code that ran a commit, without changes? (§5)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.records import Status

EXPECTED = "a known commit without uncommitted changes in the code"


def tree(facts: Facts) -> Finding:
    """DEVIATION when the commit is unknown or the code differs from it."""
    code = facts.run.code
    if code.commit is None:
        resolve = "run from a git checkout of the repository"
        return Finding(Status.DEVIATION, EXPECTED, "no commit is known: not a git checkout", resolve=resolve)
    if code.dirty is not False:
        resolve = "commit the changes, or put them away, and run again"
        return Finding(
            Status.DEVIATION, EXPECTED, f"uncommitted changes on top of {code.commit}", resolve=resolve
        )
    return Finding(Status.PASSED, EXPECTED, code.commit)


GATE = Gate("tree", tree)
