"""Which metrics a run reports: those of its edition's families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from runner.editions import Edition
from runner.errors import UsageError
from runner.metrics.families.mrr import mrr
from runner.metrics.families.ndcg import ndcg
from runner.metrics.families.recall_all import recall_all
from runner.metrics.families.recall_any import recall_any
from runner.metrics.families.recall_frac import recall_frac
from runner.metrics.metric import Metric
from runner.registry import Registry, part

FAMILIES = "runner.metrics.families"
ONE_BY_ONE: Mapping[str, Callable[[int], Metric]] = {
    "recall_any": recall_any, "recall_frac": recall_frac, "recall_all": recall_all, "MRR": mrr, "nDCG": ndcg,
}  # fmt: skip


def metrics_for(edition: Edition, cutoffs: Sequence[int] | None = None) -> Registry[Metric]:
    """Every metric of the edition, those that have cutoffs at `cutoffs` (the edition's where None).

    Raises UsageError for a cutoff below 1, above the number of ranks that are kept, or given twice.
    """
    pins = edition.metrics
    chosen = pins.cutoffs if cutoffs is None else tuple(cutoffs)
    _check(chosen, edition.retrieval.depth)
    families = [part("metric family", FAMILIES, name, "family") for name in pins.families]
    listed = [metric for family in families for metric in family(pins, chosen)]
    return Registry("metric", {metric.name: metric for metric in listed})


def metric_named(name: str) -> Metric:
    """One metric at any k, such as MRR@10; UsageError for an unknown name."""
    family, _, k = name.partition("@")
    if family not in ONE_BY_ONE or not k.isdigit():
        raise UsageError(f"there is no metric {name!r}; name one of {', '.join(ONE_BY_ONE)} with its @k")
    return ONE_BY_ONE[family](int(k))


def _check(cutoffs: tuple[int, ...], depth: int) -> None:
    if not cutoffs:
        raise UsageError(f"no k was given; give one or more from 1 to {depth}")
    for k in cutoffs:
        if not 1 <= k <= depth:
            raise UsageError(f"k = {k} is out of range: {depth} ranks are kept, so choose from 1 to {depth}")
    if len(set(cutoffs)) < len(cutoffs):
        raise UsageError(f"a k stands twice in {', '.join(map(str, cutoffs))}; give each once")
