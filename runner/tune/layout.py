"""Where each lesson of a question's scope stands in the arrays: a row a question, a column a lesson.

Columns are in the order of ties (external id, C order), so that of two equal scores the earlier column wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

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

    `moments` (questions, columns) has one number for lessons of one project and one moment.
    """

    columns: Mapping[str, Mapping[str, int]]  # project -> segment id -> column
    valid: NDArray[np.bool_]
    gold_rows: Places
    gold_columns: Places
    gold_counts: NDArray[np.int64]
    moments: Places

    @classmethod
    def of(cls, task: Task) -> Layout:
        """Arrays for every question of `task`."""
        projects = _projects(task)
        rows = [projects[question.project] for _, question in task.questions]
        width = max(map(len, rows))
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
        moments = {project: _moments(members, width) for project, members in projects.items()}
        return cls(
            columns,
            np.array([np.arange(width) < len(row) for row in rows]),
            gold_rows,
            gold_columns,
            np.array([len(question.gold) for _, question in task.questions], dtype=np.int64),
            np.stack([moments[question.project] for _, question in task.questions]),
        )

    @cached_property
    def groups(self) -> tuple[Places, Places, Places]:
        """The flattened array's order by question and moment; where each such group starts; its length."""
        flat = (self.moments + np.arange(len(self.moments))[:, None] * self.moments.shape[1]).ravel()
        order = np.argsort(flat, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(flat[order]) != 0])
        return order, starts, np.diff(np.r_[starts, flat.size])

    def blocks(self) -> Iterator[tuple[slice, Layout]]:
        """The same for a few questions at a time, whose arrays fit a processor's cache: twice as fast."""
        for start in range(0, self.shape[0], BLOCK):
            rows = slice(start, min(start + BLOCK, self.shape[0]))
            inside = (self.gold_rows >= rows.start) & (self.gold_rows < rows.stop)
            yield rows, Layout(
                self.columns, self.valid[rows], self.gold_rows[inside] - rows.start,
                self.gold_columns[inside], self.gold_counts[rows], self.moments[rows],
            )  # fmt: skip

    @property
    def shape(self) -> tuple[int, int]:
        """Questions, columns."""
        return self.valid.shape[0], self.valid.shape[1]

    def greatest(self, values: Floats) -> Floats:
        """The greatest value of each lesson's moment, itself included, (questions, columns)."""
        order, starts, lengths = self.groups
        best = np.repeat(np.maximum.reduceat(values.ravel()[order], starts), lengths)
        spread = np.empty_like(best)
        spread[order] = best
        return spread.reshape(values.shape)

    def gold_ranks(self, scores: Floats) -> NDArray[np.int64]:
        """The rank from 1 of each gold lesson, (gold): lessons above it, and equal ones before it."""
        rivals = scores[self.gold_rows]
        own = scores[self.gold_rows, self.gold_columns][:, None]
        before = np.arange(scores.shape[1]) < self.gold_columns[:, None]
        return np.asarray(1 + (rivals > own).sum(axis=1) + ((rivals == own) & before).sum(axis=1))


def _projects(task: Task) -> dict[str, list[Segment]]:
    """The segments of each project, in the order of ties."""
    projects: dict[str, list[Segment]] = {}
    for segment in sorted(task.corpus.segments, key=lambda one: one.external_id):
        projects.setdefault(segment.project, []).append(segment)
    return projects


def _moments(members: list[Segment], width: int) -> Places:
    """A number for each column, the same for lessons of one time; a column without a time is alone."""
    first: dict[object, int] = {}
    numbers = [
        column if segment.occurred_at is None else first.setdefault(segment.occurred_at, column)
        for column, segment in enumerate(members)
    ]
    return np.array([*numbers, *range(len(members), width)], dtype=np.intp)
