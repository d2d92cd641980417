"""The rows of metrics.json, looked up by what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.report.formats import MISSING, figure, interval, is_recall

Row = Mapping[str, Any]
ALL = "all"
DAGGER = "†"


class Figures:
    """Results of one metrics.json; orders are those of the file."""

    def __init__(self, metrics: Mapping[str, Any]) -> None:
        self._rows: dict[tuple[str, str, str, str, str], Row] = {
            (row["arm"], row["scope"], row["view"], row["type"], row["metric"]): row
            for row in metrics["results"]
        }
        self.names = tuple(metrics["definitions"])
        self.arms = self._values("arm")
        self.views = self._values("view")
        self.types = tuple(kind for kind in self._values("type") if kind != ALL)

    def _values(self, column: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row[column] for row in self._rows.values()))

    def row(self, arm: str, scope: str, metric: str, view: str = ALL, kind: str = ALL) -> Row | None:
        """One result, or None where the run has none."""
        return self._rows.get((arm, scope, view, kind, metric))

    def value(self, arm: str, scope: str, metric: str, view: str = ALL, kind: str = ALL) -> str:
        """`94.4`, with † when trivial; a dash where there is none."""
        row = self.row(arm, scope, metric, view, kind)
        return MISSING if row is None else figure(metric, row["value"]) + (DAGGER if trivial(row) else "")

    def with_interval(self, arm: str, scope: str, metric: str, view: str = ALL, kind: str = ALL) -> str:
        """`94.4 [93.3, 95.4]`; the bare value where no interval belongs to it."""
        row = self.row(arm, scope, metric, view, kind)
        value = self.value(arm, scope, metric, view, kind)
        return value if row is None or row["arm"] == "ceiling" else f"{value} {interval(row)}"

    def n(self, arm: str, scope: str, view: str = ALL, kind: str = ALL) -> int:
        """How many questions the figures of an arm in a scope are about; 0 where there are none."""
        rows = (self.row(arm, scope, metric, view, kind) for metric in self.names)
        return next((int(row["n"]) for row in rows if row is not None), 0)


def trivial(row: Row) -> bool:
    """Whether a recall counts questions whose whole scope fits into k ranks; it can be no headline then.

    MRR and nDCG are not: a rank within a small scope still says something.
    """
    return is_recall(row["metric"]) and int(row["trivial"]) > 0
