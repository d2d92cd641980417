"""The command `mnemo`: the verbs of the library on a command line.

A command is a function with the name of its verb; shared options are in `options`. A command imports the
library when it runs, so that help is quick.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper


def start() -> int:
    """Run the command that this process was called with; its exit code (see `pgmnemo.cli_main`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # an encoding without · or → gets their escapes
            stream.reconfigure(errors="backslashreplace")
    recalls = sys.argv[1:3] == ["hook", "recall"]
    try:
        if recalls:  # a prompt waits for it: the other modules take longer to load than the answer
            from pgmnemo.integrations.prompt_recall import start as recall

            if (code := recall(sys.argv[3:])) is not None:
                return code
        elif sys.argv[1:3] == ["hook", "save"] and "--behind" in sys.argv:  # as quickly
            from pgmnemo.integrations.behind import run_behind

            return run_behind(sys.argv[1:])
        from pgmnemo.cli.commands import main

        code = main()
        return 0 if recalls else code  # another code would stop the prompt
    except KeyboardInterrupt:  # while the modules are still being loaded
        return 130
