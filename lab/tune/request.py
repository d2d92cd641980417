"""The options of a tuning and of a sweep; `check` rejects impossible options before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, ClassVar

from cyclopts import Parameter

from pgmnemo.errors import UsageError
from pgmnemo.paths import release_numbers
from pgmnemo.postgres.releases import version_number
from runner.naming import SystemName
from runner.protocol.datasets import SUITES
from runner.protocol.templates import TEMPLATES
from runner.runs.config import FULL
from runner.runs.folder import KEPT, LOCAL
from runner.systems import spec_of
from runner.systems.fusion import CONVEX, RRF, Fusion
from runner.systems.strategy import settings_of

SUITES_TUNED = ("locomo", "longmemeval", "beam")  # the default suites
TEMPLATE = "template"
FIXED = ("over", "keyword", "vector", "anchor")  # settings that decide what is collected; fixed in a sweep
MOST = 2_000  # maximum points of a sweep


REPEATED = Parameter(consume_multiple=False)
"""An option that may be given several times."""


@dataclass(frozen=True)
class LabOptions:
    """The options that `tune`, `tune sweep` and `train` share.

    Args:
        version: version of pgmnemo (default: the current one)
        dsn: PostgreSQL to use (default: as for a run)
        embedder: name of the embedder
        cache: folder of the embedding cache; the cache of components is next to it
    """

    version: str | None = None
    dsn: str | None = None
    embedder: str = "minilm"
    cache: Path | None = None

    @property
    def number(self) -> str:
        """The version without its leading v."""
        return version_number(self.version)


@dataclass(frozen=True)
class TuneOptions(LabOptions):
    """The options of `python -m lab tune`.

    Args:
        suite: tune by this suite; may be repeated
        data: [SUITE=]PATH: file or folder of a suite, or of all suites without SUITE; may be repeated,
            and each file=PATH is a corpus
        output: folder for tuning.json and TUNING.md
    """

    suite: Annotated[list[str], REPEATED] = field(default_factory=lambda: list(SUITES_TUNED))
    data: Annotated[list[str], REPEATED] = field(default_factory=list)
    output: Path = Path("tuning")
    oldest: ClassVar[str] = "1.0.0"

    def check(self) -> None:
        """Raise UsageError for impossible options."""
        if len(set(self.suite)) < len(self.suite):
            raise UsageError(f"--suite names one twice: {', '.join(self.suite)}")
        if release_numbers(self.number) < release_numbers(self.oldest):
            raise UsageError(
                f"the score of pgmnemo {self.number} is not made of what is read here; name --version "
                f"v{self.oldest} or later, or take the runner of that release"
            )

    def places(self, suite: str) -> list[Path | None]:
        """Return the files or folders given for `suite`, else those given without a suite, else [None].

        For `file` all of them are returned, because each is a corpus; for another suite only the last.
        """
        places: dict[str, list[Path | None]] = {}
        for text in self.data:
            name, sign, path = text.partition("=")
            named = bool(sign) and name in SUITES
            places.setdefault(name if named else "", []).append(Path(path if named else text))
        given = places.get(suite, places.get("", [None]))
        return given if SUITES[suite].own else given[-1:]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a grid: a strategy with its settings, by axis, and possibly a text template."""

    given: Mapping[str, str]
    method: str

    @property
    def template(self) -> str:
        return self.given.get(TEMPLATE, FULL)

    @property
    def fusion(self) -> Fusion:
        return Fusion.of(self.method, {name: one for name, one in self.given.items() if name != TEMPLATE})


@dataclass(frozen=True)
class SweepOptions(LabOptions):
    """The options of `python -m lab tune sweep`.

    Args:
        grid: NAME=V,V,…: an axis, a setting or `template`; may be repeated
        strategy: convex or rrf with its base, such as convex:over=sqlite-hybrid,vector=cosine
        suite: the suite to sweep on
        granularity: unit of a lesson (default: the suite's own)
        data: the corpus file or its folder
        k: number of ranks to request, which determines the pool
        output: folder for sweep.json, SWEEP.md and sweep.svg
    """

    grid: Annotated[tuple[str, ...], REPEATED] = ()
    strategy: str = CONVEX
    suite: str = "locomo"
    granularity: str | None = None
    data: Path | None = None
    k: int = 10
    output: Path = Path("sweep")

    def check(self) -> None:
        """Raise UsageError for impossible options."""
        if self.k < 1:
            raise UsageError(f"--k takes a positive number of ranks, not {self.k}")
        name = SystemName.of(self.strategy)
        if name.system not in (CONVEX, RRF) or name.wrappers or name.version:
            raise UsageError(f"--strategy takes {CONVEX} or {RRF}, not {self.strategy!r}")
        spec_of(self.strategy)
        if moved := [setting for setting, _ in name.settings if setting not in FIXED]:
            raise UsageError(f"{moved[0]} is an axis of a sweep: give it by --grid {moved[0]}=…")
        if "temporal" in self.axes and "anchor" not in dict(name.settings):
            raise UsageError("temporal moves nothing without an anchor: name one, as convex:anchor=built-in")
        if any(part in (KEPT, LOCAL) for part in self.output.absolute().parts):
            raise UsageError(
                f"--output: {self.output} is a place of runs, and a sweep is no result; name another"
            )
        if not self.grid or len(self.points) > MOST:
            told = len(self.points)
            raise UsageError(f"a sweep has axes by --grid, and at most {MOST:,} points, not {told:,}")

    @property
    def method(self) -> str:
        """The method of the strategy, `convex` or `rrf`."""
        return SystemName.of(self.strategy).system

    @cached_property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The values of each axis of the grid."""
        return axes(self.method, self.grid)

    @cached_property
    def points(self) -> list[Point]:
        """Every point of the grid; the last axis changes fastest."""
        given = product(*self.axes.values())
        return [Point(dict(zip(self.axes, values, strict=True)), self.method) for values in given]

    @property
    def depth(self) -> int:
        """The number of ranks to collect from each leg: the largest pool of any point, at least 100."""
        return max(100, *(point.fusion.pool(self.k) for point in self.points))

    @property
    def level(self) -> str:
        """The requested granularity; by default the suite's first."""
        return self.granularity or SUITES[self.suite].levels[0]


def axes(method: str, grids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of each `NAME=V,V,V` text by name; raise UsageError for an invalid axis or value."""
    known = {name: one for name, one in settings_of(method).items() if name not in FIXED}
    found: dict[str, tuple[str, ...]] = {}
    for text in grids:
        name, sign, listed = text.partition("=")
        values = tuple(value.strip() for value in listed.split(",") if value.strip())
        if not (sign and values) or name in found:
            raise UsageError(f"--grid takes NAME=VALUE,VALUE,…, each name once, not {text!r}")
        if name != TEMPLATE and name not in known:
            raise UsageError(
                f"a sweep of {method} has no axis {name!r}; choose one of: {', '.join((*known, TEMPLATE))}"
            )
        for value in values:
            if name == TEMPLATE:
                TEMPLATES[value]
            elif wrong := known[name].wrong(value):
                raise UsageError(f"--grid {name}: {value!r}, but it {wrong}")
        if len(set(values)) < len(values):
            raise UsageError(f"--grid {name} names a value twice: {listed}")
        found[name] = values
    return found
