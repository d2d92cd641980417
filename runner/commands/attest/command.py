"""`python -m runner attest DIR --by NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.options import Run
from runner.runs.manifest import USUAL


def attest_command(
    folder: Run,
    /,
    *,
    by: Annotated[str, Parameter(help="your name as a list of signers has it, such as you@example.org")],
    key: Annotated[
        Path | None,
        Parameter(help="private SSH key that signs the record; without one nobody need believe it"),
    ] = None,
    rerun: Annotated[int, Parameter(help="how many questions to recall again")] = USUAL,
    corpus: Annotated[Path | None, Parameter(help="the corpus file or its folder")] = None,
) -> int:
    """Recall questions of a run again, and record beside it that they came out the same."""
    from pgmnemo.progress import Progress
    from pgmnemo.terminal import say
    from runner.commands.attest.attesting import attest

    say(f"written: {attest(folder, by, key=key, rerun=rerun, corpus=corpus, progress=Progress())}")
    return 0
