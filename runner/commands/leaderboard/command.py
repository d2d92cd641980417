"""`python -m runner leaderboard DIR…`: many runs in one table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.terminal import say
from runner.commands.leaderboard.board import Leaderboard
from runner.commands.leaderboard.board import markdown as text
from runner.commands.leaderboard.page import page, picture
from runner.commands.leaderboard.ranking import leaderboard
from runner.markdown import show
from runner.runs.canonical import pretty
from runner.runs.output import check_output, write_output

MARK = "eaderboard"  # of every form, in its title or schema


def leaderboard_command(
    *folders: str,
    json: bool = False,
    markdown: bool = False,
    allowed_signers: Path | None = None,
    output: Path | None = None,
) -> int:
    """Put many runs into one table and plot, like beside like, the rest apart with its reason.

    Args:
        folders: results folder or an archive by submit, a folder that holds some, or a pattern
        json: print JSON instead of tables
        markdown: print Markdown instead of tables
        allowed_signers: list of whose signatures count (default: benchmarks/allowed_signers, if there)
        output: also write it: a file that ends in .html, .svg, .md, .json
    """
    if json and markdown:
        raise UsageError("leaderboard prints JSON or Markdown, not both: leave --json or --markdown out")
    forms: dict[str, Callable[[Leaderboard], str]] = {
        ".html": partial(page, place=output),
        ".svg": picture,
        ".md": text,
        ".json": lambda found: pretty(found.document()),
    }
    if output is not None:
        check_output("--output", output, tuple(forms), MARK)
    found = leaderboard(folders, allowed_signers=allowed_signers)
    if output is not None:
        write_output("the leaderboard", output, forms[output.suffix](found))
        say(f"written: {output}", error=True)
    if json or markdown:
        say(forms[".json" if json else ".md"](found), end="")
    else:
        show(text(found))
    return 0
