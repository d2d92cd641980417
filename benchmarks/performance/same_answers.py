"""Whether two versions of the extension answer alike, to the last bit.

    python benchmarks/performance/same_answers.py 0.4.0 0.4.1 --corpus locomo [--level turn] [--embedder NAME]
                                                        [--scopes S,S,…] [--kept] [--set NAME=VALUE]

Both store the same lessons with passages, positions, roles and links, and answer the same questions with the
50 best in every mode and scope. Two answers are alike where lessons, order, score and every component are:
numbers are compared by their bits. `--kept`: indexed and compacted, as a service keeps them. HNSW answers
approximately: with `--set exact_scan_limit=10000000` no graph serves, and what still differs is of something
else. Prints how many answers were compared and how many differ, and where; the exit status is 1 if one does.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions, default_cache_dir
from runner.bench.material import Asked, CorpusLessons, Material
from runner.naming import assigned
from runner.protocol.editions import current
from runner.protocol.suites import SUITES
from runner.protocol.texts.embedding import embed_corpus
from runner.records import Corpus
from runner.runs.choice import Choice
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


def answers(
    version: str,
    material: Material,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    kept: bool = False,
) -> list[Answer]:
    """Every answer of a version, mode by mode."""
    settings = {"gate_strict": "off", **(settings or {})}
    place = Place(folder, label=version, settings=settings, environ={}, durable=kept)
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


def where(first: Sequence[Answer], second: Sequence[Answer], scopes: Sequence[str]) -> Iterator[str]:
    """How many answers differ, for each mode and scope in which some do."""
    parts = [f"{mode}, {scope}" for mode in MODES for scope in scopes]
    size = len(first) // len(parts)
    for number, part in enumerate(parts):
        of_part = slice(number * size, (number + 1) * size)
        if wrong := differing(first[of_part], second[of_part]):
            yield f"{part}: {wrong:,} of {size:,}"


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
    told.add_argument("--scopes", help="S,S,…: scopes to search (default: the suite's own)")
    told.add_argument("--kept", action="store_true", help="indexed and compacted, as a service keeps them")
    told.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of both")
    given = told.parse_args()
    suite = SUITES[given.corpus]
    scopes = tuple(given.scopes.split(",")) if given.scopes else ()
    choice = Choice(suite=given.corpus, level=given.level or suite.levels[0], scopes=scopes)
    corpus = suite.chosen(suite.locate(None, os.environ), choice, current())
    settings = assigned(given.set, ",".join(given.set))
    embedder = EMBEDDERS[given.embedder](EmbedderOptions())
    material = material_of(corpus, embedder, default_cache_dir(os.environ))
    with TemporaryDirectory(prefix="pgmnemo-same-") as made:
        first, second = (
            answers(version, material, Path(made), settings, given.kept) for version in given.versions
        )
    names = [scope.name for scope in corpus.scopes]
    what = [corpus.suite, corpus.granularity, embedder.identity.name, *["kept"] * given.kept, *given.set]
    print(f"{', '.join(what)}; scopes: {', '.join(names)}; modes: {', '.join(MODES)}")
    wrong = differing(first, second)
    print(f"pgmnemo {' and '.join(given.versions)}: {len(first):,} answers compared, {wrong:,} differ")
    for line in where(first, second, names):
        print(line)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
