"""`python -m runner history add DIR` and `python -m runner history deviation DIR TEXT`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from runner.options import Run

HistoryFile = Annotated[
    Path | None, Parameter(help="the file (default: the HISTORY.md of the nearest folder above)")
]

history = App(name="history", help="Append a run, or a deviation of one, to HISTORY.md.")


@history.command
def add(folder: Run, /, *, history: HistoryFile = None) -> int:
    """Append the entry of a run, unless it stands there; a run in local/ moves to results/ first."""
    from runner.history.log import keep_run, log_run
    from runner.terminal import say

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
    from runner.history.log import log_deviation
    from runner.terminal import say

    say(f"{log_deviation(folder, text, history=history)}: appended")
    return 0
