"""The figures of a run anew, from its raw rankings and run.json alone, under a version of the metric code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from runner.artefacts import metrics_document
from runner.metrics import DIFFERENCES, metrics_for, score
from runner.records import Json, Retrieval, View
from runner.registry import Registry

Recompute = Callable[[Mapping[str, Any], Sequence[Retrieval], Sequence[int]], Json]


def _scored(version: str, run: Mapping[str, Any], rows: Sequence[Retrieval], cutoffs: Sequence[int]) -> Json:
    clustered = run["corpus"]["clustered"]
    scores = score(rows, views=views(run), clustered=clustered, cutoffs=cutoffs, version=version)
    return metrics_document(
        run,
        scores.results,
        scores.differences,
        metric_code=version,
        definitions={name: metric.definition for name, metric in metrics_for(cutoffs).items()},
        intervals=scores.methods,
    )


METRIC_CODES: Registry[Recompute] = Registry(
    "version of the metric code", {version: partial(_scored, version) for version in DIFFERENCES}
)
"""By version: from (run.json, raw rows, cutoffs) to the document of metrics.json."""


def views(run: Mapping[str, Any]) -> dict[str, View]:
    """The subsets of questions that run.json names."""
    named = (View(view["name"], tuple(view["without_types"]), view["without_key"]) for view in run["views"])
    return {view.name: view for view in named}
