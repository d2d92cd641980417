"""`python -m runner leaderboard DIR…`: many runs in one table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.claims.output import check_output
from runner.errors import OutputError

if TYPE_CHECKING:
    from runner.claims.leaderboard.board import Leaderboard

NAME, MARK = "leaderboard", "eaderboard"  # the mark of every form, in its title or schema
SUFFIXES = (".html", ".svg", ".md", ".json")
WIDTH = 136  # columns that the table takes


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "put many runs into one table and plot, like beside like, the rest apart with its reason"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument(
        "folders", nargs="+", metavar="DIR", help="results folder, a folder that holds some, or a pattern"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of tables")
    form.add_argument("--markdown", action="store_true", help="print Markdown instead of tables")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"also write it: a file that ends in {', '.join(SUFFIXES)}",
    )
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """Print the leaderboard, and write the file that was asked for; 0."""
    from runner.claims.leaderboard.ranking import leaderboard  # the parser alone loads no stage

    if options.output is not None:
        check_output("--output", options.output, SUFFIXES, MARK)
    found, forms = leaderboard(options.folders), _forms()
    if options.output is not None:
        _write(options.output, forms[options.output.suffix](found))
        print(f"written: {options.output}", file=sys.stderr)
    if options.json or options.markdown:
        print(forms[".json" if options.json else ".md"](found), end="")
    else:
        _show(found)
    return 0


def _forms() -> dict[str, Callable[[Leaderboard], str]]:
    from runner.artefacts.canonical import pretty
    from runner.claims.leaderboard.page import page
    from runner.claims.leaderboard.plot import picture
    from runner.claims.leaderboard.text import markdown

    texts = (page, picture, markdown, lambda found: pretty(found.document()))
    return dict(zip(SUFFIXES, texts, strict=True))


def _show(found: Leaderboard) -> None:
    from runner.claims.leaderboard.terminal import show
    from runner.terminal import console

    show(found, console(WIDTH))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"the leaderboard cannot be written to {path} ({error.strerror}); name another file"
        ) from None
