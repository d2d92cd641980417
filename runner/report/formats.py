"""Look-ups in the rows of metrics.json, and the format of printed figures.

Recalls and metrics within a budget are in percent with one decimal, other metrics with three decimals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from runner.records import ALL, SearchScope
from runner.runs.canonical import METRIC_DIGITS, significant
from runner.runs.run import Run

CITED = "recall_any@10"  # the protocol's recall@10, which a citation names
MISSING = "–"  # noqa: RUF001
MINUS = "−"  # noqa: RUF001
HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,52}\b")


def in_percent(metric: str) -> bool:
    """Return whether `metric` is printed in percent."""
    return metric.startswith(("recall_", "budget_"))


def figure(metric: str, value: float) -> str:
    """Return `94.4` for a recall of 0.944, `0.944` for a metric that is not printed in percent."""
    return f"{100 * value:.1f}" if in_percent(metric) else f"{value:.3f}"


def percents(shares: Iterable[float]) -> list[float]:
    """Return shares as percent with one decimal, rounded as metrics.json and then `figure` round them."""
    return [float(f"{100 * significant(float(share), METRIC_DIGITS):.1f}") for share in shares]


def change(metric: str, value: float) -> str:
    """Return a difference with its sign, in percentage points for a recall: `+1.2`, `−0.3`, `0.0`."""  # noqa: RUF002
    text = figure(metric, abs(value))
    if not text.strip("0."):
        return text
    return f"+{text}" if value > 0 else f"{MINUS}{text}"


def interval(row: Mapping[str, Any]) -> str:
    """Return the 95 % interval of a result: `[93.3, 95.4]`."""
    return f"[{figure(row['metric'], row['ci95_low'])}, {figure(row['metric'], row['ci95_high'])}]"


def change_interval(row: Mapping[str, Any]) -> str:
    """Return the 95 % interval of a difference: `[+0.4, +2.0]`."""
    return f"[{change(row['metric'], row['ci95_low'])}, {change(row['metric'], row['ci95_high'])}]"


def p_text(p: float) -> str:
    """Return a p value as `0.012`, or `< 0.001`."""
    return "< 0.001" if p < 0.0005 else f"{p:.3f}"


def difference(metric: str, value: float, low: float, high: float) -> str:
    """Return a difference with its 95 % interval: `+1.2 [+0.4, +2.0]`."""
    return f"{change(metric, value)} [{change(metric, low)}, {change(metric, high)}]"


def count(number: int) -> str:
    """Return a whole number with thousands separators: `1,982`."""
    return f"{number:,}"


def seconds(value: float) -> str:
    """Return a duration as `0.41 s`, `17.2 s` or `4 min 05 s`."""
    if value < 10:
        return f"{value:.2f} s"
    if round(value) < 120:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02} s"


def shorten(text: str) -> str:
    """Return `text` with every long hash cut to its first twelve digits; run.json has the whole hash."""
    return HASH.sub(r"\1…", text)


def questions_of(view: str, singular: str = "questions") -> str:
    """Return `questions`, or `pointed questions` for a view that is not all questions."""
    return singular if view == ALL else f"{view} {singular}"


def scope_words(scope: SearchScope, segments: int) -> str:
    """Return `within the question's conversation` or `over the pool of 272 segments`."""
    if scope.pooled:
        return f"over the {scope.name} of {count(segments)} segments"
    return f"within the question's {scope.name}"


Row = Mapping[str, Any]
DAGGER = "†"


class Figures:
    """The results of one metrics.json, in the order of the file.

    By default a figure over all types is of the headline's `view`, and a figure of one type is of all
    questions.
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
        """Return the arms that answered in a scope, and the ceiling; all arms if none answered there."""
        found = {row["arm"] for row in self._rows.values() if row["scope"] == scope}
        return tuple(arm for arm in self.arms if arm in found or not found)

    def row(self, arm: str, scope: str, metric: str, view: str = "", kind: str = ALL) -> Row | None:
        """Return a result, or None if the run has no such result."""
        usual = self.view if kind == ALL else ALL
        return self._rows.get((arm, scope, view or usual, kind, metric))

    def value(self, arm: str, scope: str, metric: str, view: str = "", kind: str = ALL) -> str:
        """Return a value as `94.4`, with † when trivial; a dash if there is no result."""
        row = self.row(arm, scope, metric, view, kind)
        return MISSING if row is None else figure(metric, row["value"]) + (DAGGER if trivial(row) else "")

    def with_interval(self, arm: str, scope: str, metric: str, view: str = "", kind: str = ALL) -> str:
        """Return a value as `94.4 [93.3, 95.4]`; the ceiling has no interval."""
        row = self.row(arm, scope, metric, view, kind)
        value = self.value(arm, scope, metric, view, kind)
        return value if row is None or row["arm"] == "ceiling" else f"{value} {interval(row)}"

    def headline(self, run: Run) -> list[Row]:
        """Return the results of the system under test in the first scope, including trivial results."""
        rows = (self.row(run.system, run.scopes[0].name, metric) for metric in run.headline)
        return [row for row in rows if row is not None]

    def n(self, arm: str, scope: str, view: str = "", kind: str = ALL) -> int:
        """Return the number of questions in the figures of an arm in a scope; 0 if there are no figures."""
        rows = (self.row(arm, scope, metric, view, kind) for metric in self.names)
        return next((int(row["n"]) for row in rows if row is not None), 0)


def trivial(row: Row) -> bool:
    """Return whether a recall counts questions with a whole scope that fits into k ranks.

    Such a recall is no headline. MRR and nDCG are never trivial: a rank within a small scope still has
    information.
    """
    return in_percent(row["metric"]) and int(row["trivial"]) > 0
