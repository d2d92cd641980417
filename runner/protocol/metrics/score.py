"""Scores from retrievals: every judged question counts, and every value has its interval.

Retrievals are aligned first: in each scope every judged question has one row, even without an arm's answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError
from pgmnemo.registry import Registry
from runner.protocol.editions import Edition
from runner.protocol.metrics.metric import Floats, GoldRanks, Lengths, Metric, locate, metrics_for, tabulate
from runner.protocol.statistics import MEAN, PAIRED_SCORE, PAIRED_T, Interval, Method, mean_interval
from runner.records import Difference, Retrieval, Score

CEILING = "ceiling"


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question in one scope; all arms must agree on its facts."""

    key: str
    type: str
    project: str
    size: int
    gold: frozenset[str]


@dataclass(slots=True)
class ScopeTable:
    """A scope: its questions by key, and for each arm the ranks of the gold by question.

    `lengths` has the (tokens, is gold) pairs of each ranking whose lengths are known, by arm and question,
    and under the name of the ceiling those of the gold, shortest first.
    """

    scope: str
    questions: dict[str, JudgedQuestion] = field(default_factory=dict)
    arms: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    lengths: dict[str, dict[str, Lengths]] = field(default_factory=dict)

    def add(self, row: Retrieval) -> None:
        """Add one row; raise UsageError if it contradicts or repeats an earlier row."""
        judged = JudgedQuestion(row.question, row.type, row.project, row.size, frozenset(row.gold))
        if self.questions.setdefault(row.question, judged) != judged:
            raise UsageError(
                f"arm {row.arm!r} saw question {row.question!r} in scope {self.scope!r} with another gold, "
                f"type, project or scope size than an arm before it; score rows of one corpus only"
            )
        answers = self.arms.setdefault(row.arm, {})
        if row.question in answers:
            raise UsageError(
                f"arm {row.arm!r} answers question {row.question!r} in scope {self.scope!r} twice; keep one"
            )
        answers[row.question] = locate(judged.gold, ids := [hit.id for hit in row.ranking])
        if (len(row.gold_tokens), len(row.tokens)) not in ((0, 0), (len(row.gold), len(ids))):
            raise UsageError(
                f"arm {row.arm!r} has not one length for each id of the gold and of the ranking of question "
                f"{row.question!r} in scope {self.scope!r}; score rows as a run wrote them"
            )
        if row.gold_tokens:
            golden = [(length, True) for length in sorted(row.gold_tokens)]
            ranked = [(length, id in judged.gold) for length, id in zip(row.tokens, ids, strict=True)]
            self.lengths.setdefault(CEILING, {})[row.question] = golden
            self.lengths.setdefault(row.arm, {})[row.question] = ranked

    def judged(self) -> list[JudgedQuestion]:
        """Return the questions in order of their keys, so that no figure depends on the order of the rows."""
        return [self.questions[key] for key in sorted(self.questions)]

    def found(self, arm: str) -> GoldRanks:
        """Return the ranks of the gold by `arm`, in the order of `judged`.

        A missing retrieval found nothing.
        """
        answers = self.arms[arm]
        return tabulate(((answers.get(q.key, []), len(q.gold)) for q in self.judged()), self._lengths_of(arm))

    def ceiling(self) -> GoldRanks:
        """Return the best possible ranks: all gold first, as far as the scope reaches."""
        return tabulate(
            ((range(1, min(len(q.gold), q.size) + 1), len(q.gold)) for q in self.judged()),
            self._lengths_of(CEILING),
        )

    def _lengths_of(self, arm: str) -> list[Lengths] | None:
        known = self.lengths.get(arm)
        return None if known is None else [known.get(q.key, ()) for q in self.judged()]


def arrange(rows: Iterable[Retrieval]) -> list[ScopeTable]:
    """Return a table for each scope; scopes and arms are in the order in which they first appear.

    Raises UsageError without any row, for a question without gold, a repeated or contradicting row, and an
    arm with the name of the ceiling.
    """
    tables: dict[str, ScopeTable] = {}
    for row in rows:
        if not row.gold:
            raise UsageError(f"question {row.question!r} has no gold, so it cannot be scored; leave it out")
        if row.arm == CEILING:
            raise UsageError(f"an arm is named {CEILING!r}, which the gold alone decides; rename it")
        tables.setdefault(row.scope, ScopeTable(row.scope)).add(row)
    if not tables:
        raise UsageError("there is no retrieval to score; run at least one question with gold")
    return list(tables.values())


DIFFERENCES: Registry[Method] = Registry(
    "version of the metric code", {"1.0.0": PAIRED_T, "1.1.0": PAIRED_SCORE}
)
"""All in which the versions differ: the interval of a difference between two arms."""


def interval_methods(clustered: bool, version: str) -> dict[str, str]:
    """Return the names of the interval methods of `results` and `differences`, as metrics.json has them."""
    return {"value": MEAN.words(clustered), "difference": DIFFERENCES[version].words(clustered)}


ALL = "all"
DIGITS = 12  # rounds away the last bits, in which two machines' logarithms may differ
INTERVAL_DIGITS = 6

View = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Scores:
    """All rows of `metrics.json`, and the names of their interval methods (keys `value`, `difference`)."""

    results: list[Score]
    differences: list[Difference]
    methods: dict[str, str] = field(default_factory=dict)


def score(
    rows: Iterable[Retrieval],
    edition: Edition,
    *,
    views: Mapping[str, View],
    clustered: bool,
    cutoffs: Sequence[int] | None = None,
    code: str | None = None,
    pairs: Collection[tuple[str, str]] = (),
) -> Scores:
    """Score every arm, and the ceiling, in every scope, view and type.

    Subtract each other arm from the first. The first arm is the arm of the first row: the system under test.
    For each of `pairs`, the second arm is also subtracted from the first of the pair. Metrics and intervals
    are those of `edition`; `code` names another version of the metric code. A view maps (question key, type)
    to whether the question belongs to it; an empty view gives no row. The denominator is every question that
    any arm answered in the scope; an arm that did not answer a question gets the metric's worst value, and an
    arm without any answer in a scope has no row there. Questions of one project are one cluster if
    `clustered`. Raises UsageError for rows that do not fit together (see `arrange`) and for a bad cutoff.
    """
    metrics, version = list(metrics_for(edition, cutoffs).values()), code or edition.metrics.code
    results: list[Score] = []
    differences: list[Difference] = []
    tables = arrange(rows)
    system = next(iter(tables[0].arms))
    for table in tables:
        sheet = ValueSheet.of(table, metrics, clustered)
        for arm in sheet.values:
            results += sheet.results(arm, views)
        for other in table.arms:
            if system in table.arms and other != system:
                differences += sheet.differences(system, other, views, DIFFERENCES[version])
        for arm, other in pairs:
            if arm in table.arms and other in table.arms:
                differences += sheet.differences(arm, other, views, DIFFERENCES[version])
    return Scores(results, differences, interval_methods(clustered, version))


@dataclass(frozen=True, slots=True)
class ValueSheet:
    """The values of a scope: `values[arm]` has the shape (questions, metrics).

    Rows are in the order of `questions`, columns in the order of `metrics`. The column of a metric that an
    arm has no lengths for is NaN, and gives no row.
    """

    scope: str
    questions: list[JudgedQuestion]
    metrics: list[Metric]
    sizes: NDArray[np.int64]
    clusters: NDArray[np.str_] | None
    values: dict[str, Floats]

    @classmethod
    def of(cls, table: ScopeTable, metrics: list[Metric], clustered: bool) -> ValueSheet:
        """Apply every metric to every arm and to the ceiling."""
        questions = table.judged()
        found = {arm: table.found(arm) for arm in table.arms} | {CEILING: table.ceiling()}
        values = {arm: np.column_stack([m.values(f) for m in metrics]) for arm, f in found.items()}
        for arm, answers in table.arms.items():
            missing = [q.key not in answers for q in questions]
            values[arm][missing] = [m.worst for m in metrics]
        clusters = np.array([q.project for q in questions]) if clustered else None
        sizes = np.array([q.size for q in questions])
        return cls(table.scope, questions, metrics, sizes, clusters, values)

    def results(self, arm: str, views: Mapping[str, View]) -> Iterator[Score]:
        """Yield one row for each view, type ("all" first) and metric."""
        for view, inside in views.items():
            for type_, chosen in self._types(inside):
                values, metrics = self.known(self.values[arm][chosen])
                interval = mean_interval(values, self._clusters(chosen))
                for i, metric in enumerate(metrics):
                    yield Score(
                        arm=arm,
                        scope=self.scope,
                        view=view,
                        type=type_,
                        metric=metric.name,
                        **_figures(interval, i),
                        n=len(chosen),
                        trivial=self._trivial(metric, chosen),
                    )

    def differences(
        self, arm: str, baseline: str, views: Mapping[str, View], method: Method
    ) -> Iterator[Difference]:
        """Yield one row for each view and metric, over all types."""
        for view, inside in views.items():
            chosen = self._inside(inside)
            if not len(chosen):
                continue
            paired, metrics = self.known(self.values[arm][chosen] - self.values[baseline][chosen])
            interval = method.interval(paired, self._clusters(chosen))
            for i, metric in enumerate(metrics):
                yield Difference(
                    arm=arm,
                    baseline=baseline,
                    scope=self.scope,
                    view=view,
                    metric=metric.name,
                    **_figures(interval, i),
                    n=len(chosen),
                )

    def known(self, values: Floats) -> tuple[Floats, list[Metric]]:
        """Return the columns that are known, with their metrics."""
        known = [column for column in range(len(self.metrics)) if not np.isnan(values[:, column]).any()]
        return values[:, known], [self.metrics[column] for column in known]

    def _types(self, inside: View) -> Iterator[tuple[str, NDArray[np.intp]]]:
        chosen = self._inside(inside)
        if len(chosen):
            yield ALL, chosen
        types = np.array([self.questions[i].type for i in chosen])
        for type_ in sorted(set(types.tolist())):
            yield type_, chosen[types == type_]

    def _inside(self, inside: View) -> NDArray[np.intp]:
        return np.flatnonzero([inside(q.key, q.type) for q in self.questions])

    def _clusters(self, chosen: NDArray[np.intp]) -> list[str] | None:
        return None if self.clusters is None else list(self.clusters[chosen])

    def _trivial(self, metric: Metric, chosen: NDArray[np.intp]) -> int:
        return int((self.sizes[chosen] <= metric.k).sum()) if metric.scope_bound else 0


def _figures(interval: Interval, i: int) -> dict[str, float]:
    return {
        "value": round(float(interval.value[i]), DIGITS),
        "ci95_low": round(float(interval.low[i]), INTERVAL_DIGITS),
        "ci95_high": round(float(interval.high[i]), INTERVAL_DIGITS),
    }
