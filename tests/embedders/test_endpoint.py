"""The OpenAI-compatible endpoint, against a small server of our own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from runner.embedders import EmbedderOptions, embed_corpus
from runner.embedders.endpoint import KEY_VARIABLE, Endpoint
from runner.errors import ModelError, UsageError
from runner.records import Corpus

Reply = tuple[int, Any, dict[str, str]]


class Server(ThreadingHTTPServer):
    """Answers each request with the next of `replies`, then with embeddings in reversed order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, str | None, dict[str, Any]]] = []
        self.running = self.most = 0  # requests at work, and the most of them at once
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        with self.server.lock:
            self.server.running += 1
            self.server.most = max(self.server.most, self.server.running)
        try:
            time.sleep(0.02)  # so that calls that may overlap do
            self._answer()
        finally:
            with self.server.lock:
                self.server.running -= 1

    def _answer(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers["Authorization"], body))
        code, answer, headers = self.server.replies.pop(0) if self.server.replies else (200, good(body), {})
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def good(body: dict[str, Any]) -> dict[str, Any]:
    rows = [{"index": n, "embedding": [len(t), 1.0, 0.0]} for n, t in enumerate(body["input"])]
    return {"object": "list", "data": rows[::-1]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def endpoint(server: Server, pauses: list[float]) -> Callable[..., Endpoint]:
    def make(**settings: Any) -> Endpoint:
        options = {"model": "m", "endpoint_url": server.url, "dimensions": 3, **settings}
        return Endpoint(EmbedderOptions(**options), pauses.append)

    return make


def test_rows_follow_the_index_of_the_answer(server: Server, endpoint: Callable[..., Endpoint]) -> None:
    rows = endpoint().embed_documents(["a", "bbb", "cc"])
    np.testing.assert_allclose(rows[:, 0] / rows[:, 1], [1, 3, 2], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    path, key, body = server.requests[0]
    assert (path, key) == ("/v1/embeddings", None)
    assert body == {"model": "m", "input": ["a", "bbb", "cc"], "encoding_format": "float", "dimensions": 3}


def test_the_key_comes_from_the_environment(
    server: Server, endpoint: Callable[..., Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, " secret\n")
    endpoint(endpoint_url=f"{server.url}/embeddings/").embed_queries(["a"])
    assert server.requests[0][:2] == ("/v1/embeddings", "Bearer secret")


def test_prefixes_are_sent(server: Server, endpoint: Callable[..., Endpoint]) -> None:
    embedder = endpoint(query_prefix="query: ", document_prefix="passage: ")
    embedder.embed_queries(["a"])
    embedder.embed_documents(["a"])
    assert [body["input"] for _, _, body in server.requests] == [["query: a"], ["passage: a"]]


def test_the_width_is_asked_for_once_if_it_was_not_given(
    server: Server, endpoint: Callable[..., Endpoint]
) -> None:
    embedder = endpoint(dimensions=None)
    assert embedder.identity.dimensions == embedder.identity.dimensions == 3
    assert len(server.requests) == 1
    assert "dimensions" not in server.requests[0][2]


def test_a_corpus_is_sent_in_batches(
    server: Server, endpoint: Callable[..., Endpoint], corpus: Corpus
) -> None:
    vectors = embed_corpus(corpus, endpoint(), None)
    assert vectors.embedded == 48
    assert {len(body["input"]) for _, _, body in server.requests} == {8, 7, 1}


def test_busy_servers_are_asked_again(
    server: Server, endpoint: Callable[..., Endpoint], pauses: list[float]
) -> None:
    server.replies = [
        (429, {}, {"Retry-After": "7"}),
        (503, b"loading", {}),
        (500, {}, {"Retry-After": "999"}),
    ]
    assert endpoint().embed_queries(["a"]).shape == (1, 3)
    assert pauses == [7.0, 2.0, 60.0]


def test_a_server_that_stays_busy_is_one_sentence(
    server: Server, endpoint: Callable[..., Endpoint], pauses: list[float]
) -> None:
    server.replies = [(503, b"over\nloaded", {})] * 5
    with pytest.raises(ModelError, match=r"after 5 tries \(503 Service Unavailable: over loaded\)"):
        endpoint().embed_queries(["a"])
    assert pauses == [1.0, 2.0, 4.0, 8.0]


def test_no_server_is_one_sentence(endpoint: Callable[..., Endpoint]) -> None:
    with pytest.raises(ModelError, match=r"after 5 tries .*refused"):
        endpoint(endpoint_url="http://127.0.0.1:9/v1").embed_queries(["a"])


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((401, {}, {}), f"refused the key .*{KEY_VARIABLE}"),
        ((400, {"error": "input too long"}, {}), "refused the request .*input too long"),
        ((302, {}, {"Location": "http://127.0.0.1:9/"}), "refused the request .*302"),
        ((200, b"<html>", {}), "did not answer with JSON"),
        ((200, {"data": []}, {}), "one embedding of one width"),
        ((200, {"error": "x"}, {}), "one embedding of one width"),
        ((200, ["x"], {}), "one embedding of one width"),
        ((200, {"data": [{"index": 0, "embedding": [1, 2, 3]}] * 2}, {}), "one embedding of one width"),
        (
            (200, {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}, {}),
            "one embedding of one width",
        ),
        (
            (200, {"data": [{"index": n, "embedding": "AAAA"} for n in (0, 1)]}, {}),
            "one embedding of one width",
        ),
    ],
)
def test_wrong_answers_are_not_asked_again(
    server: Server, endpoint: Callable[..., Endpoint], pauses: list[float], reply: Reply, sentence: str
) -> None:
    server.replies = [reply]
    with pytest.raises(ModelError, match=sentence):
        endpoint().embed_documents(["a", "b"])
    assert pauses == []


@pytest.mark.parametrize(
    "bad",
    [
        b'{"data": [{"index": 0, "embedding": [NaN, 1, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0, 0]}]}',
    ],
)
def test_unusable_numbers_name_the_text(
    server: Server, endpoint: Callable[..., Endpoint], make_corpus: Callable[..., Corpus], bad: bytes
) -> None:
    server.replies = [(200, {"data": [{"index": 0, "embedding": [1, 0, 0]}]}, {}), (200, bad, {})]
    with pytest.raises(ModelError, match="no usable vector for question 1 of the corpus"):
        embed_corpus(make_corpus(["a"], ["b"]), endpoint(), None)


def test_another_width_than_asked_for_is_refused(
    endpoint: Callable[..., Endpoint], make_corpus: Callable[..., Corpus]
) -> None:
    with pytest.raises(ModelError, match=r"\(1, 3\) for segment 1 of the corpus, expected \(1, 5\)"):
        embed_corpus(make_corpus(["a"], ["b"]), endpoint(dimensions=5), None)


@pytest.mark.parametrize(
    "settings",
    [
        {"endpoint_url": None},
        {"model": None},
        {"endpoint_url": "localhost:8080"},
        {"endpoint_url": "file:///etc/passwd"},
        {"endpoint_url": "http://user:secret@localhost/v1"},
    ],
)
def test_addresses_that_cannot_be_meant_are_wrong_use(
    endpoint: Callable[..., Endpoint], settings: dict[str, Any]
) -> None:
    with pytest.raises(UsageError) as failure:
        endpoint(**settings)
    assert "secret" not in str(failure.value)


def test_the_identity_keeps_a_secret_query_to_itself(
    endpoint: Callable[..., Endpoint], server: Server
) -> None:
    identity = endpoint(endpoint_url=f"{server.url}?key=secret").identity
    assert "secret" not in str(identity)
    assert "weights unknown" in identity.note


def test_no_more_calls_are_made_at_once_than_may_be(
    server: Server, endpoint: Callable[..., Endpoint], corpus: Corpus
) -> None:
    made = {}
    for jobs in (1, 3):
        server.running = server.most = 0
        made[jobs] = embed_corpus(corpus, endpoint(batch_size=1), None, jobs=jobs)
        assert server.most == jobs
    np.testing.assert_array_equal(made[1].segments, made[3].segments)


def test_tokens_that_a_server_counts_cannot_be_cut_here(endpoint: Callable[..., Endpoint]) -> None:
    with pytest.raises(UsageError, match="the embedder endpoint cuts no tokens; leave --max-tokens out"):
        endpoint(max_tokens=5)
