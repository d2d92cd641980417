"""The arms of a run: the system under test, its legs, the controls, and the other systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from pgmnemo.errors import DatabaseError, UsageError
from runner.bench.retrieve import RankedSystem, RetrievalSink, retrieve, time_recall
from runner.bench.run_record import describe_system
from runner.bench.run_state import RunState
from runner.bench.stages import Reranking
from runner.bench.workload import Workload, spread
from runner.errors import SystemFault
from runner.records import Retrieval
from runner.runs.raw import KeptFields
from runner.runs.record_files import RecordFile
from runner.runs.run import EMPTY, Arm
from runner.runs.timings import SUFFIX, Timing
from runner.systems import open_system
from runner.systems.controls import controls_among, new_control
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.query_runner import AnswerValidator, components_of, wrap_errors
from runner.systems.system import SupportsRetrievers, System

WORDS_ALONE = "bm25"  # the leg of one component: its score says all of it


def measure_under_test(
    work: RunState,
    system: System,
    material: Workload,
    raw: RetrievalSink,
    timings: RecordFile[Timing] | None,
    reranks: Reranking | None = None,
) -> None:
    """Load the system under test; it, its legs and the controls answer; then it is timed.

    With a reranker it answers once more, reordered. `timings` None: nothing is timed, as where a finished run
    is recalled again.
    """
    request, edition, name = work.request, work.run.edition, work.request.system
    with work.watch.stage("ingest"), wrap_errors(name):
        loaded = system.load(material.lessons, work.progress)
    judge = AnswerValidator(name, material.lessons, components_of(system))
    first = RankedSystem(
        name, system, judge, kept=KeptFields.ALL, limit=request.time_limit, jobs=request.jobs
    )
    words = f"pgmnemo.recall_lessons, mode {work.run.choice.mode}" if request.ours else ""
    with wrap_errors(name):
        if isinstance(system, Pgmnemo):
            work.note(guc_state=system.state(), guc_defaults=system.defaults())
        row = describe_system(name, request, work.sql, system, loaded, words=words)
    rankers = [(first, row), *_ranked_systems(work, system, judge, material)]
    with work.watch.stage("recall"):
        for ranker, _ in rankers:
            retrieve(raw, material, ranker, work.run.scopes, edition.retrieval.depth, work.progress)
    if timings is not None:
        with work.watch.stage("time"):
            time_recall(timings, material, first, work.run.scopes, edition.retrieval, work.progress)
    work.note(arms=tuple(arm for _, arm in rankers))
    if reranks is not None:
        again = reranks.measure(work, first, row, material, raw, timings)
        work.note(arms=(*work.run.arms, again))


def count_answers(work: RunState, system: System) -> int:
    """Return the number of answers that a run asks for, including the timed answers."""
    every, timed = len(work.asked), len(spread(work.asked, work.run.edition.retrieval.timed))
    scopes = len(work.run.scopes)
    aside = len(work.beside) * len(work.run.scopes_beside)
    others = scopes * (len(_retrievers(work, system)) + len(_controls(work)))
    again = len(spread(work.asked, work.run.edition.retrieval.timed_reranked))
    reordered = (1 + len(work.beside)) * len(work.run.scopes_beside) if work.reranker else 0
    return (scopes + aside) * (every + timed) + others * every + reordered * (every + again)


def _retrievers(work: RunState, system: System) -> dict[str, tuple[Mapping[str, str], str]]:
    """Return those of the edition's arms that are legs of the system under test: settings, and words."""
    legs = system.legs if isinstance(system, SupportsRetrievers) else {}
    lacking = {"vector"} if work.vectors is None else set()
    return {name: legs[name] for name in work.run.edition.arms if name in legs and name not in lacking}


def _controls(work: RunState) -> list[str]:
    """Return those of the edition's arms that need no system."""
    return controls_among(work.run.edition.arms, vectors=work.vectors is not None)


def _ranked_systems(
    work: RunState, system: System, judge: AnswerValidator, material: Workload
) -> Iterator[tuple[RankedSystem, Arm]]:
    """Yield the legs, then the controls. A leg of pgmnemo has its parts; one of a strategy is of another
    system.
    """
    for name, (settings, words) in _retrievers(work, system).items():
        parts = system.components if isinstance(system, Pgmnemo) and name != WORDS_ALONE else ()
        kept = KeptFields.PARTS if parts else KeptFields.SCORES
        limit, jobs = work.request.time_limit, work.request.jobs
        ranker = RankedSystem(name, system, judge, settings, kept, limit, jobs)
        yield ranker, Arm(name, words, "leg", components=parts)
    for name in _controls(work):
        control = new_control(name, work.run.seed, material.drawn_by)
        control.load(material.lessons)
        judge = AnswerValidator(name, material.lessons)
        yield RankedSystem(name, control, judge, kept=KeptFields.SCORES), Arm(name, control.words())


def measure_baselines(
    work: RunState,
    names: Iterable[str],
    material: Workload,
    raw: RetrievalSink,
    timings: RecordFile[Timing] | None,
    reranks: Reranking | None = None,
) -> None:
    """Measure the other systems one at a time; a system that fails gets a row with its error."""
    for name in names:
        try:
            arms = _measure_baseline(work, name, material, raw, timings, reranks)
        except (SystemFault, DatabaseError, UsageError) as error:
            for one in (name, name + SUFFIX):
                raw.forget(one)
                if timings is not None:
                    timings.forget(one)
                if reranks is not None:
                    reranks.writer.forget(one)
            work.progress.say(f"{name}: {error}")
            arms = (describe_system(name, work.request, work.sql, failed=str(error)),)
        work.note(arms=(*work.run.arms, *arms))


def _measure_baseline(
    work: RunState,
    name: str,
    material: Workload,
    raw: RetrievalSink,
    timings: RecordFile[Timing] | None,
    reranks: Reranking | None,
) -> tuple[Arm, ...]:
    """Return a system beside, and the same reordered where the run has a reranker."""
    pins = work.run.edition.retrieval
    with ExitStack() as stack:
        stack.enter_context(wrap_errors(name))
        system = stack.enter_context(open_system(name, work.place()))
        loaded = system.load(material.lessons, work.progress)
        judge = AnswerValidator(name, material.lessons, components_of(system))
        limit, jobs = work.request.time_limit, work.request.jobs
        ranker = RankedSystem(name, system, judge, kept=KeptFields.ALL, limit=limit, jobs=jobs)
        scopes = work.run.scopes_beside
        retrieve(raw, material, ranker, scopes, pins.depth, work.progress)
        if timings is not None:
            time_recall(timings, material, ranker, scopes, pins, work.progress)
        arm = describe_system(name, work.request, work.sql, system, loaded)
        again = (reranks.measure(work, ranker, arm, material, raw, timings),) if reranks else ()
        return (arm, *again)


def with_short_answer_remarks(
    arms: Sequence[Arm], rows: Sequence[Retrieval], depth: int, joined: Collection[str] = ()
) -> tuple[Arm, ...]:
    """Return the arms with a remark on each system that gave fewer answers than there are lessons to find.

    A scope of `joined` is skipped: copies of one lesson are one hit there, so the answers cannot be counted.
    """
    whole = [row for row in rows if row.scope not in joined]
    asked = Counter(row.arm for row in whole)
    short = Counter(row.arm for row in whole if len(row.ranking) < min(depth, row.size))
    said = {name: _short_answer_remark(number, asked[name]) for name, number in short.items()}
    said |= dict.fromkeys(systems_without_answers(arms, rows), EMPTY)
    return tuple(
        replace(arm, remarks=(*arm.remarks, said[arm.name]))
        if arm.role == "system" and arm.name in said else arm
        for arm in arms
    )  # fmt: skip


def systems_without_answers(arms: Sequence[Arm], rows: Sequence[Retrieval]) -> list[str]:
    """Return the systems that found nothing for any question."""
    found = {row.arm for row in rows if row.ranking}
    return [arm.name for arm in arms if arm.role == "system" and not arm.failed and arm.name not in found]


def _short_answer_remark(number: int, asked: int) -> str:
    return f"{number:,} of {asked:,} answers had fewer lessons than there are"
