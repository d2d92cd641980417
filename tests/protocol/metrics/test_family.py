"""An edition's metrics, under the literature's names."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pgmnemo.errors import UsageError
from runner.protocol.editions import current
from runner.protocol.metrics import DIFFERENCES, metrics_for
from runner.protocol.metrics.metric import metric_named


def test_the_registry_holds_the_protocols_metrics_under_the_literatures_names() -> None:
    recalls = [f"recall_{kind}@{k}" for kind in ("any", "frac", "all") for k in (1, 5, 10, 20, 50)]
    assert list(metrics_for(current()))[:17] == [*recalls, "MRR@50", "nDCG@10"]


def test_the_code_that_makes_the_numbers_has_a_version() -> None:
    code = current().metrics.code
    assert code.count(".") == 2
    assert code in DIFFERENCES


def test_other_cutoffs_move_the_recalls_alone() -> None:
    names = ["recall_any@3", "recall_frac@3", "recall_all@3", "MRR@50", "nDCG@10"]
    assert list(metrics_for(current(), [3]))[:5] == names


def test_an_edition_decides_which_families_there_are_and_how_deep_they_look() -> None:
    metrics = replace(current().metrics, families=("ndcg", "recall_any"), cutoffs=(2,), ndcg_depth=5)
    assert list(metrics_for(replace(current(), metrics=metrics))) == ["nDCG@5", "recall_any@2"]


@pytest.mark.parametrize("name", ["recall_any@3", "MRR@10", "nDCG@1"])
def test_a_reading_may_ask_a_metric_at_any_k(name: str) -> None:
    assert metric_named(name).name == name


@pytest.mark.parametrize(
    ("cutoffs", "sentence"),
    [([0], "k = 0 is out of range"), ([51], "50 ranks are kept"), ([], "no k"), ([5, 5], "twice")],
)  # fmt: skip
def test_refuses_a_cutoff_that_means_nothing(cutoffs: list[int], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        metrics_for(current(), cutoffs)
