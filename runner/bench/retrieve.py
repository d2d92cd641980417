"""The recall stage: write the answers of each arm in each scope to the raw file, then time the systems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pgmnemo.progress import QUIET, Progress
from runner.bench.workload import IndexedQuestion, Workload, spread
from runner.protocol.editions import RetrievalPins
from runner.records import RankedSegment, Retrieval, SearchScope
from runner.runs.canonical import decimals
from runner.runs.raw import KeptFields, Key
from runner.runs.record_files import RecordFile
from runner.runs.timings import Timing
from runner.systems.query_runner import LIMIT, AnswerValidator, ask_all, time_answers
from runner.systems.system import WORKERS, Query, System


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """An arm to measure: a loaded system and its settings.

    `kept` says which parts of each rank the raw file keeps besides the id. `limit` is the time limit in
    seconds of one question, and `jobs` the number of questions asked at once. `on_answer` is called with
    each answered question before its row is written. `counts_tokens`: the rows within a project have the
    lengths of the ranked texts.
    """

    name: str
    system: System
    judge: AnswerValidator
    settings: Mapping[str, str] | None = None
    kept: KeptFields = KeptFields.IDS
    limit: float = LIMIT
    jobs: int = WORKERS
    on_answer: Callable[[IndexedQuestion, SearchScope, Query], None] | None = None
    counts_tokens: bool = False


class RetrievalSink(Protocol):
    """A receiver of answers: a raw file, or the comparison of a rerun.

    `done` holds the keys already received.
    """

    done: set[Key]

    def write(self, retrieval: Retrieval, *, kept: KeptFields) -> None: ...

    def forget(self, arm: str) -> None: ...


def retrieve(
    writer: RetrievalSink,
    workload: Workload,
    ranker: RankedSystem,
    scopes: Iterable[SearchScope],
    depth: int,
    progress: Progress = QUIET,
) -> None:
    """Write the missing rows of one arm in some scopes, in the order scope, question.

    A resumed run writes the same bytes as an uninterrupted run, because the rows of the interrupted file
    are a prefix of this order.
    """
    sizes = workload.corpus.project_sizes()
    for scope in scopes:
        done = {question for question, arm, name in writer.done if (arm, name) == (ranker.name, scope.name)}
        left = [one for one in workload.asked if one.question.key not in done]
        progress.pass_over(len(workload.asked) - len(left))
        if not left:
            continue
        queries = workload.queries(left, scope)
        found = ask_all(
            ranker.system, ranker.name, queries, depth, ranker.judge,
            settings=ranker.settings, workers=ranker.jobs, limit=ranker.limit,
        )  # fmt: skip
        tracked = progress.track(found, f"{ranker.name}, {scope.name}", len(left), part=True)
        for one, query, answer in zip(left, queries, tracked, strict=True):
            if ranker.on_answer is not None:
                ranker.on_answer(one, scope, query)
            size = len(workload.lessons) if scope.pooled else sizes[one.question.project]
            line = _retrieval(one, ranker, scope, size, workload.hits(answer.matches))
            if ranker.counts_tokens and not scope.pooled:
                line = workload.lengths.counted(line)
            writer.write(line, kept=ranker.kept)


def time_recall(
    writer: RecordFile[Timing],
    workload: Workload,
    ranker: RankedSystem,
    scopes: Iterable[SearchScope],
    pins: RetrievalPins,
    progress: Progress = QUIET,
    most: int | None = None,
) -> None:
    """Time a system at the edition's k, with the edition's number of questions in each scope, evenly spread.

    `most` replaces that number of questions.
    """
    sample = spread(spread(workload.asked, pins.timed), most or pins.timed)
    for scope in scopes:
        queries = workload.queries(sample, scope)
        found = time_answers(
            ranker.system, ranker.name, queries, pins.timed_k, ranker.judge, limit=ranker.limit
        )
        label = f"{ranker.name}, {scope.name}, timed"
        for one, answer in zip(sample, progress.track(found, label, len(sample), part=True), strict=True):
            seconds = decimals(answer.seconds, 6)
            writer.write(Timing(one.question.key, ranker.name, scope.name, seconds))


def _retrieval(
    one: IndexedQuestion, ranker: RankedSystem, scope: SearchScope, size: int, hits: Iterable[RankedSegment]
) -> Retrieval:
    question = one.question
    return Retrieval(
        question=question.key,
        type=question.type,
        arm=ranker.name,
        scope=scope.name,
        project=question.project,
        size=size,
        gold=question.gold,
        ranking=tuple(hits),
    )
