"""The plots in each section of the page, with their titles, for each search scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from runner.naming import SystemName
from runner.records import ALL, RankedSegment
from runner.report.formats import MINUS, Figures, change, change_interval, count, figure, in_percent, p_text
from runner.report.formats import Row as Result
from runner.report.html import plots
from runner.report.html.gold_ranks import FAMILIES, Curve, ScopeAnswers, first_ranks
from runner.report.html.plots import (
    CEILING,
    RANDOM,
    Axis,
    IntervalRow,
    PlotMark,
    arm_class,
    buckets,
    component_class,
)
from runner.report.html.svg import signed, ticks
from runner.runs.config import OURS
from runner.runs.run import Run

Facts = Mapping[str, Any]
WORDS = {
    "recall_any": "at least one of the gold",
    "recall_frac": "share of the gold",
    "recall_all": "all of the gold",
}
EDGES = (1, 3, 5, 10)  # bucket limits of the ranks by one component
WEIGHT = "pgmnemo.{}_weight"  # the name of a component's setting, in every version of the engine


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot with its title."""

    title: str
    words: str
    plot: Markup
    class_: str = ""


def recall_panels(
    figures: Figures, run: Run, scope: ScopeAnswers, curves: Mapping[str, Mapping[str, Curve]]
) -> list[Panel]:
    """Return a panel for each of the three recalls."""
    panels = []
    for family in FAMILIES:
        known = _known(figures, run, scope.name, family)
        ends = ", ".join(f"{figure(row['metric'], row['value'])} at k = {k}" for k, row in known.items())
        drawn = {arm: curves[arm][family] for arm in curves}
        label = f"{family} by k; {run.system}: {ends}"
        plot = plots.recall(drawn, figures.arms, known, int(scope.sizes.min()), label)
        panels.append(Panel(f"{family}@k", WORDS[family], plot))
    return panels


def _known(figures: Figures, run: Run, scope: str, family: str) -> dict[int, Result]:
    """Return the system's result at each k, for one family of metrics."""
    names = (name for name in figures.names if name.startswith(f"{family}@"))
    rows = (figures.row(run.system, scope, name, ALL) for name in names)
    return {int(row["metric"].partition("@")[2]): row for row in rows if row is not None}


def type_panels(figures: Figures, run: Run, scope: str) -> list[Panel]:
    """Return the headline metrics by question type: all questions first, then the largest type first."""
    kinds = sorted(figures.types, key=lambda kind: -figures.n(run.system, scope, kind=kind))
    panels = []
    for metric in run.headline:
        rows = [_type_row(figures, run, scope, metric, kind) for kind in (ALL, *kinds)]
        if listed := [row for row in rows if row is not None]:
            plot = plots.intervals(
                listed, _share_axis(listed, metric), _said(f"{metric} by question type", listed)
            )
            panels.append(Panel(metric, "", plot))
    return panels


def _said(what: str, rows: Sequence[IntervalRow]) -> str:
    return f"{what}: " + "; ".join(f"{row.label}: {row.words}" for row in rows)


def _type_row(figures: Figures, run: Run, scope: str, metric: str, kind: str) -> IntervalRow | None:
    row = figures.row(run.system, scope, metric, ALL, kind)
    if row is None:
        return None
    marks = []
    for arm in figures.arms[1:]:
        other = figures.row(arm, scope, metric, ALL, kind)
        if arm not in (RANDOM, CEILING) and other is not None:
            title = f"{arm}: {figures.with_interval(arm, scope, metric, ALL, kind)}"
            marks.append(PlotMark(other["value"], arm_class(arm, figures.arms), title))
    label = f"{'all questions' if kind == ALL else kind} · {count(row['n'])}"
    words = figures.with_interval(run.system, scope, metric, ALL, kind)
    return IntervalRow(label, words, row["value"], row["ci95_low"], row["ci95_high"], "arm-0", tuple(marks))


def _share_axis(rows: Sequence[IntervalRow], metric: str) -> Axis:
    """Return an axis from a round number below the lowest value to 1."""
    lowest = min(min([row.low, *(mark.value for mark in row.marks)]) for row in rows)
    low = max(0.0, int(lowest * 10) / 10)
    words = (lambda at: figure(metric, at).removesuffix(".0")) if in_percent(metric) else "{:.1f}".format
    return Axis(low, 1, tuple((at, words(at)) for at in ticks(low, 1, 5)))


def difference_panels(metrics: Facts, figures: Figures, run: Run, scope: str) -> list[Panel]:
    """Return a panel for each other arm except chance: the system minus that arm, in the headline metrics."""
    listed: dict[str, list[IntervalRow]] = {}
    for one in metrics["differences"]:
        seen = (one["scope"], one["view"]) == (scope, figures.view) and one["metric"] in run.headline
        if seen and one["baseline"] != RANDOM:
            words = f"{change(one['metric'], one['value'])} {change_interval(one)}"
            ends = (one["value"], one["ci95_low"], one["ci95_high"])
            row = IntervalRow(one["metric"], words, *ends, arm_class(one["baseline"], figures.arms))
            listed.setdefault(one["baseline"], []).append(row)
    return [
        Panel(
            f"{run.system} {MINUS} {baseline}",
            "",
            plots.intervals(rows, _difference_axis(rows, 100), _said(f"{run.system} minus {baseline}", rows)),
        )
        for baseline, rows in listed.items()
    ]


def _difference_axis(rows: Sequence[IntervalRow], scale: float, band: float | None = None) -> Axis:
    """Return an axis that contains every interval and zero; its ticks show differences times `scale`."""
    low, high = min(0.0, *(row.low for row in rows)), max(0.0, *(row.high for row in rows))
    if band is not None:
        low, high = min(low, -1.3 * band), max(high, 1.3 * band)
    margin = 0.06 * (high - low) or 0.01
    low, high = low - margin, high + margin
    return Axis(low, high, tuple((at, signed(at * scale)) for at in ticks(low, high, 5)), zero=0.0, band=band)


def rank_bars(
    figures: Figures, scope: ScopeAnswers, arms: Sequence[str], edges: Sequence[int]
) -> list[Panel]:
    """Return the distribution of the rank of the first gold segment, for each arm."""
    titles, bars = plots.names(edges, f"not in {edges[-1]}"), []
    for arm in arms:
        parts = list(zip(titles, buckets(first_ranks(scope.ranks(arm)), edges), strict=True))
        plot = plots.shares(parts, f"rank of the first gold segment, {arm}: {_percent(parts)}")
        bars.append(Panel(arm, "", plot, arm_class(arm, figures.arms)))
    return bars


def _percent(parts: Iterable[tuple[str, float]]) -> str:
    return "; ".join(f"{name}: {100 * share:.1f} %" for name, share in parts)


def side_words(side: Facts) -> str:
    """Return the description of a run in a comparison."""
    ours = "pgmnemo " if SystemName.of(side["arm"]).system == OURS else ""  # others include the name
    return f"{ours}{side['pgmnemo_version']}, {side['embedder']} ({side['name']}: {side['verdict']})"


def forest(document: Facts, headline: Sequence[str], scope: str) -> list[Panel]:
    """Return candidate minus baseline in each headline metric: all questions, each type, each other view.

    `document` is what `compare --json` prints.
    """
    members = {(one["scope"], one["metric"]): one for one in document["family"]["members"]}
    view, panels = document["family"].get("view", ALL), []
    for metric in headline:
        rows = [row for row in document["rows"] if (row["scope"], row["metric"]) == (scope, metric)]
        listed = [_forest_row(row) for row in rows if ALL in (row["view"], row["type"])]
        if listed:
            member = members.get((scope, metric))
            axis = _difference_axis(listed, 100 if in_percent(metric) else 1, member and member["band"])
            plot = plots.intervals(listed, axis, _said(f"differences in {metric}", listed))
            whole = next(row for row in rows if (row["view"], row["type"]) == (view, ALL))
            panels.append(Panel(metric, _decided(whole, member), plot))
    return panels


def _forest_row(row: Facts) -> IntervalRow:
    name = row["type"] if row["view"] == ALL else row["view"]
    clear = "better" if row["ci95_low"] > 0 else "worse" if row["ci95_high"] < 0 else "open"
    words = f"{change(row['metric'], row['difference'])} {change_interval(row)}"
    label = f"{'all questions' if name == ALL else name} · {count(row['n'])}"
    return IntervalRow(label, words, row["difference"], row["ci95_low"], row["ci95_high"], clear)


def _decided(whole: Facts, member: Facts | None) -> str:
    """Return a text with both values, the questions won and lost, and the finding on the metric."""
    metric = whole["metric"]
    told = (
        f"{figure(metric, whole['baseline'])} → {figure(metric, whole['candidate'])}; "
        f"{count(whole['won'])} questions won, {count(whole['lost'])} lost"
    )
    if member is None:
        return f"{told}; no member of the tested family"
    band = figure(metric, member["band"])
    return f"{told}; {member['finding']} (Holm p {p_text(member['p_holm'])}, band ± {band})"


def latency_panels(run: Run, timings: Iterable[tuple[str, str, float]]) -> list[Panel]:
    """Return a histogram for each arm and scope in run.json's latency.

    `timings` are (arm, scope, seconds).
    """
    groups: dict[tuple[str, str], list[float]] = {}
    for arm, scope, seconds in timings:
        groups.setdefault((arm, scope), []).append(1000 * seconds)
    timed = [(row, groups[row.arm, row.scope]) for row in run.latency if (row.arm, row.scope) in groups]
    end = plots.span([group for _, group in timed]) if timed else 0.0
    panels = []
    for row, group in timed:
        words = f"{row.arm}, the first {row.k}, {count(row.n)} recalls"
        if beyond := sum(ms > end for ms in group):
            words += f"; {count(beyond)} slower than the plot is wide, up to {max(group):.1f} ms"
        marks = [("p50", row.p50_ms), ("p95", row.p95_ms)]
        told = ", ".join(f"{name} {value:.1f} ms" for name, value in marks)
        plot = plots.latency(group, end, marks, f"latency in scope {row.scope}: {told}")
        panels.append(Panel(row.scope, words, plot))
    return panels


@dataclass(frozen=True, slots=True)
class Component:
    """A component of the score; its weight is None if no setting has its name."""

    name: str
    weight: float | None
    state: str

    @property
    def active(self) -> bool:
        """Return whether the component can distinguish two candidates."""
        return not self.state.startswith("inactive")


def components(run: Run) -> list[Component]:
    """Return the components of the score in the order in which run.json names them."""
    return [Component(name, _weight(run, name), state) for name, state in run.components.items()]


def _weight(run: Run, name: str) -> float | None:
    try:
        return float(run.guc_state[WEIGHT.format(name)])
    except (KeyError, ValueError):
        return None


Pool = tuple[tuple[RankedSegment, bool], ...]  # the candidates of one question, and whether each is gold


def component_bars(run: Run, scope: ScopeAnswers, arm: str) -> tuple[list[Panel], int]:
    """Return the rank of the gold by the score and by each component, and the number of questions counted.

    Only the first ranks of the system have components in the raw file, so each question has a small pool of
    its own: these candidates, ordered by one component instead of the whole score. A tie counts half a rank.
    """
    pools = [pool for pool in (_pool(scope, arm, key) for key in scope.questions) if pool]
    scores = [[hit.score for hit, _ in pool] for pool in pools]
    bars = [_component_bar("the score", "all together", "score", pools, scores)]
    for place, part in enumerate(components(run)):
        values = [[hit.components[place] for hit, _ in pool] for pool in pools if part.active]
        weight = "" if part.weight is None else f"× {part.weight:g}"  # noqa: RUF001
        words = weight if part.active else part.state
        bars.append(_component_bar(part.name, words, component_class(place), pools, values))
    return bars, len(pools)


def _pool(scope: ScopeAnswers, arm: str, key: str) -> Pool:
    """Return the candidates with components; empty unless some of them are gold and some are not."""
    answer = scope.answers[arm].get(key)
    gold = set(scope.questions[key].gold)
    listed = [(hit, hit.id in gold) for hit in (answer.ranking if answer else ()) if hit.components]
    return tuple(listed) if len({is_gold for _, is_gold in listed}) == 2 else ()


def _component_bar(
    name: str, words: str, class_: str, pools: Sequence[Pool], values: Sequence[Sequence[float | None]]
) -> Panel:
    ranks = [rank for pool, column in zip(pools, values, strict=False) if (rank := _best(pool, column))]
    if not ranks:
        return Panel(name, words, Markup(), class_)
    titles = plots.names(EDGES, f"below {EDGES[-1]}")
    shares = buckets([round(rank) for rank in ranks], EDGES)[:-1]
    parts = list(zip(titles, shares, strict=False))
    plot = plots.shares([*parts, (titles[-1], 0.0)], f"by {name} alone: {_percent(parts)}")
    return Panel(name, words, plot, class_)


def _best(pool: Pool, values: Sequence[float | None]) -> float:
    """Return the rank of the best gold candidate when ordered by `values`; 0 if a value is missing."""
    known = [value for value in values if value is not None]
    if len(known) < len(pool):
        return 0
    best = max(value for value, (_, is_gold) in zip(known, pool, strict=True) if is_gold)
    others = [value for value, (_, is_gold) in zip(known, pool, strict=True) if not is_gold]
    return 1 + sum(value > best for value in others) + 0.5 * sum(value == best for value in others)
