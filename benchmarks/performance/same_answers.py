"""Whether two versions of the extension answer alike, to the last bit.

    python benchmarks/performance/same_answers.py 0.4.0 0.4.1 --corpus locomo [--level turn] [--embedder NAME]

Both store the same lessons with passages, positions, roles and links, and answer the same questions with the
50 best in every mode and scope. Two answers are alike where lessons, order, score and every component are:
numbers are compared by their bits. Prints how many answers were compared and how many differ; the exit status
is 1 if one does.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions, default_cache_dir
from runner.bench.material import Asked, CorpusLessons, Material
from runner.protocol.suites import SUITES
from runner.protocol.texts.embedding import embed_corpus
from runner.records import Corpus
from runner.systems import Place, open_system
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.system import Match, Query

MODES = ("hybrid", "keyword", "vector")
DEPTH = 50
NOW = datetime(
    2020, 1, 1, tzinfo=UTC
)  # of a question without a moment; ahead of what is stored, so of one age
Answer = tuple[object, ...]


def material_of(corpus: Corpus, embedder: Embedder, cache: Path | None) -> Material:
    """A corpus with its vectors, ready to be loaded and asked."""
    vectors = embed_corpus(corpus, embedder, cache, passages=True)
    asked = tuple(Asked(place, question) for place, question in enumerate(corpus.questions))
    return Material(corpus, vectors, asked, CorpusLessons(corpus, vectors, "same"))


def queries_of(material: Material) -> list[Query]:
    """Every question in every scope."""
    return [
        replace(query, as_of=query.as_of or NOW)
        for scope in material.corpus.scopes
        for query in material.queries(material.asked, scope)
    ]


def answers(version: str, material: Material, folder: Path) -> list[Answer]:
    """Every answer of a version, mode by mode."""
    place = Place(folder, label=version, settings={"gate_strict": "off"}, environ={})
    queries = queries_of(material)
    with open_system(f"pgmnemo@{version}", place) as system:
        assert isinstance(system, Pgmnemo), "only versions of our own are compared"
        system.load(material.lessons)
        return [exact(found) for mode in MODES for found in asked(system, queries, mode)]


def asked(system: Pgmnemo, queries: Sequence[Query], mode: str) -> Iterator[Sequence[Match]]:
    """What one mode answers."""
    with closing(system.client({"mode": mode})) as client:
        for query in queries:
            yield client.ask(query, DEPTH)


def exact(matches: Sequence[Match]) -> Answer:
    """Lessons in their order, with the bits of score and components."""
    return tuple((one.number, bits(one.score), *map(bits, one.components)) for one in matches)


def bits(value: float | None) -> bytes | None:
    """A number as it is kept."""
    return None if value is None else struct.pack(">d", value)


def differing(first: Sequence[Answer], second: Sequence[Answer]) -> int:
    """How many answers are not alike; both must have as many."""
    return sum(one != other for one, other in zip(first, second, strict=True))


def main() -> int:
    """Compare, and say what was found."""
    told = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    told.add_argument("versions", nargs=2, metavar="VERSION")
    told.add_argument("--corpus", default="sample")
    told.add_argument("--level", help="what a lesson is (default: the suite's own)")
    told.add_argument("--embedder", default="minilm")
    given = told.parse_args()
    suite = SUITES[given.corpus]
    corpus = suite.load(suite.locate(None, os.environ), given.level)
    embedder = EMBEDDERS[given.embedder](EmbedderOptions())
    material = material_of(corpus, embedder, default_cache_dir(os.environ))
    with TemporaryDirectory(prefix="pgmnemo-same-") as made:
        first, second = (answers(version, material, Path(made)) for version in given.versions)
    scopes = ", ".join(scope.name for scope in corpus.scopes)
    where = f"{corpus.suite}, {corpus.granularity}, {embedder.identity.name}"
    print(f"{where}; scopes: {scopes}; modes: {', '.join(MODES)}")
    wrong = differing(first, second)
    print(f"pgmnemo {' and '.join(given.versions)}: {len(first):,} answers compared, {wrong:,} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
