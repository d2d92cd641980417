"""What a performance run is asked to do, checked before anything is made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.database.releases import version_number
from runner.errors import UsageError
from runner.options import listed

NATIVE = 384  # MiniLM's own width; other widths are reached by an orthonormal projection
WIDTHS = (384, 1024)
NARROW = ("minilm", "hash")  # the embedders of that width
MOST_MEMORIES = 10_000_000


@dataclass(frozen=True, kw_only=True)
class PerfOptions:
    """The options of `python -m runner perf`."""

    memories: Annotated[int | None, Parameter(help="memories of the tenant that holds everything")] = None
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


@dataclass(frozen=True, kw_only=True)
class PerfRequest(PerfOptions):
    """What a performance run is asked to do; UsageError for what cannot be."""

    memories: int

    @classmethod
    def of(cls, options: PerfOptions) -> PerfRequest:
        """The run that some options ask for."""
        if options.memories is None:
            raise UsageError("perf needs --memories N, or plot; see `python -m runner perf --help`")
        return cls(**{one.name: getattr(options, one.name) for one in fields(options)})

    def __post_init__(self) -> None:
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
