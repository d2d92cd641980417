"""`python -m runner verify DIR…`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

NAME = "verify"


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "check results folders against themselves, HISTORY.md and, if given, the corpus"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="results folder of a run")
    parser.add_argument("--corpus", type=Path, metavar="PATH", help="the corpus file or its folder")
    parser.add_argument(
        "--history", type=Path, metavar="FILE", help="HISTORY.md (default: the nearest above the folder)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """0 when every folder is intact, else 1; UsageError where there is no folder."""
    from runner.artefacts.canonical import pretty  # the parser alone loads no stage
    from runner.claims.verify.verification import SCHEMA, lines, verify

    done = []
    for folder in options.folders:
        done.append(verify(folder, corpus=options.corpus, history=options.history))
        if not options.json:
            print(*([f"{folder}:"] if len(options.folders) > 1 else []), *lines(done[-1]), sep="\n")
    if options.json:
        print(pretty({"schema": SCHEMA, "runs": [one.document() for one in done]}), end="")
    return int(not all(one.intact for one in done))
