"""Which metrics a run reports: those of its edition's families."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pgmnemo.errors import UsageError
from pgmnemo.registry import Registry, members
from runner.protocol.editions import Edition
from runner.protocol.metrics.metric import Family, Metric

PACKAGE = "runner.protocol.metrics.families"


@cache
def _known() -> Registry[Family]:
    """The families of every file of the package, by name."""
    return Registry("metric family", {family.name: family for family in members(PACKAGE, "FAMILIES")})


def family_named(name: str) -> Family:
    """The family that an edition lists under that name; UsageError lists those that there are."""
    return _known()[name]


def metrics_for(edition: Edition, cutoffs: Sequence[int] | None = None) -> Registry[Metric]:
    """Every metric of the edition, those that have cutoffs at `cutoffs` (the edition's where None).

    Raises UsageError for a cutoff below 1, above the number of ranks that are kept, or given twice.
    """
    pins = edition.metrics
    chosen = pins.cutoffs if cutoffs is None else tuple(cutoffs)
    _check(chosen, edition.retrieval.depth)
    families = map(family_named, pins.families)
    listed = [metric for family in families for metric in family.metrics(pins, chosen)]
    return Registry("metric", {metric.name: metric for metric in listed})


def metric_named(name: str) -> Metric:
    """One metric at any k, such as MRR@10; UsageError for an unknown name."""
    k = name.partition("@")[2]
    made = [family.at(int(k)) for family in _known().values()] if k.isdigit() and int(k) else []
    found = next((metric for metric in made if metric.name == name), None)
    if found is None:
        labels = ", ".join(family.at(1).name.partition("@")[0] for family in _known().values())
        raise UsageError(f"there is no metric {name!r}; name one of {labels} with its @k")
    return found


def _check(cutoffs: tuple[int, ...], depth: int) -> None:
    if not cutoffs:
        raise UsageError(f"no k was given; give one or more from 1 to {depth}")
    for k in cutoffs:
        if not 1 <= k <= depth:
            raise UsageError(f"k = {k} is out of range: {depth} ranks are kept, so choose from 1 to {depth}")
    if len(set(cutoffs)) < len(cutoffs):
        raise UsageError(f"a k stands twice in {', '.join(map(str, cutoffs))}; give each once")
