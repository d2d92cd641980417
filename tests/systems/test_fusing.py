"""Fusion by hand: pools, min-max and ranks, candidates, and what recency and an anchor add."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runner.errors import UsageError
from runner.systems import kind_of
from runner.systems.fusing import RRF, Fusion, ages, min_max, pooled, ranks

NO = -np.inf
VECTOR = np.array([[0.9, 0.7, 0.5, NO]])
KEYWORD = np.array([[NO, 2.0, 4.0, 6.0]])


def fused(fusion: Fusion, **more: Any) -> list[float]:
    return [float(one) for one in fusion.parts(VECTOR, KEYWORD, **more).sum(axis=0)[0]]


def test_ranks_and_pools_go_by_score_and_then_by_place() -> None:
    assert ranks(np.array([[1.0, 3.0, 3.0, NO]])).tolist() == [[3, 1, 2, 4]]
    assert pooled(np.array([[1.0, 3.0, 3.0, 2.0]]), 2).tolist() == [[NO, 3.0, 3.0, NO]]


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
    recency, fit = ages(np.array([[0.0, 30.0, np.nan, -5.0]])), np.array([[0.0, 0.5, 1.0, 1.0]])
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
        ("convex:weight=x", "setting weight of convex is 'x', but must be a number from 0 to 1"),
        ("rrf:k=1.5", "setting k of rrf is '1.5', but must be a whole number from 0 to 100000"),
        ("rrf:candidates=all", "setting candidates of rrf is 'all', but must be one of union, vector"),
        ("rrf:anchor=me", "setting anchor of rrf is 'me', but must be one of none, built-in, llm"),
        ("convex:k=5", f"system convex has no setting 'k'; choose one of: weight, {OTHERS}"),
        ("rrf:weight=0.5", f"system rrf has no setting 'weight'; choose one of: k, {OTHERS}"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        kind_of(name)
    assert str(raised.value) == f"the {sentence}"


def test_a_strategy_over_what_is_no_system_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"^there is no system named 'nothing'; choose one of: pgmnemo, "):
        kind_of("rrf:over=nothing")
