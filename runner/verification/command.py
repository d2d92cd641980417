"""`python -m runner verify DIR…` and `python -m runner rescore DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.errors import UsageError
from runner.options import Run
from runner.protocol.editions import OlderEdition
from runner.runs.manifest import USUAL


def verify_command(
    *folders: Annotated[Path, Parameter(help="results folder of a run, or an archive by submit")],
    corpus: Annotated[Path | None, Parameter(help="the corpus file or its folder")] = None,
    history: Annotated[
        Path | None, Parameter(help="HISTORY.md (default: the nearest above the folder)")
    ] = None,
    allowed_signers: Annotated[
        Path | None,
        Parameter(help="list of whose signatures count (default: benchmarks/allowed_signers, if there)"),
    ] = None,
    rerun: Annotated[
        int | None,
        Parameter(
            help=f"recall N questions again ({USUAL} without a number) in embedded databases, and find the "
            "corpus for it; 0: hold the files alone"
        ),
    ] = None,
    run: Annotated[
        Path | None, Parameter(help="of a folder of `answer`: the run that it read (default: beside it)")
    ] = None,
    json: Annotated[bool, Parameter(help="print JSON instead of lines")] = False,
) -> int:
    """Check results folders, or archives of such, against themselves, HISTORY.md and, if given, the corpus.

    Exits with 0 where no fault was found and all that a headline stands on was recalled again or held, or
    --rerun 0 asked for the files alone; with 1 for a fault, with 4 where something was not asked.
    """
    from pgmnemo.progress import Progress
    from pgmnemo.terminal import say
    from runner.runs.canonical import pretty
    from runner.verification.verification import SCHEMA, lines, verify

    if not folders:
        raise UsageError("verify takes one results folder or more; see `python -m runner verify --help`")
    done, others = [], []
    for folder in folders:
        try:
            found = verify(
                folder,
                corpus=corpus,
                history=history,
                allowed_signers=allowed_signers,
                rerun=rerun,
                run=run,
                progress=Progress(),
            )
        except OlderEdition as older:
            if len(folders) == 1:
                raise
            say(older, error=True)
            others.append(older.code)
            continue
        done.append(found)
        if not json:
            say(*([f"{folder}:"] if len(folders) > 1 else []), *lines(done[-1]))
    if json:
        say(pretty({"schema": SCHEMA, "runs": [one.document() for one in done]}), end="")
    codes = [*(one.outcome.code for one in done), *others]
    return 1 if 1 in codes else max(codes)


def rescore_command(
    folder: Run,
    /,
    *,
    metric_code: Annotated[
        str | None, Parameter(help="version of the metric code (default: that of the run's edition)")
    ] = None,
    output: Annotated[Path | None, Parameter(help="new folder for metrics.json and report.md")] = None,
) -> int:
    """Compute metrics and report of a run anew from its raw rankings, and say what moved."""
    from pgmnemo.terminal import say
    from runner.verification.rescore import lines, rescore

    say(*lines(rescore(folder, metric_code=metric_code, output=output)))
    return 0
