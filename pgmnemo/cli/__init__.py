"""The command `mnemo`: the verbs of the library on a command line.

A command is a function, named like the verb that it calls; options that several have are in `options`. What
a command needs of the library is imported when it runs, so that help is quick.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper


def start() -> int:
    """Run the command that this process was called with; its exit code (see `pgmnemo.ending`)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # one that has no · or → is told of it in letters that it has
            stream.reconfigure(errors="backslashreplace")
    try:
        from pgmnemo.cli.commands import main

        return main()
    except KeyboardInterrupt:  # while the modules are still being loaded
        return 130
