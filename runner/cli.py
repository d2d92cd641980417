"""The command line: which command there is, and how a command ends.

Results go to standard output, what happens meanwhile to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from cyclopts import (
    App,
    CycloptsError,
    Group,
    MissingArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
)

from runner.bench.command import suite_command
from runner.database.releases import SQL_FOLDER
from runner.errors import RunnerError, UsageError
from runner.options import SHARED
from runner.suites import SUITES

INTERRUPTED = 130
PROGRAM = "python -m runner"
HELP = ("--help", "-h")
EXAMPLES = """Examples:
  python -m runner sample --embedder none      a first run, without a model
  python -m runner locomo --dry-run            what a run would lack
  python -m runner locomo --embedder minilm --systems bm25s,chroma
  python -m runner verify benchmarks/locomo/results/*
"""
RUNS, FINISHED, OTHERS = (
    Group(title, sort_key=place)
    for place, title in enumerate(("Runs", "Finished runs", "Corpora, databases and systems"))
)
COMMANDS = {
    "verify": (FINISHED, "runner.verify.command:verify_command"),
    "rescore": (FINISHED, "runner.verify.command:rescore_command"),
    "score": (FINISHED, "runner.score.command:score_command"),
    "report": (FINISHED, "runner.page.command:report_command"),
    "compare": (FINISHED, "runner.compare.command:compare_command"),
    "gate": (FINISHED, "runner.compare.command:gate_command"),
    "cite": (FINISHED, "runner.cite.command:cite_command"),
    "leaderboard": (FINISHED, "runner.leaderboard.command:leaderboard_command"),
    "history": (FINISHED, "runner.history.command:history"),
    "lint": (FINISHED, "runner.lint.command:lint_command"),
    "fetch": (OTHERS, "runner.fetch:fetch_command"),
    "passages": (OTHERS, "runner.passages.command:passages_command"),
    "check-system": (OTHERS, "runner.systems.command:check_system_command"),
    "peers": (OTHERS, "runner.systems.peers_command:peers"),
    "perf": (OTHERS, "runner.perf.command:perf"),
    "tune": (OTHERS, "runner.tune.command:tune_command"),
}
"""Commands over finished runs, databases and systems; each is loaded when it is called."""


def main(arguments: Sequence[str] | None = None, *, sql: Path = SQL_FOLDER) -> int:
    """Run one command; the exit code: 0 done, 1 a gate failed, 2 wrong use, 3 environment, 130 interrupted.

    `sql` is the folder with the extension's files and the list of its releases.
    """
    before = signal.signal(signal.SIGTERM, _terminated)
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _carry_out(tokens, sql)
    except RunnerError as error:
        _tell(f"{error.kind}: {error}", error)
        return error.code
    except KeyboardInterrupt as error:
        _tell("interrupted", error)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a file or folder that no stage foresaw
        place, why = error.filename or "this machine", error.strerror or str(error)
        _tell(f"error: {place}: {why}; make it readable and writable, or name another", error)
        return RunnerError.code
    finally:
        signal.signal(signal.SIGTERM, before)


def app(sql: Path = SQL_FOLDER) -> App:
    """Every command: one for each suite, then the others."""
    top = App(
        name=PROGRAM,
        help="Measure the recall of agent memory exactly as PROTOCOL.md says.",
        version=metadata.version("pgmnemo-bench"),
        help_format="plaintext",
        default_parameter=SHARED,
        suppress_keyboard_interrupt=False,
    )
    for name, suite in SUITES.items():
        told = f"Measure recall on {suite.title}."
        top.command(suite_command(name, sql), name=name, group=RUNS, help=told, help_epilogue=EXAMPLES)
    for name, (group, place) in COMMANDS.items():
        top.command(place, name=name, group=group)
    return top


def _carry_out(tokens: Sequence[str], sql: Path) -> int:
    if not tokens:
        raise UsageError(f"name a suite or a command; see `{PROGRAM} --help`")
    top = app(sql)
    if tokens[0] in HELP:
        top.help_epilogue = EXAMPLES
        for name in COMMANDS:
            top[name]  # what each command does is said where it is written
    try:
        code = top(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        words = _words(error)
        command = next((token for token in tokens if token in {*SUITES, *COMMANDS}), "")
        raise UsageError(f"{words}; see `{PROGRAM} {command}".rstrip() + " --help`") from None
    return int(code or 0)


def _words(error: CycloptsError) -> str:
    """What was wrong, without a capital and a full stop."""
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app:
        if (first := error.unused_tokens[0]).startswith("-"):
            return f"{first} stands before the command; name the command first, and its options after it"
        known = ", ".join(name for name in error.app if not name.startswith("-"))
        return f"there is no command {error.unused_tokens[0]!r}; choose one of: {known}"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"there is no place for {' '.join(error.unused_tokens)}; a command stands before its options"
    words = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, MissingArgumentError) and error.argument:
        _, _, meant = words.partition(". Did you mean ")
        hint = f"; did you mean {meant}" if meant else ""
        if error.keyword:
            return f"{error.keyword} needs a value after it{hint}"
        return f"{' '.join(error.command_chain or ())} needs {error.argument.name}{hint}"
    return words[:1].lower() + words[1:]


def _terminated(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _tell(sentence: str, error: BaseException) -> None:
    """The sentence, and how to go on where the run left something to go on with."""
    print("; ".join([sentence, *getattr(error, "__notes__", ())]), file=sys.stderr)
