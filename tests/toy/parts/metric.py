"""A toy metric: the share of questions whose very first answer is gold."""

from __future__ import annotations

from runner.protocol.metrics.metric import Family, Metric


def first(k: int) -> Metric:
    return Metric(
        name=f"first@{k}", k=k, definition="Share of questions whose first segment is gold.",
        formula=lambda found: (found.first <= 1).astype(float),
    )  # fmt: skip


FAMILIES = (Family("toy", first, lambda *_: (1,)),)
