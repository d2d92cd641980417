"""Metrics and their families, the metrics that a run reports, and the ranks of the gold in each ranking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError
from pgmnemo.registry import Registry, members
from runner.protocol.editions import Edition, MetricPins

NOWHERE = np.iinfo(np.int64).max
Lengths = Sequence[tuple[int, bool]]


@dataclass(frozen=True, slots=True)
class TokensRead:
    """What is read of each ranking within a budget of tokens, one number a question.

    `gold` segments, the tokens of that `evidence`, and all `tokens`.
    """

    gold: NDArray[np.int64]
    evidence: NDArray[np.int64]
    tokens: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GoldRanks:
    """The ranks of each question's gold segments, from 1, in ascending order.

    `ranks` (questions, most gold): NOWHERE fills the rest of a row. `gold` (questions) is the number of gold
    segments of each question, found or not. `lengths` has, for each question, the (tokens, is gold) pairs of
    its ranking; None where no lengths are known.
    """

    ranks: NDArray[np.int64]
    gold: NDArray[np.int64]
    lengths: Sequence[Lengths] | None = None
    _read: dict[int, TokensRead] = field(default_factory=dict)

    def read(self, budget: int) -> TokensRead:
        """Return what is read within a budget of tokens; raise UsageError if no lengths are known."""
        if self.lengths is None:
            raise UsageError(
                "the rankings have no lengths, so nothing can be counted within a budget of tokens"
            )
        if budget not in self._read:
            counts = np.array([read_within(one, budget) for one in self.lengths]).reshape(-1, 3)
            self._read[budget] = TokensRead(*counts.T)
        return self._read[budget]

    def within(self, k: int) -> NDArray[np.int64]:
        """Return the number of gold segments in the first `k` of each ranking."""
        return np.asarray((self.ranks <= k).sum(axis=1))

    @property
    def first(self) -> NDArray[np.int64]:
        """The rank of the first gold segment of each question, or NOWHERE."""
        return np.asarray(self.ranks[:, 0])


def read_within(lengths: Lengths, budget: int) -> tuple[int, int, int]:
    """Return the gold segments, their tokens, and all tokens that are read of one ranking within a budget.

    `lengths` are (tokens, is gold) pairs. A segment that does not fit is left out, and the next is tried.
    """
    gold = evidence = tokens = 0
    for length, is_gold in lengths:
        if tokens + length <= budget:
            tokens += length
            gold, evidence = gold + is_gold, evidence + length * is_gold
    return gold, evidence, tokens


def locate(gold: Collection[str], ranking: Sequence[str]) -> list[int]:
    """Return the ranks of the gold in one ranking, ascending; raise UsageError if an id is ranked twice."""
    if len(set(ranking)) < len(ranking):
        twice = next(id for i, id in enumerate(ranking) if id in ranking[:i])
        raise UsageError(f"segment {twice!r} is ranked twice in one ranking; rank each segment once")
    return [rank for rank, id in enumerate(ranking, 1) if id in gold]


def tabulate(
    places: Iterable[tuple[Sequence[int], int]], lengths: Sequence[Lengths] | None = None
) -> GoldRanks:
    """Return the table of (ascending ranks of the gold found, number of gold segments) pairs."""
    listed = list(places)
    ranks = np.full((len(listed), max((len(r) for r, _ in listed), default=0) or 1), NOWHERE)
    for row, (found, _) in zip(ranks, listed, strict=True):
        row[: len(found)] = found
    return GoldRanks(ranks, np.array([gold for _, gold in listed], dtype=np.int64), lengths)


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number in [0, 1] for each question. `name` is the literature's, and the key in every artefact.

    `formula` maps (questions) rankings to (questions) values. `scope_bound`: once k reaches the size of the
    scope, the value is certain and says nothing about the system. `needs_lengths`: `formula` needs the
    lengths of the ranked segments.
    """

    name: str
    k: int
    definition: str
    formula: Callable[[GoldRanks], Floats]
    direction: str = "higher"  # a higher value is better
    worst: float = 0.0  # the value of a missing retrieval
    scope_bound: bool = False
    needs_lengths: bool = False

    @property
    def family(self) -> str:
        """The name without its k, such as `recall_any`."""
        return self.name.partition("@")[0]

    def values(self, found: GoldRanks) -> Floats:
        """Return the value of each question; NaN where the lengths that the metric needs are not known."""
        if self.needs_lengths and found.lengths is None:
            return np.full(len(found.gold), np.nan)
        return self.formula(found)

    def value(self, gold: frozenset[str], ranking: Sequence[str]) -> float:
        """Return the value of one ranking of segment ids, best first; raise UsageError if gold is empty."""
        if not gold:
            raise UsageError(f"{self.name} is not defined for a question without gold; leave it out")
        return float(self.formula(tabulate([(locate(gold, ranking), len(gold))]))[0])


@dataclass(frozen=True, slots=True)
class Family:
    """A metric `at` any k. An edition lists it by `name`; a run reports it at `chosen` numbers.

    `chosen` maps the edition's pins and the run's cutoffs to them.
    """

    name: str
    at: Callable[[int], Metric]
    chosen: Callable[[MetricPins, Sequence[int]], Sequence[int]] = lambda _, cutoffs: cutoffs

    def metrics(self, pins: MetricPins, cutoffs: Sequence[int]) -> list[Metric]:
        """Return the metrics that a run reports."""
        return [self.at(k) for k in self.chosen(pins, cutoffs)]


PACKAGE = "runner.protocol.metrics.families"


@cache
def _known() -> Registry[Family]:
    """Return the families of every file of the package, by name."""
    return Registry("metric family", {family.name: family for family in members(PACKAGE, "FAMILIES")})


def family_named(name: str) -> Family:
    """Return the family with this name; raise UsageError with the known names."""
    return _known()[name]


def metrics_for(edition: Edition, cutoffs: Sequence[int] | None = None) -> Registry[Metric]:
    """Return every metric of the edition; recalls are at `cutoffs`, or at the edition's if None.

    Raises UsageError for a cutoff below 1, above the number of ranks that are kept, or given twice.
    """
    pins = edition.metrics
    chosen = pins.cutoffs if cutoffs is None else tuple(cutoffs)
    _check(chosen, edition.retrieval.depth)
    families = map(family_named, pins.families)
    listed = [metric for family in families for metric in family.metrics(pins, chosen)]
    return Registry("metric", {metric.name: metric for metric in listed})


def metric_named(name: str) -> Metric:
    """Return a metric at any k, such as MRR@10; UsageError for an unknown name."""
    k = name.partition("@")[2]
    made = [family.at(int(k)) for family in _known().values()] if k.isdigit() and int(k) else []
    found = next((metric for metric in made if metric.name == name), None)
    if found is None:
        labels = ", ".join(family.at(1).name.partition("@")[0] for family in _known().values())
        raise UsageError(f"there is no metric {name!r}; name one of {labels} with its @k")
    return found


def _check(cutoffs: tuple[int, ...], depth: int) -> None:
    if not cutoffs:
        raise UsageError(f"no k was given; give one or more from 1 to {depth}")
    for k in cutoffs:
        if not 1 <= k <= depth:
            raise UsageError(f"k = {k} is out of range: {depth} ranks are kept, so choose from 1 to {depth}")
    if len(set(cutoffs)) < len(cutoffs):
        raise UsageError(f"a k stands twice in {', '.join(map(str, cutoffs))}; give each once")
