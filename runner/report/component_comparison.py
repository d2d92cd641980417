"""The comparison of hybrid with its retrievers: whether hybrid is below one of them (PROTOCOL.md §4.6).

It is no part of a run's verdict: a report prints it, and the command `gate` can make it a condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runner.report.formats import MISSING, Figures, Row, change, change_interval, figure
from runner.runs.comparability import RETRIEVERS, baseline_strategies, retrievers_of
from runner.runs.run import Arm, Run


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A metric in which a leg is ahead of hybrid.

    It holds both values, and the row of hybrid minus leg, paired by question.
    """

    leg: str
    metric: str
    hybrid: float
    alone: float
    difference: Row

    def __str__(self) -> str:
        ours, theirs = figure(self.metric, self.hybrid), figure(self.metric, self.alone)
        apart = change_interval(self.difference)
        if ours == theirs:
            return f"{self.metric} (both {ours} when rounded, difference in {apart})"
        moved = change(self.metric, self.difference["value"])
        return f"{self.metric} ({ours} against {theirs}, difference {moved} {apart})"


@dataclass(frozen=True, slots=True)
class ComponentComparison:
    """The comparison of hybrid, or of the strategy `name`, with its retrievers.

    It covers the headline's scope and view. `metrics` are the compared metrics, `falls` those in which hybrid
    is below a leg by any amount. `legs` are the arms of its retrievers. `lacking` says why there is no
    comparison; empty if there is one.
    """

    metrics: tuple[str, ...] = ()
    falls: tuple[Shortfall, ...] = ()
    lacking: str = ""
    name: str = "hybrid"
    legs: tuple[str, ...] = RETRIEVERS

    def __str__(self) -> str:
        if self.lacking:
            return f"{MISSING} ({self.lacking})"
        if not self.falls:
            return f"{self.name} is not below {' or '.join(self.legs)} in {', '.join(self.metrics)}"
        return f"{self.name} is {'; '.join(self._below())}"

    def _below(self) -> Iterator[str]:
        for leg in self.legs:
            if falls := [str(fall) for fall in self.falls if fall.leg == leg]:
                yield f"below {leg} in {', '.join(falls)}"


def compare_with_components(metrics: Mapping[str, Any], run: Run) -> ComponentComparison:
    """Compare the system under test with each of its retrievers in the headline metrics.

    Only metrics.json and run.json are read.
    """
    name = "hybrid" if run.choice.ours else run.system
    if lacking := _lacking(run):
        return ComponentComparison(lacking=lacking, name=name)
    return _against(metrics, run, run.arms[0], name)


def compare_baseline_strategies(metrics: Mapping[str, Any], run: Run) -> dict[str, ComponentComparison]:
    """Compare each baseline strategy with its own retrievers; return the comparisons by name."""
    return {arm.name: _of_strategy(metrics, run, arm) for arm in baseline_strategies(run)}


def _of_strategy(metrics: Mapping[str, Any], run: Run, arm: Arm) -> ComponentComparison:
    retrievers = retrievers_of(run, arm)
    if missing := [retriever for retriever in RETRIEVERS if retriever not in retrievers]:
        why = f"its {' and its '.join(missing)} leg {'was' if len(missing) == 1 else 'were'} not asked alone"
        return ComponentComparison(lacking=f"{why}: put it under test with --system", name=arm.name)
    return _against(metrics, run, arm, arm.name)


def _against(metrics: Mapping[str, Any], run: Run, arm: Arm, name: str) -> ComponentComparison:
    figures, scope = Figures(metrics, run.headline_view), run.scopes[0].name
    rows = {(row["baseline"], row["metric"]): row for row in metrics["differences"]
            if (row["arm"], row["scope"], row["view"]) == (arm.name, scope, figures.view)}  # fmt: skip
    arms = retrievers_of(run, arm)
    compared = tuple(
        one for one in run.headline if all((arms[retriever], one) in rows for retriever in RETRIEVERS)
    )
    if not compared:
        return ComponentComparison(lacking="no headline metric was scored", name=name)
    legs = tuple(arms[retriever] for retriever in RETRIEVERS)
    falls = (_fall(figures, leg, rows[leg, one]) for leg in legs for one in compared)
    return ComponentComparison(
        compared, tuple(fall for fall in falls if fall is not None), name=name, legs=legs
    )


def _lacking(run: Run) -> str:
    """Return a sentence on the arms that the comparison needs but the run lacks; empty if it has all."""
    if run.choice.mode in RETRIEVERS:
        return f"mode {run.choice.mode} is itself a leg"
    missing = (
        [retriever for retriever in RETRIEVERS if retriever not in retrievers_of(run, run.arms[0])]
        if run.arms
        else RETRIEVERS
    )
    if not missing:
        return ""
    if not run.choice.ours:
        return f"{run.title} has no legs that are known here"
    return f"{run.title} was not asked in mode {' and '.join(missing)}"


def _fall(figures: Figures, leg: str, difference: Row) -> Shortfall | None:
    """Return the shortfall of a difference; None if hybrid is not below the leg."""
    scope, metric = difference["scope"], difference["metric"]
    ours, theirs = (figures.row(difference[one], scope, metric) for one in ("arm", "baseline"))
    if ours is None or theirs is None or difference["value"] >= 0:
        return None
    return Shortfall(leg, metric, ours["value"], theirs["value"], difference)
