"""Plots of runs: latency over the number of memories (log-log), recall over latency.

SVG; the same figures give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from runner.errors import UsageError
from runner.perf.figures import Which, cell, sweep
from runner.records import Json

REMEDY = (
    "plots need matplotlib, which is not installed; install the perf extra: "
    "pip install -c constraints.txt -e .[perf]"
)
COLOURS = {
    "pgmnemo": "#0b5fa5", "pgmnemo+passages": "#63a6d8", "sqlite-hybrid": "#c2410c", "chroma": "#15803d",
    "gin-hnsw": "#6b21a8",
}  # fmt: skip


def recall_over_latency(document: Json, folder: Path) -> str:
    """The vector leg of every system with its settings swept; the file's name."""
    name = "recall_over_latency.svg"
    k, memories = document["request"]["k"], document["request"]["memories"]

    def draw(axes: Any) -> None:
        for system in document["systems"]:
            single = cell(system, Which("whole", leg="vector"))
            points = sweep(system) or ([single] if single else [])
            line = [(point["p50_ms"], point["recall"]) for point in points]
            _line(axes, system["name"], system["title"], line)
        axes.set_xscale("log")
        axes.set_xlabel("p50 of the vector leg, ms")
        axes.set_ylabel(f"recall@{k}")
        axes.set_title(f"{memories:,} memories, one tenant, one client")

    _save(folder / name, draw)
    return name


GROWTH = {
    "latency_whole.svg": ("one tenant with everything: whole search, p50 ms", "whole"),
    "latency_share.svg": ("tenant with a small share: whole search, p50 ms", "share"),
    "latency_fixed.svg": ("tenant of 1,000 as the others grow: whole search, p50 ms", "fixed"),
    "load.svg": ("load and index, s", "load"),
    "size.svg": ("size on disk, MB", "megabytes"),
}
"""By file: what stands on the axis, and its column of `grown`."""


def growth(frame: pd.DataFrame, folder: Path) -> list[str]:
    """Latency, load time and size over the number of memories, from what `grown` gives; the files' names."""
    for file, (words, column) in GROWTH.items():
        _save(folder / file, partial(_grown, frame, words, column))
    return list(GROWTH)


def _grown(frame: pd.DataFrame, words: str, column: str, axes: Any) -> None:
    for name, rows in frame.groupby("name", sort=False):
        points = rows[["memories", column]].dropna().itertuples(index=False, name=None)
        _line(axes, name, rows["title"].iloc[-1], list(points))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("memories")
    axes.set_ylabel(words)


def _line(axes: Any, name: str, title: str, points: Sequence[tuple[float, float]]) -> None:
    if points:
        axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=title, color=COLOURS.get(name))


def _save(path: Path, draw: Callable[[Any], None]) -> None:
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(REMEDY) from None
    with rc_context({"svg.hashsalt": "pgmnemo", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.grid(True, which="both", linewidth=0.3)
        axes.legend(fontsize=8)
        figure.savefig(path, metadata={"Date": None})
