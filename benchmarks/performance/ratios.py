"""What pgmnemo takes beside what others take in the same run of `perf`: the median of several runs.

    python benchmarks/performance/ratios.py RUN [RUN RUN]

RUN is a folder that `python -m lab perf` wrote; the runs are of one version, size and corpus. Prints for
each figure that of pgmnemo, that of the system beside it over the same questions, the median of their
quotients with the lowest and the highest, the least number of questions or writes behind one, and what is
wanted, with *missed* where the median misses it. Figures are medians of the runs: milliseconds of a read or a
write, reads in a second, seconds of a load, bytes of a lesson. Medians of reads are over the first 100
questions, which every system is asked; a p95 is one of 100 questions or more. Where no run gives a figure the
line says why.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lab.perf.document import CONDITIONS, FEW, Which, alike, cell, load, pair
from pgmnemo.errors import UsageError
from runner.markdown import table
from runner.records import Json

OURS = "pgmnemo"
C, BY_HAND, SQLITE, FORMER = "pg-textsearch", "gin-hnsw", "sqlite-hybrid", "pgmnemo@0.6.1"
WHOLE, FIXED, SMALL = Which("whole"), Which("fixed"), Which("small")
SAME = (*CONDITIONS, ("request", "memories"), ("corpus", "digest"))
HEAD = ("figure", OURS, "beside", "theirs", "times", "range", "n", "wanted")


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure of ours to that of the system `to`, of its `other` reads where they differ.

    `of` are reads or a part of a system's entry, or empty for the entry itself. `wanted` is the most that the
    quotient may be, with `at_least` the least; None where nothing is. `memories`: only at this size.
    """

    words: str
    of: Which | str
    key: str
    to: str
    wanted: float | None = None
    other: Which | None = None
    at_least: bool = False
    memories: int | None = None

    def verdict(self, found: float) -> str:
        """Return what is wanted, with `missed` if a quotient is not that."""
        if self.wanted is None:
            return "–"  # noqa: RUF001
        missed = found < self.wanted if self.at_least else found > self.wanted
        return f"{'≥' if self.at_least else '≤'} {self.wanted:g}{': **missed**' if missed else ''}"


RATIOS = (
    Ratio("everything, p50 ms", WHOLE, "p50_ms", FORMER, 0.6, memories=10_000),
    Ratio("everything, p50 ms", WHOLE, "p50_ms", FORMER, memories=100_000),
    Ratio("everything, p50 ms", WHOLE, "p50_ms", C, memories=10_000),
    Ratio("everything, p50 ms", WHOLE, "p50_ms", C, 2.2, memories=100_000),
    Ratio("everything, p95 ms", WHOLE, "p95_ms", C),
    Ratio("everything, 8 clients, reads a second", Which("whole", 8), "per_second", C, 0.45, at_least=True),
    Ratio("everything, beside writes, p50 ms", Which("whole", writes=True), "p50_ms", OURS, 1.3, WHOLE),
    Ratio("a tenant of 1,000, p50 ms", FIXED, "p50_ms", FORMER, 0.75),
    Ratio("a tenant of 1,000, p50 ms", FIXED, "p50_ms", C),
    Ratio("a tenant of 100, p50 ms", SMALL, "p50_ms", SQLITE, 1),
    Ratio("add one, p50 ms", "add_one", "p50_ms", BY_HAND, 0.6),
    Ratio("load, s", "", "load_seconds_total", C, 1.1),
    Ratio("load, s", "", "load_seconds_total", BY_HAND),
    Ratio("bytes a lesson", "", "bytes_per_lesson", BY_HAND, 1.15),
)


def ratios(folders: Sequence[Path]) -> str:
    """Return a row a ratio, as Markdown; UsageError for a folder without a run and for runs that are not
    alike.
    """
    documents = [load(folder) for folder in folders]
    alike(folders, documents, SAME)
    size = documents[0]["request"]["memories"]
    rows = [_row(one, documents) for one in RATIOS if one.memories in (None, size)]
    return table(HEAD, rows, "lrlrrlrl")


def _row(one: Ratio, documents: Sequence[Json]) -> tuple[str, ...]:
    """Return the cells of a ratio; where no run gives it, why not in place of its figures."""
    told = [_figures(one, document) for document in documents]
    found = [figures for figures in told if not isinstance(figures, str)]
    beside = "itself alone" if one.other else one.to
    if not found:
        return one.words, "", beside, str(told[0]), "", "", "", one.verdict(one.wanted or 0)
    times = [own / other for own, other, _ in found]
    digits = 2 if one.key.endswith("_ms") else 0
    own, other = (f"{median(row[place] for row in found):,.{digits}f}" for place in (0, 1))
    among = f"{min(times):.2f} to {max(times):.2f}" if len(times) > 1 else "one run"
    n = min(row[2] for row in found)
    middle = median(times)
    return one.words, own, beside, other, f"{middle:.2f}", among, f"{n:,}" if n else "–", one.verdict(middle)  # noqa: RUF001


def _figures(one: Ratio, document: Json) -> tuple[float, float, int] | str:
    """Return both figures and the least number of questions or writes behind one, 0 for a load; or why there
    are none.
    """
    systems = {system["name"]: system for system in document["systems"]}
    own, other = _part(systems.get(OURS), one.of), _part(systems.get(one.to), one.other or one.of)
    if own is None or other is None:
        return f"not measured: {OURS if own is None else one.to}"
    n = min(part.get("questions", part.get("count", 0)) for part in (own, other))
    if one.key == "p95_ms" and n < FEW:
        return f"too few: n = {n}"
    return *pair(own, other, one.key), n


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
