"""`python -m runner cite DIR`: the citation of a run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from runner.claims.cite.citation import cite
from runner.claims.output import check_output
from runner.errors import OutputError

NAME, MARK = "cite", "under pgmnemo Recall Benchmark Protocol"


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "write the release-note paragraph of protocol §8 from a run's artefacts"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="results folder of the run")
    parser.add_argument(
        "--previous", type=Path, metavar="DIR", help="results folder of an earlier version's comparable run"
    )
    parser.add_argument("--bibtex", action="store_true", help="print a BibTeX entry instead of the paragraph")
    parser.add_argument("--badge", type=Path, metavar="FILE.svg", help="also write a badge into this file")
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """Print the citation; notes go to standard error. 0, or the error's code."""
    if options.badge is not None:
        check_output("--badge", options.badge, (".svg",), MARK)
    citation = cite(options.folder, previous=options.previous)
    if options.badge is not None:
        _write(options.badge, citation.badge)
    print(citation.bibtex if options.bibtex else citation.text)
    for note in citation.notes:
        print(f"note: {note}", file=sys.stderr)
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"the badge cannot be written to {path} ({error.strerror}); name another file"
        ) from None
