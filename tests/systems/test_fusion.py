"""The controls, and fusion by hand: pools, min-max and ranks, candidates, recency and an anchor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pgmnemo.errors import UsageError
from pgmnemo.records import Matrix
from runner.systems import Lesson, Lessons, Match, Query, spec_of
from runner.systems.controls import ExactCosine, RandomOrder
from runner.systems.fusion import (
    RRF,
    Fusion,
    keep_best,
    min_max,
    ranks,
    recency_of_ages,
    reciprocal_rank_fusion,
)


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


def test_chance_depends_on_the_seed_the_scope_and_the_question_alone(tiny: Any, tools: Any) -> None:
    def drawn(seed: int, number: int, project: str | None, text: str = "x") -> list[int]:
        chance = RandomOrder(seed, lambda query: f"{query.project} {query.number}")
        chance.load(tiny)
        return [match.number for match in chance.ask(Query(number, text, None, project), 50)]

    boat = tools.PROJECTS[1]
    assert drawn(42, 1, None) == drawn(42, 1, None, "another text")
    assert len({tuple(drawn(seed, number, None)) for seed in (1, 2) for number in (1, 2)}) == 4
    assert sorted(drawn(42, 1, boat)) == sorted(one.number for one in tiny if one.project == boat)


def test_fusion_adds_what_the_ranks_are_worth_and_ties_go_to_the_lower_number() -> None:
    one, other = [Match(5), Match(3), Match(8)], [Match(3), Match(5), Match(1)]
    fused = reciprocal_rank_fusion([one, other], 3)
    assert [match.number for match in fused] == [3, 5, 1]
    assert [match.score for match in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 61 + 1 / 62, 1 / 63])
    assert reciprocal_rank_fusion([], 3) == reciprocal_rank_fusion([one, other], 0) == []


NO = -np.inf
VECTOR = np.array([[0.9, 0.7, 0.5, NO]])
KEYWORD = np.array([[NO, 2.0, 4.0, 6.0]])


def fused(fusion: Fusion, **more: Any) -> list[float]:
    return [float(one) for one in fusion.parts(VECTOR, KEYWORD, **more).sum(axis=0)[0]]


def test_ranks_and_pools_go_by_score_and_then_by_place() -> None:
    assert ranks(np.array([[1.0, 3.0, 3.0, NO]])).tolist() == [[3, 1, 2, 4]]
    assert keep_best(np.array([[1.0, 3.0, 3.0, 2.0]]), 2).tolist() == [[NO, 3.0, 3.0, NO]]


def test_min_max_runs_from_the_last_to_the_first_of_a_pool() -> None:
    assert min_max(VECTOR).tolist() == [[1.0, pytest.approx(0.5), 0.0, 0.0]]
    assert min_max(np.array([[5.0, 5.0, NO]])).tolist() == [[1.0, 1.0, 0.0]]
    assert min_max(np.array([[NO, NO]])).tolist() == [[0.0, 0.0]]


def test_convex_weighs_both_legs_and_gives_nothing_for_a_leg_that_found_nothing() -> None:
    assert fused(Fusion(weight=0.5)) == pytest.approx([0.5, 0.25, 0.25, 0.5])
    assert fused(Fusion(weight=0.2)) == pytest.approx([0.2, 0.1, 0.4, 0.8])  # the last one has no distance: 0


def test_ranks_are_fused_as_a_share_of_the_most_there_can_be() -> None:
    scores = fused(Fusion(method=RRF, k=1))
    assert scores == pytest.approx([1 / 2, 1 / 3 + 1 / 4, 1 / 4 + 1 / 3, 1 / 2])
    assert fused(Fusion(method=RRF, k=60))[0] == pytest.approx(0.5)


def test_candidates_of_the_vector_leg_leave_out_what_only_words_found() -> None:
    assert fused(Fusion(candidates="vector")) == pytest.approx([0.5, 0.25, 0.25, NO])


def test_recency_and_an_anchor_are_added_to_candidates_alone() -> None:
    fusion = Fusion(weight=0.5, candidates="vector", recency=0.1, temporal=0.4)
    recency, fit = recency_of_ages(np.array([[0.0, 30.0, np.nan, -5.0]])), np.array([[0.0, 0.5, 1.0, 1.0]])
    assert recency.tolist() == [[1.0, 0.5, 0.0, 1.0]]
    assert fused(fusion, recency=recency, fit=fit) == pytest.approx([0.6, 0.5, 0.65, NO])
    assert fused(replace(fusion, recency=0.0, temporal=0.0), recency=recency, fit=fit)[:3] == pytest.approx(
        [0.5, 0.25, 0.25]
    )


def test_a_pool_is_a_multiple_of_the_ranks_and_has_a_floor() -> None:
    assert [Fusion().pool(k) for k in (5, 10, 50)] == [50, 50, 250]
    assert Fusion(factor=1, floor=80).pool(50) == 80


OTHERS = "over, keyword, vector, anchor, factor, floor, candidates, recency, temporal"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("convex:weight=2", "setting weight of convex is '2', but must be a number from 0 to 1"),
        ("rrf:k=1.5", "setting k of rrf is '1.5', but must be a whole number from 0 to 100000"),
        ("rrf:candidates=all", "setting candidates of rrf is 'all', but must be one of union, vector"),
        ("convex:k=5", f"system convex has no setting 'k'; choose one of: weight, {OTHERS}"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        spec_of(name)
    assert str(raised.value) == f"the {sentence}"


def test_a_strategy_over_what_is_no_system_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"^there is no system named 'nothing'; choose one of: pgmnemo, "):
        spec_of("rrf:over=nothing")
