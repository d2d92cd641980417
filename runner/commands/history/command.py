"""`python -m runner history add | deviation | thin | restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from pgmnemo.errors import UsageError
from runner.options import Run

HistoryFile = Annotated[
    Path | None, Parameter(help="the file (default: the HISTORY.md of the nearest folder above)")
]

history = App(name="history", help="Runs that are kept: their entries in HISTORY.md, and their raw files.")


@history.command
def add(folder: Run, /, *, history: HistoryFile = None) -> int:
    """Append the entry of a run, unless it stands there; a run in local/ moves to results/ first."""
    from pgmnemo.terminal import say
    from runner.commands.history.log import keep_run, log_run

    place = keep_run(folder, history=history)
    if place != folder:
        say(f"{folder}: moved to {place}")
    path, appended = log_run(place, history=history)
    say(f"{path}: {'appended' if appended else 'has it already'}")
    return 0


@history.command
def deviation(
    folder: Run,
    text: Annotated[str, Parameter(help="what departs from the protocol, in one line")],
    /,
    *,
    history: HistoryFile = None,
) -> int:
    """Append a deviation that became known after the run."""
    from pgmnemo.terminal import say
    from runner.commands.history.log import log_deviation

    say(f"{log_deviation(folder, text, history=history)}: appended")
    return 0


@history.command
def thin(*folders: Run) -> int:
    """Take the raw files of old runs out of the checkout; the commit that has them is noted in raw.json."""
    from pgmnemo.terminal import say
    from runner.commands.history.raw import thin

    for folder in _some(folders):
        say(f"{folder}: {', '.join(thin(folder)) or 'nothing'} taken away; commit that")
    return 0


@history.command
def restore(*folders: Run) -> int:
    """Bring back the raw files that a run lacks from the repository's history, held against its manifest."""
    from pgmnemo.terminal import say
    from runner.commands.history.raw import restore

    for folder in _some(folders):
        say(f"{folder}: {', '.join(restore(folder)) or 'nothing'} restored")
    return 0


def _some(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    if not folders:
        raise UsageError("name the folder of a run, or several")
    return folders
