"""A finished run with look-ups for comparison, ranking and citation, and the paired values of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError
from pgmnemo.escaping import escape_line
from runner.protocol.metrics import Metric, metrics_for
from runner.protocol.metrics.metric import Floats
from runner.protocol.metrics.score import JudgedQuestion, ScopeTable, ValueSheet, arrange
from runner.records import ALL, Verdict, View
from runner.report.citation import version
from runner.report.formats import Figures
from runner.runs.history import entries, entries_of_run, histories
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW
from runner.runs.results import Results, read_results
from runner.runs.run import METRICS, RUN, Run


class ComparedRun(Results):
    """A finished run with look-ups for its figures."""

    @cached_property
    def tables(self) -> dict[str, ScopeTable]:
        """Return the ranks of the gold for each question and arm, by scope."""
        return {table.scope: table for table in arrange(self.rows)}

    @cached_property
    def figures(self) -> Figures:
        """The figures of metrics.json, which can be looked up by arm, scope and metric."""
        return Figures(self.metrics, self.run.headline_view)

    @cached_property
    def later_deviations(self) -> tuple[str, ...]:
        """Deviations that became known after the run, from every HISTORY.md in the folders above."""
        run, digest = self.run, self.digest(MANIFEST)
        found = [one for path in histories(self.folder) for one in entries(path)]
        named = (one.values("deviation") for one in entries_of_run(found, run.choice.suite, run.name, digest))
        known = {escape_line(text) for text in run.deviations}
        return tuple(dict.fromkeys(text for texts in named for text in texts if text not in known))

    @cached_property
    def as_reported(self) -> Run:
        """Return the record of the run, with the deviations that became known later."""
        if not self.later_deviations:
            return self.run
        verdict = Verdict.DEVIATION if self.run.verdict is Verdict.VERIFIED else self.run.verdict
        return replace(self.run, verdict=verdict, deviations=(*self.run.deviations, *self.later_deviations))

    @property
    def name(self) -> str:
        """Name of the results folder."""
        return self.run.name

    @property
    def version(self) -> str:
        """Return the measured version: `v0.3.1`, or another system with its version."""
        return version(self.run)

    @property
    def system(self) -> str:
        """The name of the system under test, which is the first arm."""
        return self.run.system

    @property
    def keys(self) -> dict[str, frozenset[str]]:
        """The scored questions of each scope."""
        return {scope: frozenset(table.questions) for scope, table in self.tables.items()}


def read_side(folder: Path) -> ComparedRun:
    """Return the run in `folder`, with its raw rankings also checked against the manifest.

    Raises what `read_results` raises.
    """
    side = read_results(folder, ComparedRun, (RUN, METRICS, RAW))
    _ = side.tables  # raises errors in the rankings before a value is computed
    return side


Chosen = NDArray[np.intp]
NOBODY: Chosen = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class PairedValues:
    """The values of two runs in one scope; `before` and `after` have the shape (questions, metrics).

    Rows are in the order of `questions`, columns in the order of `metrics`.
    """

    scope: str
    questions: tuple[JudgedQuestion, ...]
    metrics: tuple[Metric, ...]
    before: Floats
    after: Floats
    clustered: bool

    @property
    def moves(self) -> Floats:
        """The differences after - before, with the shape (questions, metrics)."""
        return self.after - self.before

    def clusters(self, chosen: Chosen) -> list[str] | None:
        """Return the project of each chosen question as its cluster; None without clusters."""
        return [self.questions[i].project for i in chosen] if self.clustered else None

    def parts(self, views: Sequence[View]) -> Iterator[tuple[str, str, Chosen]]:
        """Yield (view, type, positions) for each view that has questions: all types first, then each type."""
        for view in views:
            inside = np.array([view(q.key, q.type) for q in self.questions])
            if not inside.any():
                continue
            yield view.name, ALL, np.flatnonzero(inside)
            types = np.array([q.type for q in self.questions])
            for name in sorted(set(types[inside].tolist())):
                yield view.name, name, np.flatnonzero(inside & (types == name))

    def inside(self, views: Sequence[View], view: str) -> Chosen:
        """Return the positions of the questions of the view with this name."""
        parts = self.parts([one for one in views if one.name == view])
        return next((chosen for _, kind, chosen in parts if kind == ALL), NOBODY)

    def trivial(self, metric: Metric, chosen: Chosen) -> int:
        """Return the number of chosen questions with a scope that fits into k ranks; 0 for other metrics."""
        return sum(self.questions[i].size <= metric.k for i in chosen) if metric.scope_bound else 0


def paired_values(before: ComparedRun, after: ComparedRun) -> tuple[PairedValues, ...]:
    """Return the paired values of each shared scope, in the order of the first run.

    They cover the shared questions and metrics. Raises UsageError if the runs share no scope, no question
    of a scope, or no metric.
    """
    metrics = _shared_metrics(before, after)
    scopes = [name for name in before.tables if name in after.tables]
    if not scopes:
        raise UsageError(f"{before.name} and {after.name} share no scope, so nothing can be compared")
    return tuple(_pair(before, after, scope, metrics) for scope in scopes)


def _shared_metrics(before: ComparedRun, after: ComparedRun) -> list[Metric]:
    names = [name for name in before.metrics["definitions"] if name in after.metrics["definitions"]]
    cutoffs = sorted({int(name.partition("@")[2]) for name in names if name.startswith("recall_any@")})
    if not cutoffs:
        raise UsageError(f"{before.name} and {after.name} share no cutoff k, so nothing can be compared")
    known = metrics_for(after.edition, cutoffs)
    return [known[name] for name in names if name in known]


def _pair(before: ComparedRun, after: ComparedRun, scope: str, metrics: list[Metric]) -> PairedValues:
    clustered = bool(before.run.corpus.clustered)
    sheets = [ValueSheet.of(side.tables[scope], metrics, clustered) for side in (before, after)]
    keys = [[question.key for question in sheet.questions] for sheet in sheets]
    shared = sorted(set(keys[0]) & set(keys[1]))
    if not shared:
        raise UsageError(f"{before.name} and {after.name} share no question in scope {scope}")
    chosen = [[place[key] for key in shared] for place in ({k: i for i, k in enumerate(ks)} for ks in keys)]
    first, second = (
        sheet.values[side.system][rows]
        for sheet, side, rows in zip(sheets, (before, after), chosen, strict=True)
    )
    _, known = sheets[0].known(first + second)  # lengths are counted within projects only
    columns = [metrics.index(metric) for metric in known]
    return PairedValues(
        scope=scope,
        questions=tuple(sheets[0].questions[i] for i in chosen[0]),
        metrics=tuple(known),
        before=first[:, columns],
        after=second[:, columns],
        clustered=clustered,
    )
