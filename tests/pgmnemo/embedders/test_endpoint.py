"""The OpenAI-compatible endpoint, against a small server of our own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.embedders.endpoint import KEY_VARIABLE, Endpoint
from pgmnemo.errors import ModelError
from runner.protocol.templates.embedding import embed_corpus
from runner.records import Corpus
from tests.service import Body, Broken, Server, serving


class Embedding:
    """Embeddings in reversed order, after a little while; `most` is how many calls overlapped."""

    def __init__(self) -> None:
        self.running = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, _: str, body: Body) -> Body:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(0.02)
        with self.lock:
            self.running -= 1
        rows = [{"index": n, "embedding": [len(t), 1.0, 0.0]} for n, t in enumerate(body["input"])]
        return {"object": "list", "data": rows[::-1]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with serving(Embedding()) as made:
        yield made


@pytest.fixture
def endpoint(server: Server) -> Callable[..., Endpoint]:
    def make(**settings: Any) -> Endpoint:
        return Endpoint(
            EmbedderOptions(**{"model": "m", "endpoint_url": server.url, "dimensions": 3, **settings})
        )

    return make


def test_rows_follow_the_index_of_the_answer(server: Server, endpoint: Callable[..., Endpoint]) -> None:
    rows = endpoint().embed_documents(["a", "bbb", "cc"])
    np.testing.assert_allclose(rows[:, 0] / rows[:, 1], [1, 3, 2], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    body = {"model": "m", "input": ["a", "bbb", "cc"], "encoding_format": "float", "dimensions": 3}
    assert server.requests == [("/v1/embeddings", None, body)]


def test_prefixes_are_sent(server: Server, endpoint: Callable[..., Endpoint]) -> None:
    embedder = endpoint(query_prefix="query: ", document_prefix="passage: ")
    embedder.embed_queries(["a"])
    embedder.embed_documents(["a"])
    assert [body["input"] for _, _, body in server.requests] == [["query: a"], ["passage: a"]]


def test_the_width_is_asked_for_once_if_it_was_not_given(
    server: Server, endpoint: Callable[..., Endpoint]
) -> None:
    embedder = endpoint(dimensions=None, endpoint_url=f"{server.url}?key=secret")
    assert embedder.identity.dimensions == embedder.identity.dimensions == 3
    assert len(server.requests) == 1
    assert "dimensions" not in server.requests[0][2]
    assert "secret" not in str(embedder.identity)


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": [1, 2, 3]}] * 2},
        {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]},
        {"data": [{"index": n, "embedding": "AAAA"} for n in (0, 1)]},
    ],
)
def test_wrong_answers_are_not_asked_again(
    server: Server, endpoint: Callable[..., Endpoint], answer: Any
) -> None:
    server.broken = [Broken(content=json.dumps(answer).encode())]
    with pytest.raises(ModelError, match="one embedding of one width"):
        endpoint().embed_documents(["a", "b"])


@pytest.mark.parametrize("bad", [b"[NaN, 1, 1]", b"[0, 0, 0]"])
def test_unusable_numbers_name_the_text(
    server: Server, endpoint: Callable[..., Endpoint], make_corpus: Callable[..., Corpus], bad: bytes
) -> None:
    row = b'{"data": [{"index": 0, "embedding": %s}]}'
    server.broken = [Broken(content=row % b"[1, 0, 0]"), Broken(content=row % bad)]
    with pytest.raises(ModelError, match="no usable vector for question 1 of the corpus"):
        embed_corpus(make_corpus(["a"], ["b"]), endpoint(), None)


def test_another_width_than_asked_for_is_refused(
    endpoint: Callable[..., Endpoint], make_corpus: Callable[..., Corpus]
) -> None:
    with pytest.raises(ModelError, match=r"\(1, 3\) for segment 1 of the corpus, expected \(1, 5\)"):
        embed_corpus(make_corpus(["a"], ["b"]), endpoint(dimensions=5), None)


def test_no_more_calls_are_made_at_once_than_may_be(
    server: Server, endpoint: Callable[..., Endpoint], corpus: Corpus
) -> None:
    made = {}
    for jobs in (1, 3):
        server.answer = answering = Embedding()
        made[jobs] = embed_corpus(corpus, endpoint(batch_size=1), None, jobs=jobs)
        assert answering.most == jobs
    np.testing.assert_array_equal(made[1].segments, made[3].segments)
