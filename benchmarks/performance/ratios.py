"""What pgmnemo takes to what others take in the same run of `perf`: the median of several runs.

    python benchmarks/performance/ratios.py RUN [RUN RUN]

RUN is a folder that `python -m lab perf` wrote; the runs are of one version, size and corpus. Prints for
each ratio the median of the runs with the lowest and the highest, the least number of questions or writes
behind one, and what is wanted of it (issue 28), for the reader to judge. Medians of reads are over the first
100 questions, which every system is asked; a p95 is one of 100 questions or more. Where no run gives a ratio
the line says why.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lab.perf.document import CONDITIONS, FEW, Which, alike, cell, load, times
from pgmnemo.errors import UsageError
from runner.markdown import table
from runner.records import Json

OURS = "pgmnemo"
C, BY_HAND, SQLITE = ("pg-textsearch",), ("gin-hnsw",), ("sqlite-hybrid",)
FORMER, ITSELF = ("pgmnemo@0.4.1", "pgmnemo@0.5.0"), (OURS,)
WHOLE, FIXED, SMALL = Which("whole"), Which("fixed"), Which("small")
NAMES = {WHOLE: "everything", FIXED: "a tenant of 1,000"}
SAME = (*CONDITIONS, ("request", "memories"), ("corpus", "digest"))
HEAD = ("figure", "to that of", "median", "lowest", "highest", "n", "runs", "wanted")


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure of ours to that of the first of `to` that the run has, of the `other` reads where they differ.

    `of` are reads or a part of a system's entry, or empty for the entry itself.
    """

    words: str
    of: Which | str
    key: str
    to: tuple[str, ...]
    wanted: str
    other: Which | None = None


RATIOS = (
    Ratio("everything, p50", WHOLE, "p50_ms", C, "≤ 2, at a million ≤ 3"),
    Ratio("everything, p95", WHOLE, "p95_ms", C, "≤ 2.5"),
    Ratio("everything, p95", WHOLE, "p95_ms", FORMER, "at a million ≤ 0.5"),
    Ratio("everything, 8 clients, a second", Which("whole", 8), "per_second", C, "≥ 0.45"),
    Ratio("everything, under writes, p50", Which("whole", writes=True), "p50_ms", ITSELF, "≤ 1.3", WHOLE),
    Ratio("a tenant of 1,000, p50", FIXED, "p50_ms", FORMER, "≤ 0.6"),
    Ratio("a tenant of 1,000, p50", FIXED, "p50_ms", ITSELF, "≤ 1", WHOLE),
    Ratio("a tenant of 100, p50", SMALL, "p50_ms", SQLITE, "≤ 1"),
    Ratio("a tenant of 100, p50", SMALL, "p50_ms", ITSELF, "≤ 1", FIXED),
    Ratio("add one, p50", "add_one", "p50_ms", BY_HAND, "≤ 0.6"),
    Ratio("load", "", "load_seconds_total", C, "≤ 1"),
    Ratio("bytes a lesson", "", "bytes_per_lesson", BY_HAND, "≤ 1.2"),
)


def ratios(folders: Sequence[Path]) -> str:
    """Return a row a ratio, as Markdown; UsageError for a folder without a run and for runs that are not
    alike.
    """
    documents = [load(folder) for folder in folders]
    alike(folders, documents, SAME)
    return table(HEAD, [_row(one, documents) for one in RATIOS], "llrrrrll")


def _row(one: Ratio, documents: Sequence[Json]) -> tuple[str, ...]:
    """Return where no run gives the ratio, why not in place of the median."""
    to = " or ".join(one.to) if one.other is None else f"{OURS}, {NAMES[one.other]}"
    told = [_quotient(one, document) for document in documents]
    found = [figure for figure in told if not isinstance(figure, str)]
    runs = f"{len(found)} of {len(told)}"
    if not found:
        return one.words, to, str(told[0]), "", "", "", runs, one.wanted
    values, n = [value for value, _ in found], min(n for _, n in found)
    figures = [f"{of(values):.2f}" for of in (median, min, max)]
    return one.words, to, *figures, f"{n:,}" if n else "-", runs, one.wanted


def _quotient(one: Ratio, document: Json) -> tuple[float, int] | str:
    """Return the ratio and the least number of questions or writes behind it, 0 for a load; or why there is
    none.
    """
    systems = {system["name"]: system for system in document["systems"]}
    name = next((name for name in one.to if name in systems), one.to[0])
    own, other = _part(systems.get(OURS), one.of), _part(systems.get(name), one.other or one.of)
    if own is None or other is None:
        return f"not measured: {OURS if own is None else name}"
    n = min(part.get("questions", part.get("count", 0)) for part in (own, other))
    if one.key == "p95_ms" and n < FEW:
        return f"too few: n = {n}"
    return times(own, other, one.key), n


def _part(system: Json | None, of: Which | str) -> Json | None:
    """Return those reads, or that part; None where they were not measured."""
    if system is None or not of:
        return system
    part = cell(system, of) if isinstance(of, Which) else system.get(of)
    return part if part and part.get("count") != 0 else None


def main() -> int:
    """Print the table; 2 for what cannot be joined."""
    if not sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print(ratios([Path(folder) for folder in sys.argv[1:]]))
    except UsageError as error:
        print(f"wrong use: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
