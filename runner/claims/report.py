"""report: report.html of a finished run, rendered anew; with another run or the corpus beside it if asked."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import Any

from runner.artefacts.blocked import BLOCKED
from runner.artefacts.storage import reported, write_file
from runner.claims.collector import collector_paused
from runner.claims.compare.comparing import compare
from runner.claims.output import check_output
from runner.claims.verify.evidence import Evidence, Unreadable
from runner.claims.verify.rendering import page
from runner.errors import OutputError, RefusedError, UsageError
from runner.records import Corpus
from runner.report.html import PAGE, Compared, Texts

NAME, MARK = "report", '<meta name="generator" content="pgmnemo/page/'


@collector_paused()
def render_report(
    folder: Path | str,
    *,
    corpus: Path | str | None = None,
    baseline: Path | str | None = None,
    despite: Collection[str] = (),
    output: Path | str | None = None,
) -> Path:
    """Render report.html of the run in `folder`; the file that was written.

    `baseline` is the folder of a run to compare with, `despite` as of `compare`. `corpus` is the corpus file
    or its folder: the page then holds its text. A page with either is no artefact, and `output` must name a
    file outside any results folder, and with text outside any git checkout.
    Raises UsageError for wrong use, RefusedError for a blocked run, OutputError for unreadable artefacts.
    """
    place = _place(Path(folder), output, beside=baseline is not None, text=corpus is not None)
    evidence = Evidence(Path(folder), Path(corpus) if corpus is not None else None)
    if not evidence.folder.is_dir():
        raise UsageError(f"there is no results folder {folder}: name one that a run has written")
    if (evidence.folder / BLOCKED).exists():
        raise RefusedError(f"{folder} is blocked and has no report: read its {BLOCKED}")
    beside = _compared(Path(baseline), evidence.folder, despite) if baseline is not None else None
    try:
        text = page(evidence, compared_with=beside, texts=_texts(evidence) if corpus is not None else None)
    except Unreadable as error:
        raise OutputError(f"{folder} cannot be rendered: {error}; verify says more") from None
    with reported(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, text)
    return place


def _place(folder: Path, output: Path | str | None, *, beside: bool, text: bool) -> Path:
    """Where the page goes. Only the page that artefacts alone make may stand among them."""
    if output is None:
        if beside or text:
            what = "text of the corpus" if text else "another run"
            raise UsageError(f"a page with {what} is no artefact: name a file for it with --output")
        return folder / PAGE
    place = Path(output).expanduser().absolute()
    if place != folder.absolute() / PAGE or beside or text:
        check_output("--output", place, (".html",), MARK)
    if text and any((parent / ".git").exists() for parent in place.resolve().parents):
        raise UsageError(
            f"--output: {output} lies in a git checkout, where text of the corpus could be committed and its "
            "licence broken; name a file outside of it"
        )
    return place


def _compared(baseline: Path, folder: Path, despite: Collection[str]) -> Compared:
    document = compare(baseline, folder, despite=despite).document()
    return Compared(document, list(Evidence(baseline).rows))


def _texts(evidence: Evidence) -> Texts:
    corpus: Corpus | None = evidence.corpus
    assert corpus is not None
    pins = evidence.run["corpus"]
    if corpus.sha256 != pins["sha256"]:
        raise UsageError(
            f"--corpus: {corpus.path} has sha256 {corpus.sha256[:12]}…, the corpus of the run "
            f"{pins['sha256'][:12]}…; name the file that was measured"
        )
    return Texts(
        {question.key: question.text for question in corpus.questions},
        {(segment.project, segment.id): segment.text for segment in corpus.segments},
    )


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "render report.html of a finished run anew, with another run or the corpus beside it if asked"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="results folder of a run")
    parser.add_argument(
        "--compare", type=Path, metavar="BASELINE", help="results folder of a run to compare it with"
    )
    parser.add_argument(
        "--despite", type=_names, default=(), metavar="C,C,…",
        help="compare although these conditions differ, and label the result",
    )  # fmt: skip
    parser.add_argument(
        "--corpus", type=Path, metavar="PATH", help="the corpus file or its folder: show its text, too"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help=f"where the page goes (default: {PAGE} in DIR)"
    )
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """Print where the page is; 0."""
    print(
        render_report(
            options.folder,
            corpus=options.corpus,
            baseline=options.compare,
            despite=options.despite,
            output=options.output,
        )
    )
    return 0


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
