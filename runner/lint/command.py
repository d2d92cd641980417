"""`python -m runner lint FILE…`: recall figures in documents, held against the artefacts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.errors import UsageError


def lint_command(
    *files: Annotated[Path, Parameter(help="release notes, README.md, …")],
    root: Annotated[Path | None, Parameter(help="where benchmarks/ lies (default: this repository)")] = None,
) -> int:
    """Hold every recall figure of some Markdown files against the artefacts.

    Prints `file:line:column: rule: message` for each finding; exits with 0 when there is none, else with 1.
    """
    from runner.lint.linting import lint

    if not files:
        raise UsageError("lint takes one Markdown file or more; see `python -m runner lint --help`")
    report = lint(files, root=root)
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
