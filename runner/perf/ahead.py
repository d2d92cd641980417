"""Where a peer is ahead of pgmnemo, in sentences that stand under the title of a plot."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from runner.perf.figures import Which, cell, sweep
from runner.records import Json

OURS = "pgmnemo"


def is_ours(name: str) -> bool:
    """Whether a system is pgmnemo, with passages or without."""
    return name.partition("+")[0] == OURS


def ahead(frame: pd.DataFrame, column: str, word: str, unit: str) -> Iterator[str]:
    """A sentence for each peer whose `column` is lower than pgmnemo's at the largest size that both have.

    `frame` is what `grown` gives, `word` says what a lower figure is, such as `faster`.
    """
    known = frame.dropna(subset=column)
    own = known[known["name"] == OURS].set_index("memories")[column]
    for name, rows in known.groupby("name", sort=False):
        shared = rows[rows["memories"].isin(own.index)]
        if is_ours(str(name)) or shared.empty:
            continue
        last = shared.loc[shared["memories"].idxmax()]
        size, value, ours = int(last["memories"]), float(last[column]), float(own[last["memories"]])
        if value < ours:
            yield (
                f"{last['title']} is {word} at {size:,}: {amount(value)} {unit} against {amount(ours)} {unit}"
            )


def ahead_in_recall(document: Json) -> Iterator[str]:
    """A sentence for each peer that finds as much as pgmnemo at its defaults, or more, in less time."""
    ours = next((one for one in document["systems"] if one["name"] == OURS), None)
    own = cell(ours, Which("whole", leg="vector")) if ours else None
    for system in document["systems"] if own else ():
        if own is None or is_ours(system["name"]):
            continue
        better = [
            one
            for one in vector_reads(system)
            if one["recall"] >= own["recall"] and one["p50_ms"] < own["p50_ms"]
        ]
        if better:
            best = better[0]
            yield (
                f"{system['title']} is faster: {best['recall']:.3f} in {amount(best['p50_ms'])} ms against "
                f"{own['recall']:.3f} in {amount(own['p50_ms'])} ms at the default"
            )


def vector_reads(system: Json) -> list[Json]:
    """The vector leg for everything: at each setting that was tried, the fastest first, or as it stands."""
    single = cell(system, Which("whole", leg="vector"))
    return sweep(system) or ([single] if single else [])


def amount(value: float) -> str:
    """A figure with two digits that count, or all before its point: `0.41`, `1.9`, `17`, `2,150`."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"
