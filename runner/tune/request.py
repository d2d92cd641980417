"""What a tuning is asked to do, checked before anything is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.database.releases import version_number
from runner.editions import current
from runner.embedders import EMBEDDERS, Embedder, EmbedderOptions
from runner.errors import UsageError
from runner.suites import SUITES

SUITES_TUNED = ("locomo", "longmemeval", "beam")  # unless others are asked for
NEVER_TUNED = ("realtalk",)  # what no weight was ever fitted to shows what a default is worth


def repeated(help: str) -> Parameter:
    """An option that may be given several times."""
    return Parameter(consume_multiple=False, help=help)


@dataclass(frozen=True)
class TuneOptions:
    """The options of `python -m runner tune`."""

    suite: Annotated[list[str], repeated("tune by this suite; may be repeated")] = field(
        default_factory=lambda: list(SUITES_TUNED)
    )
    data: Annotated[
        list[str],
        repeated("[SUITE=]PATH: a suite's file or folder, or without a name that of all; may be repeated"),
    ] = field(default_factory=list)
    version: Annotated[str | None, Parameter(help="version of pgmnemo (default: the current one)")] = None
    dsn: Annotated[str | None, Parameter(help="PostgreSQL to use (default: as for a run)")] = None
    embedder: Annotated[str, Parameter(help="embedder")] = "minilm"
    output: Annotated[Path, Parameter(help="folder for tuning.json and TUNING.md")] = Path("tuning")
    cache: Annotated[
        Path | None, Parameter(help="folder of the embedding cache; that of components lies beside it")
    ] = None


@dataclass(frozen=True)
class TuneRequest(TuneOptions):
    """What a tuning is asked to do; UsageError for what cannot be."""

    def __post_init__(self) -> None:
        for suite in self.suite:
            SUITES[suite]
            if suite in NEVER_TUNED:
                raise UsageError(f"{suite} is never tuned on, so that its figures count; leave it out")
        if len(set(self.suite)) < len(self.suite):
            raise UsageError(f"--suite names one twice: {', '.join(self.suite)}")
        EMBEDDERS[self.embedder]
        if "neighbours" not in current().engine(self.number).components:
            raise UsageError(
                f"pgmnemo {self.number} does not say by itself what each component adds; name --version "
                "v0.4.0 or later, or take the runner of that release"
            )

    @property
    def number(self) -> str:
        """The version without its leading v."""
        return version_number(self.version)

    def place(self, suite: str) -> Path | None:
        """The file or folder given for `suite`, else what the suites that are not named share, else None."""
        places: dict[str, Path] = {}
        for text in self.data:
            name, sign, path = text.partition("=")
            named = bool(sign) and name in SUITES
            places[name if named else ""] = Path(path if named else text)
        return places.get(suite, places.get(""))

    def make_embedder(self) -> Embedder:
        """The embedder, its model not loaded yet."""
        return EMBEDDERS[self.embedder](EmbedderOptions())
