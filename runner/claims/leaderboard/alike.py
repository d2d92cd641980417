"""What runs must share to stand on one board."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from runner.claims.compare.side import Side
from runner.report.citation import CITED, embedder_name
from runner.report.formats import shorten

Of = Callable[[Side], Any]


def _major(version: str) -> str:
    return version.partition(".")[0]


def _definitions(side: Side) -> dict[str, str]:
    """The sentence that defines each metric that is shown."""
    known = side.metrics["definitions"]
    return {name: known[name] for name in (CITED, *side.run["headline"]) if name in known}


CONDITIONS: dict[str, Of] = {
    "suite": lambda side: side.run["corpus"]["suite"],
    "corpus sha256": lambda side: side.run["corpus"]["sha256"],
    "granularity": lambda side: side.run["corpus"]["granularity"],
    "scopes": lambda side: [[scope["name"], scope["pooled"]] for scope in side.run["scopes"]],
    "embedder": lambda side: side.run["embedder"],
    "mode": lambda side: side.run["options"]["mode"],
    "questions asked": lambda side: [side.run["options"]["limit"], side.run["options"]["types"]],
    "metric definitions": _definitions,
    "major version of the metric code": lambda side: _major(side.metrics["metric_code"]),
    "protocol": lambda side: side.run["protocol"]["version"],
}
"""By name: what must be equal. All but the version, its settings, the database and the machine."""


def key(side: Side) -> str:
    """The same text for runs that are alike in every condition, another for others."""
    return repr([of(side) for of in CONDITIONS.values()])


def words(side: Side) -> dict[str, str]:
    """Each condition as people read it."""
    return {name: _text(name, of(side), side) for name, of in CONDITIONS.items()}


def apart(first: Side, other: Side) -> Iterator[str]:
    """One sentence for each condition in which `other` is not like `first`; another suite says it all."""
    for name, of in CONDITIONS.items():
        if of(first) != of(other):
            here, there = (_text(name, of(side), side) for side in (other, first))
            yield (
                f"{name}: {here} against {there}" if here != there else f"{name}: {_fields(of, first, other)}"
            )
            if name == "suite":
                return


def _text(name: str, value: Any, side: Side) -> str:
    if name == "embedder":
        return embedder_name(side.run)
    if name == "scopes":
        return ", ".join(scope for scope, _ in value)
    if name == "questions asked":
        return _asked(*value)
    return ", ".join(value) if isinstance(value, dict) else shorten(str(value))


def _asked(limit: int | None, types: Iterable[str]) -> str:
    chosen = ", ".join(types)
    return " ".join(
        [f"the first {limit:,}" if limit is not None else "all", *(["of"] if chosen else []), chosen]
    ).strip()


def _fields(of: Of, first: Side, other: Side) -> str:
    """Where two values read alike, what in them differs."""
    here, there = of(other), of(first)
    if not (isinstance(here, dict) and isinstance(there, dict)):
        return f"{here} against {there}"
    names = [name for name in dict.fromkeys([*here, *there]) if here.get(name) != there.get(name)]
    return shorten("; ".join(f"{name} {here.get(name)} against {there.get(name)}" for name in names))
