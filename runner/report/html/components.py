"""Where the gold would have stood by one component of the score alone, among the candidates that show theirs.

Only the first ranks of the system carry components in the raw file, so each question is its own small pool:
those candidates, ordered by one component instead of the whole score. A tie counts half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from runner.records import Hit
from runner.report.html.palette import component_class
from runner.report.html.panels import Bar
from runner.report.html.plots.shares import buckets, names, shares
from runner.report.html.standings import Scope
from runner.runs.run import Run

EDGES = (1, 3, 5, 10)
WEIGHT = "pgmnemo.{}_weight"  # the setting of a component, in every version of the engine


@dataclass(frozen=True, slots=True)
class Component:
    """One component: its name, its weight (None: no setting bears its name), and its state in words."""

    name: str
    weight: float | None
    state: str

    @property
    def active(self) -> bool:
        """Whether it can tell two candidates apart."""
        return not self.state.startswith("inactive")


def components(run: Run) -> list[Component]:
    """The components of the score in the order in which run.json names them."""
    return [Component(name, _weight(run, name), state) for name, state in run.components.items()]


def _weight(run: Run, name: str) -> float | None:
    try:
        return float(run.guc_state[WEIGHT.format(name)])
    except (KeyError, ValueError):
        return None


def component_bars(run: Run, scope: Scope, arm: str) -> tuple[list[Bar], int]:
    """One bar for the score and one for each component; how many questions they are about."""
    pools = [pool for pool in (_pool(scope, arm, key) for key in scope.questions) if pool]
    titles = names(EDGES, f"below {EDGES[-1]}")
    bars = []
    for place, (name, words, values) in enumerate(_columns(components(run), pools)):
        ranks = [rank for pool, column in zip(pools, values, strict=True) if (rank := _best(pool, column))]
        if not ranks:
            bars.append(Bar(name, words, component_class(place - 1), Markup()))
            continue
        parts = buckets([round(rank) for rank in ranks], EDGES)[:-1]
        told = "; ".join(f"{title}: {100 * part:.1f} %" for title, part in zip(titles, parts, strict=False))
        plot = shares([*zip(titles, parts, strict=False), (titles[-1], 0.0)], f"by {name} alone: {told}")
        bars.append(Bar(name, words, "score" if place == 0 else component_class(place - 1), plot))
    return bars, len(pools)


Pool = tuple[tuple[Hit, bool], ...]  # the candidates of one question, and whether each is gold
Values = list[list[float | None]]


def _pool(scope: Scope, arm: str, key: str) -> Pool:
    """The candidates that show their components; none where no gold is among them, or nothing else."""
    answer = scope.answers[arm].get(key)
    gold = set(scope.questions[key].gold)
    listed = [(hit, hit.id in gold) for hit in (answer.ranking if answer else ()) if hit.components]
    return tuple(listed) if len({is_gold for _, is_gold in listed}) == 2 else ()


def _columns(parts: Sequence[Component], pools: Sequence[Pool]) -> list[tuple[str, str, Values]]:
    """The score, then each component: name, words beside it, and its values in every pool."""
    listed: list[tuple[str, str, Values]] = [
        ("the score", "all together", [[hit.score for hit, _ in pool] for pool in pools])
    ]
    for place, part in enumerate(parts):
        values: Values = [[hit.components[place] for hit, _ in pool] for pool in pools] if part.active else []
        weight = "" if part.weight is None else f"× {part.weight:g}"  # noqa: RUF001
        listed.append((part.name, weight if part.active else part.state, values or [[] for _ in pools]))
    return listed


def _best(pool: Pool, values: Sequence[float | None]) -> float:
    """Rank of the best gold candidate by `values`; 0 where one of them is missing."""
    if not values or None in values:
        return 0
    known = [value for value in values if value is not None]
    best = max(value for value, (_, is_gold) in zip(known, pool, strict=True) if is_gold)
    others = [value for value, (_, is_gold) in zip(known, pool, strict=True) if not is_gold]
    return 1 + sum(value > best for value in others) + 0.5 * sum(value == best for value in others)
