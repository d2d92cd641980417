"""The rows of metrics.json, looked up by what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.records import ALL
from runner.report.formats import MISSING, figure, interval, is_recall
from runner.runs.run import Run

Row = Mapping[str, Any]
DAGGER = "†"


class Figures:
    """Results of one metrics.json; orders are those of the file.

    Unless another view is named, figures are of the headline's `view`, those of one type of all questions.
    """

    def __init__(self, metrics: Mapping[str, Any], view: str = ALL) -> None:
        self._rows: dict[tuple[str, str, str, str, str], Row] = {
            (row["arm"], row["scope"], row["view"], row["type"], row["metric"]): row
            for row in metrics["results"]
        }
        self.names = tuple(metrics["definitions"])
        self.arms = self._values("arm")
        self.views = self._values("view")
        self.view = view if view in self.views else ALL
        self.types = tuple(kind for kind in self._values("type") if kind != ALL)

    def _values(self, column: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row[column] for row in self._rows.values()))

    def arms_in(self, scope: str) -> tuple[str, ...]:
        """The arms that answered in a scope, and the ceiling; all where none did."""
        found = {row["arm"] for row in self._rows.values() if row["scope"] == scope}
        return tuple(arm for arm in self.arms if arm in found or not found)

    def row(self, arm: str, scope: str, metric: str, view: str = "", kind: str = ALL) -> Row | None:
        """One result, or None where the run has none."""
        usual = self.view if kind == ALL else ALL
        return self._rows.get((arm, scope, view or usual, kind, metric))

    def value(self, arm: str, scope: str, metric: str, view: str = "", kind: str = ALL) -> str:
        """`94.4`, with † when trivial; a dash where there is none."""
        row = self.row(arm, scope, metric, view, kind)
        return MISSING if row is None else figure(metric, row["value"]) + (DAGGER if trivial(row) else "")

    def with_interval(self, arm: str, scope: str, metric: str, view: str = "", kind: str = ALL) -> str:
        """`94.4 [93.3, 95.4]`; the bare value where no interval belongs to it."""
        row = self.row(arm, scope, metric, view, kind)
        value = self.value(arm, scope, metric, view, kind)
        return value if row is None or row["arm"] == "ceiling" else f"{value} {interval(row)}"

    def headline(self, run: Run) -> list[Row]:
        """The results of the system under test in the first scope, trivial ones too."""
        rows = (self.row(run.system, run.scopes[0].name, metric) for metric in run.headline)
        return [row for row in rows if row is not None]

    def n(self, arm: str, scope: str, view: str = "", kind: str = ALL) -> int:
        """How many questions the figures of an arm in a scope are about; 0 where there are none."""
        rows = (self.row(arm, scope, metric, view, kind) for metric in self.names)
        return next((int(row["n"]) for row in rows if row is not None), 0)


def trivial(row: Row) -> bool:
    """Whether a recall counts questions whose whole scope fits into k ranks; it can be no headline then.

    MRR and nDCG are not: a rank within a small scope still says something.
    """
    return is_recall(row["metric"]) and int(row["trivial"]) > 0
