"""What may be ranked, for whoever wants to rank it: the questions and lessons of a corpus under their ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from pgmnemo.errors import UsageError
from runner.protocol.editions import current
from runner.protocol.suites import SUITES
from runner.records import Corpus, Json
from runner.runs.canonical import compact
from runner.runs.storage import reported

QUERIES, DOCUMENTS = "queries.jsonl", "documents.jsonl"


def write_ids(
    folder: Path, suite: str, *, granularity: str | None = None, data: Path | None = None
) -> Corpus:
    """Write queries.jsonl (the questions that are scored) and documents.jsonl (the lessons) into a folder.

    A line holds id, project, text and time (of a question `as_of`); no gold and no type. Raises UsageError
    where one of the files is there already.
    """
    parts, folder = SUITES[suite], folder.expanduser()
    corpus = parts.load(parts.locate(data, os.environ), granularity, edition=current())
    there = next((name for name in (QUERIES, DOCUMENTS) if (folder / name).exists()), None)
    if there:
        raise UsageError(f"--ids: {folder / there} is there, and nothing is overwritten; name another folder")
    with reported(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / QUERIES, _queries(corpus))
        _write(folder / DOCUMENTS, _documents(corpus))
    return corpus


def _write(path: Path, records: Iterable[Json]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{compact(record)}\n" for record in records)


def _queries(corpus: Corpus) -> Iterator[Json]:
    for one in corpus.questions:
        if one.scored:
            yield {"id": one.key, "project": one.project, "text": one.text, "as_of": _time(one.as_of)}


def _documents(corpus: Corpus) -> Iterator[Json]:
    for one in corpus.segments:
        yield {"id": one.id, "project": one.project, "text": one.text, "time": _time(one.occurred_at)}


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def lines(corpus: Corpus, folder: Path) -> Iterator[str]:
    """For people: what was written, and what a ranking is of."""
    scored = sum(question.scored for question in corpus.questions)
    yield f"{folder / QUERIES}: {scored:,} questions"
    yield f"{folder / DOCUMENTS}: {len(corpus.segments):,} lessons, one for each {corpus.granularity}"
    for scope in corpus.scopes:
        where = "all lessons" if scope.pooled else "the lessons of its own project"
        yield f"scope {scope.name}: rank {where} for each question"
