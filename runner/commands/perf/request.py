"""What a performance run is asked to do, checked first, and which systems it measures."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.errors import UsageError
from pgmnemo.server.releases import version_number
from pgmnemo.versions import release
from runner.naming import Name
from runner.options import listed
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
    """The options of `python -m runner perf`; `check` says what cannot be before anything is made."""

    memories: Annotated[int, Parameter(help="memories of the tenant that holds everything")] = 0
    tenants: Annotated[int, Parameter(help="T: the small tenant holds N/T memories, interleaved")] = 100
    version: Annotated[str | None, Parameter(help="version of pgmnemo (default: the current one)")] = None
    dimensions: Annotated[int, Parameter(help="width of the vectors: 384, or 1024 by an orthonormal map")] = (
        NATIVE
    )
    corpus: Annotated[str, Parameter(help="suite whose turns and questions are used")] = "sample"
    data: Annotated[Path | None, Parameter(help="the suite's file or its folder")] = None
    embedder: Annotated[str, Parameter(help="embedder of 384 dimensions (hash for tests)")] = "minilm"
    systems: Annotated[
        tuple[str, ...], listed("S,S,…: measure these systems only (default: all that are installed)")
    ] = ()
    questions: Annotated[int, Parameter(help="ask at most N")] = 400
    k: Annotated[int, Parameter(help="rows asked for")] = 10
    clients: Annotated[int, Parameter(help="clients of the concurrent reads (1: none)")] = 8
    seconds: Annotated[float, Parameter(help="longest time for one kind of reads")] = 8.0
    seed: Annotated[int, Parameter(help="decides the corpus")] = 42
    name: Annotated[str | None, Parameter(help="name of the results folder")] = None
    output: Annotated[
        Path | None, Parameter(help="folder for results folders (default: benchmarks/performance)")
    ] = None
    scratch: Annotated[
        Path | None, Parameter(help="folder for the corpus and the peers' files (default: TMPDIR)")
    ] = None
    cache: Annotated[
        Path | None, Parameter(help="folder of the embedding cache (default: the user's own)")
    ] = None

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
