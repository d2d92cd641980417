"""`python -m runner perf plot`: several runs in one set of growth plots, with a table of the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pgmnemo.errors import UsageError, os_errors
from runner.commands.perf.document import TENANTS, Which, cell, load, ratio
from runner.commands.perf.plots import GROWTH, growth
from runner.markdown import aligned
from runner.records import Json
from runner.report.render import template
from runner.runs.output import check_folder

NAME = "growth.md"
MARKS = {NAME: "# Growth\n", **{name: one.title for name, one in GROWTH.items()}}
TEMPLATE = Path(__file__).with_name("growth.md.j2")
CONDITIONS = (
    ("request", "version"), ("request", "dimensions"), ("request", "k"), ("request", "tenants"),
    ("request", "seed"), ("corpus", "suite_sha256"), ("corpus", "embedder"), ("corpus", "noise"),
)  # fmt: skip


def join(folders: Sequence[Path], output: Path) -> Path:
    """Draw the growth plots of the runs in `folders` into `output` and write growth.md, which is returned.

    UsageError for a folder without a run, for runs that differ in what is measured but in the number of
    memories and the systems, or that show no growth, and where other files stand in the way.
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
        (output / NAME).write_text(aligned(text), encoding="utf-8")
    return output / NAME


def grown(documents: Sequence[Json]) -> pd.DataFrame:
    """A row for each run and system, the smallest run first.

    Of each tenant p50 in ms of one client's whole search, and how many times faster than the reference;
    NaN where there is none.
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
