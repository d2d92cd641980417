"""What a performance run is asked to do, checked first, and which systems it measures."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pgmnemo.errors import UsageError
from pgmnemo.server.releases import version_number
from pgmnemo.versions import release
from runner.naming import Name
from runner.options import NAMES
from runner.systems import Kind, Place, System, absent, kind_of, open_system
from runner.systems.wrappers import PASSAGES

NATIVE = 384  # MiniLM's own width; other widths are reached by an orthonormal projection
WIDTHS = (384, 1024)
NARROW = ("minilm", "hash")  # the embedders of that width
MOST_MEMORIES = 10_000_000
USUAL = ("pgmnemo", "sqlite-hybrid", "chroma", "gin-hnsw", "pgmnemo+passages")  # unless others are named
SINCE = (0, 3, 0)  # the first version of pgmnemo that takes passages


@dataclass(frozen=True, kw_only=True)
class PerfRequest:
    """The options of `python -m runner perf`; `check` says what cannot be before anything is made.

    Args:
        memories: memories of the tenant that holds everything
        tenants: T: the small tenant holds N/T memories, interleaved
        version: version of pgmnemo (default: the current one)
        dimensions: width of the vectors: 384, or 1024 by an orthonormal map
        corpus: suite whose turns and questions are used
        data: the suite's file or its folder
        embedder: embedder of 384 dimensions (hash for tests)
        systems: S,S,…: measure these systems only (default: all that are installed)
        questions: ask at most N
        k: rows asked for
        clients: clients of the concurrent reads (1: none)
        seconds: longest time for one kind of reads
        seed: decides the corpus
        name: name of the results folder
        output: folder for results folders (default: benchmarks/performance)
        scratch: folder for the corpus and the peers' files (default: TMPDIR)
        cache: folder of the embedding cache (default: the user's own)
    """

    memories: int = 0
    tenants: int = 100
    version: str | None = None
    dimensions: int = NATIVE
    corpus: str = "sample"
    data: Path | None = None
    embedder: str = "minilm"
    systems: Annotated[tuple[str, ...], NAMES] = ()
    questions: int = 400
    k: int = 10
    clients: int = 8
    seconds: float = 8.0
    seed: int = 42
    name: str | None = None
    output: Path | None = None
    scratch: Path | None = None
    cache: Path | None = None

    def check(self) -> None:
        """UsageError for what cannot be."""
        if not self.memories:
            raise UsageError("perf needs --memories N, or plot; see `python -m runner perf --help`")
        for option, value, low, high in (
            ("--memories", self.memories, 100, MOST_MEMORIES),
            ("--tenants", self.tenants, 1, max(1, self.memories // 10)),
            ("--questions", self.questions, 1, 100_000),
            ("--k", self.k, 1, 50),
            ("--clients", self.clients, 1, 24),
            ("--seed", self.seed, 0, 2**32 - 1),
        ):
            if not low <= value <= high:
                raise UsageError(f"{option} takes a whole number from {low:,} to {high:,}, not {value:,}")
        if not 0 < self.seconds <= 600:
            raise UsageError(f"--seconds takes a number above 0 and up to 600, not {self.seconds:g}")
        if self.dimensions not in WIDTHS:
            raise UsageError(f"--dimensions takes {' or '.join(map(str, WIDTHS))}, not {self.dimensions}")
        if self.embedder not in NARROW:
            raise UsageError(
                f"--embedder takes one of {NATIVE} dimensions, {' or '.join(NARROW)}, not {self.embedder!r}"
            )
        if self.name is not None and (not self.name.strip("._-") or set(self.name) & set("/\\\0")):
            raise UsageError(f"--name takes the name of a folder, not {self.name!r}")

    @property
    def number(self) -> str:
        """The extension's version without its `v`."""
        return version_number(self.version)


@dataclass(frozen=True, slots=True)
class Subject:
    """A system as it is measured here. `name` is that of the command line."""

    name: str
    kind: Kind
    passages: bool

    @property
    def title(self) -> str:
        """Its name in tables."""
        version = Name.of(self.name).version
        named = f"{self.kind.title} {version}".strip()
        return f"{named}, two passages a lesson" if self.passages else named

    def missing(self, version: str) -> str:
        """Why it cannot be measured here and how to mend it, in one sentence; empty if it can."""
        number = Name.of(self.name).version or version
        if self.passages and self.kind.versions and release(number) < SINCE:
            return f"pgmnemo {number} takes no passages; measure --version v0.3.0 or later"
        return absent(self.kind)

    def open(self, place: Place, version: str) -> AbstractContextManager[System]:
        """The system, on a server or in files of its own that keep what they are given."""
        settings = {"gate_strict": "off"} if self.kind.versions else {}
        own = replace(place, version=version, label="perf", settings=settings, durable=True, walled=True)
        return open_system(str(Name.of(self.name).bare), replace(own, explained=False))


def subject(name: str) -> Subject:
    """The subject of that name; UsageError for an unknown system, and for one that takes no passages."""
    parts = Name.of(name)
    kind, passages = kind_of(str(parts.bare)), parts.wrappers == (PASSAGES,)
    if passages and not kind.versions:
        raise UsageError(f"only pgmnemo is measured with passages here, not {parts.bare}")
    if parts.wrappers and not passages:
        raise UsageError(f"no wrapper but +{PASSAGES} is measured here: {name!r}")
    return Subject(name, kind, passages)
