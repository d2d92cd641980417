"""What a sweep is asked to do, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.database.releases import version_number
from runner.embedders import EMBEDDERS, Embedder, EmbedderOptions
from runner.errors import UsageError
from runner.naming import Name
from runner.runs.folder import KEPT, LOCAL
from runner.suites import SUITES
from runner.systems import kind_of
from runner.systems.fusing import CONVEX, RRF
from runner.tune.grid import FIXED, Point, axes, points
from runner.tune.request import NEVER_TUNED

STRATEGIES = (CONVEX, RRF)


@dataclass(frozen=True)
class SweepOptions:
    """The options of `python -m runner tune sweep`."""

    grid: Annotated[
        tuple[str, ...],
        Parameter(consume_multiple=False, help="NAME=V,V,…: an axis, a setting or `text`; may be repeated"),
    ] = ()
    strategy: Annotated[
        str, Parameter(help="convex or rrf, with what is collected: convex:over=sqlite-hybrid,vector=cosine")
    ] = CONVEX
    suite: Annotated[str, Parameter(help="the suite to sweep on")] = "locomo"
    granularity: Annotated[str | None, Parameter(help="what a lesson is (default: the suite's own)")] = None
    data: Annotated[Path | None, Parameter(help="the corpus file or its folder")] = None
    k: Annotated[int, Parameter(help="ranks that are asked for, from which a pool follows")] = 10
    version: Annotated[str | None, Parameter(help="version of pgmnemo (default: the current one)")] = None
    dsn: Annotated[str | None, Parameter(help="PostgreSQL to use (default: as for a run)")] = None
    embedder: Annotated[str, Parameter(help="embedder")] = "minilm"
    output: Annotated[Path, Parameter(help="folder for sweep.json, SWEEP.md and sweep.svg")] = Path("sweep")
    cache: Annotated[
        Path | None, Parameter(help="folder of the embedding cache; that of components lies beside it")
    ] = None


@dataclass(frozen=True)
class SweepRequest(SweepOptions):
    """What a sweep is asked to do; UsageError for what cannot be."""

    def __post_init__(self) -> None:
        parts = SUITES[self.suite]
        if self.suite in NEVER_TUNED:
            raise UsageError(f"{self.suite} is never tuned on, so that its figures count; leave it out")
        if self.level not in parts.levels:
            raise UsageError(
                f"{self.suite} has no granularity {self.level!r}; choose one of: {', '.join(parts.levels)}"
            )
        EMBEDDERS[self.embedder]
        if self.k < 1:
            raise UsageError(f"--k takes a positive number of ranks, not {self.k}")
        name = Name.of(self.strategy)
        if name.system not in STRATEGIES or name.wrappers or name.version:
            raise UsageError(f"--strategy takes {' or '.join(STRATEGIES)}, not {self.strategy!r}")
        kind_of(self.strategy)
        if moved := [setting for setting, _ in name.settings if setting not in FIXED]:
            raise UsageError(f"{moved[0]} is an axis of a sweep: give it by --grid {moved[0]}=…")
        if "temporal" in self.axes and "anchor" not in dict(name.settings):
            raise UsageError("temporal moves nothing without an anchor: name one, as convex:anchor=built-in")
        if any(part in (KEPT, LOCAL) for part in self.output.absolute().parts):
            raise UsageError(
                f"--output: {self.output} is a place of runs, and a sweep is no result; name another"
            )
        self.points  # noqa: B018

    @property
    def method(self) -> str:
        """`convex` or `rrf`."""
        return Name.of(self.strategy).system

    @cached_property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The grid."""
        return axes(self.method, self.grid)

    @cached_property
    def points(self) -> list[Point]:
        """Every point of the grid."""
        return points(self.method, self.axes)

    @property
    def depth(self) -> int:
        """Ranks that are collected of each leg: the deepest pool, and a hundred at least."""
        return max(100, *(point.fusion.pool(self.k) for point in self.points))

    @property
    def level(self) -> str:
        """The granularity asked for, or the canonical one."""
        return self.granularity or SUITES[self.suite].levels[0]

    @property
    def number(self) -> str:
        """The version of pgmnemo without its leading v."""
        return version_number(self.version)

    def make_embedder(self) -> Embedder:
        """The embedder, its model not loaded yet."""
        return EMBEDDERS[self.embedder](EmbedderOptions())
