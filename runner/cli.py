"""The command line: its commands, and how a command ends.

Results go to standard output, progress and errors to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import metadata
from itertools import zip_longest
from pathlib import Path

from cyclopts import App, Group

from pgmnemo.cli_main import dispatch, run_cli
from pgmnemo.errors import DatabaseError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import default_version
from pgmnemo.terminal import SafeConsole
from runner.bench.command import suite_command
from runner.options import SHARED
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.runs.manifest import USUAL

PROGRAM, DISTRIBUTION = "python -m runner", "pgmnemo-bench"
HELP = ("--help", "-h")
USUAL_NUMBERS = {"--rerun": str(USUAL)}
EXAMPLES = """Examples:
  python -m runner sample --embedder none      a first run, without a model
  python -m runner locomo --embedder minilm --dry-run   what a run would lack
  python -m runner locomo --embedder minilm --baselines bm25s,chroma
  python -m runner verify benchmarks/locomo/results/*
"""
RUNS, FINISHED, OTHERS = (
    Group(title, sort_key=place)
    for place, title in enumerate(("Runs", "Finished runs", "Corpora, databases and systems"))
)
COMMANDS = {
    "verify": (FINISHED, "runner.verification.verification:verify_command"),
    "rescore": (FINISHED, "runner.verification.rescore:rescore_command"),
    "sign": (FINISHED, "runner.verification.sign:sign_command"),
    "export": (FINISHED, "runner.commands.export:export_command"),
    "score": (FINISHED, "runner.commands.score.command:score_command"),
    "report": (FINISHED, "runner.commands.report_page:report_command"),
    "compare": (FINISHED, "runner.commands.compare.command:compare_command"),
    "gate": (FINISHED, "runner.commands.compare.command:gate_command"),
    "cite": (FINISHED, "runner.commands.cite.command:cite_command"),
    "leaderboard": (FINISHED, "runner.commands.leaderboard.command:leaderboard_command"),
    "history": (FINISHED, "runner.commands.history:history"),
    "answer": (FINISHED, "runner.stages.answers.answer_run:answer_command"),
    "fetch": (OTHERS, "runner.commands.fetch:fetch_command"),
    "check-system": (OTHERS, "runner.systems.command:check_system_command"),
    "peers": (OTHERS, "runner.systems.command:peers"),
}
"""Commands over finished runs, databases and systems; each is loaded when it is called."""


def main(arguments: Sequence[str] | None = None, *, sql: Path = SQL_FOLDER) -> int:
    """Run one command and return its exit code.

    0: done; 1: a gate failed; 2: wrong use; 3: environment; 130: interrupted. `verify` returns 4 if a
    check that a headline needs was not requested, and a run returns 5 if every answer of a system was
    empty. `sql` is the folder with the extension's files and the list of its releases.
    """
    tokens = _filled(sys.argv[1:] if arguments is None else arguments)
    return run_cli(lambda: _carry_out(tokens, sql))


def app(sql: Path = SQL_FOLDER) -> App:
    """Return the application with all commands: one for each suite, then the others."""
    top = App(
        name=PROGRAM,
        help="Measure the recall of agent memory exactly as PROTOCOL.md says.",
        version=lambda: _version(sql),
        help_format="plaintext",
        default_parameter=SHARED,
        suppress_keyboard_interrupt=False,
        console=SafeConsole(),
    )
    for name, suite in SUITES.items():
        told = f"Measure recall on {suite.title}."
        top.command(suite_command(name, sql), name=name, group=RUNS, help=told, help_epilogue=EXAMPLES)
    for name, (group, place) in COMMANDS.items():
        top.command(place, name=name, group=group)
    return top


def _version(sql: Path) -> str:
    """Return the installed version, and the versions of extension and protocol in this checkout."""
    try:
        extension = default_version(sql)
    except DatabaseError:  # an installation without the repository
        extension = "none"
    ours = metadata.version(DISTRIBUTION)
    return f"{DISTRIBUTION} {ours} (extension {extension}, protocol {current().version})"


def _filled(tokens: Sequence[str]) -> list[str]:
    """Return the tokens, with the usual number inserted after an option that has no value."""
    found: list[str] = []
    for token, following in zip_longest(tokens, tokens[1:], fillvalue=""):
        found += [token, USUAL_NUMBERS[token]] if _bare(token, following) else [token]
    return found


def _bare(token: str, following: str) -> bool:
    return token in USUAL_NUMBERS and not following.removeprefix("-").isdigit()


def _carry_out(tokens: Sequence[str], sql: Path) -> int:
    top = app(sql)
    if tokens and tokens[0] in HELP:
        top.help_epilogue = EXAMPLES
        for name in COMMANDS:
            top[name]  # loads the command, so that its help is shown
    return dispatch(top, tokens, "a suite or a command")
