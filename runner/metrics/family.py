"""Which metrics a run reports: one line each."""

from __future__ import annotations

from collections.abc import Sequence

from runner.errors import UsageError
from runner.metrics.metric import Metric
from runner.metrics.mrr import mrr
from runner.metrics.ndcg import ndcg
from runner.metrics.recall import recall_all, recall_any, recall_frac
from runner.protocol import load_protocol
from runner.registry import Registry

AT_EVERY_CUTOFF = (recall_any, recall_frac, recall_all)


def metrics_for(cutoffs: Sequence[int] | None = None) -> Registry[Metric]:
    """The recalls at `cutoffs` (the protocol's where None), and MRR and nDCG at the protocol's depths.

    Raises UsageError for a cutoff below 1, above the number of ranks that are kept, or given twice.
    """
    protocol = load_protocol()
    chosen = protocol.cutoffs if cutoffs is None else tuple(cutoffs)
    _check(chosen, protocol.depth)
    listed = [make(k) for make in AT_EVERY_CUTOFF for k in chosen]
    listed += [mrr(protocol.mrr_depth), ndcg(protocol.ndcg_depth)]
    return Registry("metric", {metric.name: metric for metric in listed})


def _check(cutoffs: tuple[int, ...], depth: int) -> None:
    if not cutoffs:
        raise UsageError(f"no k was given; give one or more from 1 to {depth}")
    for k in cutoffs:
        if not 1 <= k <= depth:
            raise UsageError(f"k = {k} is out of range: {depth} ranks are kept, so choose from 1 to {depth}")
    if len(set(cutoffs)) < len(cutoffs):
        raise UsageError(f"a k stands twice in {', '.join(map(str, cutoffs))}; give each once")
