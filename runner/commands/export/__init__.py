"""`python -m runner export DIR --output FOLDER`: a run in the file formats of other programs.

The folder is written atomically.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.registry import Registry
from pgmnemo.terminal import say
from runner.commands.export.forms import beir, trec
from runner.options import Run
from runner.paths import check_outside_checkout
from runner.runs.output import check_new
from runner.runs.raw import RAW
from runner.runs.results import collector_paused, read_results
from runner.runs.run import METRICS, RUN
from runner.runs.storage import output_errors, write_file
from runner.verification.context import RunContext

Files = Iterator[tuple[str, str]]  # the path in the folder, and the text of each file
FORMATS: Registry[Callable[[RunContext], Files]] = Registry("format", {"trec": trec, "beir": beir})


def export_command(folder: Run, /, *, output: Path, format: str = "trec", corpus: Path | None = None) -> int:
    """Write a run's rankings and gold as TREC runs and qrels, or as a folder of BEIR, for other programs.

    Args:
        output: new folder for the files
        format: trec, or beir, which needs --corpus
        corpus: the corpus file or its folder, for the texts of beir
    """
    say(*export(folder, output, form=format, corpus=corpus))
    return 0


@collector_paused()
def export(
    folder: Path | str, output: Path | str, *, form: str = "trec", corpus: Path | str | None = None
) -> tuple[Path, ...]:
    """Write the run in `folder` into the new folder `output`; return the paths of the written files.

    `form` is a name of FORMATS; `corpus` is the corpus file or its folder, which beir needs for the
    texts, and which must not be written into a git checkout. Raises UsageError for an unknown form, an
    `output` that exists or lies in a run, and a corpus that is not the run's; UnusableRunError and
    OutputError as every reader of a run.
    """
    make, place = FORMATS[form], Path(output).expanduser().absolute()
    check_new("--output", place, "folder")
    if make is beir:
        check_outside_checkout("--output", place)
    results = read_results(folder, RunContext, (RUN, METRICS, RAW))
    results.corpus_path = None if corpus is None else Path(corpus)
    if results.corpus_path is not None and not results.corpus_path.exists():
        raise UsageError(f"--corpus names {corpus}, which does not exist")
    draft = place.with_name(f".{place.name}.partial")
    with output_errors(place):
        try:
            draft.mkdir(parents=True)
        except FileExistsError:
            raise UsageError(f"--output: {draft} is left of an export that was cut; remove it") from None
        try:
            names = [_write(draft / name, text) for name, text in make(results)]
            os.replace(draft, place)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    return tuple(place / path.relative_to(draft) for path in names)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text)
    return path
