"""`python -m runner perf plot`: several runs in one set of growth plots, with a table of the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.errors import OutputError, UsageError
from runner.markdown import table
from runner.perf.document import load
from runner.perf.figures import Which, cell, ratio
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
    _check(folders, documents)
    _check_output(output)
    try:
        output.mkdir(parents=True, exist_ok=True)
        names = growth(documents, output)
        (output / NAME).write_text(_text(documents, names), encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{output} cannot be written: {error.strerror}; name another folder with --output"
        ) from None
    return output / NAME


def _check(folders: Sequence[Path], documents: Sequence[Json]) -> None:
    """Runs are joined only where nothing but size and systems differs."""
    for part, key in CONDITIONS:
        found = {document[part][key] for document in documents}
        if len(found) > 1:
            raise UsageError(
                f"the runs in {', '.join(map(str, folders))} differ in {key} "
                f"({', '.join(map(str, sorted(found)))}); join runs of one kind"
            )

    measured = [
        (document["request"]["memories"], system["title"])
        for document in documents
        for system in document["systems"]
    ]
    if len({memories for memories, _ in measured}) < 2:
        raise UsageError("runs of one size show no growth; name runs of two sizes or more")
    for memories, title in measured:
        if measured.count((memories, title)) > 1:
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


def _text(documents: Sequence[Json], plots: Sequence[str]) -> str:
    ordered = sorted(documents, key=lambda document: document["request"]["memories"])
    lines = [
        TITLE,
        "",
        "Whole search, one client, p50 ms (times faster than SQLite's hybrid of the run).",
        "",
    ]
    rows = []
    for document in ordered:
        for system in document["systems"]:
            reads = [_read(document, system, tenant) for tenant in ("whole", "share", "fixed")]
            rest = (
                f"{system['load_seconds_total']:,.1f}", f"{system['bytes_total'] / 1e6:,.0f}",
                f"{system['bytes_per_lesson']:,.0f}", f"{system['add_one']['p50_ms']:.2f}",
            )  # fmt: skip
            memories = f"{document['request']['memories']:,}"
            rows.append((memories, system["title"], *reads, *rest))
    lines.append(table(HEADS, rows, "rl" + "r" * (len(HEADS) - 2)))
    return "\n".join([*lines, "", *(f"![{name.removesuffix('.svg')}]({name})" for name in plots)]) + "\n"


def _read(document: Json, system: Json, tenant: str) -> str:
    found, faster = cell(system, Which(tenant)), ratio(document, system, Which(tenant))
    if found is None:
        return NONE
    return f"{found['p50_ms']:,.2f}" + ("" if faster is None else f" ({faster:,.1f}\N{MULTIPLICATION SIGN})")
