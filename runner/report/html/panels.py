"""What stands in each section of the page, for each search scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from runner.records import ALL
from runner.report.figures import Figures
from runner.report.figures import Row as Result
from runner.report.formats import MINUS, change, change_interval, count, figure, is_recall
from runner.report.html.curves import FAMILIES, Curve, first_ranks
from runner.report.html.palette import CEILING, RANDOM, arm_class
from runner.report.html.plots.intervals import Axis, Mark, Row, intervals
from runner.report.html.plots.recall import recall
from runner.report.html.plots.shares import buckets, names, shares
from runner.report.html.plots.ticks import signed, ticks
from runner.report.html.standings import Scope
from runner.runs.run import Run

Facts = Mapping[str, Any]
WORDS = {
    "recall_any": "at least one of the gold",
    "recall_frac": "share of the gold",
    "recall_all": "all of the gold",
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot under its title."""

    title: str
    words: str
    plot: Markup


@dataclass(frozen=True, slots=True)
class Bar:
    """One labelled bar of shares."""

    label: str
    words: str
    class_: str
    plot: Markup


def recall_panels(
    figures: Figures, run: Run, scope: Scope, curves: Mapping[str, Mapping[str, Curve]]
) -> list[Panel]:
    """One panel for each of the three recalls."""
    panels = []
    smallest = int(scope.size_array().min())
    for family in FAMILIES:
        known = _known(figures, run, scope.name, family)
        ends = ", ".join(f"{figure(row['metric'], row['value'])} at k = {k}" for k, row in known.items())
        label = f"{family} by k; {run.system}: {ends}"
        drawn = {arm: curves[arm][family] for arm in curves}
        plot = recall(family, drawn, figures.arms, known, smallest, label)
        panels.append(Panel(f"{family}@k", WORDS[family], plot))
    return panels


def _known(figures: Figures, run: Run, scope: str, family: str) -> dict[int, Result]:
    """The system's results in one family by k."""
    names = (name for name in figures.names if name.startswith(f"{family}@"))
    rows = (figures.row(run.system, scope, name, ALL) for name in names)
    return {int(row["metric"].partition("@")[2]): row for row in rows if row is not None}


def type_panels(figures: Figures, run: Run, scope: str) -> list[Panel]:
    """The headline metrics by question type, the largest type first, all questions on top."""
    arm = run.system
    kinds = sorted(figures.types, key=lambda kind: -figures.n(arm, scope, kind=kind))
    panels = []
    for metric in run.headline:
        rows = [_type_row(figures, run, scope, metric, kind) for kind in (ALL, *kinds)]
        listed = [row for row in rows if row is not None]
        if listed:
            label = f"{metric} by question type: " + "; ".join(f"{r.label}: {r.words}" for r in listed)
            panels.append(Panel(metric, "", intervals(listed, _share_axis(listed, metric), label)))
    return panels


def _type_row(figures: Figures, run: Run, scope: str, metric: str, kind: str) -> Row | None:
    row = figures.row(run.system, scope, metric, ALL, kind)
    if row is None:
        return None
    marks = []
    for arm in figures.arms[1:]:
        other = figures.row(arm, scope, metric, ALL, kind)
        if arm not in (RANDOM, CEILING) and other is not None:
            title = f"{arm}: {figures.with_interval(arm, scope, metric, ALL, kind)}"
            marks.append(Mark(other["value"], arm_class(arm, figures.arms), title))
    label = f"{'all questions' if kind == ALL else kind} · {count(row['n'])}"
    words = figures.with_interval(run.system, scope, metric, ALL, kind)
    return Row(label, words, row["value"], row["ci95_low"], row["ci95_high"], "arm-0", tuple(marks))


def _share_axis(rows: Sequence[Row], metric: str) -> Axis:
    """From a round number below the lowest value to 1."""
    lowest = min(min([row.value, row.low or 0.0, *(m.value for m in row.marks)]) for row in rows)
    low = max(0.0, int(lowest * 10) / 10)
    listed = [(at, figure(metric, at).removesuffix(".0")) for at in ticks(low, 1, 5)]
    if not is_recall(metric):
        listed = [(at, f"{at:.1f}") for at, _ in listed]
    return Axis(low, 1, tuple(listed))


def difference_panels(metrics: Facts, figures: Figures, run: Run, scope: str) -> list[Panel]:
    """One panel for each other arm but chance: the system minus it, in the headline metrics."""
    listed = [
        row
        for row in metrics["differences"]
        if (row["scope"], row["view"]) == (scope, figures.view)
        and row["metric"] in run.headline
        and row["baseline"] != RANDOM
    ]
    panels = []
    for baseline in dict.fromkeys(d["baseline"] for d in listed):
        rows = [
            Row(d["metric"], signed_interval(d["metric"], d), d["value"], d["ci95_low"], d["ci95_high"],
                arm_class(baseline, figures.arms))
            for d in listed if d["baseline"] == baseline
        ]  # fmt: skip
        label = f"{run.system} minus {baseline}: " + "; ".join(f"{r.label}: {r.words}" for r in rows)
        plot = intervals(rows, difference_axis(rows, 100), label)
        panels.append(Panel(f"{run.system} {MINUS} {baseline}", "", plot))
    return panels


def signed_interval(metric: str, row: Facts) -> str:
    """`+0.2 [−0.4, +0.8]`."""  # noqa: RUF002
    return f"{change(metric, row['value'])} {change_interval({**row, 'metric': metric})}"


def difference_axis(rows: Sequence[Row], scale: float, band: float | None = None) -> Axis:
    """Wide enough for every interval, with zero in it; `scale` times a difference stands at its ticks."""
    low = min([0.0, *(row.low or 0.0 for row in rows)], default=0.0)
    high = max([0.0, *(row.high or 0.0 for row in rows)], default=0.0)
    if band is not None:
        low, high = min(low, -1.3 * band), max(high, 1.3 * band)
    room = 0.06 * (high - low) or 0.01
    low, high = low - room, high + room
    listed = tuple((at, signed(at * scale)) for at in ticks(low, high, 5))
    return Axis(low, high, listed, zero=0.0, band=band)


def rank_bars(figures: Figures, scope: Scope, arms: Sequence[str], edges: Sequence[int]) -> list[Bar]:
    """Where the first gold segment stood, for each arm."""
    bars = []
    titles = names(edges, f"not in {edges[-1]}")
    for arm in arms:
        parts = buckets(first_ranks(scope.ranks(arm)), edges)
        told = "; ".join(f"{name}: {100 * share:.1f} %" for name, share in zip(titles, parts, strict=True))
        label = f"rank of the first gold segment, {arm}: {told}"
        plot = shares(list(zip(titles, parts, strict=True)), label)
        bars.append(Bar(arm, "", arm_class(arm, figures.arms), plot))
    return bars
