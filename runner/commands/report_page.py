"""`python -m runner report DIR`: render report.html of a finished run again.

Options add another run or the text of the corpus.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pgmnemo.errors import OutputError, UsageError
from pgmnemo.terminal import say
from runner.commands.compare.compare_runs import compare
from runner.errors import UnusableRunError
from runner.options import Despite, Run
from runner.paths import check_outside_checkout
from runner.records import Corpus
from runner.report.html import PAGE, CorpusTexts, PageComparison, render_page
from runner.runs.output import check_output
from runner.runs.results import Results, Unreadable, collector_paused
from runner.runs.run import BLOCKED
from runner.runs.storage import output_errors, write_file
from runner.verification.context import RunContext

MARK = '<meta name="generator" content="pgmnemo/page/'


def report_command(
    folder: Run,
    /,
    *,
    compare: Path | None = None,
    despite: Despite = (),
    corpus: Path | None = None,
    output: Path | None = None,
) -> int:
    """Render report.html of a finished run again, optionally with another run or the corpus.

    Args:
        compare: results folder of a run to compare it with
        corpus: the corpus file or its folder, to also show its texts
        output: file for the page (default: report.html in the folder)
    """
    say(render_report(folder, corpus=corpus, baseline=compare, despite=despite, output=output))
    return 0


@collector_paused()
def render_report(
    folder: Path | str,
    *,
    corpus: Path | str | None = None,
    baseline: Path | str | None = None,
    despite: Collection[str] = (),
    output: Path | str | None = None,
) -> Path:
    """Render report.html of the run in `folder` again; return the path of the written file.

    `baseline` is the folder of a run to compare with, `despite` as of `compare`. `corpus` is the corpus
    file or its folder: the page then holds its text. A page with a baseline or a corpus is no artefact:
    `output` must name a file outside any results folder, and with text outside any git checkout. Raises
    UsageError for wrong use, UnusableRunError for a blocked run, OutputError for unreadable artefacts.
    """
    place = _place(Path(folder), output, beside=baseline is not None, text=corpus is not None)
    results = RunContext(Path(folder), None if corpus is None else Path(corpus))
    if not results.folder.is_dir():
        raise UsageError(f"there is no results folder {folder}: name one that a run has written")
    if results.blocked:
        raise UnusableRunError(f"{folder} is blocked and has no report: read its {BLOCKED}")
    beside = _compared(Path(baseline), results.folder, despite) if baseline is not None else None
    try:
        texts = _texts(results.measured()) if corpus is not None else None
        timings = ((one.arm, one.scope, one.seconds) for one in results.timings)
        text = render_page(
            results.metrics, results.run, results.detailed(), timings, compared_with=beside, texts=texts
        )
    except Unreadable as error:
        raise OutputError(f"{folder} cannot be rendered: {error}; verify says more") from None
    with output_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, text)
    return place


def _place(folder: Path, output: Path | str | None, *, beside: bool, text: bool) -> Path:
    """Return the path of the page. Only a page made entirely from artefacts may be in a results folder."""
    if output is None:
        if beside or text:
            what = "text of the corpus" if text else "another run"
            raise UsageError(f"a page with {what} is no artefact: name a file for it with --output")
        return folder / PAGE
    place = Path(output).expanduser().absolute()
    if place != folder.absolute() / PAGE or beside or text:
        check_output("--output", place, (".html",), MARK)
    if text:
        check_outside_checkout("--output", place)
    return place


def _compared(baseline: Path, folder: Path, despite: Collection[str]) -> PageComparison:
    document = compare(baseline, folder, despite=despite).document()
    return PageComparison(document, list(Results(baseline).rows))


def _texts(corpus: Corpus) -> CorpusTexts:
    return CorpusTexts(
        {question.key: question.text for question in corpus.questions},
        {(segment.project, segment.id): segment.text for segment in corpus.segments},
    )
