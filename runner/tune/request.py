"""What a tuning is asked to do, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.database.releases import DEFAULT_VERSION
from runner.editions import current
from runner.embedders import EMBEDDERS, Embedder, EmbedderOptions
from runner.errors import UsageError
from runner.suites import SUITES

SUITES_TUNED = ("locomo", "longmemeval")  # unless others are asked for


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """The options of `python -m runner tune`; UsageError for one that cannot be.

    `data` maps a suite to its file or folder, and "" to what the suites that are not named share.
    """

    suites: tuple[str, ...] = SUITES_TUNED
    version: str = DEFAULT_VERSION
    data: Mapping[str, Path] = field(default_factory=dict)
    dsn: str | None = None
    embedder: str = "minilm"
    output: Path = Path("tuning")
    cache: Path | None = None

    def __post_init__(self) -> None:
        for suite in (*self.suites, *filter(None, self.data)):
            SUITES[suite]
        if len(set(self.suites)) < len(self.suites):
            raise UsageError(f"--suite names one twice: {', '.join(self.suites)}")
        EMBEDDERS[self.embedder]
        if not current().engine(self.number).passages:
            raise UsageError(
                f"pgmnemo {self.number} takes no passages, whose weights are tuned; name --version v0.3.0 "
                "or later"
            )

    @property
    def number(self) -> str:
        """The version without its leading v."""
        return self.version.removeprefix("v")

    def place(self, suite: str) -> Path | None:
        """The file or folder given for `suite`; None: where a run would look for it."""
        return self.data.get(suite, self.data.get(""))

    def make_embedder(self) -> Embedder:
        """The embedder, its model not loaded yet."""
        return EMBEDDERS[self.embedder](EmbedderOptions())
