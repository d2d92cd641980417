"""A leaderboard on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.leaderboard import text
from runner.leaderboard.board import Board, Leaderboard
from runner.terminal import grid

COLOURS = {"verified": "green", "deviation": "yellow"}


def show(found: Leaderboard, out: Console) -> None:
    """Print every board, then what stands on none, then how to read it."""
    for group in found.groups:
        out.print(Text(group.title, style="bold"))
        for words in text.group_words(group):
            out.print(words, markup=False)
        for board in group.boards:
            out.print(_table(board))
            for label in dict.fromkeys(text.verdict(row) for row in board.rows if row.deviations):
                out.print(label, markup=False)
        out.print()
    if found.asides:
        out.print(Text("apart, on no board", style="bold"))
    for aside in found.asides:
        out.print(f"- {text.aside_words(aside)}", markup=False)
    if found.asides:
        out.print()
    for note in text.notes(found):
        out.print(note, markup=False, style="dim")


def _table(board: Board) -> Table:
    table = grid(text.scope_words(board))
    table.add_column("", justify="right")
    table.add_column("run", overflow="fold")
    for value in board.rows[0].values:
        table.add_column(value["metric"], justify="right")
    table.add_column("behind", justify="right")
    table.add_column("verdict")
    for row in board.rows:
        word = Text(row.verdict, style=COLOURS.get(row.verdict, "")).append(f"\n{row.attested}", style="dim")
        word.append(f"\ntuned on: {row.tuned_on}", style="dim")
        table.add_row(
            text.rank(board, row),
            Text(row.label),
            *map(Text, text.cells(row)),
            Text(text.behind(row)),
            word,
        )
    return table
