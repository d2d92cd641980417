"""Plots of runs: latency over the number of memories (log-log), recall over latency.

SVG without a ground of its own, in tones that can be read on white and on black; the same figures give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from runner.errors import UsageError
from runner.perf.ahead import ahead, ahead_in_recall, vector_reads
from runner.records import Json

REMEDY = (
    "plots need matplotlib, which is not installed; install the perf extra: "
    "pip install -c constraints.txt -e .[perf]"
)
COLOURS = {
    "pgmnemo": "#2f7de1", "pgmnemo+passages": "#1d8a9e", "sqlite-hybrid": "#d1591f", "chroma": "#2b8f48",
    "gin-hnsw": "#a260d8",
}  # fmt: skip
INK = "#767676"  # of words and axes: 4.5 to 1 against white, 4.2 to 1 against GitHub's dark
STYLE: dict[Any, Any] = {
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
    "grid.alpha": 0.4, "legend.framealpha": 0.0, "svg.hashsalt": "pgmnemo", "svg.fonttype": "none",
    "font.size": 9,
}  # fmt: skip
LOG = "log scale"


@dataclass(frozen=True, slots=True)
class Growth:
    """One plot over the number of memories: `column` of what `grown` gives; `lower` is what less of it is."""

    title: str
    axis: str
    unit: str
    column: str
    lower: str = "faster"


GROWTH = {
    "latency_whole.svg": Growth("Whole search, one tenant with everything", "p50", "ms", "whole"),
    "latency_share.svg": Growth("Whole search, tenant with a small share", "p50", "ms", "share"),
    "latency_fixed.svg": Growth("Whole search, tenant of 1,000 as the others grow", "p50", "ms", "fixed"),
    "load.svg": Growth("Load and index", "time", "s", "load", "faster to load"),
    "size.svg": Growth("Size on disk", "size", "MB", "megabytes", "smaller"),
}


def recall_over_latency(document: Json, folder: Path) -> str:
    """The vector leg of every system with its settings swept; the file's name."""
    name = "recall_over_latency.svg"
    k, memories = document["request"]["k"], document["request"]["memories"]

    def draw(axes: Any) -> None:
        for system in document["systems"]:
            line = [(point["p50_ms"], point["recall"]) for point in vector_reads(system)]
            _line(axes, system["name"], system["title"], line)
        _logarithmic(axes, "x", "p50 of the vector leg, ms")
        axes.set_ylabel(f"recall@{k} against the exact neighbours")

    words = [f"{memories:,} memories, one tenant, one client", *ahead_in_recall(document)]
    _save(folder / name, "Vector leg: recall over latency", words, draw)
    return name


def growth(frame: pd.DataFrame, folder: Path) -> dict[str, str]:
    """Latency, load time and size over the number of memories, from what `grown` gives: files and titles."""
    for file, one in GROWTH.items():
        words = list(ahead(frame, one.column, one.lower, one.unit))
        _save(folder / file, one.title, words, partial(_grown, frame, one))
    return {file: one.title for file, one in GROWTH.items()}


def _grown(frame: pd.DataFrame, one: Growth, axes: Any) -> None:
    for name, rows in frame.groupby("name", sort=False):
        points = rows[["memories", one.column]].dropna().itertuples(index=False, name=None)
        _line(axes, name, rows["title"].iloc[-1], list(points))
    _logarithmic(axes, "x", "memories")
    _logarithmic(axes, "y", f"{one.axis}, {one.unit}")
    sizes = sorted(frame["memories"].unique())
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])


def _line(axes: Any, name: str, title: str, points: Sequence[tuple[float, float]]) -> None:
    if points:
        style = "--" if "+" in name else "-"
        axes.plot(
            *zip(*points, strict=True), style, marker="o", markersize=4, label=title, color=COLOURS.get(name)
        )


def _logarithmic(axes: Any, which: str, words: str) -> None:
    """A logarithmic axis that says so, its ticks as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    getattr(axes, f"set_{which}scale")("log")
    getattr(axes, f"set_{which}label")(f"{words} ({LOG})")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.4g}" if at < 1 else f"{at:,.0f}"))


def _save(path: Path, title: str, words: Sequence[str], draw: Callable[[Any], None]) -> None:
    """One plot; `words` are lines under its title."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(REMEDY) from None
    with rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.0 + 0.15 * len(words)), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.grid(True, linewidth=0.5)
        axes.legend(fontsize=8)
        figure.suptitle(title, x=0.01, horizontalalignment="left", fontsize=11, fontweight="bold")
        axes.set_title("\n".join(words), loc="left", fontsize=8)
        figure.savefig(path, transparent=True, metadata={"Date": None, "Title": title})
