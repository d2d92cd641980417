"""Where each lesson of a question's scope stands in the arrays: a row a question, a column a lesson.

Columns are in the order of ties (external id, C order), so that of two equal scores the earlier column wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from runner.records import Segment
from runner.tune.tasks import Task

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
BLOCK = 64  # questions


@dataclass(frozen=True)
class Layout:
    """`valid` (questions, columns): whether a lesson stands there; `gold_rows` and `gold_columns` (gold).

    `places` (questions): which of `projects` each is of.
    """

    columns: Mapping[str, Mapping[str, int]]  # project -> segment id -> column
    external_ids: Mapping[str, list[str]]  # of each project, in the order of its columns
    valid: NDArray[np.bool_]
    gold_rows: Places
    gold_columns: Places
    gold_counts: NDArray[np.int64]
    places: Places

    @classmethod
    def of(cls, task: Task) -> Layout:
        """Arrays for every question of `task`."""
        projects = _projects(task)
        rows = [projects[question.project] for _, question in task.questions]
        columns = {
            project: {segment.id: column for column, segment in enumerate(members)}
            for project, members in projects.items()
        }
        gold = [
            (row, columns[question.project][one])
            for row, (_, question) in enumerate(task.questions)
            for one in question.gold
        ]
        gold_rows, gold_columns = np.array(gold, dtype=np.intp).T
        order = {project: place for place, project in enumerate(projects)}
        return cls(
            columns,
            {name: [segment.external_id for segment in members] for name, members in projects.items()},
            np.array([np.arange(max(map(len, rows))) < len(row) for row in rows]),
            gold_rows,
            gold_columns,
            np.array([len(question.gold) for _, question in task.questions], dtype=np.int64),
            np.array([order[question.project] for _, question in task.questions], dtype=np.intp),
        )

    def blocks(self) -> Iterator[tuple[slice, Layout]]:
        """The same for a few questions at a time, whose arrays fit a processor's cache: twice as fast."""
        for start in range(0, self.shape[0], BLOCK):
            rows = slice(start, min(start + BLOCK, self.shape[0]))
            inside = (self.gold_rows >= rows.start) & (self.gold_rows < rows.stop)
            yield rows, replace(
                self, valid=self.valid[rows], gold_rows=self.gold_rows[inside] - rows.start,
                gold_columns=self.gold_columns[inside], gold_counts=self.gold_counts[rows],
                places=self.places[rows],
            )  # fmt: skip

    @property
    def projects(self) -> list[str]:
        """Those of which a question is, in order."""
        return list(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Questions, columns."""
        return self.valid.shape[0], self.valid.shape[1]

    def gold_ranks(self, scores: Floats) -> NDArray[np.int64]:
        """The rank from 1 of each gold lesson, (gold): lessons above it, and equal ones before it."""
        rivals = scores[self.gold_rows]
        own = scores[self.gold_rows, self.gold_columns][:, None]
        before = np.arange(scores.shape[1]) < self.gold_columns[:, None]
        return np.asarray(1 + (rivals > own).sum(axis=1) + ((rivals == own) & before).sum(axis=1))


def _projects(task: Task) -> dict[str, list[Segment]]:
    """The segments of each project of which a question is, in the order of ties."""
    projects: dict[str, list[Segment]] = {question.project: [] for _, question in task.questions}
    for segment in sorted(task.corpus.segments, key=lambda one: one.external_id):
        if segment.project in projects:
            projects[segment.project].append(segment)
    return projects
