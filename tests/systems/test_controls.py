"""The controls: every vector compared, ties by number, and chance that the seed decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from runner.progress import QUIET
from runner.records import Matrix
from runner.systems import Lesson, Lessons, Match, Query
from runner.systems.asking import Judge, answers
from runner.systems.controls import ExactCosine, RandomOrder
from runner.systems.fusion import by_rank


class Rows(Lessons):
    """Lessons with given vectors, all of one project; the number of each is its place from behind."""

    projects = ("p",)

    def __init__(self, rows: list[list[float]]) -> None:
        self.rows = np.array(rows, dtype=np.float32)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        number = len(self.rows) - 1 - position
        return Lesson(number, "p", str(number), "", self.rows[position])


def ranked(vector: list[float], rows: list[list[float]], k: int = 9) -> list[int]:
    control = ExactCosine()
    control.load(Rows(rows))
    row: Matrix = np.array(vector, dtype=np.float32)
    return [match.number for match in control.ask(Query(0, "", row, None), k)]


def test_the_nearest_comes_first_and_ties_go_to_the_lower_number() -> None:
    rows = [[0.6, 0.8], [1, 0], [0, 1], [0.6, 0.8], [-1, 0]]  # numbers 4, 3, 2, 1, 0
    assert ranked([1, 0], rows) == [3, 1, 4, 2, 0]
    assert ranked([0, 1], rows, 2) == [2, 1]


def test_what_differs_behind_the_ninth_decimal_is_a_tie() -> None:
    assert ranked([1, 0], [[0.5, 0], [0.5 + 1e-8, 0]]) in ([0, 1], [1, 0])
    assert ranked([1e-3, 0], [[0.5, 0], [0.5 + 1e-7, 0]]) == [0, 1]


def test_a_cosine_needs_a_vector() -> None:
    control = ExactCosine()
    control.load(Rows([[1, 0]]))
    with pytest.raises(AssertionError, match="exact cosine needs vectors"):
        control.ask(Query(0, "x", None, None), 3)


def test_every_arm_keeps_to_the_scope(tiny: Any, tools: Any) -> None:
    cosine, chance = ExactCosine(), RandomOrder(42, lambda query: str(query.number))
    for control in (cosine, chance):
        assert control.load(tiny, QUIET) == {}
        for project in (*tools.PROJECTS, None):
            queries = [query for query, _ in tiny.queries(project)]
            sizes = {len(one.matches) for one in answers(control, "c", queries, 50, Judge("c", tiny))}
            assert sizes == {sum(project in (None, one.project) for one in tiny)}


def test_chance_depends_on_the_seed_the_scope_and_the_question_alone(tiny: Any, tools: Any) -> None:
    def drawn(seed: int, number: int, project: str | None, text: str = "x") -> list[int]:
        chance = RandomOrder(seed, lambda query: f"{query.project} {query.number}")
        chance.load(tiny)
        return [match.number for match in chance.ask(Query(number, text, None, project), 50)]

    boat = tools.PROJECTS[1]
    assert drawn(42, 1, None) == drawn(42, 1, None, "another text")
    assert len({tuple(drawn(seed, number, None)) for seed in (1, 2) for number in (1, 2)}) == 4
    assert sorted(drawn(42, 1, boat)) == sorted(one.number for one in tiny if one.project == boat)


def test_the_first_of_a_random_order_are_not_drawn_by_its_length(tiny: Any) -> None:
    """Every lesson comes first about as often as every other."""
    chance = RandomOrder(42, lambda query: str(query.number))
    chance.load(tiny)
    first = [chance.ask(Query(number, "", None, None), 5)[0].number for number in range(2400)]
    often = np.bincount(first, minlength=len(tiny))
    assert often.min() > 140
    assert often.max() < 270


def test_fusion_adds_what_the_ranks_are_worth_and_ties_go_to_the_lower_number() -> None:
    one, other = [Match(5), Match(3), Match(8)], [Match(3), Match(5), Match(1)]
    fused = by_rank([one, other], 3)
    assert [match.number for match in fused] == [3, 5, 1]
    assert [match.score for match in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 61 + 1 / 62, 1 / 63])
    assert by_rank([], 3) == by_rank([one, other], 0) == []
