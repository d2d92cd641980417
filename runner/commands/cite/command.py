"""`python -m runner cite DIR`: the citation of a run; `cite --check FILE…`: marked figures in documents."""

from __future__ import annotations

from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.terminal import say
from runner.commands.cite import marks
from runner.commands.cite.citation import cite


def cite_command(
    *places: Path,
    previous: Path | None = None,
    bibtex: bool = False,
    write: bool = False,
    check: bool = False,
    root: Path | None = None,
) -> int:
    """Write the release-note paragraph of protocol §8 from a run's artefacts; notes go to standard error.

    With --write or --check the command fills in or checks the marked figures of documents instead.

    Args:
        places: results folder of a run; with --check or --write Markdown files
        previous: results folder of an earlier version's comparable run
        bibtex: print a BibTeX entry instead of the paragraph
        write: fill in the marked figures of Markdown files
        check: check the marked figures of Markdown files against the artefacts
        root: folder that contains benchmarks/ (default: this repository)
    """
    if write and check:
        raise UsageError("cite takes --write or --check, not both")
    if write or check:
        if previous or bibtex:
            raise UsageError("--previous and --bibtex are of a run's citation, not of documents")
        return _documents(places, write, root)
    if len(places) != 1:
        raise UsageError("cite takes one results folder, or --check or --write with Markdown files")
    return _run(places[0], previous, bibtex)


def _run(folder: Path, previous: Path | None, bibtex: bool) -> int:
    citation = cite(folder, previous=previous)
    say(citation.bibtex if bibtex else citation.text)
    for note in citation.notes:
        say(f"note: {note}", error=True)
    return 0


def _documents(files: tuple[Path, ...], filled: bool, root: Path | None) -> int:
    """Check or fill the marked figures; return 1 if a fault remains, else 0.

    Prints faults to standard output, and figures of other authors and counts to standard error.
    """
    if not files:
        raise UsageError("cite takes one Markdown file or more behind --check or --write")
    report = (marks.write if filled else marks.check)(files, root=root)
    for finding in report.findings:
        say(finding)
    for one in () if filled else report.borrowed:
        say(one, error=True)
    counts = f"files: {report.files}; marks: {report.marks}; of others: {len(report.borrowed)}"
    say(f"{counts}; to mend: {len(report.findings)}", error=True)
    return 0 if report.passed else 1
