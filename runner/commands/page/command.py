"""`python -m runner report DIR`: report.html of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.options import Despite, Run


def report_command(
    folder: Run,
    /,
    *,
    compare: Annotated[Path | None, Parameter(help="results folder of a run to compare it with")] = None,
    despite: Despite = (),
    corpus: Annotated[
        Path | None, Parameter(help="the corpus file or its folder: show its text, too")
    ] = None,
    output: Annotated[
        Path | None, Parameter(help="where the page goes (default: report.html in the folder)")
    ] = None,
) -> int:
    """Render report.html of a finished run anew, with another run or the corpus beside it if asked."""
    from pgmnemo.terminal import say
    from runner.commands.page.rendering import render_report

    say(render_report(folder, corpus=corpus, baseline=compare, despite=despite, output=output))
    return 0
