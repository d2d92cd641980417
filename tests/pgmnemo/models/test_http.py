"""A service over HTTP, whole or broken, whoever asks it; and what is no chat completion."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from pgmnemo.errors import ModelError, UsageError
from pgmnemo.models.chat import ChatModel
from pgmnemo.models.http import Service, service_url
from tests.service import Broken, Server, chat, serving

KEY = "PGMNEMO_TEST_KEY"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv(KEY, raising=False)
    with serving(lambda *_: {"well": "done"}) as made:
        yield made


@pytest.fixture
def pauses() -> list[float]:
    return []


def service(server: Server, pauses: list[float]) -> Service:
    return Service(f"{server.url}/any?key=secret", KEY, 0.3, pauses.append)


def test_the_key_of_the_environment_goes_along_where_there_is_one(
    server: Server, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    service(server, pauses).post({"a": 1})
    monkeypatch.setenv(KEY, " secret\n")
    assert service(server, pauses).post({"a": 1}) == {"well": "done"}
    assert server.requests == [("/v1/any?key=secret", key, {"a": 1}) for key in (None, "Bearer secret")]


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk-\u2026", "sk 1"])
def test_a_key_that_no_header_takes_is_not_shown(
    key: str, server: Server, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, key)
    with pytest.raises(UsageError, match=f"^{KEY} holds no key") as raised:
        service(server, pauses).post({})
    assert "sk" not in str(raised.value)
    assert (server.requests, pauses) == ([], [])


def test_a_busy_service_is_asked_again_when_it_says(server: Server, pauses: list[float]) -> None:
    server.broken = [
        Broken(429, headers={"Retry-After": "7"}), Broken(503, b"loading"),
        Broken(500, headers={"Retry-After": "999"}), Broken(content=b"{}" * 9, cut=4),
    ]  # fmt: skip
    assert service(server, pauses).post({}) == {"well": "done"}
    assert pauses == [7.0, 2.0, 60.0, 8.0]


@pytest.mark.parametrize(
    ("broken", "tries", "sentence"),
    [
        (Broken(401, b"no"), 1, rf"refused the key \(401 Unauthorized: no\); set {KEY} to a valid one"),
        (Broken(400, b"too\nlong"), 1, r"refused the request \(400 Bad Request: too long\); check the addr"),
        (Broken(content=b"<html>busy</html>"), 1, "did not answer with JSON .*; check the address and the"),
        (Broken(503, b"over\nloaded"), 5, r"after 5 tries \(503 Service Unavailable: over loaded\)"),
        (Broken(content=b'{"a": [1]}', slow=0.2), 5, "after 5 tries .*not whole after 0.3 s"),
    ],
)
def test_a_broken_service_is_one_sentence_without_its_secret(
    broken: Broken, tries: int, sentence: str, server: Server, pauses: list[float]
) -> None:
    server.broken = [broken] * tries
    with pytest.raises(ModelError, match=sentence) as failure:
        service(server, pauses).post({})
    assert len(pauses) == tries - 1
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize("url", ["localhost:8080", "file:///etc/passwd", "http://user:secret@localhost/v1"])
def test_an_address_that_cannot_be_meant_is_wrong_use(url: str) -> None:
    with pytest.raises(UsageError) as failure:
        service_url(url, "/any", KEY)
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize("url", ["http://h/v1", "http://h/v1/any/"])
def test_the_end_of_an_address_may_be_written_or_left(url: str) -> None:
    assert service_url(url, "/any", KEY) == "http://h/v1/any"


@pytest.mark.parametrize(
    "answer", [{}, {"choices": []}, {"choices": [{"message": {"content": ["x"]}}]}, ["x"], "x"]
)
def test_what_is_no_chat_completion_is_told(answer: Any, server: Server, pauses: list[float]) -> None:
    server.broken = [Broken(content=json.dumps(answer).encode())]
    with pytest.raises(ModelError, match="did not answer with a chat completion"):
        ChatModel(service(server, pauses), "m").ask("?", 9)


def test_a_filtered_answer_is_a_refusal(server: Server, pauses: list[float]) -> None:
    filtered = chat("")
    filtered["choices"][0]["finish_reason"] = "content_filter"
    server.broken = [Broken(content=json.dumps(filtered).encode())]
    reply = ChatModel(service(server, pauses), "m").ask("?", 9)
    with pytest.raises(ModelError, match=r"me: the model refused .*content filter"):
        reply.require_text("me")


def test_a_proxy_of_the_environment_is_asked(
    server: Server, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    assert Service("http://elsewhere.invalid/any", KEY, pause=pauses.append).post({}) == {"well": "done"}
    assert server.requests[0][0] == "http://elsewhere.invalid/any"
