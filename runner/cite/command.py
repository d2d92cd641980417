"""`python -m runner cite DIR`: the citation of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.options import Run

MARK = "under pgmnemo Recall Benchmark Protocol"


def cite_command(
    folder: Run,
    /,
    *,
    previous: Annotated[
        Path | None, Parameter(help="results folder of an earlier version's comparable run")
    ] = None,
    bibtex: Annotated[bool, Parameter(help="print a BibTeX entry instead of the paragraph")] = False,
    badge: Annotated[Path | None, Parameter(help="also write a badge into this file, an .svg")] = None,
) -> int:
    """Write the release-note paragraph of protocol §8 from a run's artefacts; notes go to standard error."""
    from runner.cite.citation import cite
    from runner.runs.output import check_output, write_output
    from runner.terminal import say

    if badge is not None:
        check_output("--badge", badge, (".svg",), MARK)
    citation = cite(folder, previous=previous)
    if badge is not None:
        write_output("the badge", badge, citation.badge)
    say(citation.bibtex if bibtex else citation.text)
    for note in citation.notes:
        say(f"note: {note}", error=True)
    return 0
