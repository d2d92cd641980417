"""Two runs' values side by side, question by question, in one scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError
from runner.commands.compare.side import Side
from runner.protocol.metrics import Metric, metrics_for
from runner.protocol.metrics.metric import Floats
from runner.protocol.metrics.score import Sheet
from runner.protocol.metrics.table import Judged
from runner.records import ALL, View

Chosen = NDArray[np.intp]
NOBODY: Chosen = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Pair:
    """`before` and `after` (questions, metrics), in the order of `questions` and `metrics`."""

    scope: str
    questions: tuple[Judged, ...]
    metrics: tuple[Metric, ...]
    before: Floats
    after: Floats
    clustered: bool

    @property
    def moves(self) -> Floats:
        """After minus before, (questions, metrics)."""
        return self.after - self.before

    def clusters(self, chosen: Chosen) -> list[str] | None:
        """The project of each chosen question, where a project is a cluster."""
        return [self.questions[i].project for i in chosen] if self.clustered else None

    def parts(self, views: Sequence[View]) -> Iterator[tuple[str, str, Chosen]]:
        """(view, type, positions) for each view that has questions: all types first, then each."""
        for view in views:
            inside = np.array([view(q.key, q.type) for q in self.questions])
            if not inside.any():
                continue
            yield view.name, ALL, np.flatnonzero(inside)
            types = np.array([q.type for q in self.questions])
            for name in sorted(set(types[inside].tolist())):
                yield view.name, name, np.flatnonzero(inside & (types == name))

    def inside(self, views: Sequence[View], view: str) -> Chosen:
        """Positions of the questions of one of the `views`, by its name."""
        parts = self.parts([one for one in views if one.name == view])
        return next((chosen for _, kind, chosen in parts if kind == ALL), NOBODY)

    def trivial(self, metric: Metric, chosen: Chosen) -> int:
        """How many chosen questions the size of the scope answers by itself."""
        return sum(self.questions[i].size <= metric.k for i in chosen) if metric.scope_bound else 0


def pair(before: Side, after: Side) -> tuple[Pair, ...]:
    """One Pair for each shared scope, in the order of the first run; the shared questions and metrics.

    Raises UsageError where the runs share no scope, no question of a scope, or no metric.
    """
    metrics = _shared_metrics(before, after)
    scopes = [name for name in before.tables if name in after.tables]
    if not scopes:
        raise UsageError(f"{before.name} and {after.name} share no scope, so nothing can be compared")
    return tuple(_pair(before, after, scope, metrics) for scope in scopes)


def _shared_metrics(before: Side, after: Side) -> list[Metric]:
    names = [name for name in before.metrics["definitions"] if name in after.metrics["definitions"]]
    cutoffs = sorted({int(name.partition("@")[2]) for name in names if name.startswith("recall_any@")})
    if not cutoffs:
        raise UsageError(f"{before.name} and {after.name} share no cutoff k, so nothing can be compared")
    known = metrics_for(after.edition, cutoffs)
    return [known[name] for name in names if name in known]


def _pair(before: Side, after: Side, scope: str, metrics: list[Metric]) -> Pair:
    clustered = bool(before.run.corpus.clustered)
    sheets = [Sheet.of(side.tables[scope], metrics, clustered) for side in (before, after)]
    keys = [[question.key for question in sheet.questions] for sheet in sheets]
    shared = sorted(set(keys[0]) & set(keys[1]))
    if not shared:
        raise UsageError(f"{before.name} and {after.name} share no question in scope {scope}")
    chosen = [[place[key] for key in shared] for place in ({k: i for i, k in enumerate(ks)} for ks in keys)]
    return Pair(
        scope=scope,
        questions=tuple(sheets[0].questions[i] for i in chosen[0]),
        metrics=tuple(metrics),
        before=sheets[0].values[before.system][chosen[0]],
        after=sheets[1].values[after.system][chosen[1]],
        clustered=clustered,
    )
