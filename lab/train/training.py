"""`python -m lab train`: ask, leave each conversation out once, fit, judge, write the weights."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from cyclopts import Parameter

from lab.train.logit import PENALTY, fit
from lab.tune.loaded_task import LoadedTask, Setup
from lab.tune.request import REPEATED, TuneOptions
from lab.tune.tasks import HEADLINE, Task, load_tasks
from pgmnemo.errors import OutputError, os_errors
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from runner.options import Quiet
from runner.protocol.editions import current
from runner.protocol.statistics.clusters import Interval
from runner.protocol.statistics.paired_score import score_interval
from runner.protocol.statistics.single import mean_interval
from runner.records import Json
from runner.runs.canonical import pretty
from runner.stages.rerankers import Candidate, LessonIndex, Pool, order_by_score
from runner.stages.rerankers.linear import SCHEMA
from runner.stages.rerankers.linear.features import FEATURES, FeatureReader, Floats
from runner.systems import open_system

OURS = "pgmnemo"
DECIMALS = 3  # decimals of a weight; further decimals change no figure
FOLDS = 10  # folds for questions without a conversation


TRAINED_ON = ("locomo", "longmemeval")  # BEAM and REALTALK show its performance on other corpora


@dataclass(frozen=True)
class TrainOptions(TuneOptions):
    """The options of `python -m lab train`.

    Args:
        suite: train on this suite; may be repeated
        output: file for the weights
    """

    suite: Annotated[list[str], REPEATED] = field(default_factory=lambda: list(TRAINED_ON))
    output: Path = Path("weights.json")
    oldest: ClassVar[str] = "0.4.0"


def train_command(
    *,
    options: Annotated[TrainOptions, Parameter(name="*")] = TrainOptions(),
    quiet: Quiet = False,
) -> int:
    """Train the reranker linear on development items, each conversation judged by weights without it."""
    made = train(options, progress=Progress(quiet=quiet))
    for one in made["left_out"]:
        print(*lines(one), sep="\n")
    print(f"written: {options.output}")
    return 0


def lines(one: Json) -> Iterator[str]:
    """Yield the lines to print about one task."""
    yield f"{one['task']}, n = {one['n']:,}, each question by weights that were fitted without it"
    for name in one["own"]:
        scale, digits = (1, 3) if name.startswith("MRR") else (100, 1)
        own, new, apart = (
            "{} [{}, {}]".format(*(f"{scale * value:.{digits}f}" for value in one[row][name]))
            for row in ("own", "reranked", "difference")
        )
        yield f"  {name:14} {own}  reranked {new}  difference {apart}"


@dataclass(frozen=True, slots=True)
class PooledTask:
    """The candidates of pgmnemo for every question of a task, as the reranker gets them in a run.

    Each list has an entry per question: `features` (candidates, FEATURES); `marks`, 1 for gold; and the
    `columns` of the candidates in the task's layout, in the system's order.
    """

    task: Task
    features: list[Floats]
    marks: list[Floats]
    columns: list[list[int]]

    @property
    def counted(self) -> list[int]:
        return [int(place) for place in np.flatnonzero(self.task.counted)]


def train(
    request: TrainOptions, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET
) -> Json:
    """Train on the development items and write the weights; return the document.

    The same corpora give the same bytes. `left_out` of the document has figures of each question under
    weights that were fitted without it. Raises UsageError, CorpusError, DatabaseError, EmbedderError and
    OutputError as a run does.
    """
    setup = Setup(request, environ, progress, SQL_FOLDER)
    request.check()
    if request.output.exists():
        raise OutputError(f"{request.output} is there, and nothing is overwritten; name another --output")
    tasks = [
        _pooled(setup, task)
        for suite in request.suite
        for place in request.places(suite)
        for task in load_tasks(suite, place, environ)
    ]
    document = {
        "schema": SCHEMA,
        "engine": request.number,
        "embedder": setup.embedder.identity.model,
        "penalty": PENALTY,
        "trained_on": [
            {"task": one.task.name, "sha256": one.task.corpus.sha256, "questions": len(one.counted)}
            for one in tasks
        ],
        "weights": dict(zip(FEATURES, _weights(tasks, [one.counted for one in tasks]), strict=True)),
        "left_out": _left_out(tasks),
    }
    with os_errors(f"{request.output} cannot be written ({{why}}); name another --output"):
        request.output.parent.mkdir(parents=True, exist_ok=True)
        request.output.write_text(pretty(document), encoding="utf-8")
    return document


def _pooled(setup: Setup, task: Task) -> PooledTask:
    """Load the task's corpus into pgmnemo and ask every question, at the depth of a run."""
    place = setup.place(f"train {task.corpus.sha256} {task.name}")
    vectors, made = setup.vectors(task.corpus), PooledTask(task, [], [], [])
    with open_system(OURS, place) as system:
        session = LoadedTask(OURS, system, task, vectors, place)
        shelf, reader = LessonIndex(session.lessons), FeatureReader()
        for row, columns, answer in session.answers("pools", current().retrieval.depth):
            candidates = tuple(
                Candidate(shelf.lesson(match.number), rank, match.score, match.components)
                for rank, match in enumerate(answer.matches, start=1)
            )
            gold = task.questions[row][1].gold
            found = (session.lessons.ids[match.number] for match in answer.matches)
            made.features.append(reader.features(Pool(session.queries[row], candidates, shelf)))
            made.marks.append(np.array([float(name in gold) for name in found]))
            made.columns.append(columns)
    return made


def _left_out(tasks: Sequence[PooledTask]) -> list[Json]:
    """Return figures of each task, each question ranked by the weights of the fold that left it out."""
    folds = [_folds(one.task) for one in tasks]
    orders: list[list[Sequence[int]]] = [[()] * len(one.features) for one in tasks]
    for fold in sorted({name for names in folds for name in names}):
        taught = [
            [at for at in one.counted if names[at] != fold] for one, names in zip(tasks, folds, strict=True)
        ]
        weights = np.array(_weights(tasks, taught))
        for one, names, into in zip(tasks, folds, orders, strict=True):
            for at in (at for at, name in enumerate(names) if name == fold):
                into[at], _ = order_by_score((one.features[at] @ weights).tolist())
    return [_judged(one, into) for one, into in zip(tasks, orders, strict=True)]


def _folds(task: Task) -> list[int]:
    """Return the fold of each question: its conversation's number, or one of FOLDS by the hash of its key.

    A conversation is left out at all granularities at once.
    """
    if task.corpus.clustered:
        names = sorted(set(task.projects))
        return [names.index(project) for project in task.projects]
    return [int(sha256(question.key.encode()).hexdigest(), 16) % FOLDS for _, question in task.questions]


def _weights(tasks: Sequence[PooledTask], places: Sequence[Sequence[int]]) -> list[float]:
    """Return the weights fitted to some questions: those at the indexes `places` of each task."""
    chosen = [(one, at) for one, some in zip(tasks, places, strict=True) for at in some]
    found = fit([one.features[at] for one, at in chosen], [one.marks[at] for one, at in chosen])
    return [round(float(weight), DECIMALS) + 0.0 for weight in found]


def _judged(pooled: PooledTask, orders: Sequence[Sequence[int]]) -> Json:
    """Return the headline metrics, with 95 % intervals, for both orders and for their difference."""
    task, rows = pooled.task, pooled.task.counted
    clusters = task.clusters(rows)
    own = _figures(pooled, [range(len(columns)) for columns in pooled.columns])[rows]
    new = _figures(pooled, orders)[rows]
    return {
        "task": task.name,
        "n": int(rows.sum()),
        "own": _told(mean_interval(own, clusters)),
        "reranked": _told(mean_interval(new, clusters)),
        "difference": _told(score_interval(new - own, clusters)),
    }


def _figures(pooled: PooledTask, orders: Iterable[Sequence[int]]) -> Floats:
    """Return the figures (questions, HEADLINE) of the candidates in the given orders."""
    layout = pooled.task.layout
    scores = np.full(layout.shape, -np.inf)
    for row, (columns, order) in enumerate(zip(pooled.columns, orders, strict=True)):
        scores[row, [columns[place] for place in order]] = -np.arange(len(columns))
    return layout.figures(scores, HEADLINE)


def _told(interval: Interval) -> dict[str, tuple[float, float, float]]:
    columns = zip(HEADLINE, interval.value, interval.low, interval.high, strict=True)
    return {
        name: (round(float(mean), 4), round(float(low), 4), round(float(high), 4))
        for name, mean, low, high in columns
    }
