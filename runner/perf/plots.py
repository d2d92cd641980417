"""Plots of runs: latency over the number of memories (log-log), recall over latency.

SVG; the same figures give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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
            _line(axes, system, [(point["p50_ms"], point["recall"]) for point in points])
        axes.set_xscale("log")
        axes.set_xlabel("p50 of the vector leg, ms")
        axes.set_ylabel(f"recall@{k}")
        axes.set_title(f"{memories:,} memories, one tenant, one client")

    _save(folder / name, draw)
    return name


def growth(documents: Sequence[Json], folder: Path) -> list[str]:
    """Latency, load time and size over the number of memories; the files' names."""
    ordered = sorted(documents, key=lambda document: document["request"]["memories"])
    for name, (words, value) in GROWTH.items():
        _save(folder / name, _grown(ordered, words, value))
    return list(GROWTH)


def _latency(which: Which) -> Callable[[Json], float | None]:
    def value(system: Json) -> float | None:
        found = cell(system, which)
        return float(found["p50_ms"]) if found else None

    return value


GROWTH: dict[str, tuple[str, Callable[[Json], float | None]]] = {
    "latency_whole.svg": ("one tenant with everything: whole search, p50 ms", _latency(Which("whole"))),
    "latency_share.svg": ("tenant with a small share: whole search, p50 ms", _latency(Which("share"))),
    "latency_fixed.svg": (
        "tenant of 1,000 as the others grow: whole search, p50 ms", _latency(Which("fixed")),
    ),
    "load.svg": ("load and index, s", lambda system: float(system["load_seconds_total"])),
    "size.svg": ("size on disk, MB", lambda system: float(system["bytes_total"] / 1e6)),
}  # fmt: skip
"""By file: what stands on the axis, and a system's value."""


def _grown(
    documents: Sequence[Json], words: str, value: Callable[[Json], float | None]
) -> Callable[[Any], None]:
    def draw(axes: Any) -> None:
        systems = {system["name"]: system for document in documents for system in document["systems"]}
        for name, system in systems.items():
            points = [
                (document["request"]["memories"], found)
                for document in documents
                for one in document["systems"]
                if one["name"] == name and (found := value(one)) is not None
            ]
            _line(axes, system, points)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("memories")
        axes.set_ylabel(words)

    return draw


def _line(axes: Any, system: Json, points: Sequence[tuple[float, float]]) -> None:
    if points:
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, marker="o", markersize=4, label=system["title"], color=COLOURS.get(system["name"]))


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
