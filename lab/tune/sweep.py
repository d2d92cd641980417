"""A sweep: collect both legs once, score every point of a grid, confirm one choice on held-out questions.

The best point of a sweep is the best of many looks at the same questions, and is only described as such.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from lab.tune.folds import confirming
from lab.tune.loaded_task import Arrays, LoadedTask, Setup, load_arrays, save_arrays
from lab.tune.request import Point, SweepOptions
from lab.tune.sweep_report import (
    DOCUMENT,
    MARKDOWN,
    NO_RESULT,
    PLOT,
    SCHEMA,
    SHOWN,
    TITLE,
    Legs,
    document,
    markdown,
    plot,
)
from lab.tune.tasks import Floats, Layout, Task, load_tasks
from pgmnemo.errors import os_errors
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.output import check_folder
from runner.runs.storage import replace_file
from runner.systems import SystemContext, base_of, open_system, spec_of
from runner.systems.anchors import fits
from runner.systems.controls import ExactCosine
from runner.systems.fusion import keep_best, recency_of_ages
from runner.systems.strategy import DAY, Strategy

FORMAT = 3
LEGS = ("vector", "keyword")
PARTIAL = ".sweep.partial"
MARKS = {DOCUMENT: f'"schema": "{SCHEMA.rpartition("/")[0]}/', MARKDOWN: NO_RESULT, PLOT: TITLE}


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a sweep, and its files."""

    document: Json
    files: tuple[Path, ...]


def sweep(
    request: SweepOptions, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Swept:  # fmt: skip
    """Score every point of the grid and write the files; a repeated sweep does not score a point again.

    Raises UsageError, CorpusError, DatabaseError, EmbedderError, SystemFault and OutputError as a run does.
    """
    setup, folder = Setup(request, environ, progress, sql), request.output
    request.check()
    check_folder("--output", folder, MARKS)
    try:
        with os_errors(f"{folder} cannot be written ({{why}}); name another --output"):
            folder.mkdir(parents=True, exist_ok=True)
            return _swept(request, setup, folder)
    except KeyboardInterrupt as error:
        error.add_note("the same command goes on where it stopped")
        raise


def _swept(request: SweepOptions, setup: Setup, folder: Path) -> Swept:
    tasks, legs = {}, {}
    for template in dict.fromkeys(point.template for point in request.points):
        [tasks[template]] = load_tasks(
            request.suite, request.data, setup.environ, template=template, level=request.level
        )
        legs[template] = _legs(request, setup, tasks[template])
    figures = list(_scored(request, setup, tasks, legs))
    task, first = next(iter(tasks.values())), next(iter(legs.values()))
    made = document(request, setup.embedder, task, first, figures, confirming(task))
    replace_file(folder / DOCUMENT, pretty(made).encode())
    replace_file(folder / MARKDOWN, markdown(made).encode())
    drawn = plot(made, folder, setup.progress)
    shutil.rmtree(folder / PARTIAL, ignore_errors=True)
    return Swept(made, (folder / DOCUMENT, folder / MARKDOWN, *drawn))


def _legs(request: SweepOptions, setup: Setup, task: Task) -> Legs:
    """Return both legs over one text, from the cache or from the system."""
    name, below = request.strategy, base_of(request.strategy)
    version = (below.version or request.number) if spec_of(str(below)).versions else ""
    place = setup.place(f"sweep {task.corpus.sha256} {name}")

    def collected() -> tuple[Arrays, dict[str, str]]:
        with open_system(name, place) as system:
            assert isinstance(system, Strategy), "a sweep is of strategies"
            return collect_legs(setup, task, name, system, place, request.depth, passages=bool(version))

    arrays, facts = setup.kept(task, (FORMAT, name, version, request.depth), collected)
    return Legs(facts=facts, **arrays)


def collect_legs(
    setup: Setup,
    task: Task,
    name: str,
    system: Strategy,
    context: SystemContext,
    depth: int,
    *,
    passages: bool,
) -> tuple[Arrays, dict[str, str]]:
    """Ask each leg of the strategy every question, `depth` ranks deep; return the fields of `Legs`."""
    session = LoadedTask(name, system, task, setup.vectors(task.corpus, passages), context)
    found: Arrays = {leg: np.full(task.layout.shape, -np.inf) for leg in LEGS}
    for leg in LEGS:
        for row, columns, answer in session.answers(leg, depth, {"leg": leg}):
            found[leg][row, columns] = [match.score for match in answer.matches]
    moments = _moments(task)
    now = np.array([_seconds(query.as_of) for query in session.queries])[:, None]
    found["recency"] = recency_of_ages((now - moments) / DAY)
    spans = [system.spans(query) for query in session.queries]
    found["fit"] = np.array([fits(row, read) for row, read in zip(moments, spans, strict=True)])
    found["near"], found["elsewhere"] = _nearest(session)
    return found, dict(system.facts())


def _seconds(moment: object) -> float:
    return float(getattr(moment, "timestamp", lambda: np.nan)())


def _moments(task: Task) -> Floats:
    """Return the time of each lesson in each question's scope, in seconds; NaN if unknown."""
    times = {(one.project, one.external_id): _seconds(one.occurred_at) for one in task.corpus.segments}
    moments = np.full(task.layout.shape, np.nan)
    for row, project in enumerate(task.projects):
        members = task.layout.external_ids[project]
        moments[row, : len(members)] = [times[project, one] for one in members]
    return moments


def _nearest(session: LoadedTask) -> Floats:
    """Return the best exact cosine in each question's own scope, and in the next scope in the corpus's
    order.
    """
    exact, names = ExactCosine(), list(session.lessons.projects)
    exact.load(session.lessons)
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    rows = []
    for query in session.queries:
        assert query.project is not None, "asked in their own scope"
        assert query.vector is not None, "asked with vectors"
        rows.append([exact.best(query.vector, one) for one in (query.project, following[query.project])])
    return np.array(rows).T


def _scored(
    request: SweepOptions, setup: Setup, tasks: Mapping[str, Task], legs: Mapping[str, Legs]
) -> Iterator[Floats]:
    """Yield the figures of each point, (questions, figures); each is saved until the sweep is done."""
    whole = (request.strategy, request.k, request.embedder, request.number, request.level)
    for point in setup.progress.track(request.points, "points", len(request.points)):
        task = tasks[point.template]
        depends = repr((whole, point, task.corpus.sha256))
        file = request.output / PARTIAL / f"{sha256(depends.encode()).hexdigest()[:16]}.npz"
        if (found := load_arrays(file)) is None:
            found = (
                {"figures": point_figures(point, request.k, task.layout, legs[point.template])},
                str(point),
            )
            save_arrays(file, *found)
        yield found[0]["figures"]


def point_figures(point: Point, k: int, layout: Layout, legs: Legs) -> Floats:
    """Return all SHOWN figures for each question under one point, computed in blocks for speed."""
    depth, made = point.fusion.pool(k), []
    for rows, block in layout.blocks():
        near, words = (keep_best(leg[rows], depth) for leg in (legs.vector, legs.keyword))
        parts = point.fusion.parts(near, words, legs.recency[rows], legs.fit[rows])
        made.append(block.figures(parts.sum(axis=0), SHOWN))
    return np.concatenate(made)
