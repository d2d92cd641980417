"""Each metric on rankings that can be scored by hand."""

from math import log2

import pytest

from pgmnemo.errors import UsageError
from runner.protocol.editions import current
from runner.protocol.metrics import Metric, metrics_for
from runner.protocol.metrics.families.ranks import mrr, ndcg
from runner.protocol.metrics.families.recalls import recall_all, recall_any, recall_frac

METRICS = metrics_for(current())
HALF = 1 / log2(3)  # discount at rank 2


@pytest.mark.parametrize(
    ("metric", "gold", "ranking", "expected"),
    [
        (recall_any(1), "a", "ab", 1), (recall_any(1), "b", "ab", 0), (recall_any(2), "bz", "ab", 1),
        (recall_frac(1), "ab", "abc", 1 / 2), (recall_frac(2), "ac", "abc", 1 / 2),
        (recall_frac(3), "acyz", "abc", 1 / 2), (recall_all(2), "ac", "abc", 0),
        (recall_all(3), "ac", "abc", 1), (mrr(3), "cz", "abc", 1 / 3), (mrr(2), "c", "abc", 0),
        (ndcg(10), "b", "abc", HALF), (ndcg(10), "ac", "abc", (1 + 1 / 2) / (1 + HALF)),
        (ndcg(10), "az", "abc", 1 / (1 + HALF)), (ndcg(2), "abc", "abc", 1),
    ],
    ids=lambda case: case.name if isinstance(case, Metric) else str(case)[:5],
)  # fmt: skip
def test_value_is_what_the_hand_computes(metric: Metric, gold: str, ranking: str, expected: float) -> None:
    assert metric.value(frozenset(gold), list(ranking)) == pytest.approx(expected, abs=1e-15)


def test_the_ideal_takes_all_gold_and_not_only_what_was_retrieved() -> None:
    eleven = frozenset("abcdefghijk")
    ideal = sum(1 / log2(rank + 1) for rank in range(1, 11))
    assert ndcg(10).value(eleven, list("ab")) == pytest.approx((1 + HALF) / ideal)
    assert ndcg(10).value(eleven, list("abcdefghij")) == pytest.approx(1)


def test_rank_2_is_discounted_unlike_in_the_variant_of_longmemeval() -> None:
    assert ndcg(10).value(frozenset("b"), list("ab")) == pytest.approx(0.6309297535714575)


@pytest.mark.parametrize("name", list(METRICS))
def test_refuses_a_question_without_gold(name: str) -> None:
    with pytest.raises(UsageError, match="without gold"):
        METRICS[name].value(frozenset(), ["a"])


def test_refuses_a_segment_that_is_ranked_twice() -> None:
    with pytest.raises(UsageError, match="'b' is ranked twice"):
        recall_frac(5).value(frozenset("b"), list("abcb"))
