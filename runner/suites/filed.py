"""A corpus of many files in a folder, read one by one, whose lessons stand on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from runner.errors import CorpusError
from runner.records import Corpus, Question, SearchScope, Segment
from runner.suites.reading import Source
from runner.suites.shape import counted
from runner.suites.shelf import Shelf
from runner.suites.suite import Suite, Write
from runner.texts import Session

Lessons = Iterable[tuple[Segment, Session]]
Parts = Callable[[Source, str, str], Iterator[tuple[Lessons, Iterable[Question]]]]
"""The lessons and questions of each project in one file; given the folder, the file's name and the level."""


def filed(
    name: str, title: str, levels: Sequence[str], types: Sequence[str], files: Sequence[str], parts: Parts
) -> Suite:
    """The suite of such a corpus; `files` are the patterns that its files have, the first one shown."""

    def read(source: Source, level: str, write: Write) -> Corpus:
        shelf, questions = Shelf(write), list[Question]()
        for file in _names(source, title, files):
            for lessons, asked in parts(source, file, level):
                for head, session in lessons:
                    shelf.add(head, session)
                questions += asked
        return Corpus(
            suite=name,
            path=str(source.path),
            sha256=source.sha256(),
            files=source.files,
            granularity=level,
            segments=shelf,
            questions=tuple(questions),
            scopes=(SearchScope("conversation"),),
            shape=counted(shelf, questions, types),
        )

    return Suite(
        name=name, title=title, levels=tuple(levels), types=tuple(types), read=read, folder_of=tuple(files)
    )


def _names(source: Source, title: str, files: Sequence[str]) -> Sequence[str]:
    if names := source.names(*files):
        return names
    raise CorpusError(f"the folder {source.path} holds no file of {title} ({files[0]}); fetch it again")
