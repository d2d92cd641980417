"""A leaderboard as records and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pgmnemo import escaping
from runner.markdown import table
from runner.report.formats import DAGGER, count, difference, figure, interval, shorten, trivial

VALUE = ("metric", "value", "ci95_low", "ci95_high", "n", "trivial")
NOTES = (
    "Every run on the board was verified first: its files, its figures and its entry in HISTORY.md.",
    "A value's interval says how far another set of such questions might move it; whether two runs differ is "
    "answered by the difference alone, which is paired by question (docs/explanation/statistics.md).",
    "self-run: nobody on the list of signers signed it; signed by: the key of that name signed its manifest.",
    "tuned on: on what of the corpus the defaults of the system were chosen, as the run states.",
    "Differences are to the best of the same board, without correction for their number.",
)


@dataclass(frozen=True, slots=True)
class GapToBest:
    """A run minus the best run of its board, in the metric that orders the board, paired by question."""

    metric: str
    difference: float
    ci95_low: float
    ci95_high: float
    told_apart: bool  # whether the interval leaves zero out


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One run in one scope. `values` are rows of its metrics.json; `behind` is None for the first row.

    `rank` is one more than the number of runs that are above it in the metric that orders the board, so
    that equal runs share a rank. `attested` is `self-run`, or `signed by` and a name from the list of
    signers. `tuned_on` says on which part of the corpus the defaults of its system were chosen, as its
    run.json states. `label` is its name, preceded by as many folders as distinguish it from the other
    runs of its board.
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
    behind: GapToBest | None


@dataclass(frozen=True, slots=True)
class Board:
    """The runs of a group in one scope, the best first by `metric`."""

    scope: str
    pooled: bool
    n: int
    metric: str
    rows: tuple[BoardRow, ...]

    def shared(self, row: BoardRow) -> bool:
        """Return whether another run has the same rank."""
        return sum(one.rank == row.rank for one in self.rows) > 1


@dataclass(frozen=True, slots=True)
class Group:
    """Runs under equal conditions. `apart` lists the differences from the first group."""

    title: str
    alike: Mapping[str, str]
    apart: tuple[str, ...]
    citable: bool
    boards: tuple[Board, ...]


@dataclass(frozen=True, slots=True)
class ExcludedRun:
    """A run that is on no board: `kind` is blocked, unverified, not intact or unreadable."""

    name: str
    folder: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Groups of runs that were made under equal conditions, the largest first; and the excluded runs."""

    groups: tuple[Group, ...]
    asides: tuple[ExcludedRun, ...]


NO_EVIDENCE = "This corpus proves that an installation works; it is no evidence of recall (protocol §2.3)."
TRIVIAL = f"{DAGGER} counts questions whose whole scope holds no more than k segments: no headline."
SHARED = "= marks a rank that runs share: what orders the board is the same for all of them."
BEST = "best"
NONE = "Among what was named, no run stands on a board."


def leaderboard_markdown(found: Leaderboard) -> str:
    """Return the whole leaderboard as Markdown, for a README or a pull request."""
    parts = ["# Leaderboard"]
    for group in found.groups:
        parts += [f"## {group.title}", *group_words(group)]
        parts += [part for board in group.boards for part in _board(board)]
    if found.asides:
        rows = [(f"`{aside.folder}`", aside.kind, shorten(aside.reason)) for aside in found.asides]
        parts += [
            "## Apart: on no board",
            table(("run", "why", "reason"), rows, "lll"),
        ]
    whole = "\n\n".join([*parts, "\n".join(f"- {note}" for note in notes(found))])
    return escaping.escape_markdown(whole) + "\n"


def _board(board: Board) -> Iterator[str]:
    """Yield the table of a board, then every deviation of its runs, each once."""
    metrics = [value["metric"] for value in board.rows[0].values]
    rows = [
        (rank_text(board, row), f"`{row.label}`", row.version, *cells(row), behind_text(row), row.tuned_on,
         row.attested, row.verdict)
        for row in board.rows
    ]  # fmt: skip
    heads = ("", "run", "version", *metrics, "behind", "tuned on", "run by", "verdict")
    yield f"### {scope_words(board)}"
    yield table(heads, rows, f"rll{'r' * len(metrics)}rlll")
    if labels := dict.fromkeys(f"- {verdict_text(row)}" for row in board.rows if row.deviations):
        yield "\n".join(labels)


def group_words(group: Group) -> Iterator[str]:
    """Yield the reason why the group is separate, and a warning if its corpus is no evidence of recall."""
    if group.apart:
        yield f"Apart from the first group: {'; '.join(group.apart)}."
    if not group.citable:
        yield NO_EVIDENCE


def scope_words(board: Board) -> str:
    """Return a line with the scope, the number of questions, and the metric that orders the rows."""
    return f"Scope {board.scope}, n = {count(board.n)}, by {board.metric}"


def rank_text(board: Board, row: BoardRow) -> str:
    """Return the rank as text: `2`, or `2=` if another run shares it."""
    return f"{row.rank}=" if board.shared(row) else str(row.rank)


def values(row: BoardRow) -> Iterator[tuple[str, str, str]]:
    """Yield each metric with its value and its interval, as text."""
    for value in row.values:
        dagger = DAGGER if trivial(value) else ""
        yield value["metric"], f"{figure(value['metric'], value['value'])}{dagger}", interval(value)


def cells(row: BoardRow) -> Iterator[str]:
    """Return the text of each metric: its value with its interval."""
    return (f"{value} {ends}" for _, value, ends in values(row))


def behind_text(row: BoardRow) -> str:
    """Return the difference to the best with its interval, and whether the interval includes zero."""
    if row.behind is None:
        return BEST
    return gap_text(row.behind) if row.behind.told_apart else f"{gap_text(row.behind)}, not told apart"


def gap_text(one: GapToBest) -> str:
    """Return a difference with its interval."""
    return difference(one.metric, one.difference, one.ci95_low, one.ci95_high)


def verdict_text(row: BoardRow) -> str:
    """Return `verified`, or `deviation: ` and every deviation."""
    return ": ".join([row.verdict, *(["; ".join(row.deviations)] if row.deviations else [])])


def notes(found: Leaderboard) -> Iterator[str]:
    """Yield the notes on how to read the leaderboard."""
    if not found.groups:
        yield NONE
    yield from NOTES
    boards = [board for group in found.groups for board in group.boards]
    if any(board.shared(row) for board in boards for row in board.rows):
        yield SHARED
    if any(trivial(value) for board in boards for row in board.rows for value in row.values):
        yield TRIVIAL
