"""A leaderboard as one HTML file: no script, no network, light and dark."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from runner.claims.leaderboard import plot, text
from runner.claims.leaderboard.alike import CONDITIONS
from runner.claims.leaderboard.board import Leaderboard

FOLDER = Path(__file__).with_name("templates")


def page(found: Leaderboard) -> str:
    """The page; the same leaderboard gives the same bytes."""
    return _template().render(
        found=found, plot=plot, text=text, conditions=list(CONDITIONS), notes=list(text.notes(found))
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
    return environment.get_template("leaderboard.html.j2")
