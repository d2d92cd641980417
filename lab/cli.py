"""The command line of the laboratory: `tune`, `train` and `perf`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App

from lab.perf.command import perf
from lab.train.training import train_command
from lab.tune.command import tune_app
from pgmnemo.cli_main import dispatch, run_cli
from pgmnemo.terminal import SafeConsole
from runner.options import SHARED

PROGRAM = "python -m lab"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, as `python -m runner` does."""
    tokens = sys.argv[1:] if arguments is None else arguments
    return run_cli(lambda: dispatch(app(), tokens))


def app() -> App:
    """Return the application with all commands."""
    top = App(
        name=PROGRAM,
        help="Tune the score, train the reranker, measure speed and size.",
        help_format="plaintext",
        default_parameter=SHARED,
        suppress_keyboard_interrupt=False,
        console=SafeConsole(),
    )
    top.command(tune_app)
    top.command(train_command, name="train")
    top.command(perf)
    return top
