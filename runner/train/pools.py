"""What the engine finds for every question of a task, as the reranker is given it in a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from runner.bench.material import Asked, CorpusLessons, Material
from runner.database.releases import SQL_FOLDER
from runner.editions import current
from runner.embedders import Embedder, default_cache_dir, embed_corpus
from runner.progress import QUIET, Progress
from runner.records import SearchScope
from runner.rerankers.linear.features import Floats, Reader
from runner.rerankers.reranker import Candidate, Pool, Shelf
from runner.systems import Place, open_system
from runner.systems.asking import Judge, answers, faults
from runner.tune.tasks import Task

OURS = "pgmnemo"


@dataclass(frozen=True, slots=True)
class Pooled:
    """The pools of one task: of each question features (candidates, FEATURES), and marks, 1 for gold.

    `found` are the candidates' own ids in the system's order.
    """

    task: Task
    features: list[Floats]
    marks: list[Floats]
    found: list[tuple[str, ...]]

    @property
    def counted(self) -> list[int]:
        """Places of the questions that are trained on and judged."""
        return [at for at, one in enumerate(self.task.counted) if one]


def pooled(
    task: Task, embedder: Embedder, version: str, *, cache: Path | None = None, dsn: str | None = None,
    environ: Mapping[str, str] = os.environ, progress: Progress = QUIET, sql: Path = SQL_FOLDER,
) -> Pooled:  # fmt: skip
    """Load the task's corpus into pgmnemo and ask every question, at the depth of a run."""
    edition, label = current(), f"train {task.corpus.sha256} {task.name}"
    vectors = embed_corpus(
        task.corpus, embedder, cache or default_cache_dir(environ), progress, passages=True
    )
    asked = tuple(Asked(position, question) for position, question in task.questions)
    lessons = CorpusLessons(task.corpus, vectors, label)
    material = Material(task.corpus, vectors, asked, lessons)
    demanded = {name: str(value) for name, value in edition.settings.items()}
    place = Place(Path(gettempdir()), version, label, demanded, environ, dsn, sql, progress=progress)
    made = Pooled(task, [], [], [])
    with open_system(OURS, place) as system:
        with faults(OURS):
            system.load(lessons, progress)
        shelf, reader = Shelf(lessons), Reader()
        queries = material.queries(asked, SearchScope("own"))
        found = answers(system, OURS, queries, edition.retrieval.depth, Judge(OURS, lessons))
        for one, query, answer in zip(
            asked, queries, progress.track(found, task.name, len(queries)), strict=True
        ):
            candidates = tuple(
                Candidate(shelf.lesson(match.number), rank, match.score, match.components)
                for rank, match in enumerate(answer.matches, start=1)
            )
            ids = tuple(lessons.ids[match.number] for match in answer.matches)
            made.features.append(reader.features(Pool(query, candidates, shelf)))
            made.marks.append(np.array([float(name in one.question.gold) for name in ids]))
            made.found.append(ids)
    return made
