"""A toy metric: the share of questions whose very first answer is gold, at every cutoff the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.editions import MetricPins
from runner.metrics.metric import Metric


def family(pins: MetricPins, cutoffs: Sequence[int]) -> Iterator[Metric]:
    yield Metric(
        name="first@1",
        family="first",
        k=1,
        definition="Share of questions whose first segment is gold.",
        formula=lambda found: (found.first <= 1).astype(float),
    )
