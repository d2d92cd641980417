"""The end of a command: an exit code, and one sentence for an error; never a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from cyclopts import App, CycloptsError, MissingArgumentError, UnknownCommandError, UnusedCliTokensError

from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.escaping import plain

INTERRUPTED = 130
NO_READER = 128 + 13  # SIGPIPE, which Windows does not have
LONGEST, REMEDY = 1_200, 400  # characters of a sentence that may quote a file, and of its end
PATHLIB = {
    "home directory": "this user has no home folder that is known; set HOME, or write the path in full, "
    "without ~",
    "Symlink loop": "a link in that path leads back to itself; name another",
    "recursion depth": "a file that was given has values in one another too deep; mend it, or name another",
}
"""By what a RuntimeError says: what we say."""


def ended(command: Callable[[], int]) -> int:
    """Return the exit code of `command`: 0 done, 1 a gate failed, 2 wrong use, 3 environment, 130
    interrupted.

    It is 141 if the reader of the output has gone away, so that an unread fault does not pass for a success.
    """
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        code = command()
        sys.stdout.flush()
        return code
    except PgmnemoError as error:
        _tell(f"{error.kind}: {error}", error)
        return error.code
    except KeyboardInterrupt as error:
        _tell("interrupted", error)
        return INTERRUPTED
    except BrokenPipeError:
        _let_go()
        return NO_READER
    except OSError as error:  # a file or folder that no stage foresaw
        place, why = error.filename or "this machine", error.strerror or str(error)
        _tell(f"error: {place}: {why}; make it readable and writable, or name another", error)
        return PgmnemoError.code
    except MemoryError as error:
        _tell("error: this takes more memory than there is; give a smaller file, or free some", error)
        return PgmnemoError.code
    except RuntimeError as error:
        told = next((told for words, told in PATHLIB.items() if words in str(error)), None)
        if told is None:
            raise
        _tell(f"error: {told}", error)
        return PgmnemoError.code
    finally:
        signal.signal(signal.SIGTERM, before)


def carried_out(app: App, tokens: Sequence[str], what: str = "a command") -> int:
    """Return the exit code of the command in `tokens`; raise UsageError if it is unknown, or its arguments
    are wrong. The error for empty `tokens` asks for `what`.
    """
    program = app.name[0]
    if not tokens:
        raise UsageError(f"name {what}; see `{program} --help`")
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        command = next((token for token in tokens if token in {*app} and not token.startswith("-")), "")
        told = f"{words(error)}; see `{program} {command}".rstrip()
        raise UsageError(f"{told} --help`") from None
    return int(code or 0)


def words(error: CycloptsError) -> str:
    """Return the error of a command line, without a capital and a full stop."""
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app:
        if (first := error.unused_tokens[0]).startswith("-"):
            return f"{first} stands before the command; name the command first, and its options after it"
        return f"there is no command {first!r}{_meant(first, error.app)}"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        given, meant = " ".join(error.unused_tokens), _meant(error.unused_tokens[0], error.app or ())
        hint = "a command stands before its options, and a text of several words in quotation marks"
        return f"there is no place for {given}{meant}; {hint}"
    told = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, MissingArgumentError) and error.argument:
        _, _, meant = told.partition(". Did you mean ")
        hint = f"; did you mean {meant}" if meant else ""
        if error.keyword:
            return f"{error.keyword} needs a value after it{hint}"
        return f"{' '.join(error.command_chain or ())} needs {error.argument.name}{hint}"
    return told[:1].lower() + told[1:]


def _meant(word: str, names: Iterable[str]) -> str:
    """Return a question for the name that is most like a word; empty where none is like it."""
    near = get_close_matches(word, [name for name in names if not name.startswith("-")], n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _terminated(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _let_go() -> None:
    """Redirect a broken output stream to the null device, so that Python can flush it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _tell(sentence: str, error: BaseException) -> None:
    """Print the error, with its notes; a long sentence is shortened in the middle."""
    told = plain("; ".join([sentence, *getattr(error, "__notes__", ())]))
    told = told if len(told) <= LONGEST else f"{told[: LONGEST - REMEDY]} … {told[-REMEDY:]}"
    print(told, file=sys.stderr)
