"""Our figures beside a second reading of the definitions, and beside trec_eval's."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest

from runner.protocol.editions import current
from runner.protocol.metrics import metrics_for
from runner.protocol.metrics.families.ranks import mrr, ndcg
from runner.protocol.metrics.families.recalls import recall_any, recall_frac

METRICS = {
    name: metric for name, metric in metrics_for(current()).items() if not metric.needs_lengths
}  # those within a budget of tokens: test_budgets.py
Case = tuple[frozenset[str], list[str]]


def gained(gold: frozenset[str], ranking: list[str]) -> float:
    return sum(log(2) / log(i + 2) for i, segment in enumerate(ranking) if segment in gold)


def naive(family: str, gold: frozenset[str], top: list[str], k: int) -> float:
    """The textbook's words turned into loops, sharing nothing with the code under test."""
    got = [segment for segment in top if segment in gold]
    if family == "MRR":
        return 1 / (top.index(got[0]) + 1) if got else 0
    if family == "nDCG":
        return gained(gold, top) / gained(gold, sorted(gold)[:k])
    counts: dict[str, Callable[[], float]] = {
        "recall_any": lambda: bool(got),
        "recall_frac": lambda: len(got) / len(gold),
        "recall_all": lambda: len(got) == len(gold),
    }
    assert family in counts, "a new metric needs a second implementation in `naive`"
    return float(counts[family]())


@pytest.mark.parametrize("name", list(METRICS))
def test_agrees_with_a_second_implementation(name: str, random_cases: list[Case]) -> None:
    metric = METRICS[name]
    for gold, ranking in random_cases:
        expected = naive(metric.family, gold, ranking[: metric.k], metric.k)
        assert metric.value(gold, ranking) == pytest.approx(expected, abs=1e-12)


def test_agrees_with_ir_measures(random_cases: list[Case]) -> None:
    """Fed by rank (score = -rank), since trec_eval breaks ties of score by descending id."""
    ir = pytest.importorskip("ir_measures")
    theirs = {
        ir.Success @ 5: recall_any(5), ir.R @ 5: recall_frac(5), ir.R @ 20: recall_frac(20),
        ir.RR @ 50: mrr(50), ir.nDCG @ 10: ndcg(10),
    }  # fmt: skip
    qrels = {str(i): dict.fromkeys(gold, 1) for i, (gold, _) in enumerate(random_cases)}
    run = {
        str(i): {segment: -float(rank) for rank, segment in enumerate(ranking)}
        for i, (_, ranking) in enumerate(random_cases)
        if ranking
    }
    seen = 0
    for found in ir.iter_calc(list(theirs), qrels, run):
        gold, ranking = random_cases[int(found.query_id)]
        assert theirs[found.measure].value(gold, ranking) == pytest.approx(found.value, abs=1e-12)
        seen += 1
    assert seen >= 5 * len(run)
