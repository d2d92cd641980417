"""A leaderboard as records and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from runner.records import Json

SCHEMA = "pgmnemo/leaderboard/1"
VALUE = ("metric", "value", "ci95_low", "ci95_high", "n", "trivial")
NOTES = (
    "Every run on the board was verified first: its files, its figures and its entry in HISTORY.md.",
    "A value's interval says how far another set of such questions might move it; whether two runs differ is "
    "answered by the difference alone, which is paired by question (benchmarks/STATISTICS.md).",
    "self-run: nobody on the list of signers signed it; signed by: the key of that name signed its manifest.",
    "tuned on: on what of the corpus the defaults of the system were chosen, as the run states.",
    "Differences are to the best of the same board, without correction for their number.",
)


@dataclass(frozen=True, slots=True)
class Behind:
    """A run minus the best of its board in the metric that orders it, paired by question."""

    metric: str
    difference: float
    ci95_low: float
    ci95_high: float
    told_apart: bool  # whether the interval leaves zero out


@dataclass(frozen=True, slots=True)
class Row:
    """One run in one scope. `values` are of rows of its metrics.json; `behind` is None for the first row.

    `rank` is one more than the number of runs that are above it in the metric that orders the board, so that
    equal runs share one.
    `attested` is `self-run`, or `signed by` and a name of the list of signers.
    `tuned_on` says on what of the corpus the defaults of its system were chosen, as its run.json states it.
    `label` is its name, after as many folders as it takes to tell it from the others of its board.
    """

    rank: int
    name: str
    label: str
    folder: str
    version: str
    day: str
    verdict: str
    attested: str
    tuned_on: str
    deviations: tuple[str, ...]
    values: tuple[Mapping[str, Any], ...]
    behind: Behind | None


@dataclass(frozen=True, slots=True)
class Board:
    """The runs of a group in one scope, the best first by `metric`."""

    scope: str
    pooled: bool
    n: int
    metric: str
    rows: tuple[Row, ...]

    def shared(self, row: Row) -> bool:
        """Whether another run has the same rank."""
        return sum(one.rank == row.rank for one in self.rows) > 1


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that are alike. `apart` says in what they differ from those of the first group; empty for it."""

    title: str
    alike: Mapping[str, str]
    apart: tuple[str, ...]
    citable: bool
    boards: tuple[Board, ...]


@dataclass(frozen=True, slots=True)
class Aside:
    """A run that stands on no board: `kind` is blocked, unverified, not intact or unreadable."""

    name: str
    folder: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Groups of runs that are alike, the largest first, and the runs that stand on no board."""

    groups: tuple[Group, ...]
    asides: tuple[Aside, ...]

    def document(self) -> Json:
        """The same as JSON, of the schema pgmnemo/leaderboard/1."""
        plain: Json = msgspec.json.decode(msgspec.json.encode(self))
        return {"schema": SCHEMA, **plain, "notes": list(NOTES)}
