"""The arms are what they are called: ranks of the extension, BM25, exact cosine, chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runner.database import open_database
from runner.embedders import EMBEDDERS, EmbedderOptions, embed_corpus
from runner.errors import UsageError
from runner.protocol import load_protocol
from runner.records import Corpus, SearchScope, Segment, Vectors
from runner.suites import SUITES
from runner.systems import Asked, Inputs, System, Tenant, TimedSystem, build_systems, open_tenant

K1, B = 0.9, 0.4  # the extension's defaults


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    sample = SUITES["sample"]
    return sample.load(sample.locate(None, {}))


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> Vectors:
    return embed_corpus(corpus, EMBEDDERS["hash"](EmbedderOptions()), None)


@pytest.fixture(scope="module")
def asked(corpus: Corpus) -> list[Asked]:
    return [Asked(position, question) for position, question in enumerate(corpus.questions)]


@pytest.fixture(scope="module")
def tenant(server: Any, sql: Path, corpus: Corpus, vectors: Vectors) -> Iterator[Tenant]:
    protocol = load_protocol()
    inputs = Inputs(corpus, vectors, protocol.depth, protocol.seed)
    settings = {name: str(value) for name, value in protocol.settings.items()}
    with (
        open_database("0.2.1", dsn=server.dsn(), environ={}, sql=sql) as database,
        open_tenant(database, inputs, settings, protocol.width) as tenant,
    ):
        tenant.ingest()
        yield tenant


def arm(tenant: Tenant, name: str, mode: str = "hybrid") -> System:
    return next(system for system in build_systems(tenant, mode) if system.name == name)


def rankings(system: System, asked: list[Asked], scope: SearchScope) -> list[list[str]]:
    return [[hit.id for hit in answer.ranking] for answer in system.answers(asked, scope)]


@pytest.fixture(params=["conversation", "pool"])
def scope(request: pytest.FixtureRequest, corpus: Corpus) -> SearchScope:
    return next(scope for scope in corpus.scopes if scope.name == request.param)


def places(corpus: Corpus, one: Asked, scope: SearchScope) -> list[int]:
    """Positions of the segments of a scope, in tie order."""
    inside = [n for n, s in enumerate(corpus.segments) if scope.pooled or s.project == one.question.project]
    return sorted(inside, key=lambda n: corpus.segments[n].external_id)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_first_ten_of_fifty_are_those_of_ten(
    mode: str, tenant: Tenant, asked: list[Asked], scope: SearchScope
) -> None:
    system = arm(tenant, "pgmnemo", mode)
    assert isinstance(system, TimedSystem)
    fifty = [answer.ranking[:10] for answer in system.answers(asked, scope)]
    ten = [answer.ranking for answer in system.timed(asked, scope, 10)]
    assert fifty == ten


def test_the_keyword_arm_is_bm25(
    tenant: Tenant, asked: list[Asked], scope: SearchScope, corpus: Corpus, lexemes: dict[str, Counter[str]]
) -> None:
    """Against BM25 written anew over the server's own words: OR of all terms, statistics over the tenant."""
    for one, found in zip(asked, rankings(arm(tenant, "bm25"), asked, scope), strict=True):
        scores = bm25(lexemes[one.question.text], [lexemes[indexed(s)] for s in corpus.segments])
        inside = places(corpus, one, scope)
        best = sorted((n for n in inside if scores[n] > 0), key=lambda n: -round(scores[n], 9))
        assert found[: len(best)] == [corpus.segments[n].id for n in best][:50]


def bm25(terms: Counter[str], texts: list[Counter[str]]) -> list[float]:
    mean = sum(map(Counter.total, texts)) / len(texts)
    scores = []
    for text in texts:
        norm = K1 * (1 - B + B * text.total() / mean)
        scores.append(sum(idf(term, texts) * text[term] * (K1 + 1) / (text[term] + norm)
                          for term in sorted(terms) if term in text))  # fmt: skip
    return scores


def idf(term: str, texts: list[Counter[str]]) -> float:
    holding = sum(term in text for text in texts)
    return math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))


def indexed(segment: Segment) -> str:
    return "\n".join(filter(None, (segment.topic, segment.text)))


@pytest.fixture(scope="module")
def lexemes(server: Any, corpus: Corpus, tenant: Tenant) -> dict[str, Counter[str]]:
    """How often each word stands in each text, as PostgreSQL cuts it."""
    texts = [indexed(s) for s in corpus.segments] + [q.text for q in corpus.questions]
    query = "SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector('english', %s))"
    with tenant.connect() as connection:
        return {text: Counter(dict(connection.execute(query, (text,)).fetchall())) for text in texts}


def test_the_cosine_arm_is_exact(
    tenant: Tenant, asked: list[Asked], scope: SearchScope, corpus: Corpus, vectors: Vectors
) -> None:
    for one, found in zip(asked, rankings(arm(tenant, "cosine"), asked, scope), strict=True):
        cosines = vectors.segments.astype(np.float64) @ vectors.questions[one.position].astype(np.float64)
        best = sorted(places(corpus, one, scope), key=lambda n: -round(float(cosines[n]), 6))
        assert [round(float(cosines[ids(corpus)[f]]), 5) for f in found] == [
            round(float(cosines[n]), 5) for n in best[:50]
        ]


def ids(corpus: Corpus) -> dict[str, int]:
    return {segment.id: position for position, segment in enumerate(corpus.segments)}


def test_chance_is_decided_by_the_seed_and_touches_every_segment_once(
    tenant: Tenant, asked: list[Asked], scope: SearchScope, corpus: Corpus
) -> None:
    once, again = (rankings(arm(tenant, "random"), asked, scope) for _ in range(2))
    assert once == again
    assert len({tuple(ranking) for ranking in once}) == len(asked)
    for one, ranking in zip(asked, once, strict=True):
        inside = {corpus.segments[n].id for n in places(corpus, one, scope)}
        assert set(ranking) == inside
        assert len(ranking) == len(inside)


def test_an_unknown_mode_is_wrong_use(tenant: Tenant) -> None:
    with pytest.raises(
        UsageError, match="there is no mode 'sideways'; choose one of: hybrid, vector, keyword"
    ):
        build_systems(tenant, "sideways")
