"""The costs of recalls, reranks and rewrites: the lines of three files, and their sums in run.json.

timings.jsonl has the seconds of each timed recall; reranks.jsonl the cost of each answer's rerank and whether
it failed, in which case the answer keeps the system's own order; rewrites.jsonl the SHA-256 of the text that
replaced each question, because no artefact contains text of a corpus (PROTOCOL.md §2). These values differ
from run to run, and so are not in the raw file, which repeats to the byte.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from runner.records import ALL, Retrieval
from runner.runs.canonical import decimals

TIMINGS = "timings.jsonl"


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds of one recall, as the client measured it."""

    question: str
    arm: str
    scope: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of one arm in one scope at `k` results, in milliseconds, interpolated linearly."""

    arm: str
    scope: str
    k: int
    n: int
    p50_ms: float
    p95_ms: float


def latencies(timings: Collection[Timing], k: int) -> tuple[Latency, ...]:
    """Return p50 and p95 of each arm in each scope, in order of appearance."""
    groups: dict[tuple[str, str], list[float]] = {}
    for timing in timings:
        groups.setdefault((timing.arm, timing.scope), []).append(timing.seconds * 1000)
    return tuple(_latency(arm, scope, k, values) for (arm, scope), values in groups.items())


def _latency(arm: str, scope: str, k: int, milliseconds: list[float]) -> Latency:
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return Latency(arm, scope, k, len(milliseconds), decimals(float(p50), 3), decimals(float(p95), 3))


RERANKS = "reranks.jsonl"
SUFFIX = "+rerank"  # suffix of an arm with reordered answers
FIRST = 10  # ranks that are compared for changed ids

Key = tuple[str, str, str]  # question, arm, scope


@dataclass(frozen=True, slots=True)
class Rerank:
    """The rerank of one answer: model calls, and pairs of question and text judged or cached.

    `failed` says why the answer kept the system's order; empty if it was reranked.
    """

    question: str
    arm: str
    scope: str
    calls: int
    pairs: int
    cached: int
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RerankCount:
    """Sums of one arm in one scope over the questions of one type, or `all` of them.

    `changed` counts the answers in another order than in `base`, `changed_first` those with other lessons in
    the first ten. `added_p50_ms` is the median of the added milliseconds over the timed questions; None if
    not timed.
    """

    arm: str
    base: str
    scope: str
    type: str
    n: int
    calls: int
    pairs: int
    cached: int
    failures: int
    changed: int
    changed_first: int
    added_p50_ms: float | None = None


def rerank_counts(
    reranks: Iterable[Rerank], rows: Collection[Retrieval], timings: Collection[Timing]
) -> tuple[RerankCount, ...]:
    """Return the sums of every reranked arm, in order of appearance: over all questions, then by type."""
    last = {(one.question, one.arm, one.scope): one for one in reranks}
    answers = {(row.question, row.arm, row.scope): row for row in rows}
    groups: dict[tuple[str, str, str], list[Rerank]] = {}
    for key, one in last.items():
        kind = answers[key].type if key in answers else ""
        for type in (ALL, kind):
            groups.setdefault((one.arm, one.scope, type), []).append(one)
    pairs = dict.fromkeys((arm, scope) for arm, scope, _ in groups)
    return tuple(
        _reranked(arm, scope, type, some, answers, timings)
        for arm, scope in pairs
        for (other, place, type), some in groups.items()
        if (other, place) == (arm, scope)
    )


def _reranked(
    arm: str,
    scope: str,
    type: str,
    some: Sequence[Rerank],
    answers: Mapping[Key, Retrieval],
    timings: Collection[Timing],
) -> RerankCount:
    base = arm.removesuffix(SUFFIX)
    before, after = ([_ids(answers, one, name) for one in some] for name in (base, arm))
    both = list(zip(before, after, strict=True))
    return RerankCount(
        arm=arm,
        base=base,
        scope=scope,
        type=type,
        n=len(some),
        calls=sum(one.calls for one in some),
        pairs=sum(one.pairs for one in some),
        cached=sum(one.cached for one in some),
        failures=sum(bool(one.failed) for one in some),
        changed=sum(one != other for one, other in both),
        changed_first=sum(set(one[:FIRST]) != set(other[:FIRST]) for one, other in both),
        added_p50_ms=_added(arm, base, scope, timings) if type == ALL else None,
    )


def _ids(answers: Mapping[Key, Retrieval], one: Rerank, arm: str) -> list[str]:
    row = answers.get((one.question, arm, one.scope))
    return [hit.id for hit in row.ranking] if row else []


def _added(arm: str, base: str, scope: str, timings: Collection[Timing]) -> float | None:
    """Return the median of the added milliseconds over the questions timed on both arms.

    Returns None without such questions.
    """
    taken = {(one.arm, one.question): one.seconds for one in timings if one.scope == scope}
    more = [
        seconds - taken[base, question]
        for (name, question), seconds in taken.items()
        if name == arm and (base, question) in taken
    ]
    return decimals(1000 * float(np.median(more)), 3) if more else None


REWRITES = "rewrites.jsonl"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The rewrite of one question. `changed`: the text differs; `calls` of a model, or `cached` results.

    `failed` says why the original question was asked; empty if it was rewritten.
    """

    question: str
    asked_sha256: str
    changed: bool
    calls: int = 0
    cached: int = 0
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RewriteCount:
    """Sums over the questions of one type, or `all` of them."""

    type: str
    n: int
    changed: int
    calls: int
    cached: int
    failures: int


def asked_sha256(text: str) -> str:
    """Return the SHA-256 of a question's text in UTF-8, which stands for the text in a line."""
    return sha256(text.encode()).hexdigest()


def rewrite_counts(rewrites: Collection[Rewrite], types: Mapping[str, str]) -> tuple[RewriteCount, ...]:
    """Return the sums over all questions, then by type in order of appearance.

    `types` maps questions to types.
    """
    groups: dict[str, list[Rewrite]] = {ALL: list(rewrites)} if rewrites else {}
    for one in rewrites:
        groups.setdefault(types[one.question], []).append(one)
    return tuple(_rewritten(type, some) for type, some in groups.items())


def _rewritten(type: str, some: Collection[Rewrite]) -> RewriteCount:
    return RewriteCount(
        type=type,
        n=len(some),
        changed=sum(one.changed for one in some),
        calls=sum(one.calls for one in some),
        cached=sum(one.cached for one in some),
        failures=sum(bool(one.failed) for one in some),
    )
