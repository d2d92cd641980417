"""Asks a corpus of one node and of the router, and compares the answers byte by byte.

Each conversation or haystack is a tenant of its own on both sides, spread over the shards behind the router.
Everything that a recall returns is compared but the lesson's number, which each database gives in its order.

    python -m shards.same locomo --embedder minilm
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID, uuid5

import numpy as np
from cyclopts import App

from runner.database.bench_database import create
from runner.database.extension import install
from runner.database.releases import default_version
from runner.database.sentences import connect
from runner.database.server_checks import Session, value
from runner.embedders import EMBEDDERS, EmbedderOptions, default_cache_dir, embed_corpus, rows_of
from runner.ending import ended
from runner.errors import GateError
from runner.progress import Progress
from runner.records import Corpus, Matrix, Segment, Vectors, opaque
from runner.suites import SUITES
from shards import local
from shards.installing import open_operator
from shards.local import Local
from shards.temporary import temporary

NAMESPACE = UUID("5f1c3c08-07a8-4e0f-9c0f-2b6a40a5b8a1")
LOGIN, ALONE, WIDTH, DEPTH = "asker", "alone", 1024, 50
LATE = datetime(2020, 1, 1, tzinfo=UTC)  # "now" of questions without a date: both sides ask at one moment
STORE = """
SELECT pgmnemo.store(%s, %s, %s, %s, %s::real[], role => %s, topic => %s, importance => %s,
    occurred_at => %s, passages => %s::text[], passage_embeddings => %s::public.vector[], "position" => %s)
"""
LINK = "SELECT pgmnemo.link(%s, %s, %s, %s, %s, %s, %s, %s)"
RECALL = "SELECT * FROM pgmnemo.recall(%s, %s::real[], %s, %s, as_of => %s)"
SETTINGS = "-c pgmnemo.gate_strict=off"


@dataclass(frozen=True, slots=True)
class Compared:
    """What was asked. `shards`: tenants on each; `size` and `digest` (SHA-256) are of one side's answers in
    bytes; `differing` are the numbers of the questions whose answers differ.
    """

    version: str
    questions: int
    shards: tuple[int, ...]
    size: int
    digest: str
    differing: tuple[int, ...]


def same(site: Local, corpus: Corpus, vectors: Vectors, progress: Progress) -> Compared:
    """Load `corpus` into one node and through the router of `site`, and ask both every question."""
    with open_operator(site.conninfo("shard1")) as shard:
        version = str(value(shard, "SELECT pgmnemo.version()"))
    names = dict.fromkeys(segment.project for segment in corpus.segments)
    tenants = {name: uuid5(NAMESPACE, name) for name in names}
    shards = _granted(site, list(tenants.values()))
    one = connect({**site.conninfo("shard1", ALONE), "user": LOGIN, "options": SETTINGS})
    many = connect({**site.conninfo(), "user": LOGIN, "options": SETTINGS})
    with one, many:
        lessons = list(enumerate(corpus.segments))
        for number, segment in progress.track(lessons, "store", len(lessons)):
            row = _row(tenants[segment.project], segment, vectors.segments[number], vectors)
            for side in (one, many):
                side.execute(STORE, row)
        for edge in corpus.edges:
            tenant, ends = tenants[edge.project], (opaque(edge.source), opaque(edge.target))
            times = (edge.valid_from, edge.valid_to)
            for side in (one, many):
                side.execute(LINK, (tenant, tenant, *ends, edge.kind, edge.weight, *times))
        digest, size, differing = sha256(), 0, []
        for number, question in enumerate(progress.track(corpus.questions, "ask", len(corpus.questions))):
            given = (_padded(vectors.questions[number]), DEPTH, question.text, question.as_of or LATE)
            here, there = (_answer(side, tenants[question.project], given) for side in (one, many))
            digest.update(here)
            size += len(here)
            if here != there:
                differing.append(number)
    return Compared(version, len(corpus.questions), shards, size, digest.hexdigest(), tuple(differing))


def part_of(corpus: Corpus, most: int | None) -> Corpus:
    """Its first `most` conversations or haystacks, whole; None: all."""
    names = dict.fromkeys(segment.project for segment in corpus.segments)
    kept = set(list(names)[:most])
    return replace(
        corpus,
        segments=tuple(segment for segment in corpus.segments if segment.project in kept),
        questions=tuple(question for question in corpus.questions if question.project in kept),
        edges=tuple(edge for edge in corpus.edges if edge.project in kept),
    )


def _granted(site: Local, tenants: Sequence[UUID]) -> tuple[int, ...]:
    """Grants on both sides; how many tenants lie on each shard. The one node is a database of its own."""
    with open_operator(site.conninfo("shard1")) as shard:
        create(shard, ALONE, "shard1")
    with open_operator(site.conninfo()) as router, connect(site.conninfo("shard1", ALONE)) as alone:
        install(alone, default_version())
        router.execute("SELECT pgmnemo.create_login(%s)", (LOGIN,))
        for tenant in tenants:
            for side in (router, alone):
                side.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, LOGIN))
        rows = router.execute("SELECT count(*) FROM directory.tenant GROUP BY shard ORDER BY shard")
        return tuple(count for (count,) in rows.fetchall())


def _row(tenant: UUID, segment: Segment, vector: Matrix, vectors: Vectors) -> tuple[object, ...]:
    texts = [passage.text for passage in segment.passages] or None
    found = rows_of(vectors, segment.passages)
    rows = None if found is None else [_text(row) for row in found]
    return (
        tenant, tenant, segment.external_id, segment.text, _padded(vector), segment.role, segment.topic,
        segment.importance, segment.occurred_at, texts, rows, segment.position,
    )  # fmt: skip


def _padded(vector: Matrix) -> list[float]:
    return [*map(float, np.asarray(vector, dtype=np.float32)), *[0.0] * (WIDTH - len(vector))]


def _text(vector: Matrix) -> str:
    return "[" + ",".join(map(repr, _padded(vector))) + "]"


def _answer(side: Session, tenant: UUID, given: Sequence[object]) -> bytes:
    """A recall as bytes: every column but lesson_id, floats to the last bit."""
    rows = side.execute(RECALL, (tenant, *given)).fetchall()
    return "\n".join(repr(row[1:]) for row in rows).encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where an answer differs."""
    app = App(
        name="python -m shards.same",
        help=(__doc__ or "").split("\n")[0],
        help_format="plaintext",
        version_flags=(),
    )

    @app.default
    def compare(suite: str, *, embedder: str = "minilm", shards: int = 3, most: int | None = None) -> None:
        """Compare one node with a router, on a cluster of its own.

        Parameters
        ----------
        most
            conversations or haystacks of the corpus, the first ones; else all
        """
        progress = Progress()
        parts = SUITES[suite]
        corpus = part_of(parts.load(parts.locate(None, os.environ)), most)
        model = EMBEDDERS[embedder](EmbedderOptions())
        vectors = embed_corpus(corpus, model, default_cache_dir(), progress, passages=True)
        with temporary() as folder:
            try:
                found = same(local.up(folder, shards, volatile=True), corpus, vectors, progress)
            finally:
                local.down(folder)
        spread = ", ".join(map(str, found.shards))
        print(
            f"{suite}, {embedder}, pgmnemo {found.version}: {found.questions:,} questions, "
            f"tenants on the shards: {spread}; {found.size:,} bytes (sha256 {found.digest[:12]}), "
            f"{len(found.differing)} answers differ"
        )
        if found.differing:
            raise GateError(f"the answers to questions {found.differing[:10]} differ")

    tokens = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: int(app(tokens, result_action="return_value") or 0))


if __name__ == "__main__":
    sys.exit(main())
