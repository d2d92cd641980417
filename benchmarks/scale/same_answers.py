"""Asks a corpus of one node and of the router, and compares the answers byte by byte.

Each conversation or haystack is a tenant of its own on both sides, spread over the shards behind the router.
Everything that a recall returns is compared but the lesson's number, which each database gives in its order.

    python benchmarks/scale/same_answers.py locomo --embedder minilm
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

from pgmnemo.calls import Call, Rows, execute, grant_tenant, link, recall, store
from pgmnemo.cli_main import run_cli
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions, default_cache_dir
from pgmnemo.errors import CheckError
from pgmnemo.postgres.bench_database import create
from pgmnemo.postgres.connections import connect
from pgmnemo.postgres.extension import install
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo.progress import Progress
from pgmnemo.records import Matrix
from pgmnemo_shards import local
from pgmnemo_shards.installing import open_operator
from pgmnemo_shards.local import Local
from pgmnemo_shards.temporary_folder import temporary_folder
from runner.protocol.datasets import SUITES
from runner.protocol.templates.embedding import embed_corpus, rows_of
from runner.records import Corpus, CorpusVectors, Segment, opaque

NAMESPACE = UUID("5f1c3c08-07a8-4e0f-9c0f-2b6a40a5b8a1")
LOGIN, ALONE, DEPTH = "asker", "alone", 50
LATE = datetime(2020, 1, 1, tzinfo=UTC)  # "now" of questions without a date: both sides ask at one moment
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


def same(site: Local, corpus: Corpus, vectors: CorpusVectors, progress: Progress) -> Compared:
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
                execute(side, row)
        for edge in corpus.edges:
            tenant, ends = tenants[edge.project], (opaque(edge.source), opaque(edge.target))
            linked = link(
                tenant, tenant, *ends, edge.kind, weight=edge.weight, valid_from=edge.valid_from,
                valid_to=edge.valid_to,
            )  # fmt: skip
            for side in (one, many):
                execute(side, linked)
        digest, size, differing = sha256(), 0, []
        for number, question in enumerate(progress.track(corpus.questions, "ask", len(corpus.questions))):
            asked = recall(
                tenants[question.project], embedding=_numbers(vectors.questions[number]), k=DEPTH,
                query_text=question.text, as_of=question.as_of or LATE,
            )  # fmt: skip
            here, there = (_answer(side, asked) for side in (one, many))
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
                execute(side, grant_tenant(tenant, LOGIN))
        rows = router.execute("SELECT count(*) FROM directory.tenant GROUP BY shard ORDER BY shard")
        return tuple(count for (count,) in rows.fetchall())


def _row(tenant: UUID, segment: Segment, vector: Matrix, vectors: CorpusVectors) -> Call[str]:
    texts = [passage.text for passage in segment.passages] or None
    found = rows_of(vectors, segment.passages)
    rows = None if found is None else "{" + ",".join(f'"{_text(row)}"' for row in found) + "}"
    return store(
        tenant, tenant, segment.external_id, segment.text, embedding=_numbers(vector), role=segment.role,
        topic=segment.topic, importance=segment.importance, occurred_at=segment.occurred_at, passages=texts,
        passage_embeddings=rows, position=segment.position,
    )  # fmt: skip


def _numbers(vector: Matrix) -> list[float]:
    return [float(number) for number in np.asarray(vector, dtype=np.float32)]


def _text(vector: Matrix) -> str:
    return "[" + ",".join(map(repr, _numbers(vector))) + "]"


def _answer(side: Session, asked: Call[Rows]) -> bytes:
    """Return a recall as bytes: every column but lesson_id, floats to the last bit."""
    return "\n".join(repr(row[1:]) for row in execute(side, asked)).encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the command; 1 where an answer differs."""
    app = App(
        name="python benchmarks/scale/same_answers.py",
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
        with temporary_folder() as folder:
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
            raise CheckError(f"the answers to questions {found.differing[:10]} differ")

    tokens = list(sys.argv[1:] if arguments is None else arguments)
    return run_cli(lambda: int(app(tokens, result_action="return_value") or 0))


if __name__ == "__main__":
    sys.exit(main())
