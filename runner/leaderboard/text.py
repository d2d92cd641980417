"""A leaderboard as Markdown, and the words that every form of it shares."""

from __future__ import annotations

from collections.abc import Iterator

from runner.leaderboard.board import NOTES, Aside, Behind, Board, Group, Leaderboard, Row
from runner.markdown import table
from runner.report.figures import DAGGER, trivial
from runner.report.formats import change, change_interval, count, figure, interval, shorten

NO_EVIDENCE = "This corpus proves that an installation works; it is no evidence of recall (protocol §2.3)."
TRIVIAL = f"{DAGGER} counts questions whose whole scope holds no more than k segments: no headline."
BEST = "best"
NONE = "Of what was named, no run stands on a board."


def markdown(found: Leaderboard) -> str:
    """The whole leaderboard, for a README or a pull request."""
    parts = ["# Leaderboard"]
    for group in found.groups:
        parts += [f"## {group.title}", *group_words(group)]
        parts += [part for board in group.boards for part in (f"### {scope_words(board)}", _table(board))]
    if found.asides:
        rows = [(f"`{aside.folder}`", aside.kind, shorten(aside.reason)) for aside in found.asides]
        parts += [
            "## Apart: on no board",
            table(("run", "why", "reason"), rows, "lll"),
        ]
    return "\n\n".join([*parts, "\n".join(f"- {note}" for note in notes(found))]) + "\n"


def _table(board: Board) -> str:
    head = ("", "run", "version", *(value["metric"] for value in board.rows[0].values), "behind", "verdict")
    rows = [
        (str(row.rank), f"`{row.label}`", row.version, *cells(row), behind(row), verdict(row))
        for row in board.rows
    ]
    return table(head, rows, "rll" + "r" * len(board.rows[0].values) + "rl")


def group_words(group: Group) -> Iterator[str]:
    """Why the group stands apart, and what its figures are not."""
    if group.apart:
        yield f"Apart from the first group: {'; '.join(group.apart)}."
    if not group.citable:
        yield NO_EVIDENCE


def scope_words(board: Board) -> str:
    """The scope, how many questions, and what orders the rows."""
    return f"Scope {board.scope}, n = {count(board.n)}, by {board.metric}"


def cells(row: Row) -> Iterator[str]:
    """Each value with its interval."""
    for value in row.values:
        dagger = DAGGER if trivial(value) else ""
        yield f"{figure(value['metric'], value['value'])}{dagger} {interval(value)}"


def behind(row: Row) -> str:
    """The difference to the best with its interval, and whether it is one."""
    if row.behind is None:
        return BEST
    return moved(row.behind) if row.behind.told_apart else f"{moved(row.behind)}, not told apart"


def moved(one: Behind) -> str:
    """A difference with its interval."""
    ends = {"metric": one.metric, "ci95_low": one.ci95_low, "ci95_high": one.ci95_high}
    return f"{change(one.metric, one.difference)} {change_interval(ends)}"


def verdict(row: Row) -> str:
    """`verified`, or `deviation: ` and every departure."""
    return ": ".join([row.verdict, *(["; ".join(row.deviations)] if row.deviations else [])])


def aside_words(aside: Aside) -> str:
    """Why a run stands on no board, in one sentence."""
    return f"{aside.folder}: {aside.kind}: {shorten(aside.reason)}"


def notes(found: Leaderboard) -> Iterator[str]:
    """How to read it."""
    if not found.groups:
        yield NONE
    yield from NOTES
    rows = (row for group in found.groups for board in group.boards for row in board.rows)
    if any(trivial(value) for row in rows for value in row.values):
        yield TRIVIAL
