"""Gates of the results folder: its history entry, its rankings, its files. (§1, §4.1, §5, §7)"""

from __future__ import annotations

from runner.protocol.gates.gate import Gate, GateFinding, RunFacts, not_yet
from runner.records import Status

LINES = "one raw line for each question, arm and scope"
BLOCKED = "BLOCKED.md"
UNBLOCKED = f"no {BLOCKED} in the results folder"


def history(facts: RunFacts) -> GateFinding:
    """FAILED when no entry can be appended, so that no deviation goes unlogged."""
    expected = f"an entry for the run can be appended to {facts.history}"
    if facts.history_ready is None:
        return not_yet(expected)
    if facts.history_ready:
        return GateFinding(Status.PASSED, expected, "it can", facts.history)
    resolve = "make the file writable, or name a folder that is with --output"
    return GateFinding(Status.FAILED, expected, "it cannot be written", facts.history, resolve)


def retrievals(facts: RunFacts) -> GateFinding:
    """FAILED when the system under test or a control arm has not one line a question in each scope.

    Another system that failed has none, and its row says why.
    """
    if facts.retrievals is None:
        return not_yet(LINES)
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
        return GateFinding(Status.FAILED, LINES, found, "raw_retrievals.jsonl", resolve)
    found = f"{asked:,} questions in each of {len(counts)} pairs of arm and scope"
    return GateFinding(Status.PASSED, LINES, found, "raw_retrievals.jsonl")


def artefacts(facts: RunFacts) -> GateFinding:
    """FAILED when one of the protocol's artefacts is missing."""
    wanted = facts.edition.artefacts.required
    expected = ", ".join(wanted)
    if facts.artefacts is None:
        return not_yet(expected)
    missing = [name for name in wanted if not facts.artefacts.get(name)]
    if not missing:
        return GateFinding(Status.PASSED, expected, "all of them", "results folder")
    resolve = "complete the run with --resume, or run again"
    return GateFinding(Status.FAILED, expected, f"no {', no '.join(missing)}", "results folder", resolve)


def blocked(facts: RunFacts) -> GateFinding:
    """FAILED when BLOCKED.md is among the artefacts."""
    if facts.artefacts is None:
        return not_yet(UNBLOCKED)
    if facts.artefacts.get(BLOCKED):
        resolve = f"mend what {BLOCKED} says and run anew into another folder"
        return GateFinding(Status.FAILED, UNBLOCKED, f"{BLOCKED} is there", "results folder", resolve)
    return GateFinding(Status.PASSED, UNBLOCKED, "none", "results folder")


GATES = (
    Gate("history", history),
    Gate("retrievals", retrievals),
    Gate("artefacts", artefacts),
    Gate("blocked", blocked),
)
