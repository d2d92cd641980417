"""Did every arm answer every question in every scope? (§4.1, §5)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate, not_yet
from runner.records import Status

EXPECTED = "one raw line for each question, arm and scope"


def retrievals(facts: Facts) -> Finding:
    """FAILED when the system under test or a control arm has not one line a question in each scope.

    Another system that failed has none, and its row says why.
    """
    if facts.retrievals is None:
        return not_yet(EXPECTED)
    asked = facts.asked if facts.asked is not None else sum(one.scored for one in facts.corpus.questions)
    run = facts.run
    wanted = [
        (arm.name, scope.name) for arm in run.arms if not arm.failed for scope in run.scopes_of(arm)
    ]  # fmt: skip
    counts = {pair: facts.retrievals.get(pair, 0) for pair in dict.fromkeys([*wanted, *facts.retrievals])}
    wrong = [f"{n:,} lines of {arm} in {scope}" for (arm, scope), n in counts.items() if n != asked]
    if wrong or not asked or not wanted:
        found = "; ".join(wrong) or "no question was asked"
        resolve = f"complete the run with --resume; {asked:,} questions were to be asked"
        return Finding(Status.FAILED, EXPECTED, found, "raw_retrievals.jsonl", resolve)
    found = f"{asked:,} questions in each of {len(counts)} pairs of arm and scope"
    return Finding(Status.PASSED, EXPECTED, found, "raw_retrievals.jsonl")


GATE = Gate("retrievals", retrievals)
