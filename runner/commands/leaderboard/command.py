"""`python -m runner leaderboard DIR…`: many runs in one table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pgmnemo.errors import UsageError

if TYPE_CHECKING:
    from runner.commands.leaderboard.board import Leaderboard

MARK = "eaderboard"  # of every form, in its title or schema
SUFFIXES = (".html", ".svg", ".md", ".json")


def leaderboard_command(
    *folders: Annotated[
        str, Parameter(help="results folder or an archive by submit, a folder that holds some, or a pattern")
    ],
    json: Annotated[bool, Parameter(help="print JSON instead of tables")] = False,
    markdown: Annotated[bool, Parameter(help="print Markdown instead of tables")] = False,
    allowed_signers: Annotated[
        Path | None,
        Parameter(help="list of whose signatures count (default: benchmarks/allowed_signers, if there)"),
    ] = None,
    output: Annotated[
        Path | None, Parameter(help=f"also write it: a file that ends in {', '.join(SUFFIXES)}")
    ] = None,
) -> int:
    """Put many runs into one table and plot, like beside like, the rest apart with its reason."""
    from pgmnemo.terminal import say
    from runner.commands.leaderboard.ranking import leaderboard
    from runner.markdown import show
    from runner.runs.output import check_output, write_output

    if json and markdown:
        raise UsageError("leaderboard prints JSON or Markdown, not both: leave --json or --markdown out")
    if output is not None:
        check_output("--output", output, SUFFIXES, MARK)
    found, forms = leaderboard(folders, allowed_signers=allowed_signers), _forms(output)
    if output is not None:
        write_output("the leaderboard", output, forms[output.suffix](found))
        say(f"written: {output}", error=True)
    if json or markdown:
        say(forms[".json" if json else ".md"](found), end="")
    else:
        show(forms[".md"](found))
    return 0


def _forms(output: Path | None) -> dict[str, Callable[[Leaderboard], str]]:
    from runner.commands.leaderboard.page import page
    from runner.commands.leaderboard.plot import picture
    from runner.commands.leaderboard.text import markdown
    from runner.runs.canonical import pretty

    return {
        ".html": partial(page, place=output),
        ".svg": picture,
        ".md": markdown,
        ".json": lambda found: pretty(found.document()),
    }
