"""Did every arm answer every question in every scope? (§4.1, §5)"""

from __future__ import annotations

from runner.gates.facts import RunFacts
from runner.gates.gate import Finding, not_yet
from runner.records import Status

EXPECTED = "one raw line for each question, arm and scope"


def retrievals(facts: RunFacts) -> Finding:
    """FAILED when an arm has more or fewer lines in a scope than questions were asked."""
    if facts.retrievals is None:
        return not_yet(EXPECTED)
    asked = facts.asked if facts.asked is not None else sum(one.scored for one in facts.corpus.questions)
    scopes = {scope.name for scope in facts.corpus.scopes}
    searched = {scope for _, scope in facts.retrievals}
    wrong = [f"{n:,} lines of {arm} in {scope}" for (arm, scope), n in facts.retrievals.items() if n != asked]
    wrong += [f"none in {scope}" for scope in sorted(scopes - searched)]
    if wrong or not asked:
        found = "; ".join(wrong) or "no question was asked"
        resolve = f"complete the run with --resume; {asked:,} questions were to be asked"
        return Finding(Status.FAILED, EXPECTED, found, "raw_retrievals.jsonl", resolve)
    found = f"{asked:,} questions in each of {len(facts.retrievals)} pairs of arm and scope"
    return Finding(Status.PASSED, EXPECTED, found, "raw_retrievals.jsonl")
