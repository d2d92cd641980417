"""Hybrid against its legs: is the whole below what one half of it does alone? (PROTOCOL.md §4.6)

It is no part of a run's verdict: a report says it, and the command `gate` can make it a condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runner.report.figures import Figures, Row
from runner.report.formats import MISSING, change, change_interval, figure
from runner.runs.run import Run

LEGS = ("keyword", "vector")  # the modes of one leg, each an arm beside mode hybrid


@dataclass(frozen=True, slots=True)
class Fall:
    """A metric in which a leg is ahead: both values, and the row of hybrid minus leg, paired by question."""

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
class Against:
    """What a run says of hybrid and its legs, in the headline's scope and view.

    `metrics` are those compared, `falls` those in which hybrid is below a leg, however little. `lacking` says
    why nothing can be said; empty where it can.
    """

    metrics: tuple[str, ...] = ()
    falls: tuple[Fall, ...] = ()
    lacking: str = ""

    def __str__(self) -> str:
        if self.lacking:
            return f"{MISSING} ({self.lacking})"
        if not self.falls:
            return f"hybrid is not below {' or '.join(LEGS)} in {', '.join(self.metrics)}"
        return f"hybrid is {'; '.join(self._below())}"

    def _below(self) -> Iterator[str]:
        for leg in LEGS:
            if falls := [str(fall) for fall in self.falls if fall.leg == leg]:
                yield f"below {leg} in {', '.join(falls)}"


def against_legs(metrics: Mapping[str, Any], run: Run) -> Against:
    """Hybrid against each of its legs in the headline metrics, from metrics.json and run.json alone."""
    if lacking := _lacking(run):
        return Against(lacking=lacking)
    figures, scope = Figures(metrics, run.headline_view), run.scopes[0].name
    rows = {(row["baseline"], row["metric"]): row for row in metrics["differences"]
            if (row["arm"], row["scope"], row["view"]) == (run.system, scope, figures.view)}  # fmt: skip
    compared = tuple(name for name in run.headline if all((leg, name) in rows for leg in LEGS))
    if not compared:
        return Against(lacking="no headline metric was scored")
    falls = (_fall(figures, run, rows[leg, name]) for leg in LEGS for name in compared)
    return Against(compared, tuple(fall for fall in falls if fall is not None))


def _lacking(run: Run) -> str:
    """Why the arms that it takes are not there; empty where they are."""
    if not run.choice.ours:
        return f"{run.title} has no legs that are known here"
    if run.choice.mode in LEGS:
        return f"mode {run.choice.mode} is itself a leg"
    there = {arm.name for arm in run.arms if not arm.failed}
    missing = [leg for leg in LEGS if leg not in there]
    return f"{run.title} was not asked in mode {' and '.join(missing)}" if missing else ""


def _fall(figures: Figures, run: Run, difference: Row) -> Fall | None:
    """The fall that a difference is; None where hybrid is not below."""
    leg, scope, metric = difference["baseline"], difference["scope"], difference["metric"]
    ours, theirs = (figures.row(arm, scope, metric) for arm in (run.system, leg))
    if ours is None or theirs is None or difference["value"] >= 0:
        return None
    return Fall(leg, metric, ours["value"], theirs["value"], difference)
