"""The figures as tables of text cells: the same for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from runner.perf.figures import Which, cell, kinds, ratio
from runner.records import Json

NONE, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"
FEW = 100  # questions below which a 99th percentile is not given


@dataclass(frozen=True, slots=True)
class Table:
    """A title, the heads of the columns and rows of text."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables(document: Json) -> Iterator[Table]:
    """One for loading, one for each kind of reads, one for the vector leg."""
    yield _loading(document)
    for words, which in kinds(document):
        yield _reads(document, words, which)
    yield _vectors(document)


def _loading(document: Json) -> Table:
    rows = [
        {
            "system": system["title"],
            "load s": f"{system['load_seconds_total']:,.1f}",
            "of which": ", ".join(f"{name} {value:,.1f}" for name, value in system["load_seconds"].items()),
            "MB on disk": _megabytes(system["bytes_total"]),
            "bytes a lesson": f"{system['bytes_per_lesson']:,.0f}",
            "MB of memory": _megabytes(system["memory_bytes"]),
            "add one, p50 ms": f"{system['add_one']['p50_ms']:.2f}",
            "p95 ms": f"{system['add_one']['p95_ms']:.2f}",
        }
        for system in document["systems"]
    ]
    rows += [{"system": title, "load s": sentence} for title, sentence in document["missing"].items()]
    lessons = sum(document["corpus"]["tenants"].values())
    frame = pd.DataFrame(rows).fillna("")
    return Table(f"Load {lessons:,} lessons, size, one durable write", list(frame), frame.to_numpy().tolist())


def _reads(document: Json, words: str, which: Which) -> Table:
    rows = []
    for system in document["systems"]:
        found = cell(system, which)
        if found is None:
            continue
        faster = ratio(document, system, which)
        rows.append(
            (
                system["title"],
                _ms(found["p50_ms"]),
                _ms(found["p95_ms"]),
                _ms(found["p99_ms"]) if found["questions"] >= FEW else NONE,
                f"{found['per_second']:,.0f}",
                NONE if faster is None else f"{faster:,.2f}{TIMES}",
                f"{found['rows']:.1f}",
                f"{found['complete']:.1%}",
                f"{found['writes']:.0f}" if which.writes else NONE,
                f"{found['questions']:,}",
            )
        )
    heads = (
        "system", "p50 ms", "p95 ms", "p99 ms", "a second", "against SQLite", "rows", "k rows", "writes/s",
        "n",
    )  # fmt: skip
    return Table(f"Whole search, {words}", heads, rows)


def _vectors(document: Json) -> Table:
    rows = []
    for system in document["systems"]:
        texts = [system["title"]]
        for tenant in ("whole", "share", "fixed"):
            found = cell(system, Which(tenant, leg="vector"))
            texts += [NONE, NONE] if found is None else [f"{found['recall']:.3f}", _ms(found["p50_ms"])]
        rows.append(texts)
    k = document["request"]["k"]
    heads = ["system"]
    for tenant in ("whole", "share", "fixed"):
        heads += [f"{tenant}: recall@{k}", "p50 ms"]
    title = f"Vector leg alone, recall@{k} against the exact neighbours"
    return Table(title, heads, rows)


def _megabytes(size: int | None) -> str:
    return NONE if size is None else f"{size / 1e6:,.0f}"


def _ms(value: float) -> str:
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}"
