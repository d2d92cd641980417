"""`python -m runner leaderboard DIR…`: many runs in one table."""

from __future__ import annotations

from pathlib import Path

from pgmnemo.terminal import say
from runner.commands.leaderboard.board import leaderboard_markdown as text
from runner.commands.leaderboard.ranking import leaderboard
from runner.markdown import print_markdown


def leaderboard_command(*folders: str, markdown: bool = False, allowed_signers: Path | None = None) -> int:
    """Print a table of many runs: comparable runs together, other runs separately with the reason.

    Args:
        folders: results folder, a folder of results folders, or a pattern
        markdown: print Markdown instead of tables
        allowed_signers: list of accepted signers (default: benchmarks/allowed_signers, if it exists)
    """
    found = text(leaderboard(folders, allowed_signers=allowed_signers))
    if markdown:
        say(found, end="")
    else:
        print_markdown(found)
    return 0
