"""A leaderboard as one HTML file in the dress of report.html: no network, light and dark."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from urllib.parse import quote

from runner.commands.leaderboard import plot, text
from runner.commands.leaderboard.board import Aside, Group, Leaderboard, Row
from runner.commands.leaderboard.entry import NAMES
from runner.report.html.page import dressed
from runner.report.render import template
from runner.runs.run import BLOCKED

FOLDER = Path(__file__).parent / "templates"
STYLES = ("base.css", "plots.css", FOLDER / "leaderboard.css", "print.css", FOLDER / "print.css")
SCRIPTS = ("theme.js",)
REPORTS = ("report.md", BLOCKED)
LINE = 88  # characters of a deviation that stands in a line of its own


def page(found: Leaderboard, place: Path | None = None) -> str:
    """The page; the same leaderboard and place give the same bytes.

    `place` is the file that the page will be: from there runs are linked to their report.md. Without it
    nothing is linked.
    """
    return template(FOLDER / "leaderboard.html.j2").render(
        found=found,
        plot=plot,
        text=text,
        conditions=NAMES,
        contents=contents(found),
        notes=list(text.notes(found)),
        deviations=deviations,
        first_words=first_words,
        links=_links(found, place),
        **dressed(STYLES, SCRIPTS),
    )


def contents(found: Leaderboard) -> Mapping[str, list[tuple[str, str, int]]]:
    """By what titles have before their last comma: the rest, words and number of each group."""
    listed: dict[str, list[tuple[str, str, int]]] = {}
    for number, group in enumerate(found.groups, start=1):
        shared, _, own = group.title.rpartition(", ")
        listed.setdefault(shared, []).append((own, text.lead_words(group), number))
    return listed


def deviations(group: Group) -> list[str]:
    """Every departure of its runs, each once."""
    rows = (row for board in group.boards for row in board.rows)
    return list(dict.fromkeys(deviation for row in rows for deviation in row.deviations))


def first_words(deviation: str) -> str:
    """As much of a deviation as fits into a line."""
    return shorten(deviation, LINE, placeholder=" …")


def _links(found: Leaderboard, place: Path | None) -> Mapping[str, str]:
    """By folder: the address of its report relative to the page, where there is one."""
    if place is None:
        return {}
    rows: list[Row | Aside] = [row for group in found.groups for board in group.boards for row in board.rows]
    linked = {one.folder: link(Path(one.folder), place) for one in [*rows, *found.asides]}
    return {folder: address for folder, address in linked.items() if address is not None}


def link(folder: Path, place: Path) -> str | None:
    """The relative address of a run's report from the file `place`.

    None where the run has no report, or where page and run share nothing but the root of the file system:
    such a path would break with the next move, and tell of this machine.
    """
    report = next((folder / name for name in REPORTS if (folder / name).is_file()), None)
    if report is None:
        return None
    target, start = report.resolve(), place.resolve().parent
    try:
        if os.path.commonpath([target, start]) == target.anchor:
            return None
    except ValueError:  # on another drive
        return None
    return quote(Path(os.path.relpath(target, start)).as_posix())
