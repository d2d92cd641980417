"""The arms are what they are called: ranks of the extension, BM25, exact cosine, chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from runner.bench.workload import CorpusLessons, IndexedQuestion, Workload
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.protocol.templates.embedding import embed_corpus
from runner.records import Corpus, CorpusVectors, SearchScope, Segment
from runner.systems import System, SystemContext, open_system
from runner.systems.controls import ExactCosine, RandomOrder
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.query_runner import AnswerValidator, ask_all, components_of, time_answers

K1, B = 0.9, 0.4  # the extension's defaults
DEPTH = current().retrieval.depth


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    sample = SUITES["sample"]
    return sample.load(sample.locate(None, {}))


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> CorpusVectors:
    return embed_corpus(corpus, EMBEDDERS["hash"](EmbedderOptions()), None)


@pytest.fixture(scope="module")
def asked(corpus: Corpus) -> list[IndexedQuestion]:
    return [IndexedQuestion(position, question) for position, question in enumerate(corpus.questions)]


@pytest.fixture(scope="module")
def material(corpus: Corpus, vectors: CorpusVectors, asked: list[IndexedQuestion]) -> Workload:
    return Workload(corpus, vectors, tuple(asked), CorpusLessons(corpus, vectors, "arms"))


@pytest.fixture(scope="module")
def pgmnemo(
    server: Any, sql: Path, material: Workload, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pgmnemo]:
    settings = {name: str(value) for name, value in current().settings.items()}
    folder = tmp_path_factory.mktemp("pgmnemo")
    place = SystemContext(folder, "0.2.1", "arms", settings, environ={}, dsn=server.dsn(), sql=sql)
    with open_system("pgmnemo", place) as system:
        system.load(material.lessons)
        assert isinstance(system, Pgmnemo)
        yield system


def rankings(
    system: System, material: Workload, asked: list[IndexedQuestion], scope: SearchScope,
    settings: Mapping[str, str] | None = None,
) -> list[list[str]]:  # fmt: skip
    judge = AnswerValidator("the system", material.lessons, components_of(system))
    found = ask_all(system, "the system", material.queries(asked, scope), DEPTH, judge, settings=settings)
    return [[hit.id for hit in material.hits(answer.matches)] for answer in found]


@pytest.fixture(params=["conversation", "pool"])
def scope(request: pytest.FixtureRequest, corpus: Corpus) -> SearchScope:
    return next(scope for scope in corpus.scopes if scope.name == request.param)


def places(corpus: Corpus, one: IndexedQuestion, scope: SearchScope) -> list[int]:
    """Positions of the segments of a scope, in tie order."""
    inside = [n for n, s in enumerate(corpus.segments) if scope.pooled or s.project == one.question.project]
    return sorted(inside, key=lambda n: corpus.segments[n].external_id)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_first_ten_of_fifty_are_those_of_ten(
    mode: str, pgmnemo: Pgmnemo, material: Workload, asked: list[IndexedQuestion], scope: SearchScope
) -> None:
    queries = material.queries(asked, scope)
    judge = AnswerValidator("pgmnemo", material.lessons, components_of(pgmnemo))
    in_mode = InMode(pgmnemo, mode)
    fifty = [answer.matches[:10] for answer in ask_all(in_mode, "pgmnemo", queries, DEPTH, judge)]
    ten = [answer.matches for answer in time_answers(in_mode, "pgmnemo", queries, 10, judge)]
    assert fifty == ten


class InMode(System):
    """The extension asked in one mode."""

    def __init__(self, system: Pgmnemo, mode: str) -> None:
        self.system, self.mode = system, mode

    def load(self, *_: Any) -> dict[str, float]:
        raise AssertionError("it is loaded already")

    def ask(self, *_: Any) -> Any:
        raise AssertionError("it has clients")

    def client(self, settings: Mapping[str, str] | None = None) -> Any:
        return self.system.client({"mode": self.mode, **(settings or {})})


def test_the_keyword_arm_is_bm25(
    pgmnemo: Pgmnemo, material: Workload, asked: list[IndexedQuestion], scope: SearchScope, corpus: Corpus,
    lexemes: dict[str, Counter[str]],
) -> None:  # fmt: skip
    """Against BM25 written anew over the server's own words: OR of all terms, statistics over the tenant."""
    settings, _ = pgmnemo.retrievers["bm25"]
    for one, found in zip(asked, rankings(pgmnemo, material, asked, scope, settings), strict=True):
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
def lexemes(corpus: Corpus, pgmnemo: Pgmnemo) -> dict[str, Counter[str]]:
    """How often each word stands in each text, as PostgreSQL cuts it."""
    texts = [indexed(s) for s in corpus.segments] + [q.text for q in corpus.questions]
    query = "SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector('english', %s))"
    with pgmnemo.client().connection as connection:
        return {text: Counter(dict(connection.execute(query, (text,)).fetchall())) for text in texts}


def test_the_cosine_arm_is_exact(
    material: Workload,
    asked: list[IndexedQuestion],
    scope: SearchScope,
    corpus: Corpus,
    vectors: CorpusVectors,
) -> None:
    cosine = ExactCosine()
    cosine.load(material.lessons)
    for one, found in zip(asked, rankings(cosine, material, asked, scope), strict=True):
        cosines = vectors.segments.astype(np.float64) @ vectors.questions[one.position].astype(np.float64)
        best = sorted(places(corpus, one, scope), key=lambda n: -round(float(cosines[n]), 6))
        assert [round(float(cosines[ids(corpus)[f]]), 5) for f in found] == [
            round(float(cosines[n]), 5) for n in best[:50]
        ]


def ids(corpus: Corpus) -> dict[str, int]:
    return {segment.id: position for position, segment in enumerate(corpus.segments)}


def test_chance_is_decided_by_the_seed_and_touches_every_segment_once(
    material: Workload, asked: list[IndexedQuestion], scope: SearchScope, corpus: Corpus
) -> None:
    chance = RandomOrder(current().seed, material.drawn_by)
    chance.load(material.lessons)
    once, again = (rankings(chance, material, asked, scope) for _ in range(2))
    assert once == again
    assert len({tuple(ranking) for ranking in once}) == len(asked)
    for one, ranking in zip(asked, once, strict=True):
        inside = {corpus.segments[n].id for n in places(corpus, one, scope)}
        assert set(ranking) == inside
        assert len(ranking) == len(inside)
