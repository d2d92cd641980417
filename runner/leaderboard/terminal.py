"""A leaderboard on the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.leaderboard.board import Board, Leaderboard
from runner.leaderboard.text import (
    aside_words,
    behind,
    cells,
    group_words,
    notes,
    scope_words,
    verdict,
)

COLOURS = {"verified": "green", "deviation": "yellow"}


def show(found: Leaderboard, out: Console) -> None:
    """Print every board, then what stands on none, then how to read it."""
    for group in found.groups:
        out.print(Text(group.title, style="bold"))
        for words in group_words(group):
            out.print(words, markup=False)
        for board in group.boards:
            out.print(_table(board))
            for label in dict.fromkeys(verdict(row) for row in board.rows if row.deviations):
                out.print(label, markup=False)
        out.print()
    if found.asides:
        out.print(Text("apart, on no board", style="bold"))
    for aside in found.asides:
        out.print(f"- {aside_words(aside)}", markup=False)
    if found.asides:
        out.print()
    for note in notes(found):
        out.print(note, markup=False, style="dim")


def _table(board: Board) -> Table:
    table = Table(
        title=scope_words(board), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    table.add_column("", justify="right")
    table.add_column("run", overflow="fold")
    for value in board.rows[0].values:
        table.add_column(value["metric"], justify="right")
    table.add_column("behind", justify="right")
    table.add_column("verdict")
    for row in board.rows:
        word = Text(row.verdict, style=COLOURS.get(row.verdict, ""))
        table.add_row(str(row.rank), Text(row.label), *map(Text, cells(row)), Text(behind(row)), word)
    return table
