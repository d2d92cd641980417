"""What a run measures: the system under test, its legs, the controls, and the systems beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from runner.bench.heading import arm_of
from runner.bench.material import Material
from runner.bench.request import PASSAGES
from runner.bench.retrieve import Ranker, retrieve, time_recall
from runner.bench.work import Work
from runner.errors import DatabaseError, SystemFault, UsageError
from runner.records import Retrieval
from runner.runs.raw import RawWriter
from runner.runs.run import Arm
from runner.runs.timings import TimingsWriter
from runner.systems import open_system
from runner.systems.asking import Judge, components_of, faults
from runner.systems.best_passage import best_passage
from runner.systems.controls import ExactCosine, RandomOrder
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.system import Legged, System


def measure_under_test(
    work: Work, system: System, material: Material, raw: RawWriter, timings: TimingsWriter
) -> None:
    """Load the system under test; it, its legs and the controls answer; then it is timed."""
    request, edition, name = work.request, work.run.edition, work.request.system
    with work.watch.stage("ingest"), faults(name):
        loaded = system.load(material.lessons, work.progress)
    judge = Judge(name, material.lessons, components_of(system))
    first = Ranker(name, system, judge, detailed=True, limit=request.time_limit)
    words = f"pgmnemo.recall_lessons, mode {work.run.choice.mode}" if request.ours else ""
    with faults(name):
        if isinstance(system, Pgmnemo):
            work.note(guc_state=system.state(), guc_defaults=system.defaults())
        row = arm_of(name, request, work.sql, system, loaded, words=words)
    rankers = [(first, row), *_legs(work, system, judge), *_controls(work, material)]
    with work.watch.stage("recall"):
        for ranker, _ in rankers:
            retrieve(raw, material, ranker, edition.retrieval.depth, work.progress)
    with work.watch.stage("time"):
        pins = edition.retrieval
        time_recall(timings, material, first, pins.timed_k, pins.timed, work.progress)
    work.note(arms=tuple(arm for _, arm in rankers))


def _legs(work: Work, system: System, judge: Judge) -> Iterator[tuple[Ranker, Arm]]:
    """Those of the edition's arms that are legs of the system under test."""
    legs = system.legs if isinstance(system, Legged) else {}
    for name in work.run.edition.arms:
        if name in legs and not (name == "vector" and work.vectors is None):
            settings, words = legs[name]
            yield (
                Ranker(name, system, judge, settings, limit=work.request.time_limit),
                Arm(name, words, "leg"),
            )


def _controls(work: Work, material: Material) -> Iterator[tuple[Ranker, Arm]]:
    """Those of the edition's arms that need no system."""
    seed = work.run.seed
    for name in work.run.edition.arms:
        control: System
        if name == "cosine" and work.vectors is not None:
            control = ExactCosine()
        elif name == "random":
            control = RandomOrder(seed, material.drawn_by)
        else:
            continue
        control.load(material.lessons)
        yield Ranker(name, control, Judge(name, material.lessons)), Arm(name, control.words())


def measure_beside(work: Work, material: Material, raw: RawWriter, timings: TimingsWriter) -> None:
    """Each other system, one after the other, alone on the machine; one that fails says so in its row."""
    for name in work.request.beside:
        try:
            arm = _measured(work, name, material, raw, timings)
        except (SystemFault, DatabaseError, UsageError) as error:
            raw.forget(name)
            timings.forget(name)
            work.progress.say(f"{name}: {error}")
            arm = arm_of(name, work.request, work.sql, failed=str(error))
        work.note(arms=(*work.run.arms, arm))


def _measured(work: Work, name: str, material: Material, raw: RawWriter, timings: TimingsWriter) -> Arm:
    own, pins = name.removesuffix(PASSAGES), work.run.edition.retrieval
    with ExitStack() as stack:
        stack.enter_context(faults(name))
        system = stack.enter_context(open_system(own, work.place()))
        if own != name:
            system = best_passage(name, system)
        loaded = system.load(material.lessons, work.progress)
        judge = Judge(name, material.lessons, components_of(system))
        ranker = Ranker(name, system, judge, detailed=True, limit=work.request.time_limit)
        retrieve(raw, material, ranker, pins.depth, work.progress)
        time_recall(timings, material, ranker, pins.timed_k, pins.timed, work.progress)
        return arm_of(name, work.request, work.sql, system, loaded)


def remarked(arms: Sequence[Arm], rows: Sequence[Retrieval], depth: int) -> tuple[Arm, ...]:
    """The arms, and of each system how many of its answers fell short of what there is to be found."""
    asked = Counter(row.arm for row in rows)
    short = Counter(row.arm for row in rows if len(row.ranking) < min(depth, row.size))
    return tuple(
        replace(arm, remarks=(_short(short[arm.name], asked[arm.name]),))
        if arm.role == "system" and short[arm.name] else arm
        for arm in arms
    )  # fmt: skip


def _short(number: int, asked: int) -> str:
    return f"{number:,} of {asked:,} answers had fewer lessons than there are"
