"""The list of commands; each is loaded when it is called."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from cyclopts import App, Group

from pgmnemo.cli.options import SHARED
from pgmnemo.cli.output import version
from pgmnemo.cli_main import dispatch, run_cli
from pgmnemo.errors import ForeignProjectWarning, UnknownScriptWarning
from pgmnemo.escaping import escape_control_chars
from pgmnemo.terminal import SafeConsole

PROGRAM = "mnemo"
HELP = ("--help", "-h")
EXAMPLES = """Examples:
  mnemo add "I moved to Lisbon in May." --role user
  mnemo recall "Where do I live?" --why
  git log -1 --format=%B | mnemo add --topic release --project pgmnemo
  mnemo list --newest --limit 20 --json

`mnemo COMMAND --help` says more. `mnemo completion bash` prints what lets a shell complete commands.
"""
COMMANDS = {
    "Put in and find again": {
        "add": "write", "recall": "query", "context": "query", "explain": "query",
        "list": "query", "get": "query", "count": "query", "similar": "query",
    },
    "Change and forget": {
        "update": "write", "used": "write", "wrong": "write", "supersede": "write", "undo-supersede": "write",
        "timeline": "query", "forget": "write", "delete-expired": "write", "tidy": "tidy",
    },
    "Facts and links": {
        "fact": "write", "facts": "query", "end-fact": "write", "link": "write",
        "unlink": "write",
    },
    "The memory itself": {
        "init": "admin", "import": "admin", "export": "admin", "reembed": "admin",
        "language": "admin", "recut": "admin", "stats": "query", "doctor": "doctor",
        "grant": "admin", "upgrade": "admin", "completion": "commands", "hook": "integrations.hooks",
    },
    "Open to others": {"serve": "serve", "mcp": "mcp", "token": "serve"},
}  # fmt: skip
"""By group, in the order of the help: the module of each, in this package or, with a dot, in another one."""
NOTES = (UnknownScriptWarning, ForeignProjectWarning)  # told in a line
NO_NAMES = {"list": "list_", "import": "import_"}  # of functions


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is as in `pgmnemo.cli_main`."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    return run_cli(lambda: _with_notes(tokens))


def _with_notes(tokens: list[str]) -> int:
    """Run a command; print a line on stderr for each warning of the client."""
    with warnings.catch_warnings():
        for category in NOTES:
            warnings.simplefilter("always", category)
        warnings.showwarning = partial(_show, warnings.showwarning)
        return _carry_out(tokens)


def _show(usual: Callable[..., None], message: Warning | str, category: type[Warning], *rest: Any) -> None:
    if issubclass(category, NOTES):
        print(f"note: {escape_control_chars(str(message))}", file=sys.stderr)
    else:
        usual(message, category, *rest)


def app() -> App:
    """Return the command-line application with all commands registered."""
    top = App(
        name=PROGRAM,
        help="A memory for agents, in a folder or in a PostgreSQL.",
        version=version,
        help_format="plaintext",
        help_epilogue=EXAMPLES,
        default_parameter=SHARED,
        suppress_keyboard_interrupt=False,
        console=SafeConsole(),
    )
    for place, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=place)
        for number, (name, module) in enumerate(commands.items()):
            module = module if "." in module else f"cli.{module}"
            where = f"pgmnemo.{module}:{NO_NAMES.get(name, name.replace('-', '_'))}"
            top.command(where, name=name, group=group, sort_key=number, help_epilogue="")
    top["--help"].group = top["--version"].group = Group("Options", sort_key=len(COMMANDS))
    return top


def completion(shell: Literal["bash", "zsh", "fish", "powershell"], /) -> None:
    """Print a script that lets a shell complete commands.

    It goes into a file, once:
    bash: ~/.local/share/bash-completion/completions/mnemo
    zsh: _mnemo, in a folder of $fpath
    fish: ~/.config/fish/completions/mnemo.fish

    Args:
        shell: which one
    """
    print(app().generate_completion(shell=shell))


def _carry_out(tokens: Sequence[str]) -> int:
    top = app()
    if tokens and tokens[0] in HELP:
        for name in (name for commands in COMMANDS.values() for name in commands):
            top[name]  # what each command does is said where it is written
    return dispatch(top, tokens)
