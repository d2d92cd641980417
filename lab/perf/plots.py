"""Plots of runs: recall over latency, and growth over the number of memories (log-log).

`python -m lab perf plot` joins several runs, with a table of the same figures. The SVG has no background, and
colours that are readable on white and on black; the same figures give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from lab.perf.document import CONDITIONS, TENANTS, Which, alike, cell, load, ratio
from pgmnemo.errors import UsageError, os_errors
from runner.markdown import align_tables
from runner.records import Json
from runner.report.render import template
from runner.runs.output import check_folder

REMEDY = (
    "plots need matplotlib, which is not installed; install the perf extra: "
    "pip install -c constraints.txt -e 'runner[perf]'"
)
OURS = "pgmnemo"
COLOURS = {
    "pgmnemo": "#2f7de1", "pgmnemo+passages": "#1d8a9e", "sqlite-hybrid": "#d1591f", "chroma": "#2b8f48",
    "gin-hnsw": "#a260d8",
}  # fmt: skip
INK = "#767676"  # colour of text and axes: contrast 4.5 to 1 on white, 4.2 to 1 on GitHub's dark
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "grid.color")
STYLE: dict[Any, Any] = {
    **dict.fromkeys(INKED, INK), "grid.alpha": 0.4, "legend.framealpha": 0.0, "svg.hashsalt": "pgmnemo",
    "svg.fonttype": "none", "font.size": 9,
}  # fmt: skip
LOG = "log scale"


@dataclass(frozen=True, slots=True)
class Growth:
    """A plot over the number of memories, of a `column` of `grown`; `lower` describes a smaller value."""

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
    """Draw recall over latency of the vector leg of every system, with swept settings.

    Returns the file's name.
    """
    name = "recall_over_latency.svg"
    k, memories = document["request"]["k"], document["request"]["memories"]

    def draw(axes: Any) -> None:
        for system in document["systems"]:
            line = [(point["p50_ms"], point["recall"]) for point in _vector_reads(system)]
            _line(axes, system["name"], system["title"], line)
        logarithmic(axes, "x", "p50 of the vector leg, ms")
        axes.set_ylabel(f"recall@{k} against the exact neighbours")

    words = [f"{memories:,} memories, one tenant, one client", *ahead_in_recall(document)]
    _save(folder / name, "Vector leg: recall over latency", words, draw)
    return name


def growth(frame: pd.DataFrame, folder: Path) -> None:
    """Draw latency, load time and size over the number of memories, from the table of `grown`."""
    for file, one in GROWTH.items():
        _save(folder / file, one.title, list(ahead(frame, one)), partial(_grown, frame, one))


def ahead(frame: pd.DataFrame, one: Growth) -> Iterator[str]:
    """Yield a sentence for each peer with a lower figure than pgmnemo, at the largest size of both."""
    known = frame.dropna(subset=one.column)
    own = known[known["name"] == OURS].set_index("memories")[one.column]
    shared = known[known["memories"].isin(own.index) & ~known["name"].map(_ours)]
    for at in shared.groupby("name", sort=False)["memories"].idxmax():
        last = known.loc[at]
        value, ours = float(last[one.column]), float(own[last["memories"]])
        if value < ours:
            figures = f"{amount(value)} {one.unit} against {amount(ours)} {one.unit}"
            yield f"{last['title']} is {one.lower} at {last['memories']:,}: {figures}"


def ahead_in_recall(document: Json) -> Iterator[str]:
    """Yield a sentence for each peer that reaches pgmnemo's default recall, or more, in less time."""
    ours = next((one for one in document["systems"] if one["name"] == OURS), None)
    own = cell(ours, Which("whole", leg="vector")) if ours else None
    if own is None:
        return
    for system in (one for one in document["systems"] if not _ours(one["name"])):
        reads = _vector_reads(system)
        better = [one for one in reads if one["recall"] >= own["recall"] and one["p50_ms"] < own["p50_ms"]]
        for one in better[:1]:
            yield (
                f"{system['title']} is faster: {one['recall']:.3f} in {amount(one['p50_ms'])} ms against "
                f"{own['recall']:.3f} in {amount(own['p50_ms'])} ms at the default"
            )


def _ours(name: str) -> bool:
    """Return whether a system is pgmnemo, with or without passages."""
    return name.partition("+")[0] == OURS


def _vector_reads(system: Json) -> list[Json]:
    """Return the reads by vectors over the whole table at each swept setting, the fastest first.

    Else the default's.
    """
    swept = [found for found in system["reads"] if found["ef_search"] is not None]
    single = cell(system, Which("whole", leg="vector"))
    return sorted(swept, key=lambda found: found["p50_ms"]) or ([single] if single else [])


def amount(value: float) -> str:
    """Return a figure with two significant digits, or all digits before its point: `0.41`, `2,150`."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def _grown(frame: pd.DataFrame, one: Growth, axes: Any) -> None:
    for name, rows in frame.groupby("name", sort=False):
        points = rows[["memories", one.column]].dropna().itertuples(index=False, name=None)
        _line(axes, name, rows["title"].iloc[-1], list(points))
    logarithmic(axes, "x", "memories")
    logarithmic(axes, "y", f"{one.axis}, {one.unit}")
    sizes = sorted(frame["memories"].unique())
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])


def _line(axes: Any, name: str, title: str, points: Sequence[tuple[float, float]]) -> None:
    if points:
        style = "--" if "+" in name else "-"
        axes.plot(
            *zip(*points, strict=True), style, marker="o", markersize=4, label=title, color=COLOURS.get(name)
        )


def logarithmic(axes: Any, which: str, words: str) -> None:
    """Make an axis logarithmic, with plain numbers as ticks and a label that says so."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set(**{f"{which}scale": "log", f"{which}label": f"{words} ({LOG})"})
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.4g}" if at < 1 else f"{at:,.0f}"))


def _save(path: Path, title: str, words: Sequence[str], draw: Callable[[Any], None]) -> None:
    """Save one plot; `words` are the lines under its title."""
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


NAME = "growth.md"
MARKS = {NAME: "# Growth\n", **{name: one.title for name, one in GROWTH.items()}}
TEMPLATE = Path(__file__).with_name("growth.md.j2")


def join(folders: Sequence[Path], output: Path) -> Path:
    """Draw the growth plots of the runs in `folders` into `output` and write growth.md; return its path.

    Raises UsageError for a folder without a run, for runs that differ in more than the number of memories and
    the systems, for runs of one size, and if other files in `output` would be overwritten.
    """
    documents = [load(folder) for folder in folders]
    frame = grown(documents)
    _check(folders, documents, frame)
    check_folder("--output", output, MARKS)
    with os_errors(f"{output} cannot be written: {{why}}; name another folder with --output"):
        output.mkdir(parents=True, exist_ok=True)
        growth(frame, output)
        rows = frame.to_dict("records")
        text = template(TEMPLATE).render(rows=rows, tenants=TENANTS, plots=GROWTH, isna=pd.isna)
        (output / NAME).write_text(align_tables(text), encoding="utf-8")
    return output / NAME


def grown(documents: Sequence[Json]) -> pd.DataFrame:
    """Return a table with a row for each run and system, the smallest run first.

    For each tenant it has the p50 in ms of one client's whole search, and how many times faster than the
    reference; NaN for a missing figure.
    """
    return pd.DataFrame([
        {
            "memories": document["request"]["memories"], "name": system["name"], "title": system["title"],
            **{tenant: (cell(system, Which(tenant)) or {}).get("p50_ms") for tenant in TENANTS},
            **{f"{tenant} faster": ratio(document, system, Which(tenant)) for tenant in TENANTS},
            "load": system["load_seconds_total"], "megabytes": system["bytes_total"] / 1e6,
            "bytes": system["bytes_per_lesson"], "add": system["add_one"]["p50_ms"],
        }
        for document in sorted(documents, key=lambda document: document["request"]["memories"])
        for system in document["systems"]
    ])  # fmt: skip


def _check(folders: Sequence[Path], documents: Sequence[Json], frame: pd.DataFrame) -> None:
    """Raise UsageError unless the runs to join differ only in size and systems."""
    alike(folders, documents, CONDITIONS)
    if frame["memories"].nunique() < 2:
        raise UsageError("runs of one size show no growth; name runs of two sizes or more")
    twice = frame[frame.duplicated(["memories", "title"])]
    for memories, title in zip(twice["memories"], twice["title"], strict=True):
        raise UsageError(f"two of the runs measured {title} at {memories:,} memories; name one of them")
