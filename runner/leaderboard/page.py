"""A leaderboard as one HTML file: no script, no network, light and dark."""

from __future__ import annotations

from pathlib import Path

from runner.leaderboard import plot, text
from runner.leaderboard.alike import NAMES
from runner.leaderboard.board import Leaderboard
from runner.report.templating import template

TEMPLATE = Path(__file__).with_name("templates") / "leaderboard.html.j2"


def page(found: Leaderboard) -> str:
    """The page; the same leaderboard gives the same bytes."""
    return template(TEMPLATE).render(
        found=found, plot=plot, text=text, conditions=NAMES, notes=list(text.notes(found))
    )
