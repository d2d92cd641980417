"""From lessons without passages to lessons with them: batch by batch, each in a transaction of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
import psycopg

from pgmnemo import calls
from pgmnemo.calls import execute
from pgmnemo.embedders import Embedder, pad
from pgmnemo.embedders.embedding import embed_texts
from pgmnemo.embedders.spans import KNOWN, known_share
from pgmnemo.errors import UsageError
from pgmnemo.passages.estimate import estimated_spans
from pgmnemo.passages.pieces import MOST, USUAL, Meter, passages_within
from pgmnemo.passages.windows import WINDOWS, turns_of
from pgmnemo.progress import QUIET, Progress, expected
from pgmnemo.records import Matrix, Passage

BATCH = 100  # lessons
LONG = 10.0  # seconds from which an estimate is worth a line
WIDTHS = (384, 768, 1024)  # at which vectors are stored

HAS = (
    "SELECT to_regproc('pgmnemo.list_bare') IS NOT NULL, to_regclass('pgmnemo.lessons') IS NOT NULL, "
    "to_regproc('pgmnemo.embedder') IS NOT NULL"
)
BARE = "pgmnemo.list_bare(%(tenant)s, %(after)s, %(most)s)"
FORMER_BARE = """
(SELECT l.id, l.content FROM {lessons} l
  WHERE l.tenant_id = %(tenant)s AND l.active AND l.id > %(after)s AND NOT EXISTS (
        SELECT FROM {passages} p
         WHERE p.tenant_id = l.tenant_id AND p.lesson_id = l.id AND p.number > 0)
  ORDER BY l.id LIMIT %(most)s)
"""
COUNT = "SELECT count(*) FROM {bare} l"
NEXT = "SELECT l.id, l.content FROM {bare} l ORDER BY l.id"
STILL = """
SELECT l.id FROM unnest(%(ids)s::bigint[], %(contents)s::text[]) AS g (id, content)
JOIN {bare} l ON l.id = g.id AND l.content = g.content
ORDER BY l.id
"""
ALL = 2**31 - 1
ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
STORED = "SELECT dimensions FROM pgmnemo.embedder(%(tenant)s)"
FORMER_STORED = (
    "SELECT DISTINCT width FROM {passages} WHERE tenant_id = %(tenant)s AND number = 0 AND width IS NOT NULL"
)

ATTEMPTS = 10  # at writing a batch that others write at the same time

Connection = psycopg.Connection[Any]
Lessons = dict[int, tuple[Passage, ...]]


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the lessons that had no passages."""

    lessons: int = 0  # that have some now
    passages: int = 0  # that these have
    changed: int = 0  # lessons that somebody else wrote meanwhile: the next run looks at them
    wordless: int = 0  # lessons without a word to cut
    long: int = 0  # lessons of more than 1,000 passages


@dataclass(frozen=True, slots=True)
class Held:
    """A tenant's rows as an ordinary role reads them.

    `bare` are its active lessons without passages, in order of id, those after an id and at most so many: by
    a verb from 0.4.1 on, in 0.4.0 by views, each of which reads the whole tenant, and before from the tables.
    """

    connection: Connection
    tenant: UUID
    bare: str
    passages: str
    stored: str

    @classmethod
    def of(cls, connection: Connection, tenant: UUID) -> Held:
        """By what the extension of this database has."""
        [(verb, views, spaces)] = connection.execute(HAS).fetchall()
        lessons, passages = (
            ("pgmnemo.lessons", "pgmnemo.passages") if views else ("pgmnemo.lesson", "pgmnemo.passage")
        )
        former = FORMER_BARE.format(lessons=lessons, passages=passages)
        return cls(
            connection, tenant, BARE if verb else former, passages, STORED if spaces else FORMER_STORED
        )

    def read(self, query: str, after: int = 0, most: int = ALL, **given: object) -> list[tuple[Any, ...]]:
        """All rows of a query over {bare} and {passages}."""
        named = query.format(bare=self.bare, passages=self.passages)
        values = {"tenant": self.tenant, "after": after, "most": most, **given}
        return self.connection.execute(named.encode(), values).fetchall()


def add_passages(
    connection: Connection, tenant: UUID, embedder: Embedder | None = None, progress: Progress = QUIET
) -> Added:
    """Cut, embed and write the passages of every active lesson of `tenant` that has none.

    Without an embedder passages are found by their words alone. What is written stays when the work is cut
    off, and the next call goes on from there. UsageError for an embedder that is not that of the lessons.
    """
    held = Held.of(connection, tenant)
    if embedder is not None:
        _check_width(held, embedder)
    [(total,)] = held.read(COUNT)
    if embedder is not None and total:
        embedder.load(progress)
    done, began = Added(), time.perf_counter()
    batches = progress.track(_batches(held), "batches of lessons", -(-total // BATCH))
    for number, batch in enumerate(batches):
        done = _add(held, batch, embedder, done)
        if number == 0:
            _estimate((time.perf_counter() - began) * (total / BATCH - 1), total, progress)
    return done


def _check_width(held: Held, embedder: Embedder) -> None:
    """Vectors of two models cannot be compared; where even their widths differ, that can be told."""
    name, own = embedder.identity.name, embedder.identity.dimensions
    stored = sorted(int(row[0]) for row in held.read(held.stored))
    fitting = {own, min((width for width in WIDTHS if width >= own), default=own)}
    if stored and fitting.isdisjoint(stored):
        raise UsageError(
            f"the lessons of the tenant {held.tenant} have vectors of {' and '.join(map(str, stored))} "
            f"dimensions, and {name} gives {own}; name the embedder that made them, or none"
        )


def _batches(held: Held) -> Iterator[dict[int, str]]:
    """Texts of lessons without passages by their ids, in order of id."""
    after = 0
    while True:
        rows = held.read(NEXT, after, BATCH)
        if not rows:
            return
        yield dict(rows)
        after = rows[-1][0]


def _add(held: Held, batch: Mapping[int, str], embedder: Embedder | None, done: Added) -> Added:
    meter = _meter(embedder)
    cut: Lessons = {lesson: _cut(content, meter) for lesson, content in batch.items()}
    wanted = {lesson: found for lesson, found in cut.items() if 0 < len(found) <= MOST}
    vectors = _vectors(wanted, embedder)
    given = _write(held, {lesson: batch[lesson] for lesson in wanted}, wanted, vectors)
    return replace(
        done,
        lessons=done.lessons + len(given),
        passages=done.passages + sum(len(wanted[lesson]) for lesson in given),
        changed=done.changed + len(wanted) - len(given),
        wordless=done.wordless + sum(not found for found in cut.values()),
        long=done.long + sum(len(found) > MOST for found in cut.values()),
    )


def _cut(content: str, meter: Meter) -> tuple[Passage, ...]:
    turns, chat = turns_of(content)
    return passages_within(turns, replace(meter, characters=WINDOWS.characters) if chat else meter)


def _meter(embedder: Embedder | None) -> Meter:
    """What an embedder reads of a passage; by estimate where nobody can tell."""
    if embedder is None or embedder.token_spans([""]) is None:
        return Meter(estimated_spans, USUAL)
    identity = embedder.identity
    return Meter.of_tokens(
        lambda texts: embedder.token_spans(texts) or [], identity.max_tokens, [identity.document_prefix]
    )


def _known(texts: Mapping[str, str], embedder: Embedder) -> dict[str, str]:
    """Texts whose script the embedder knows, by what they are of."""
    spans = embedder.token_spans(list(texts))
    if spans is None:
        return dict(texts)
    return {
        text: where
        for (text, where), some in zip(texts.items(), spans, strict=True)
        if known_share(text, some) >= KNOWN
    }


def _vectors(lessons: Lessons, embedder: Embedder | None) -> dict[str, Matrix] | None:
    """The stored row of each distinct text; None without an embedder."""
    if embedder is None:
        return None
    places: dict[str, str] = {}
    for lesson, passages in lessons.items():
        for number, passage in enumerate(passages, start=1):
            places.setdefault(passage.embedded, f"passage {number} of lesson {lesson}")
    rows = embed_texts(_known(places, embedder), embedder)
    if not rows:
        return {}
    matrix = np.stack(list(rows.values()))
    return dict(zip(rows, pad(matrix, max(WIDTHS[-1], matrix.shape[1])), strict=True))


def _write(
    held: Held, contents: Mapping[int, str], lessons: Lessons, vectors: Mapping[str, Matrix] | None
) -> list[int]:
    """Write those whose text is still the one that was cut; the ids of the lessons that got passages.

    Who changes one of them meanwhile is noticed, for the verb writes the lesson's row; then all of it begins
    again, and psycopg's error is raised where that happens ATTEMPTS times.
    """
    for _ in range(ATTEMPTS - 1):
        with suppress(psycopg.errors.SerializationFailure):
            return _write_once(held, contents, lessons, vectors)
    return _write_once(held, contents, lessons, vectors)


def _write_once(
    held: Held, contents: Mapping[int, str], lessons: Lessons, vectors: Mapping[str, Matrix] | None
) -> list[int]:
    with held.connection.transaction():
        held.connection.execute(ONE_MOMENT)
        first = min(contents, default=0) - 1
        rows = held.read(STILL, first, BATCH, ids=list(contents), contents=list(contents.values()))
        still = [int(row[0]) for row in rows]
        return [one for one in still if _give(held.connection, one, lessons[one], vectors)]


def _give(
    connection: Connection, lesson: int, passages: tuple[Passage, ...], vectors: Mapping[str, Matrix] | None
) -> bool:
    texts = [passage.text for passage in passages]
    rows = None if vectors is None else [vectors.get(passage.embedded) for passage in passages]
    return execute(connection, calls.add_passages(lesson, texts, rows))


def _estimate(seconds: float, lessons: int, progress: Progress) -> None:
    if seconds >= LONG:
        progress.say(f"the {lessons:,} lessons without passages will take {expected(seconds)}")
