"""reranks.jsonl: what the rerank of each answer cost and whether it failed; its sums stand in run.json.

A failed rerank keeps the system's own order. Calls and what came from a cache differ from run to run, so
none of this stands in the raw file, which repeats to the byte.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from runner.records import ALL, Retrieval
from runner.runs.canonical import compact, decimals
from runner.runs.storage import LineWriter, decoded, drop_torn_line
from runner.runs.timings import Timing

RERANKS = "reranks.jsonl"
SUFFIX = "+rerank"  # behind the name of an arm whose answers are reordered
FIRST = 10  # ranks of which it is counted whether others stand in them

Key = tuple[str, str, str]  # question, arm, scope


@dataclass(frozen=True, slots=True)
class Rerank:
    """One answer: calls of a model, pairs of question and text judged anew or read from the cache.

    `failed` says why the answer kept the system's order; empty where it did not.
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

    `changed` answers have another order than `base` gave, `changed_first` other lessons in the first ten.
    `added_p50_ms`: median of the milliseconds that it took longer, over the questions that were timed.
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


class ReranksWriter(LineWriter):
    """Appends to the file, which may hold some lines already; a torn last one is cut."""

    def __init__(self, path: Path) -> None:
        drop_torn_line(path)
        self.before = list(read_reranks(path)) if path.exists() else []
        super().__init__(path)

    def write(self, rerank: Rerank) -> None:
        """One line. Raises OutputError on a full disk."""
        self.append(compact(asdict(rerank)))

    def failed(self, arm: str) -> int:
        """How many answers of an arm failed in the run that goes on."""
        return len({(one.question, one.scope) for one in self.before if one.arm == arm and one.failed})


def read_reranks(path: Path) -> Iterator[Rerank]:
    """The lines of a run, in its order. Raises OutputError that names a malformed one."""
    return decoded(path.read_bytes(), path.name, Rerank, "rerank")


def counts(
    reranks: Iterable[Rerank], rows: Collection[Retrieval], timings: Collection[Timing]
) -> tuple[RerankCount, ...]:
    """The sums of every reranked arm, in order of appearance: over all its questions, then type by type."""
    last = {(one.question, one.arm, one.scope): one for one in reranks}
    answers = {(row.question, row.arm, row.scope): row for row in rows}
    groups: dict[tuple[str, str, str], list[Rerank]] = {}
    for key, one in last.items():
        kind = answers[key].type if key in answers else ""
        for type in (ALL, kind):
            groups.setdefault((one.arm, one.scope, type), []).append(one)
    pairs = dict.fromkeys((arm, scope) for arm, scope, _ in groups)
    return tuple(
        _count(arm, scope, type, some, answers, timings)
        for arm, scope in pairs
        for (other, place, type), some in groups.items()
        if (other, place) == (arm, scope)
    )


def _count(
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
    """Median over the questions that both were timed on; None where there is none."""
    taken = {(one.arm, one.question): one.seconds for one in timings if one.scope == scope}
    more = [
        seconds - taken[base, question]
        for (name, question), seconds in taken.items()
        if name == arm and (base, question) in taken
    ]
    return decimals(1000 * float(np.median(more)), 3) if more else None
