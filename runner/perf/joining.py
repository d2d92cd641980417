"""`python -m runner perf plot`: several runs in one set of growth plots, with a table of the same figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from runner.errors import UsageError, os_errors
from runner.markdown import table
from runner.perf.document import load
from runner.perf.figures import TENANTS, grown
from runner.perf.plots import GROWTH, growth
from runner.records import Json

NAME = "growth.md"
TITLE = "# Growth"
NONE = "\N{EN DASH}"
CONDITIONS = (
    ("request", "version"), ("request", "dimensions"), ("request", "k"), ("request", "tenants"),
    ("request", "seed"), ("corpus", "suite_sha256"), ("corpus", "embedder"), ("corpus", "noise"),
)  # fmt: skip
HEADS = ("memories", "system", "everything", "share", "1,000", "load s", "MB", "bytes a lesson", "add one ms")


def join(folders: Sequence[Path], output: Path) -> Path:
    """Draw the growth plots of the runs in `folders` into `output` and write growth.md, which is returned.

    UsageError for a folder without a run, for runs that differ in what is measured but in the number of
    memories and the systems, or that show no growth, and where other files stand in the way.
    """
    documents = [load(folder) for folder in folders]
    frame = grown(documents)
    _check(folders, documents, frame)
    _check_output(output)
    with os_errors(f"{output} cannot be written: {{why}}; name another folder with --output"):
        output.mkdir(parents=True, exist_ok=True)
        titles = growth(frame, output)
        (output / NAME).write_text(_text(frame, titles), encoding="utf-8")
    return output / NAME


def _check(folders: Sequence[Path], documents: Sequence[Json], frame: pd.DataFrame) -> None:
    """Runs are joined only where nothing but size and systems differs."""
    for part, key in CONDITIONS:
        found = {document[part][key] for document in documents}
        if len(found) > 1:
            raise UsageError(
                f"the runs in {', '.join(map(str, folders))} differ in {key} "
                f"({', '.join(map(str, sorted(found)))}); join runs of one kind"
            )
    if frame["memories"].nunique() < 2:
        raise UsageError("runs of one size show no growth; name runs of two sizes or more")
    twice = frame[frame.duplicated(["memories", "title"])]
    for memories, title in zip(twice["memories"], twice["title"], strict=True):
        raise UsageError(f"two of the runs measured {title} at {memories:,} memories; name one of them")


def _check_output(output: Path) -> None:
    """Only growth plots of our own are written over: where growth.md is ours, its plots are, too."""
    text = output / NAME
    if text.exists():
        if not text.is_file() or not text.read_text(encoding="utf-8", errors="replace").startswith(TITLE):
            raise UsageError(f"{text} is there and holds something else; name another folder with --output")
        return
    if plots := [name for name in GROWTH if (output / name).exists()]:
        raise UsageError(
            f"{output / plots[0]} is there and may not be ours; name another folder with --output"
        )


def _text(frame: pd.DataFrame, plots: Mapping[str, str]) -> str:
    rows = [
        (
            f"{row['memories']:,}", row["title"], *(_read(row, tenant) for tenant in TENANTS),
            f"{row['load']:,.1f}", f"{row['megabytes']:,.0f}", f"{row['bytes']:,.0f}", f"{row['add']:.2f}",
        )
        for row in frame.to_dict("records")
    ]  # fmt: skip
    pictures = "\n".join(f"![{title}]({name})" for name, title in plots.items())
    what = "Whole search, one client, p50 ms (times faster than SQLite's hybrid of the run)."
    figures = table(HEADS, rows, "rl" + "r" * (len(HEADS) - 2))
    return "\n\n".join([TITLE, what, figures, pictures]) + "\n"


def _read(row: Json, tenant: str) -> str:
    p50, faster = row[tenant], row[f"{tenant} faster"]
    if pd.isna(p50):
        return NONE
    return f"{p50:,.2f}" + ("" if pd.isna(faster) else f" ({faster:,.1f}\N{MULTIPLICATION SIGN})")
