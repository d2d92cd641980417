"""The straight line: load, open, embed, collect, check, climb, hold out, write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import gettempdir

from runner.database.releases import SQL_FOLDER
from runner.database.server_files import check_release
from runner.editions import current
from runner.embedders import default_cache_dir, embed_corpus
from runner.errors import os_errors
from runner.places import ROOT
from runner.progress import QUIET, Progress
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.environment import code
from runner.runs.output import check_folder
from runner.runs.storage import replace_file
from runner.systems import Place, open_system
from runner.systems.pgmnemo.system import EVERYTHING
from runner.tune import document
from runner.tune.agreement import Agreement, check_agreement, check_trials
from runner.tune.ascent import climb
from runner.tune.collecting import collect
from runner.tune.folds import Outcome, everything, held_out, protocols
from runner.tune.layout import Layout
from runner.tune.markdown import COMMAND, JSON, MARKDOWN, markdown
from runner.tune.request import TuneRequest
from runner.tune.scoring import Judge
from runner.tune.store import component_file, load_components, save_components
from runner.tune.tasks import Task, load_tasks
from runner.tune.weights import GRID, neutral_weights

MARKS = {JSON: f'"schema": "{document.SCHEMA.rpartition("/")[0]}/', MARKDOWN: f"Written by `{COMMAND} "}


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was found and where it stands."""

    document: Json
    json: Path
    markdown: Path


def tune(
    request: TuneRequest, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Tuned:  # fmt: skip
    """Tune by the development items and write both files.

    Raises GateError where the scores computed here are not the extension's, UsageError, CorpusError,
    DatabaseError, EmbedderError and OutputError as a run does.
    """
    check_release(sql, request.number)
    check_folder("--output", request.output, MARKS)
    tasks = [task for suite in request.suite for task in load_tasks(suite, request.place(suite), environ)]
    found = [_judge(request, task, environ, progress, sql) for task in tasks]
    fingerprint = found[0][2]
    judges, default = [judge for judge, _, _ in found], found[0][1]
    agreements = [(check_agreement(judge, default), check_trials(judge, default)) for judge in judges]
    made = {
        "schema": document.SCHEMA,
        "version": request.number,
        "fingerprint": fingerprint,
        "commit": code(ROOT).commit,
        "protocol": current().version,
        "metric_code": current().metrics.code,
        "embedder": request.make_embedder().identity.model,
        "default": default,
        "grid": {name: list(values) for name, values in GRID.items()},
        **_found(judges, default, agreements, progress),
    }
    return _write(request.output, made)


def _judge(
    request: TuneRequest, task: Task, environ: Mapping[str, str], progress: Progress, sql: Path
) -> tuple[Judge, dict[str, float], str]:
    """The task with its components, from the file that holds them or from the extension; its fingerprint."""
    embedder, edition, layout = request.make_embedder(), current(), Layout.of(task)
    cache = request.cache or default_cache_dir(environ)
    demanded = {name: str(value) for name, value in edition.settings.items()}
    place = Place(
        Path(gettempdir()), request.number, f"tune {task.corpus.sha256} {task.name} {embedder.identity!r}",
        {**demanded, **EVERYTHING}, environ, request.dsn, sql, progress=progress,
    )  # fmt: skip
    with open_system("pgmnemo", place) as system:
        fingerprint = system.facts()["fingerprint"]
        file = component_file(cache.parent / "components", task, embedder.identity, fingerprint, edition)
        collected = load_components(file)
        if collected is None:
            vectors = embed_corpus(task.corpus, embedder, cache, progress, passages=True)
            collected = collect(system, place, task, layout, vectors, edition, progress)
            if not save_components(file, collected):
                progress.say(
                    f"the components could not be kept in {file}; the next tuning asks for them again"
                )
    return Judge(task, layout, collected.values, collected.company), collected.weights, fingerprint


def _found(
    judges: list[Judge],
    default: dict[str, float],
    agreements: list[tuple[Agreement, Agreement]],
    progress: Progress,
) -> Json:
    neutral = neutral_weights(default)
    starts = {"default": default, "neutral": neutral}
    rows = {judge.task.name: everything(judge) for judge in judges}
    optima = {name: climb(judges, rows, start) for name, start in starts.items()}
    outcomes = list(_outcomes(judges, starts, progress))
    return {
        "neutral": document.tuned(neutral),
        "tasks": document.tasks(judges),
        "agreement": [
            {"task": judge.task.name, **asdict(one), "at random weights": asdict(other)}
            for judge, (one, other) in zip(judges, agreements, strict=True)
        ],
        "figures": list(document.figures(judges, default, optima, outcomes)),
        "types": list(document.types(judges, default)),
        "chosen": list(document.chosen(optima, outcomes)),
        "slopes": list(document.slopes(judges, default)),
        "ablation": list(document.ablation(judges, default)),
        "looked_at": len({key for judge in judges for key in judge.known}),
    }


def _outcomes(
    judges: list[Judge], starts: Mapping[str, Mapping[str, float]], progress: Progress
) -> Iterator[Outcome]:
    listed = [(name, folds, start) for name, folds in protocols(judges) for start in starts]
    for name, folds, start in progress.track(listed, "held out", len(listed)):
        yield held_out(judges, name, folds, start, starts[start])


def _write(folder: Path, made: Json) -> Tuned:
    with os_errors(f"{folder} cannot be written ({{why}}); name another --output"):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / JSON, pretty(made).encode())
        replace_file(folder / MARKDOWN, markdown(made).encode())
    return Tuned(made, folder / JSON, folder / MARKDOWN)
