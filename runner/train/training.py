"""The straight line: load, ask, leave each conversation out once, fit, judge, write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from runner.database.releases import SQL_FOLDER
from runner.database.server_files import check_release
from runner.errors import OutputError, os_errors
from runner.progress import QUIET, Progress
from runner.records import Json
from runner.rerankers.linear.features import FEATURES, Floats
from runner.rerankers.linear.model import SCHEMA
from runner.runs.canonical import pretty
from runner.train.judging import Judged, judged
from runner.train.logit import PENALTY, fit
from runner.train.pools import Pooled, pooled
from runner.train.request import TrainRequest
from runner.tune.tasks import load_tasks

DECIMALS = 3  # of a weight: what lies below moves no figure
FOLDS = 10  # in which questions without a conversation are left out


@dataclass(frozen=True, slots=True)
class Trained:
    """The document, where it stands, and figures with each question judged by weights that never saw it."""

    document: Json
    path: Path
    left_out: tuple[Judged, ...]


def train(
    request: TrainRequest, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Trained:  # fmt: skip
    """Train on the development items and write the weights; the same corpora give the same bytes.

    Raises UsageError, CorpusError, DatabaseError, EmbedderError and OutputError as a run does.
    """
    check_release(sql, request.number)
    if request.output.exists():
        raise OutputError(f"{request.output} is there, and nothing is overwritten; name another --output")
    embedder = request.make_embedder()
    tasks = [
        pooled(task, embedder, request.number, cache=request.cache, dsn=request.dsn, environ=environ,
               progress=progress, sql=sql)
        for suite in request.suite for task in load_tasks(suite, request.place(suite), environ)
    ]  # fmt: skip
    left_out = tuple(_left_out(tasks))
    document = {
        "schema": SCHEMA,
        "engine": request.number,
        "embedder": embedder.identity.model,
        "penalty": PENALTY,
        "trained_on": [
            {"task": one.task.name, "sha256": one.task.corpus.sha256, "questions": len(one.counted)}
            for one in tasks
        ],
        "weights": dict(zip(FEATURES, _weights(tasks, [one.counted for one in tasks]), strict=True)),
        "left_out": [asdict(one) for one in left_out],
    }
    return Trained(document, _write(request.output, document), left_out)


def _left_out(tasks: Sequence[Pooled]) -> list[Judged]:
    """Each task with every question under the weights of the fold that left it out."""
    folds = [_folds(one) for one in tasks]
    scores: list[list[Floats]] = [[np.zeros(0)] * len(one.features) for one in tasks]
    for fold in sorted({name for names in folds for name in names}):
        taught = [
            [at for at in one.counted if names[at] != fold] for one, names in zip(tasks, folds, strict=True)
        ]
        weights = np.array(_weights(tasks, taught))
        for one, names, into in zip(tasks, folds, scores, strict=True):
            for at, name in enumerate(names):
                if name == fold:
                    into[at] = one.features[at] @ weights
    return [judged(one, into) for one, into in zip(tasks, scores, strict=True)]


def _folds(one: Pooled) -> list[int]:
    """The fold of each question: its conversation's number, or one of FOLDS by the hash of its key.

    A conversation is left out at every granularity at once.
    """
    if one.task.corpus.clustered:
        names = sorted({question.project for _, question in one.task.questions})
        return [names.index(question.project) for _, question in one.task.questions]
    return [int(sha256(question.key.encode()).hexdigest(), 16) % FOLDS for _, question in one.task.questions]


def _weights(tasks: Sequence[Pooled], places: Sequence[Sequence[int]]) -> list[float]:
    """Fitted to those questions of each task."""
    chosen = [(one, at) for one, some in zip(tasks, places, strict=True) for at in some]
    found = fit([one.features[at] for one, at in chosen], [one.marks[at] for one, at in chosen])
    return [round(float(weight), DECIMALS) + 0.0 for weight in found]


def _write(path: Path, document: Json) -> Path:
    with os_errors(f"{path} cannot be written ({{why}}); name another --output"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pretty(document), encoding="utf-8")
    return path
