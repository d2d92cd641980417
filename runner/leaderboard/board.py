"""A leaderboard as records and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from runner.records import Json

SCHEMA = "pgmnemo/leaderboard/1"
NOTES = (
    "Every run on the board was verified first: its files, its figures and its entry in HISTORY.md.",
    "A value's interval says how far another set of such questions might move it; whether two runs differ is "
    "answered by the difference alone, which is paired by question (benchmarks/STATISTICS.md).",
    "Differences are to the best of the same board, without correction for their number.",
)


@dataclass(frozen=True, slots=True)
class Behind:
    """A run minus the best of its board in the metric that orders it, paired by question."""

    metric: str
    difference: float
    ci95_low: float
    ci95_high: float

    @property
    def told_apart(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.ci95_high < 0 or self.ci95_low > 0


@dataclass(frozen=True, slots=True)
class Row:
    """One run in one scope. `values` are rows of its metrics.json; `behind` is None for the best.

    `label` is its name, after as many folders as it takes to tell it from the others of its board.
    """

    rank: int
    name: str
    label: str
    folder: str
    version: str
    day: str
    verdict: str
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
        return {
            "schema": SCHEMA,
            "groups": [_group(group) for group in self.groups],
            "asides": [asdict(aside) for aside in self.asides],
            "notes": list(NOTES),
        }


def _group(group: Group) -> Json:
    boards = [_plain(board) | {"rows": [_row(row) for row in board.rows]} for board in group.boards]
    return _plain(group) | {"alike": dict(group.alike), "apart": list(group.apart), "boards": boards}


def _row(row: Row) -> Json:
    behind = None if row.behind is None else asdict(row.behind) | {"told_apart": row.behind.told_apart}
    values = [{name: value[name] for name in VALUE} for value in row.values]
    return _plain(row) | {"deviations": list(row.deviations), "values": values, "behind": behind}


VALUE = ("metric", "value", "ci95_low", "ci95_high", "n", "trivial")


def _plain(record: Group | Board | Row) -> Json:
    return {name: getattr(record, name) for name in type(record).__slots__}
