"""Two rankings are the same where honest machines give both, and nowhere else."""

from __future__ import annotations

import pytest

from runner.records import RankedSegment
from runner.verification.ranking_equality import DIGITS, HALF, SWAY, ranking_faults


def hits(*scores: float, names: str = "abcdef") -> tuple[RankedSegment, ...]:
    return tuple(RankedSegment(name, score) for name, score in zip(names, scores, strict=False))


def bare(names: str) -> tuple[RankedSegment, ...]:
    return tuple(RankedSegment(name) for name in names)


NEAR = 0.5 + 0.9 * SWAY * 0.9  # of 0.5, where the best is 0.9
TIED, APART = 0.5 + 2 * SWAY * 0.9, 0.5 + 3 * SWAY * 0.9


@pytest.mark.parametrize(
    ("recorded", "again", "said"),
    [
        (hits(0.9, 0.5), hits(0.9, 0.5), ""),
        (hits(0.9, 0.5), hits(0.9, NEAR), ""),
        (hits(0.9, 0.5), hits(0.9, APART), "the score of b is 0.5, recalled is"),
        (hits(0.9, 0.5), hits(0.9), "2 ranks stand there, and 1 were recalled"),
        (hits(0.9, 0.9, names="aa"), hits(0.9, 0.9), "an id stands there twice"),
        (hits(0.9, 0.5, names="ba"), hits(0.9, 0.5), "rank 1 is b, recalled is a"),
        (bare("ba"), hits(0.9, 0.5), "rank 1 is b, recalled is a"),  # bare ids are in order, too
        (bare("ab"), hits(0.9, 0.5), ""),
        (bare("ba"), bare("ab"), "rank 1 is b, recalled is a"),
        # near ties: either order, and either may be the last where the list is cut off
        (bare("acb"), hits(0.9, TIED, 0.5), ""),
        (bare("acb"), hits(0.9, APART, 0.5), "rank 2 is c, recalled is b"),
        (bare("ac"), hits(0.9, 0.5), ""),
        (hits(0.9, 0.5, names="ac"), hits(0.9, 0.5), ""),
        (hits(0.9, 0.51, names="ac"), hits(0.9, 0.5), "the score of c is 0.51, recalled is none"),
        (bare("adc"), hits(0.9, TIED, 0.5), ""),
        # an id that was not recalled stands nowhere else, whatever score it is given
        (hits(0.9, 0.5, names="cb"), hits(0.9, 0.5), "rank 1 is c, recalled is a"),
        (hits(0.9, 0.7, 0.5, names="adc"), hits(0.9, 0.7, 0.5), "rank 2 is d, recalled is b"),
        # what scores nothing has nothing that moves
        (bare("acb"), hits(0.9, 0.0, 0.0), "rank 2 is c, recalled is b"),
        (bare("abd"), hits(0.9, 0.0, 0.0), "rank 3 is d, recalled is c"),
        # components, to four decimals and the bound
        (
            (RankedSegment("a", 0.9, (0.5, None)),),
            (RankedSegment("a", 0.9, (0.5, 0.1)),),
            "the components of a are",
        ),
        ((RankedSegment("a", 0.9, (0.5, None)),), (RankedSegment("a", 0.9, (0.5 + HALF, None)),), ""),
        (
            (RankedSegment("a", 0.9, (0.5, None)),),
            (RankedSegment("a", 0.9, (0.5 + HALF + 2 * SWAY, None)),),
            "the components",
        ),
        (
            (RankedSegment("a", 0.9, (0.5,)),),
            (RankedSegment("a", 0.9, (0.5, 0.1)),),
            "the components of a are",
        ),
    ],
)
def test_what_differs_is_said_first(
    recorded: tuple[RankedSegment, ...], again: tuple[RankedSegment, ...], said: str
) -> None:
    found = next(ranking_faults(recorded, [again]), "")
    assert found.startswith(said) if said else not found


def test_an_id_that_was_not_recalled_stands_nowhere_in_a_list_that_is_whole() -> None:
    recorded, again = bare("ac"), hits(0.9, 0.5)
    assert not list(ranking_faults(recorded, [again]))
    assert list(ranking_faults(recorded, [again], cut=False)) == ["rank 2 is c, recalled is b"]


# Of the committed run of REALTALK's sessions by 0.4.1: the first score and a small one far behind it, as
# recorded and as a machine with vectors of its own recalled both. A bound relative to each called it damaged.
HONEST = (
    ((46.3218, 1.92849), (46.321720752067804, 1.92868341887473)),  # pgmnemo, pool, Chat_1/q1
    ((62.9337, 0.26569), (62.93382240305412, 0.26587873343360335)),  # pgmnemo, pool, Chat_1/q39
    ((43.9709, 0.239056), (43.97092009935583, 0.23902207836508751)),  # pgmnemo, pool, Chat_1/q49
    ((0.697178, 0.000244503), (0.6971783629923876, 0.00024429158210587115)),  # convex, Chat_1/q66
)


@pytest.mark.parametrize(("recorded", "again"), HONEST)
def test_honest_machines_differ_by_a_share_of_the_best_score(
    recorded: tuple[float, float], again: tuple[float, float]
) -> None:
    assert abs(recorded[1] - again[1]) > 1e-4 * again[1]
    assert not list(ranking_faults(hits(*recorded), [hits(*again)]))


def test_what_other_honest_machines_answer_explains_a_rank_and_no_more() -> None:
    """Two lessons that nearly tie in a leg change its ranks, and so their scores by a step of the fusion."""
    here, there = hits(0.9, 0.52, 0.5), hits(0.9, 0.51, 0.505)
    recorded = hits(0.9, 0.51, 0.5)
    assert "the score of b" in next(ranking_faults(recorded, [here]))
    assert not list(ranking_faults(recorded, [here, there]))
    assert "the score of b" in next(ranking_faults(hits(0.9, 0.53, 0.5), [here, there]))
    assert "rank 1 is c" in next(ranking_faults(bare("cba"), [here, there]))


def test_the_bounds_are_far_below_the_steps_between_ranks() -> None:
    """A forger gains the ranks of near ties alone: 0.01 % of the best score, both ways taken together."""
    assert 2 * SWAY <= 1e-4
    assert DIGITS < SWAY
