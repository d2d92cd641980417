"""The command line: one thin function a command.

Results go to standard output, what happens meanwhile to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from runner.database.releases import SQL_FOLDER
from runner.errors import RunnerError
from runner.options import parser

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, *, sql: Path = SQL_FOLDER) -> int:
    """Run one command; the exit code: 0 done, 1 a gate failed, 2 wrong use, 3 environment, 130 interrupted.

    `sql` is the folder with the extension's files and the list of its releases.
    """
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        options = parser().parse_args(arguments)
        if options.command == "bench":
            from runner.bench import bench  # a run loads what no other command needs

            return bench(options, sql)
        if options.command == "fetch":
            from runner.fetch import fetch_corpus

            return fetch_corpus(options)
        return int(options.handler(options))
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


def _terminated(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _tell(sentence: str, error: BaseException) -> None:
    """The sentence, and how to go on where the run left something to go on with."""
    print("; ".join([sentence, *getattr(error, "__notes__", ())]), file=sys.stderr)
