"""Do the sums of a reranker follow from what it did to each answer? (§4.12)"""

from __future__ import annotations

from collections import Counter

from runner.records import Retrieval
from runner.runs.choice import Choice
from runner.runs.reranks import RERANKS, SUFFIX, Key, counts
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence


def reranks(evidence: Evidence) -> str:
    """Every reranked answer has its line; calls, failures and changes of order are summed up anew."""
    run, choice = evidence.run, evidence.run.choice
    _named(evidence, choice)
    if run.reranker is None:
        raise NotAsked("the run had no reranker")
    found = Counter((one.arm, one.scope) for one in evidence.reranks)
    lines = {(one.question, one.arm, one.scope) for one in evidence.reranks}
    answered = {pair: n for pair, n in evidence.counts.items() if pair[0].endswith(SUFFIX)}
    if set(found) != set(answered):
        raise Wrong(f"{RERANKS} is of other arms and scopes than the raw rankings that are reordered")
    missing = next(
        (row for row in evidence.rows if row.arm.endswith(SUFFIX) and _key(row) not in lines), None
    )
    if missing is not None:
        raise Wrong(f"{RERANKS} has no line of {missing.question} by {missing.arm} in {missing.scope}")
    if run.reranks != counts(evidence.reranks, evidence.rows, evidence.timings):
        raise Wrong(f"the reranks of run.json are not what {RERANKS} and the raw rankings give")
    return f"calls, failures and changes of order follow from {len(lines):,} reranked answers"


def _key(row: Retrieval) -> Key:
    return row.question, row.arm, row.scope


def _named(evidence: Evidence, choice: Choice) -> None:
    """The choice and the record of the reranker say the same."""
    named = evidence.run.reranker.name if evidence.run.reranker else ""
    if choice.rerank != named:
        raise Wrong(f"run.json chose the reranker {choice.rerank or 'none'} and records {named or 'none'}")
