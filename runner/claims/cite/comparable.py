"""What must be the same in two runs before one citation names both values (protocol §8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runner.protocol.required import release
from runner.report.citation import embedder_name

Facts = Mapping[str, Any]

SAME: dict[str, Callable[[Facts], object]] = {
    "protocol version": lambda run: run["protocol"]["version"],
    "corpus": lambda run: run["corpus"]["title"],
    "corpus sha256": lambda run: run["corpus"]["sha256"],
    "granularity": lambda run: run["corpus"]["granularity"],
    "scope": lambda run: run["scopes"][0]["name"],
    "embedder": embedder_name,
    "embedder's model and settings": lambda run: run["embedder"],
    "mode": lambda run: run["options"]["mode"],
    "limit": lambda run: run["options"]["limit"],
    "types": lambda run: run["options"]["types"],
}


def difference(before: Facts, after: Facts) -> str | None:
    """The first thing that keeps two runs apart, in words; None when they stand beside each other."""
    for name, of in SAME.items():
        if of(before) != of(after):
            return f"{name} {of(before)} against {of(after)}"
    return None


def not_earlier(before: Facts, after: Facts) -> str | None:
    """That the version before is none before, in words; None when it is."""
    older, newer = (str(run["pgmnemo_version"]) for run in (before, after))
    if release(older) < release(newer):
        return None
    return f"version {older} is not earlier than {newer}"
