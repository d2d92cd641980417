"""Measurement of the arms of a run: the system under test, its retrievers, the controls, the baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

from pgmnemo.errors import DatabaseError, OutputError, UsageError
from runner.bench.retrieve import RankedSystem, RetrievalSink, retrieve, time_recall
from runner.bench.run_record import describe_system
from runner.bench.run_state import RunState
from runner.bench.stages import Reranking
from runner.bench.workload import Workload, spread
from runner.errors import SystemFault
from runner.records import Retrieval
from runner.runs.raw import RAW, KeptFields
from runner.runs.record_files import RecordFile
from runner.runs.run import EMPTY, Arm
from runner.runs.timings import SUFFIX, Timing
from runner.systems import open_system
from runner.systems.controls import controls_among, new_control
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.query_runner import AnswerValidator, components_of, wrap_errors
from runner.systems.system import SupportsRetrievers, System

WORDS_ALONE = "bm25"  # a retriever with one component: its score is that component


def measure_under_test(
    state: RunState,
    system: System,
    workload: Workload,
    raw: RetrievalSink,
    timings: RecordFile[Timing] | None,
    reranks: Reranking | None = None,
) -> None:
    """Measure the system under test, its retrievers and the controls.

    Loads the system, writes the answers of all of them to `raw`, and times the system. With `reranks` the
    system answers every question a second time, with reranked candidates. `timings` None measures no times,
    as when a finished run is recalled again.
    """
    request, edition, name = state.request, state.run.edition, state.request.system
    with state.watch.stage("ingest"), wrap_errors(name):
        loaded = system.load(workload.lessons, state.progress)
    validator = AnswerValidator(name, workload.lessons, components_of(system))
    first = _measured_system(state, name, system, validator)
    words = f"pgmnemo.recall_lessons, mode {state.run.choice.mode}" if request.ours else ""
    with wrap_errors(name):
        if isinstance(system, Pgmnemo):
            state.update(guc_state=system.state(), guc_defaults=system.defaults())
        row = describe_system(name, request, state.sql, system, loaded, words=words)
    rankers = [(first, row), *_ranked_systems(state, system, validator, workload)]
    with state.watch.stage("recall"):
        for ranker, _ in rankers:
            retrieve(raw, workload, ranker, state.run.scopes, edition.retrieval.depth, state.progress)
    if timings is not None:
        with state.watch.stage("time"):
            time_recall(timings, workload, first, state.run.scopes, edition.retrieval, state.progress)
    state.update(arms=tuple(arm for _, arm in rankers))
    if reranks is not None:
        again = reranks.measure(state, first, row, workload, raw, timings)
        state.update(arms=(*state.run.arms, again))


def _measured_system(state: RunState, name: str, system: System, validator: AnswerValidator) -> RankedSystem:
    """Return a system, under test or a baseline, with everything that the raw file keeps of it."""
    return RankedSystem(
        name, system, validator, kept=KeptFields.ALL, limit=state.request.time_limit, jobs=state.request.jobs,
        counts_tokens=bool(state.run.edition.metrics.budgets),
    )  # fmt: skip


def count_answers(state: RunState, system: System) -> int:
    """Return the number of answers that a run needs, including the timed answers."""
    every, timed = len(state.asked), len(spread(state.asked, state.run.edition.retrieval.timed))
    scopes = len(state.run.scopes)
    aside = len(state.baseline_arms) * len(state.run.baseline_scopes)
    others = scopes * (len(_retrievers(state, system)) + len(_controls(state)))
    again = len(spread(state.asked, state.run.edition.retrieval.timed_reranked))
    reordered = (1 + len(state.baseline_arms)) * len(state.run.baseline_scopes) if state.reranker else 0
    return (scopes + aside) * (every + timed) + others * every + reordered * (every + again)


def _retrievers(state: RunState, system: System) -> dict[str, tuple[Mapping[str, str], str]]:
    """Return settings and description of each retriever of the tested system that the edition measures."""
    retrievers = system.retrievers if isinstance(system, SupportsRetrievers) else {}
    lacking = {"vector"} if state.embedder is None else set()
    return {
        name: retrievers[name]
        for name in state.run.edition.arms
        if name in retrievers and name not in lacking
    }


def _controls(state: RunState) -> list[str]:
    """Return the names of the controls among the edition's arms."""
    return controls_among(state.run.edition.arms, vectors=state.embedder is not None)


def check_kept_rows(state: RunState, system: System, rows: Iterable[Retrieval]) -> None:
    """Check that the rows of an interrupted run are of this run's arms, scopes and corpus.

    Raises OutputError with the number of the first row that is not.
    """
    run, others = state.run, state.baseline_arms
    arms = dict.fromkeys((run.system, *_retrievers(state, system), *_controls(state)), run.scopes)
    again = [f"{name}{SUFFIX}" for name in (run.system, *others)] if state.reranker else []
    arms |= dict.fromkeys((*others, *again), run.baseline_scopes)
    scopes = {(arm, scope.name): scope.pooled for arm, some in arms.items() for scope in some}
    asked = {one.question.key: one.question for one in state.asked}
    ids: dict[str, set[str]] = {}
    for segment in state.corpus.heads:
        ids.setdefault(segment.project, set()).add(segment.id)
    pool = set().union(*ids.values())
    for number, row in enumerate(rows, start=1):
        question, pooled, fault = asked.get(row.question), scopes.get((row.arm, row.scope)), ""
        if question is None or pooled is None:
            fault = f"is of {row.question}, {row.arm}, {row.scope}, which this run does not ask"
        elif (row.type, row.project, row.gold) != (question.type, question.project, question.gold):
            fault = f"has not the type, project or gold of {row.question} in the corpus"
        elif strange := {hit.id for hit in row.ranking} - (pool if pooled else ids.get(row.project, set())):
            fault = f"ranks {min(strange)}, which is not in the corpus"
        if fault:
            raise OutputError(f"{RAW}, line {number} {fault}")


def _ranked_systems(
    state: RunState, system: System, validator: AnswerValidator, workload: Workload
) -> Iterator[tuple[RankedSystem, Arm]]:
    """Yield the retrievers of the system under test, then the controls, each with its arm.

    A retriever of pgmnemo lists its score components. A retriever of a strategy has none.
    """
    for name, (settings, words) in _retrievers(state, system).items():
        parts = system.components if isinstance(system, Pgmnemo) and name != WORDS_ALONE else ()
        kept = KeptFields.PARTS if parts else KeptFields.SCORES
        limit, jobs = state.request.time_limit, state.request.jobs
        ranker = RankedSystem(name, system, validator, settings, kept, limit, jobs)
        yield ranker, Arm(name, words, "leg", components=parts)
    for name in _controls(state):
        control = new_control(name, state.run.seed, workload.drawn_by)
        control.load(workload.lessons)
        validator = AnswerValidator(name, workload.lessons)
        yield RankedSystem(name, control, validator, kept=KeptFields.SCORES), Arm(name, control.description())


def measure_baselines(
    state: RunState,
    names: Iterable[str],
    workload: Workload,
    raw: RetrievalSink,
    timings: RecordFile[Timing] | None,
    reranks: Reranking | None = None,
) -> None:
    """Measure the baseline systems one after another.

    If a system fails, its partial rows are removed, and its arm records the error.
    """
    for name in names:
        try:
            arms = _measure_baseline(state, name, workload, raw, timings, reranks)
        except (SystemFault, DatabaseError, UsageError) as error:
            for one in (name, name + SUFFIX):
                raw.forget(one)
                if timings is not None:
                    timings.forget(one)
                if reranks is not None:
                    reranks.writer.forget(one)
            state.progress.say(f"{name}: {error}")
            arms = (describe_system(name, state.request, state.sql, failed=str(error)),)
        state.update(arms=(*state.run.arms, *arms))


def _measure_baseline(
    state: RunState,
    name: str,
    workload: Workload,
    raw: RetrievalSink,
    timings: RecordFile[Timing] | None,
    reranks: Reranking | None,
) -> tuple[Arm, ...]:
    """Measure one baseline system; return its arm, and its reranked arm if the run has a reranker."""
    pins = state.run.edition.retrieval
    with ExitStack() as stack:
        stack.enter_context(wrap_errors(name))
        system = stack.enter_context(open_system(name, state.system_context()))
        loaded = system.load(workload.lessons, state.progress)
        validator = AnswerValidator(name, workload.lessons, components_of(system))
        ranker = _measured_system(state, name, system, validator)
        scopes = state.run.baseline_scopes
        retrieve(raw, workload, ranker, scopes, pins.depth, state.progress)
        if timings is not None:
            time_recall(timings, workload, ranker, scopes, pins, state.progress)
        arm = describe_system(name, state.request, state.sql, system, loaded)
        again = (reranks.measure(state, ranker, arm, workload, raw, timings),) if reranks else ()
        return (arm, *again)


def with_short_answer_remarks(
    arms: Sequence[Arm], rows: Sequence[Retrieval], depth: int, joined: Collection[str] = ()
) -> tuple[Arm, ...]:
    """Return the arms, with a remark on each system that returned fewer lessons than its scope holds.

    Fewer than `depth` lessons count only if the scope has more. Scopes in `joined` are skipped: there,
    copies of one lesson are one hit, so the hits cannot be counted.
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
    """Return the names of the systems that did not fail but returned no lesson for any question."""
    found = {row.arm for row in rows if row.ranking}
    return [arm.name for arm in arms if arm.role == "system" and not arm.failed and arm.name not in found]


def _short_answer_remark(number: int, asked: int) -> str:
    return f"{number:,} of {asked:,} answers name fewer lessons than were searched: the others did not match"
