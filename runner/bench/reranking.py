"""The reranked arm of a system: the same system, its candidates in another order, measured beside itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from runner.bench.material import Asked, Material
from runner.bench.retrieve import Ranker, Rows, retrieve, time_recall
from runner.bench.work import Work
from runner.models.failures import Failures
from runner.records import RerankerIdentity, SearchScope
from runner.rerankers import Reranker
from runner.rerankers.reranked import Reranked, reranked
from runner.runs.reranks import RERANKS, SUFFIX, Rerank, ReranksWriter
from runner.runs.run import Arm
from runner.runs.timings import TimingsWriter
from runner.systems.asking import Judge
from runner.systems.system import Query

LIMIT = 3600.0  # seconds of a question: services have a limit of their own, and tries


@dataclass(frozen=True, slots=True)
class Reranking:
    """The reranker of a run and the file of what it cost."""

    reranker: Reranker
    writer: ReranksWriter

    def measure(
        self,
        work: Work,
        base: Ranker,
        arm: Arm,
        material: Material,
        raw: Rows,
        timings: TimingsWriter | None,
    ) -> Arm:
        """The arm of a system that has just answered, reordered: every question, then some timed."""
        name, scopes, pins = base.name + SUFFIX, work.run.scopes_beside, work.run.edition.retrieval
        most, before = work.request.rerank_options.rerank_failures, self.writer.failed(name)
        judge, lessons = Judge(name, material.lessons, 0), material.lessons
        failures = Failures(f"the reranker {self.reranker.identity.name}", "--rerank-failures", most, before)
        wrapped = reranked(name, base.system, lessons, self.reranker, failures)
        ranker = replace(base, name=name, system=wrapped, judge=judge, limit=LIMIT)
        noting = replace(ranker, noted=lambda one, scope, query: self._note(name, wrapped, one, scope, query))
        with work.watch.stage("recall"):
            retrieve(raw, material, noting, scopes, pins.depth, work.progress)
        if timings is not None:
            fresh = reranked(name, base.system, lessons, self.reranker.without_cache(), failures)
            with work.watch.stage("time"):
                timed = replace(ranker, system=fresh)
                time_recall(timings, material, timed, scopes, pins, work.progress, pins.timed_reranked)
        return self.row(work, arm)

    def row(self, work: Work, arm: Arm) -> Arm:
        """The row of the reranked arm."""
        identity = self.reranker.identity
        return replace(
            arm,
            name=arm.name + SUFFIX,
            words=f"{arm.words}; the first {identity.depth:,} in the order of {told(identity)}",
            components=(),
            load_seconds={},
            disk_bytes=None,
            memory_bytes=None,
            remarks=tuple(immovable(identity, work.run.cutoffs)),
        )

    def _note(self, arm: str, wrapped: Reranked, one: Asked, scope: SearchScope, query: Query) -> None:
        said = wrapped.told.pop(query.number)
        key = one.question.key
        self.writer.write(Rerank(key, arm, scope.name, said.calls, said.pairs, said.cached, said.failed))


@contextmanager
def reranking(work: Work, folder: Path) -> Iterator[Reranking | None]:
    """The reranker of a run, closed afterwards, and its file in the run's folder; None without one."""
    if work.reranker is None:
        yield None
        return
    with closing(work.reranker), ReranksWriter(folder / RERANKS) as writer:
        yield Reranking(work.reranker, writer)


def told(identity: RerankerIdentity) -> str:
    """A reranker in words: `endpoint (rerank-v3.5)`."""
    return f"{identity.name} ({identity.model})" if identity.model else identity.name


def immovable(identity: RerankerIdentity, cutoffs: tuple[int, ...]) -> Iterator[str]:
    """What this rerank cannot move, in words: the same candidates stand in the first k, in whatever order."""
    stuck = [k for k in cutoffs if k >= identity.depth]
    if stuck:
        which = ", ".join(f"recall at k = {k}" for k in stuck)
        yield f"{which} cannot move: {identity.depth:,} candidates are reordered, and k is no smaller"
