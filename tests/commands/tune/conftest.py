"""A corpus small enough to rank by hand, and the judge of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from runner.commands.tune.scoring import Company, Judge
from runner.commands.tune.tasks import Floats, Layout, Task
from runner.commands.tune.weights import BESIDES, BREVITY, COVER, NAMES, RELEVANCE, WORDS, shaped, shapes
from runner.records import Corpus, Evidence, Question, SearchScope, Segment

MONDAY, TUESDAY = datetime(2024, 5, 6, tzinfo=UTC), datetime(2024, 5, 7, tzinfo=UTC)


def weights(**changed: float) -> dict[str, float]:
    """Every weight 0 but those named, and nobody's share taken."""
    usual = {"passage_term_bonus": 2.0, "length_pivot": 70.0, "assistant_weight": 1.0}
    return {**dict.fromkeys(NAMES, 0.0), **usual, **changed}


def task(
    projects: Mapping[str, Sequence[tuple[str, datetime | None]]],
    questions: Sequence[tuple[str, tuple[str, ...]]],
    *,
    clustered: bool = False,
) -> Task:
    """`projects`: (id, time) of each lesson; `questions`: project and gold of each."""
    segments = tuple(
        Segment(project, one, f"text of {one}", at) for project, held in projects.items() for one, at in held
    )
    asked = tuple(
        Question(f"q{n}", project, "?", "any", tuple(Evidence(one, one) for one in gold))
        for n, (project, gold) in enumerate(questions)
    )
    corpus = Corpus(
        "sample", "here", "0" * 64, "session", segments, asked, (SearchScope("conversation"),),
        clustered=clustered,
    )  # fmt: skip
    return Task(corpus, tuple(enumerate(asked)))


def judge(made: Task, company: Company | None = None, **components: Sequence[Any]) -> Judge:
    """What a unit of each weight adds by question and lesson (of COVER: by question), words alike for every
    shape; else 0.

    Words count whole. Without `company` lessons of one time stand together, and nobody has neighbours.
    """
    layout = made.layout
    names = [name for name in (*RELEVANCE, *BESIDES) if name not in WORDS]
    names += [shaped(name, shape) for name in WORDS for shape in shapes(weights())]
    values = {name: np.zeros(layout.shape) for name in names}
    values |= {
        shaped(name, shape): np.full((len(made.questions), 1), float(name == BREVITY))
        for name in COVER for shape in shapes(weights())
    }  # fmt: skip
    for name, rows in components.items():
        keys = [one for one in values if one.partition("~")[0] == name]
        if name in COVER:
            for key in keys:
                values[key][: len(rows), 0] = rows
            continue
        for row, given in enumerate(rows):
            for lesson, value in given.items():
                column = layout.columns[made.questions[row][1].project][lesson]
                for key in keys:
                    values[key][row, column] = value
    return Judge(made, values, company or together(made, layout))


def together(made: Task, layout: Layout) -> Company:
    """Lessons of one project and time stand together."""
    company = Company.alone(len(layout.columns), layout.shape[1])
    first: dict[tuple[str, datetime], int] = {}
    for segment in sorted(made.corpus.segments, key=lambda one: one.external_id):
        if segment.occurred_at is not None:
            place = list(layout.columns).index(segment.project)
            column = layout.columns[segment.project][segment.id]
            company.moment[place, column] = first.setdefault((segment.project, segment.occurred_at), column)
    return company


def by_lesson(judged: Judge, matrix: Floats, row: int = 0) -> dict[str, float]:
    """One row of a matrix, by the id of the lesson."""
    columns = judged.task.layout.columns[judged.task.questions[row][1].project]
    return {lesson: float(matrix[row, column]) for lesson, column in columns.items()}


@dataclass(frozen=True)
class Tools:
    """What the tests build with."""

    weights: Callable[..., dict[str, float]]
    task: Callable[..., Task]
    judge: Callable[..., Judge]
    by_lesson: Callable[..., dict[str, float]]


@pytest.fixture
def tools() -> Tools:
    return Tools(weights, task, judge, by_lesson)


@pytest.fixture
def two_days() -> Task:
    """Two lessons of one moment, one of another, one without a time; and a project of one lesson."""
    return task(
        {"p": [("a", MONDAY), ("b", MONDAY), ("c", TUESDAY), ("d", None)], "r": [("z", MONDAY)]},
        [("p", ("b",)), ("p", ("c", "d")), ("r", ("z",))],
    )
