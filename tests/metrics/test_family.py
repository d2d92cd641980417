import pytest

from runner.errors import UsageError
from runner.metrics import METRIC_VERSION, METRICS, metrics_for


def test_the_registry_holds_the_protocols_metrics_under_the_literatures_names() -> None:
    recalls = [f"recall_{kind}@{k}" for kind in ("any", "frac", "all") for k in (1, 5, 10, 20, 50)]
    assert list(METRICS) == [*recalls, "MRR@50", "nDCG@10"]


def test_a_metric_says_what_it_is() -> None:
    for name, metric in METRICS.items():
        assert name == metric.name == f"{metric.family}@{metric.k}"
        assert metric.direction == "higher"
        assert metric.worst == 0
        assert metric.definition.endswith(".")
        assert metric.definition.count(". ") == 0


def test_the_code_that_makes_the_numbers_has_a_version() -> None:
    assert METRIC_VERSION.count(".") == 2


def test_other_cutoffs_move_the_recalls_alone() -> None:
    assert list(metrics_for([3])) == ["recall_any@3", "recall_frac@3", "recall_all@3", "MRR@50", "nDCG@10"]


@pytest.mark.parametrize(
    ("cutoffs", "sentence"),
    [
        ([0], "k = 0 is out of range"),
        ([-1], "k = -1"),
        ([51], "50 ranks are kept"),
        ([], "no k"),
        ([5, 5], "twice"),
    ],
)
def test_refuses_a_cutoff_that_means_nothing(cutoffs: list[int], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        metrics_for(cutoffs)


def test_a_name_that_the_module_lacks_is_an_attribute_error() -> None:
    import runner.metrics

    with pytest.raises(AttributeError, match="no attribute 'METRIX'"):
        _ = runner.metrics.METRIX
