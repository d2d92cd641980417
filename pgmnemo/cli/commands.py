"""Which commands there are, each loaded when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal

from cyclopts import App, CycloptsError, Group

from pgmnemo.cli.options import SHARED
from pgmnemo.ending import ended, words
from pgmnemo.errors import UsageError
from pgmnemo.terminal import Plain

PROGRAM, DISTRIBUTION = "mnemo", "pgmnemo-memory"
HELP = ("--help", "-h")
EXAMPLES = """Examples:
  mnemo add "I moved to Lisbon in May." --role user
  mnemo recall "Where do I live?" --why
  git log -1 --format=%B | mnemo add --topic release --project pgmnemo
  mnemo list --newest --most 20 --json

`mnemo COMMAND --help` says more. `mnemo completion bash` prints what lets a shell complete commands.
"""
COMMANDS = {
    "Put in and find again": {
        "add": "writing:add",
        "recall": "reading:recall",
        "context": "reading:context",
        "explain": "reading:explain",
        "list": "reading:list_",
        "get": "reading:get",
        "count": "reading:count",
        "similar": "reading:similar",
    },
    "Change and forget": {
        "update": "writing:update",
        "supersede": "writing:supersede",
        "undo-supersede": "writing:undo_supersede",
        "timeline": "reading:timeline",
        "forget": "writing:forget",
        "sweep": "writing:sweep",
    },
    "Facts and links": {
        "fact": "writing:fact",
        "facts": "reading:facts",
        "end-fact": "writing:end_fact",
        "link": "writing:link",
        "unlink": "writing:unlink",
    },
    "The memory itself": {
        "init": "managing:init",
        "import": "managing:import_",
        "export": "managing:export",
        "grant": "managing:grant",
        "stats": "reading:stats",
        "upgrade": "managing:upgrade",
        "completion": "commands:completion",
    },
}
"""By group, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is as in `pgmnemo.ending`."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: _carry_out(tokens))


def app() -> App:
    """Every command."""
    top = App(
        name=PROGRAM,
        help="A memory for agents, in a folder or in a PostgreSQL.",
        version=_version,
        help_format="plaintext",
        help_epilogue=EXAMPLES,
        default_parameter=SHARED,
        suppress_keyboard_interrupt=False,
        console=Plain(),
    )
    for place, (title, commands) in enumerate(COMMANDS.items()):
        group = Group(title, sort_key=place)
        for number, (name, where) in enumerate(commands.items()):
            top.command(f"pgmnemo.cli.{where}", name=name, group=group, sort_key=number, help_epilogue="")
    top["--help"].group = top["--version"].group = Group("Options", sort_key=len(COMMANDS))
    return top


def completion(shell: Literal["bash", "zsh", "fish", "powershell"], /) -> None:
    """Print a script by which a shell completes commands and options.

    For bash: mnemo completion bash > ~/.local/share/bash-completion/completions/mnemo. For zsh:
    mnemo completion zsh > a file _mnemo in a folder of $fpath. For fish:
    mnemo completion fish > ~/.config/fish/completions/mnemo.fish.

    Args:
        shell: which one
    """
    print(app().generate_completion(shell=shell))


def _version() -> str:
    from importlib.metadata import version

    return f"{DISTRIBUTION} {version(DISTRIBUTION)}"


def _carry_out(tokens: Sequence[str]) -> int:
    if not tokens:
        raise UsageError(f"name a command; see `{PROGRAM} --help`")
    top = app()
    if tokens[0] in HELP:
        for name in [name for commands in COMMANDS.values() for name in commands]:
            top[name]  # what each command does is said where it is written
    try:
        code = top(tokens, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        command = tokens[0] if any(tokens[0] in commands for commands in COMMANDS.values()) else ""
        raise UsageError(f"{words(error)}; see `{PROGRAM} {command}".rstrip() + " --help`") from None
    return int(code or 0)
