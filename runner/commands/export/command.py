"""`python -m runner export DIR --output FOLDER`: a run as TREC runs and qrels, or as a folder of BEIR."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.options import Run


def export_command(
    folder: Run,
    /,
    *,
    output: Annotated[Path, Parameter(help="new folder for the files")],
    format: Annotated[str, Parameter(help="trec, or beir, which needs --corpus")] = "trec",
    corpus: Annotated[
        Path | None, Parameter(help="the corpus file or its folder, for the texts of beir")
    ] = None,
) -> int:
    """Write a run's rankings and gold as TREC runs and qrels, or as a folder of BEIR, for other programs."""
    from pgmnemo.terminal import say
    from runner.commands.export.exporting import export

    say(*export(folder, output, form=format, corpus=corpus))
    return 0
