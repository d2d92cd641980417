"""Figures as others count them: the same rankings, with their metrics, depths and questions (§4.9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from runner.protocol.editions import Reading
from runner.protocol.metrics.family import metric_named
from runner.protocol.metrics.table import ScopeTable
from runner.records import Json
from runner.runs.canonical import METRIC_DIGITS, significant


def readings_of(
    table: ScopeTable,
    arms: Sequence[str],
    readings: Sequence[Reading],
    level: str,
    uncited: int,
    unmarked: int,
) -> Iterator[Json]:
    """One row a reading, arm and metric, in the scope of `table`.

    Questions without a ranking: `uncited` is the number of those that cite nothing, `unmarked` that of those
    which cite what the level does not hold.
    """
    questions = table.judged()
    for reading in readings:
        if reading.levels and level not in reading.levels:
            continue
        left_out = set(reading.without.get(level, ()))
        kept = np.array([question.key not in left_out for question in questions])
        added = [(reading.uncited, uncited), (reading.unmarked, unmarked)]
        worth = sum(number * value for value, number in added if value is not None)
        extra = sum(number for value, number in added if value is not None)
        for arm in arms:
            found = table.found(arm)
            for name in reading.metrics:
                values = metric_named(name).formula(found)[kept]
                total = float(values.sum()) + worth
                n = int(kept.sum()) + extra
                yield {
                    "reading": reading.name,
                    "arm": arm,
                    "scope": table.scope,
                    "metric": name,
                    "value": significant(total / n, METRIC_DIGITS, f"{reading.name}, {arm}, {name}"),
                    "n": n,
                }
