"""A tuning: collect, check, climb, hold out, write. Every table is made only from the document."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.tune.components import DEPENDS, OURS, components
from lab.tune.folds import FoldResult, climb, held_out, protocols
from lab.tune.loaded_task import Setup
from lab.tune.request import TuneOptions
from lab.tune.scoring import TaskScorer, check_agreement
from lab.tune.tasks import FIGURES, HEADLINE, Floats, Rows, Task, load_tasks, number, told
from lab.tune.weights import GRID, NEUTRAL, OFF, READ, Weights
from pgmnemo.errors import UsageError, os_errors
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from runner.markdown import align_tables
from runner.paths import ROOT
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.protocol.metrics import DIFFERENCES, interval_methods
from runner.protocol.statistics import mean_interval
from runner.records import Json
from runner.report.render import template
from runner.runs.canonical import pretty
from runner.runs.environment import code
from runner.runs.output import check_folder
from runner.runs.storage import replace_file
from runner.systems import open_system
from runner.systems.pgmnemo.system import EXACT

SCHEMA = "pgmnemo/tuning/2"
MARKDOWN, JSON = "TUNING.md", "tuning.json"
COMMAND = "python -m lab tune"
MARKS = {JSON: f'"schema": "{SCHEMA.rpartition("/")[0]}/', MARKDOWN: f"Written by `{COMMAND} "}
TEMPLATE = Path(__file__).with_name("tuning.md.j2")
DEFAULT, IN_SAMPLE = "default", "in-sample"
WHOLE, RUN = "whole scope", "as a run recalls"


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of a tuning and its files."""

    document: Json
    json: Path
    markdown: Path


def tune(
    request: TuneOptions, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Tuned:  # fmt: skip
    """Tune on the development items and write both files.

    Raises GateError if the scores computed here are not the extension's, UsageError, CorpusError,
    DatabaseError, EmbedderError and OutputError as a run does.
    """
    setup, folder = Setup(request, environ, progress, sql), request.output
    request.check()
    check_folder("--output", folder, MARKS)
    tasks = [
        task
        for suite in request.suite
        for place in request.places(suite)
        for task in load_tasks(suite, place, environ)
    ]
    if twice := [name for name, many in Counter(task.name for task in tasks).items() if many > 1]:
        raise UsageError(f"two corpora are called {twice[0].rsplit(' ', 1)[0]}; rename the file of the one")
    collected = [_collected(setup, task) for task in tasks]
    judges = [judge for judge, _, _ in collected]
    _, default, fingerprint = collected[0]
    made = {
        "schema": SCHEMA,
        "version": request.number,
        "fingerprint": fingerprint,
        "commit": code(ROOT).commit,
        "protocol": current().version,
        "metric_code": current().metrics.code,
        "embedder": setup.embedder.identity.model,
        "default": default,
        "grid": {name: list(values) for name, values in GRID.items()},
        **_found(judges, default, progress),
    }
    with os_errors(f"{folder} cannot be written ({{why}}); name another --output"):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / JSON, pretty(made).encode())
        replace_file(folder / MARKDOWN, markdown(made).encode())
    return Tuned(made, folder / JSON, folder / MARKDOWN)


def _collected(setup: Setup, task: Task) -> tuple[TaskScorer, dict[str, float], str]:
    """Return the scorer of a task, the extension's default weights, and the extension's fingerprint.

    The component values come from the cache, or else from the extension.
    """
    label = f"tune {task.corpus.sha256} {task.name} {setup.embedder.identity!r}"
    place = setup.place(label, **EXACT)
    with open_system(OURS, place) as system:
        fingerprint = system.facts()["fingerprint"]
        arrays, weights = setup.kept(
            task, (DEPENDS, fingerprint), lambda: components(setup, task, system, place)
        )
    return TaskScorer.of(task, arrays), weights, fingerprint


def _found(judges: Sequence[TaskScorer], default: Weights, progress: Progress) -> Json:
    agreement = [check_agreement(judge, default) for judge in judges]
    starts = {DEFAULT: default, "neutral": {**default, **NEUTRAL}}
    rows = {judge.task.name: judge.task.counted for judge in judges}
    optima = {name: climb(judges, rows, start) for name, start in starts.items()}
    listed = [
        (name, folds, start) for name, folds in protocols([one.task for one in judges]) for start in starts
    ]
    outcomes = [
        held_out(judges, name, folds, start, starts[start])
        for name, folds, start in progress.track(listed, "held out", len(listed))
    ]
    return {
        "neutral": _tuned(starts["neutral"]),
        "tasks": [_described(judge.task) for judge in judges],
        "agreement": agreement,
        "figures": list(_figures(judges, default, optima, outcomes)),
        "types": [row for judge in judges for row in _types(judge, default)],
        "chosen": list(_chosen(optima, outcomes)),
        "slopes": [row for judge in judges for row in _slopes(judge, default)],
        "ablation": [row for judge in judges for row in _ablation(judge, default)],
        "looked_at": len({key for judge in judges for key in judge.known}),
    }


def _described(task: Task) -> Json:
    """Return the facts of a task's corpus: hash, counts, and the names of its intervals."""
    return {
        "task": task.name,
        "suite": task.corpus.suite,
        "data": Path(task.corpus.path).name if SUITES[task.corpus.suite].own else None,
        "file": current().known_files.get(task.corpus.sha256, "no registered file"),
        "corpus_sha256": task.corpus.sha256,
        "view": task.view.name,
        "questions": int(task.counted.sum()),
        "other questions": int((~task.counted).sum()),
        "lessons": len(task.corpus.segments),
        "clusters": len(set(task.projects)) if task.corpus.clustered else None,
        "intervals": interval_methods(task.corpus.clustered, current().metrics.code),
        "aims": [FIGURES[place] for place in task.aims],
    }


def _figures(
    judges: Sequence[TaskScorer],
    default: Weights,
    optima: Mapping[str, Weights],
    outcomes: Iterable[FoldResult],
) -> Iterator[Json]:
    """Yield values with intervals: at the default weights, after an ascent on all questions, and held out."""
    for judge in judges:
        task, counted = judge.task, judge.task.counted
        depths = {WHOLE: judge.figures(default), RUN: task.layout.figures(judge.values["pool"])}
        for words, rows in ((DEFAULT, counted), (f"{DEFAULT}, the other types of question", ~counted)):
            for depth, values in depths.items() if rows.any() else ():
                yield _valued(task, words, IN_SAMPLE, depth, values, rows)
        for start, weights in optima.items():
            yield _valued(task, f"optimum from {start}", IN_SAMPLE, WHOLE, judge.figures(weights), counted)
    for one in outcomes:
        for task in (judge.task for judge in judges if judge.task.name in one.figures):
            values = one.figures[task.name]
            yield _valued(task, f"chosen from {one.start}", one.protocol, WHOLE, values, task.counted)


def _valued(task: Task, weights: str, sample: str, depth: str, values: Floats, rows: Rows) -> Json:
    words = {"task": task.name, "weights": weights, "sample": sample, "depth": depth, "n": int(rows.sum())}
    return {**words, **told(FIGURES, mean_interval(values[rows], task.clusters(rows)))}


def _types(judge: TaskScorer, default: Weights) -> Iterator[Json]:
    """Yield the default's values by type of question."""
    task = judge.task
    for kind in sorted(set(task.types.tolist())):
        rows = task.types == kind
        interval = mean_interval(judge.figures(default)[rows], task.clusters(rows))
        yield {"task": task.name, "type": kind, "n": int(rows.sum()), **told(FIGURES, interval)}


def _chosen(optima: Mapping[str, Weights], outcomes: Iterable[FoldResult]) -> Iterator[Json]:
    """Yield the weights that each ascent chose."""
    ascents = [(IN_SAMPLE, start, "", weights) for start, weights in optima.items()]
    ascents += [(one.protocol, one.start, *chosen) for one in outcomes for chosen in one.weights.items()]
    for protocol, start, fold, weights in ascents:
        yield {"protocol": protocol, "start": start, "held out": fold, "weights": _tuned(weights)}


def _slopes(judge: TaskScorer, default: Weights) -> Iterator[Json]:
    """Yield the figures on all questions while one weight at a time takes each value of its grid."""
    for name, values in GRID.items():
        for value in values:
            means = judge.figures({**default, name: value})[judge.task.counted].mean(axis=0)
            yield {
                "task": judge.task.name, "weight": name, "value": value, "default": value == default[name],
                **dict(zip(FIGURES, map(number, means), strict=True)),
            }  # fmt: skip


def ablations(judge: TaskScorer, default: Weights) -> Iterator[tuple[str, Floats]]:
    """Yield the name of each disabled component and the figures' change against the default weights."""
    whole = judge.figures(default)
    for name, changed in OFF.items():
        yield name, judge.figures({**default, **changed}) - whole
    for name, words in READ.items():
        yield name, judge.figures(default, words=words) - whole


def _ablation(judge: TaskScorer, default: Weights) -> Iterator[Json]:
    """Yield the paired differences to the default with their intervals."""
    method, task, rows = DIFFERENCES[current().metrics.code], judge.task, judge.task.counted
    for name, apart in ablations(judge, default):
        interval = method.interval(apart[rows], task.clusters(rows))
        yield {"task": task.name, "off": name, "n": int(rows.sum()), **told(FIGURES, interval)}


def _tuned(weights: Weights) -> dict[str, float]:
    """Return only those weights that the tuning varies."""
    return {name: weights[name] for name in GRID}


def markdown(made: Json) -> str:
    """Render the JSON document of a tuning as Markdown, with some of its figures left out."""
    suites = dict.fromkeys(f"--suite {task.get('suite', task['task'].split()[0])}" for task in made["tasks"])
    files = (f"--data file={shlex.quote(task['data'])}" for task in made["tasks"] if task.get("data"))
    command = " ".join([COMMAND, *suites, *files, f"--version v{made['version']}"])
    off = dict.fromkeys(row["off"] for row in made["ablation"])
    differences = {(row["task"], row["off"]): row["MRR@50"] for row in made["ablation"]}
    text = template(TEMPLATE).render(
        made=made, command=command, json=JSON, headline=HEADLINE, off=off, differences=differences, cell=_cell
    )
    return align_tables(text)


def _cell(numbers: Sequence[float], sign: str = "") -> str:
    """Return a figure in per cent with its interval."""
    value, low, high = (format(100 * one, f"{sign}.1f") for one in numbers)
    return f"{value} [{low}, {high}]"
