"""`python -m runner history add DIR` and `python -m runner history deviation DIR TEXT`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runner.claims.history.log import log_deviation, log_run

NAME = "history"


def add_parser(commands: Any) -> None:
    """The command, its two actions and their options."""
    words = "append a run, or a deviation of one, to HISTORY.md"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = _action(actions, "add", "append the entry of a run, unless it stands there")
    add.set_defaults(command=NAME, handler=handle_add)
    deviation = _action(actions, "deviation", "append a deviation that became known after the run")
    deviation.add_argument("text", metavar="TEXT", help="what departs from the protocol, in one line")
    deviation.set_defaults(command=NAME, handler=handle_deviation)


def _action(actions: Any, name: str, words: str) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(
        name, help=words, description=f"{words[0].upper()}{words[1:]}."
    )
    action.add_argument("folder", type=Path, metavar="DIR", help="results folder of the run")
    action.add_argument(
        "--history",
        type=Path,
        metavar="FILE",
        help="the file (default: the HISTORY.md of the nearest folder above)",
    )
    return action


def handle_add(options: argparse.Namespace) -> int:
    """Say where the entry was appended, or that it stands there."""
    history, appended = log_run(options.folder, history=options.history)
    print(f"{history}: {'appended' if appended else 'has it already'}")
    return 0


def handle_deviation(options: argparse.Namespace) -> int:
    """Say where the deviation was appended."""
    print(f"{log_deviation(options.folder, options.text, history=options.history)}: appended")
    return 0
