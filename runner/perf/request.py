"""What a performance run is asked to do, checked before anything is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.database.releases import DEFAULT_VERSION
from runner.errors import UsageError

NATIVE = 384  # MiniLM's own width; other widths are reached by an orthonormal projection
WIDTHS = (384, 1024)
NARROW = ("minilm", "hash")  # the embedders of that width
MOST_MEMORIES = 10_000_000


@dataclass(frozen=True, slots=True)
class PerfRequest:
    """The options of `python -m runner perf`; UsageError for one that cannot be."""

    memories: int
    tenants: int = 100
    version: str = DEFAULT_VERSION
    dimensions: int = NATIVE
    corpus: str = "sample"
    data: Path | None = None
    embedder: str = "minilm"
    systems: tuple[str, ...] = ()
    questions: int = 400
    k: int = 10
    clients: int = 8
    seconds: float = 8.0
    seed: int = 42
    name: str | None = None
    output: Path | None = None
    scratch: Path | None = None
    cache: Path | None = None

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
        return self.version.removeprefix("v")
