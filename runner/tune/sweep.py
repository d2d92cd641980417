"""A sweep: collect both legs once, score every point of a grid, confirm one choice on what it did not see.

The best of a sweep is the best of many looks at the same questions: it is written as that alone.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from runner.database.releases import SQL_FOLDER
from runner.editions import current
from runner.embedders import default_cache_dir, embed_corpus
from runner.errors import os_errors
from runner.progress import QUIET, Progress
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.output import check_folder
from runner.runs.storage import replace_file
from runner.systems import Place, beneath, kind_of
from runner.systems.fusing import Floats, pooled
from runner.tune.collected_legs import Legs, collect_legs, legs_file, load_legs, save_legs
from runner.tune.grid import Point
from runner.tune.layout import Layout
from runner.tune.scoring import figures_of
from runner.tune.sweep_document import DOCUMENT, MARKDOWN, NO_RESULT, SCHEMA, document, markdown
from runner.tune.sweep_folds import folds
from runner.tune.sweep_plot import PLOT, TITLE, plot
from runner.tune.sweep_request import SweepRequest
from runner.tune.tasks import FIGURES, Task, load_tasks

SHOWN = ("recall_any@1", *FIGURES)
PARTIAL, PLAN = ".sweep.partial", "plan.json"
MARKS = {DOCUMENT: f'"schema": "{SCHEMA.rpartition("/")[0]}/', MARKDOWN: NO_RESULT, PLOT: TITLE}


@dataclass(frozen=True, slots=True)
class Swept:
    """What was found, and where it stands."""

    document: Json
    files: tuple[Path, ...]


def sweep(
    request: SweepRequest, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Swept:  # fmt: skip
    """Score every point and write the files. What was scored before an interruption is not scored again.

    Raises UsageError, CorpusError, DatabaseError, EmbedderError, SystemFault and OutputError as a run does.
    """
    try:
        return _swept(request, environ, progress, sql)
    except KeyboardInterrupt as error:
        error.add_note("the same command goes on where it stopped")
        raise


def _swept(request: SweepRequest, environ: Mapping[str, str], progress: Progress, sql: Path) -> Swept:
    folder = request.output
    check_folder("--output", folder, MARKS)
    with os_errors(f"{folder} cannot be written ({{why}}); name another --output"):
        folder.mkdir(parents=True, exist_ok=True)
        tasks, legs = {}, {}
        for text in dict.fromkeys(point.text for point in request.points):
            [tasks[text]] = load_tasks(request.suite, request.data, environ, text=text, level=request.level)
            legs[text] = _legs(request, tasks[text], environ, progress, sql)
        figures = list(_scored(request, tasks, legs, progress))
        task, first = next(iter(tasks.values())), next(iter(legs.values()))
        made = document(request, task, first, SHOWN, figures, folds(task))
        replace_file(folder / DOCUMENT, pretty(made).encode())
        replace_file(folder / MARKDOWN, markdown(made).encode())
        drawn = plot(made, folder, progress)
        shutil.rmtree(folder / PARTIAL, ignore_errors=True)
    return Swept(made, (folder / DOCUMENT, folder / MARKDOWN, *drawn))


def _legs(
    request: SweepRequest, task: Task, environ: Mapping[str, str], progress: Progress, sql: Path
) -> Legs:
    """Both legs over one text: from the file that holds them, or asked."""
    embedder, cache = request.make_embedder(), request.cache or default_cache_dir(environ)
    name, below = request.strategy, beneath(request.strategy)
    version = (below.version or request.number) if kind_of(str(below)).versions else ""
    file = legs_file(cache.parent / "components", task, embedder.identity, name, version, request.depth)
    if (kept := load_legs(file)) is not None:
        return kept
    demanded = {setting: str(value) for setting, value in current().settings.items()}
    place = Place(
        Path(gettempdir()), request.number, f"sweep {file.stem}", demanded, environ, request.dsn, sql,
        progress=progress,
    )  # fmt: skip
    vectors = embed_corpus(task.corpus, embedder, cache, progress, passages=bool(version))
    legs = collect_legs(name, place, task, Layout.of(task), vectors, request.depth, progress)
    if not save_legs(file, legs):
        progress.say(f"what the legs say could not be kept in {file}; the next sweep asks again")
    return legs


def _scored(
    request: SweepRequest, tasks: Mapping[str, Task], legs: Mapping[str, Legs], progress: Progress
) -> Iterator[Floats]:
    """The figures of each point, (questions, figures); each is kept until the sweep is done."""
    folder = _partial(request, tasks)
    layouts = {text: Layout.of(task) for text, task in tasks.items()}
    for number, point in enumerate(progress.track(request.points, "points", len(request.points))):
        file = folder / f"{number}.npy"
        if (figures := _kept(file)) is None:
            figures = point_figures(point, request.k, layouts[point.text], legs[point.text])
            with (part := file.with_suffix(".part")).open("wb") as out:
                np.save(out, figures)
            part.replace(file)
        yield figures


def _partial(request: SweepRequest, tasks: Mapping[str, Task]) -> Path:
    """The folder of what is scored so far; emptied where it is of another sweep."""
    folder = request.output / PARTIAL
    plan = json.dumps({
        "grid": {name: list(values) for name, values in request.axes.items()}, "strategy": request.strategy,
        "k": request.k, "embedder": request.embedder, "version": request.number, "level": request.level,
        "corpus": {text: task.corpus.sha256 for text, task in tasks.items()},
    })  # fmt: skip
    if not (folder / PLAN).is_file() or (folder / PLAN).read_text(encoding="utf-8") != plan:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / PLAN).write_text(plan, encoding="utf-8")
    return folder


def _kept(file: Path) -> Floats | None:
    try:
        kept: Floats = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return kept


def point_figures(point: Point, k: int, layout: Layout, legs: Legs) -> Floats:
    """Every one of SHOWN for each question under one point, in blocks that fit a processor's cache."""
    depth, made = point.fusion.pool(k), []
    for rows, block in layout.blocks():
        near, words = (pooled(leg[rows], depth) for leg in (legs.vector, legs.keyword))
        parts = point.fusion.parts(near, words, legs.recency[rows], legs.fit[rows])
        made.append(figures_of(block, parts.sum(axis=0), SHOWN))
    return np.concatenate(made)
