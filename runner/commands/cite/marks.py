"""Fill the marked figures of documents, or check them against the artefacts of runs.

docs/howto/compare.md lists the kinds of marks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from pgmnemo.errors import PgmnemoError, UsageError, os_errors
from runner.commands.cite.document import CiteMark, Document
from runner.commands.cite.mark_contents import FROM, MarkContent, mark_content
from runner.commands.cite.run_cache import RunCache
from runner.commands.cite.systems_table import TITLE
from runner.commands.compare.compared_run import ComparedRun
from runner.paths import ROOT
from runner.protocol.editions import OlderEdition
from runner.runs.output import check_output
from runner.runs.storage import DOCUMENT, read_regular


@dataclass(frozen=True, slots=True, order=True)
class DocumentFinding:
    """A fault in a document, or a figure of another author, as one sentence with its file and line."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings in some documents.

    `marks` counts the figures that the program wrote; `borrowed` lists the figures of other authors.
    """

    findings: tuple[DocumentFinding, ...]
    borrowed: tuple[DocumentFinding, ...]
    marks: int
    files: int

    @property
    def passed(self) -> bool:
        """Return whether there are no faults."""
        return not self.findings


class Page:
    """A document and the content of its marks."""

    def __init__(self, file: Path, shelf: RunCache) -> None:
        self.file, self.shelf = file, shelf
        self.document = Document(_read(file))
        self.faults = [DocumentFinding(str(file), *fault) for fault in self.document.faults]
        self.answers = [(mark, self._answer(mark)) for mark in self.document.marks]

    def _answer(self, mark: CiteMark) -> MarkContent | None:
        """Return the content of a mark; None if the mark cites another author or has a fault."""
        try:
            if mark.words[:1] != (FROM,):
                return mark_content(self.shelf, self.file.parent, mark.words)
            if not mark.words[1:]:
                raise UsageError("the mark names no source: <!-- cite: from SOURCE -->")
        except OlderEdition as error:
            if str(error) not in self.shelf.older:  # report each run once
                self.shelf.older.add(str(error))
                self.faults.append(self.finding(mark.line, str(error)))
        except PgmnemoError as error:
            self.faults.append(self.finding(mark.line, str(error)))
        return None

    def finding(self, line: int, message: str) -> DocumentFinding:
        """Return a finding about this file."""
        return DocumentFinding(str(self.file), line, message)

    @property
    def borrowed(self) -> list[DocumentFinding]:
        """The figures of other authors, each with its source."""
        marks = (mark for mark in self.document.marks if mark.words[:1] == (FROM,))
        return [self.finding(mark.line, " ".join(mark.words)) for mark in marks]

    def differences(self) -> Iterator[DocumentFinding]:
        """Yield a finding for each mark and each plot that differs from the artefacts."""
        for mark, answer in self.answers:
            if answer and (body := self.document.body(mark)) != answer.text:
                at, told = _difference(body, answer.text)
                yield self.finding(self.document.line(mark.start) + at, f"{told} ({' '.join(mark.words)})")
            if answer and answer.drawn and not _holds(*answer.drawn):
                yield self.finding(
                    mark.line, f"{answer.drawn[0].name} is not the plot of these runs: `cite --write`"
                )

    def unsourced(self) -> Iterator[DocumentFinding]:
        """Yield a finding for each run whose figures the document uses without naming the run to readers."""
        named = {cited.folder for _, answer in self.answers if answer for cited in answer.named}
        for mark, answer in self.answers:
            for cited in answer.of if answer else ():
                if cited.folder not in named:
                    named.add(cited.folder)
                    yield self.finding(
                        mark.line, f"no reader sees which run this is of: add {_source(cited)}"
                    )

    def unmarked(self) -> Iterator[DocumentFinding]:
        """Yield a finding for each line with unmarked figures near a recall word."""
        for line, figures in self.document.unmarked():
            yield self.finding(
                line, f"{figures}: unmarked, near a word of recall; let `cite --write` write it"
            )

    def filled(self) -> str:
        """Return the text of the document with every mark filled in."""
        bodies = [answer.text if answer else self.document.body(mark) for mark, answer in self.answers]
        return self.document.filled(bodies)

    def faults_once_filled(self) -> list[DocumentFinding]:
        """Return the faults of the document, else those that filling it in would make."""
        if self.faults:
            return self.faults
        after = Document(self.filled())
        marks = list(zip(self.document.marks, after.marks, strict=False))
        lines = {fault: next((old.line for old, new in marks if new.line >= fault[0]), fault[0])
                 for fault in after.faults}  # fmt: skip
        return [self.finding(line, message) for (_, message), line in lines.items()]

    def contents(self) -> Iterator[tuple[Path, str]]:
        """Yield the files to write: the document if its text changes, and the plots that change."""
        if (text := self.filled()) != self.document.text:
            yield self.file, text
        for _, answer in self.answers:
            if answer and answer.drawn and not _holds(*answer.drawn):
                check_output("systems", answer.drawn[0], (".svg",), TITLE)
                yield answer.drawn


def check(files: Iterable[str | os.PathLike[str]], *, root: str | os.PathLike[str] | None = None) -> Report:
    """Return every fault in `files`: marks, their content, and figures without a mark.

    Runs are looked up under `root` (this repository, unless given) and next to each file. Raises UsageError
    when a file cannot be read.
    """
    return _report(
        _pages(files, root),
        lambda page: [*page.faults, *page.differences(), *page.unsourced(), *page.unmarked()],
    )


def write(files: Iterable[str | os.PathLike[str]], *, root: str | os.PathLike[str] | None = None) -> Report:
    """Fill every mark in `files`; if any has a fault, or would have it then, write nothing and report it."""
    pages = _pages(files, root)
    report = _report(pages, Page.faults_once_filled)
    if report.passed:
        for path, text in [content for page in pages for content in page.contents()]:
            _replace(path, text)
    return report


def _pages(files: Iterable[str | os.PathLike[str]], root: str | os.PathLike[str] | None) -> list[Page]:
    if root is not None and not Path(root).is_dir():
        raise UsageError(f"--root: there is no folder {root}; name the one that holds benchmarks/")
    shelf = RunCache(Path(root) if root is not None else ROOT)
    return [Page(Path(file), shelf) for file in files]


def _report(pages: list[Page], found: Callable[[Page], Iterable[DocumentFinding]]) -> Report:
    return Report(
        findings=tuple(finding for page in pages for finding in sorted(found(page))),
        borrowed=tuple(finding for page in pages for finding in page.borrowed),
        marks=sum(answer is not None for page in pages for _, answer in page.answers),
        files=len(pages),
    )


def _difference(body: str, text: str) -> tuple[int, str]:
    """Return the number of the first line that differs, from 0, and a sentence with both versions of it."""
    pairs = enumerate(zip_longest(body.split("\n"), text.split("\n"), fillvalue=""))
    at, (stands, belongs) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    here = f"`{stands}` stands here" if stands else "nothing stands here"
    says = f"`{belongs}`" if belongs else "nothing more"
    return min(at, body.count("\n")), f"{here}, the artefacts say {says}"


def _source(cited: ComparedRun) -> str:
    return f"<!-- cite: source {cited.run.choice.suite}/{cited.run.name} --><!-- /cite -->"


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def _read(path: Path) -> str:
    try:
        return read_regular(path, DOCUMENT, UsageError).decode()
    except UsageError as error:
        raise UsageError(f"{error}: name a Markdown file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text in UTF-8: name a Markdown file") from None


def _replace(path: Path, text: str) -> None:
    """Write the file atomically, with its existing permissions."""
    path = path.resolve()
    draft = path.with_name(f".{path.name}.draft")
    with os_errors(f"{path} cannot be written ({{why}}); it is as it was"):
        try:
            draft.write_bytes(text.encode())
            if path.exists():
                draft.chmod(path.stat().st_mode)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
