"""`python -m runner lint FILE…`: recall figures in documents, held against the artefacts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from runner.claims.lint.linting import lint

NAME = "lint"


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "hold every recall figure of some Markdown files against the artefacts"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="release notes, README.md, …")
    parser.add_argument(
        "--root", type=Path, metavar="DIR", help="where benchmarks/ lies (default: this repository)"
    )
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """Print `file:line:column: rule: message` for each finding; 0 when there is none, else 1."""
    report = lint(options.files, root=options.root)
    for finding in report.findings:
        print(finding)
    for exemption in report.exemptions:
        print(
            f"{exemption.file}:{exemption.line}: exempt ({exemption.findings}): {exemption.reason}",
            file=sys.stderr,
        )
    counts = f"files: {report.files}; figures: {report.figures}; to mend: {len(report.findings)}"
    print(counts, file=sys.stderr)
    return 0 if report.passed else 1
