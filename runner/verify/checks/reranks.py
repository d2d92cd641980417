"""Is each reranked answer its base's in another order, and do the sums follow from the lines? (§4.12)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner.naming import Name
from runner.records import Retrieval
from runner.runs.choice import Choice
from runner.runs.reranks import RERANKS, SUFFIX, Key, Rerank, counts
from runner.suites import SUITES
from runner.systems import SYSTEMS, kind_of
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence

EACH_ONCE = ("linear",)  # judges each candidate once, and calls nobody
ALL_AT_ONCE = ("llm-list", "llm-promote")  # one call for all candidates, or what was kept of it


def reranks(evidence: Evidence) -> str:
    """Every reranked answer has its line and its base's ids; what is summed up in run.json is so anew."""
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
    deep = run.reranker.depth > evidence.edition.retrieval.depth
    if not deep:
        _reordered(evidence, run.reranker.name, run.reranker.depth)
    ids = "whose bases were asked for more ids than are kept" if deep else "with the ids of their bases"
    return f"calls, failures and changes of order follow from {len(lines):,} reranked answers, {ids}"


def _reordered(evidence: Evidence, reranker: str, depth: int) -> None:
    """The first `depth` ids of each base are those of the reranked arm, and what stands behind them stays.

    Where one id may stand in several projects, its copies are one hit: then the whole ranking is compared.
    """
    joined = {scope.name for scope in SUITES[evidence.run.choice.suite].more_scopes}
    told = {(one.question, one.arm, one.scope): one for one in evidence.reranks}
    rows = {_key(row): row for row in evidence.rows}
    for key, one in told.items():
        question, arm, scope = key
        base = arm.removesuffix(SUFFIX)
        if not _repeats(base):
            continue
        before, after = _ids(rows[question, base, scope]), _ids(rows[key])
        first = len(before) if scope in joined else depth
        if one.failed:
            first = 0  # it keeps the order that it had
        where = f"{arm}, {scope}, {question}"
        if set(after[:first]) != set(before[:first]) or after[first:] != before[first:]:
            strange = next((one for one in after if one not in before), None)
            what = (
                f"{strange} is none of the ids of {base}" if strange else f"ranks behind {first} have moved"
            )
            raise Wrong(f"{where}: {what}")
        if scope not in joined and (fault := _miscounted(one, reranker, len(before[:depth]))):
            raise Wrong(f"{RERANKS}, {where}: {fault}")


def _repeats(name: str) -> bool:
    """Whether a system that is asked again answers alike: one of this house does, a service may not."""
    return Name.of(name).system in SYSTEMS and not kind_of(name).own_embedder


def _miscounted(one: Rerank, reranker: str, candidates: int) -> str:
    """What contradicts the number of candidates that were judged; empty where nothing does."""
    found, judged = (one.calls, one.pairs, one.cached), candidates if candidates > 1 else 0
    if one.failed or not judged:
        right = found == (0, 0, 0)
    elif reranker in EACH_ONCE:
        right = found == (0, judged, 0)
    elif reranker in ALL_AT_ONCE:
        right = found in ((1, judged, 0), (0, 0, 1))
    else:  # each distinct text once, several in a call
        right = one.pairs + one.cached > 0 and bool(one.calls) == bool(one.pairs) and one.calls <= one.pairs
    said = f"{one.calls} calls, {one.pairs} pairs, {one.cached} from the cache"
    return "" if right else f"{said} cannot be of {candidates} candidates"


def _ids(row: Retrieval) -> Sequence[str]:
    return [hit.id for hit in row.ranking]


def _key(row: Retrieval) -> Key:
    return row.question, row.arm, row.scope


def _named(evidence: Evidence, choice: Choice) -> None:
    """The choice and the record of the reranker say the same."""
    named = evidence.run.reranker.name if evidence.run.reranker else ""
    if choice.rerank != named:
        raise Wrong(f"run.json chose the reranker {choice.rerank or 'none'} and records {named or 'none'}")
