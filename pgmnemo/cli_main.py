"""Run a command line: return an exit code, and print one sentence for an error instead of a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from cyclopts import App, CycloptsError, MissingArgumentError, UnknownCommandError, UnusedCliTokensError

from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.escaping import escape_control_chars

INTERRUPTED = 130
NO_READER = 128 + 13  # SIGPIPE, which Windows does not have
MAX_MESSAGE, KEPT_END = 1_200, 400  # characters of a sentence that may quote a file, and of its end
RUNTIME_MESSAGES = {
    "home directory": "this user has no home folder that is known; set HOME, or write the path in full, "
    "without ~",
    "Symlink loop": "a link in that path leads back to itself; name another",
    "recursion depth": "a file that was given has values in one another too deep; mend it, or name another",
}
"""Words in the message of a RuntimeError, each with the message to print."""


def run_cli(command: Callable[[], int]) -> int:
    """Run a command and return its exit code: 0 done, 1 a gate failed, 2 wrong use, 3 environment, 130
    interrupted.

    It is 141 if the reader of the output has gone away, so that an unread fault does not pass for a success.
    """
    before = signal.signal(signal.SIGTERM, _raise_interrupt)
    try:
        code = command()
        sys.stdout.flush()
        return code
    except PgmnemoError as error:
        _print_error(f"{error.kind}: {error}", error)
        return error.code
    except KeyboardInterrupt as error:
        _print_error("interrupted", error)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return NO_READER
    except OSError as error:  # a file or folder that no stage foresaw
        why = error.strerror or str(error)
        of_file = f"{error.filename}: {why}; make it readable and writable, or name another"
        of_output = f"a file, or the output of this command: {why}; make room, or write elsewhere"
        _print_error(f"error: {of_file if error.filename else of_output}", error)
        return PgmnemoError.code
    except MemoryError as error:
        _print_error("error: this takes more memory than there is; give a smaller file, or free some", error)
        return PgmnemoError.code
    except RuntimeError as error:
        told = next((told for words, told in RUNTIME_MESSAGES.items() if words in str(error)), None)
        if told is None:
            raise
        _print_error(f"error: {told}", error)
        return PgmnemoError.code
    finally:
        signal.signal(signal.SIGTERM, before)


def dispatch(app: App, tokens: Sequence[str], what: str = "a command") -> int:
    """Run the command that `tokens` names and return its exit code.

    Raise UsageError for an unknown command or wrong arguments; for empty `tokens` its message asks for
    `what`.
    """
    program = app.name[0]
    if not tokens:
        raise UsageError(f"name {what}; see `{program} --help`")
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        command = next((token for token in tokens if token in {*app} and not token.startswith("-")), "")
        told = f"{usage_message(error)}; see `{program} {command}".rstrip()
        raise UsageError(f"{told} --help`") from None
    return int(code or 0)


def usage_message(error: CycloptsError) -> str:
    """Return the message for an error in a command line, without a capital and a full stop."""
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app:
        if (first := error.unused_tokens[0]).startswith("-"):
            return f"{first} stands before the command; name the command first, and its options after it"
        return f"there is no command {first!r}{_suggestion(first, error.app)}"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        given, meant = " ".join(error.unused_tokens), _suggestion(error.unused_tokens[0], error.app or ())
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


def _suggestion(word: str, names: Iterable[str]) -> str:
    """Return a question for the name most similar to a word; empty if no name is similar."""
    near = get_close_matches(word, [name for name in names if not name.startswith("-")], n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _raise_interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _discard_output() -> None:
    """Redirect a broken output stream to the null device, so that Python can flush it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _print_error(sentence: str, error: BaseException) -> None:
    """Print the error, with its notes; a long sentence is shortened in the middle."""
    told = escape_control_chars("; ".join([sentence, *getattr(error, "__notes__", ())]))
    told = told if len(told) <= MAX_MESSAGE else f"{told[: MAX_MESSAGE - KEPT_END]} … {told[-KEPT_END:]}"
    print(told, file=sys.stderr)
