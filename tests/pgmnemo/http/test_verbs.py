"""The verbs over HTTP: they are those of the library, and answer what it answers."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pgmnemo import AsyncScope
from pgmnemo.errors import DatabaseError
from pgmnemo.http.openapi import openapi_document
from pgmnemo.http.verbs import VERBS, HttpVerb
from tests.pgmnemo.http.conftest import Served
from tests.pgmnemo.http.raw import Raw

NOT_SERVED = {
    "project": "the field `project`", "with_": "the token says it", "known": "it is there for importers",
    "import_": "whoever runs the server imports", "reembed": "it changes the server's own embedder",
    **dict.fromkeys(("delete_expired", "language", "recut"), "whoever runs the server does that"),
}  # fmt: skip
"""Verbs of the library without a path, and why."""
LEFT_OUT = {
    "add_many": {"progress"}, "context": {"count"}, "export": {"place", "progress"},
}  # fmt: skip
"""Keywords without a field: functions and files."""
NOW = {"as_of": "2026-12-01T00:00:00Z"}
NAMES = [verb.name for verb in VERBS]
every = pytest.mark.parametrize("verb", VERBS, ids=NAMES)


def test_every_verb_is_served() -> None:
    verbs = {name for name, _ in inspect.getmembers(AsyncScope, inspect.isfunction) if name[0] != "_"}
    assert verbs - set(NOT_SERVED) == set(NAMES)


@every
def test_a_body_has_the_keywords_of_the_verb_with_their_defaults(verb: HttpVerb) -> None:
    keywords = dict(inspect.signature(verb.function).parameters)
    for name in {"self", *LEFT_OUT.get(verb.name, ())}:
        del keywords[name]
    assert set(verb.body.__struct_fields__) == {*keywords, "project"}
    needed = {name: None for name, one in keywords.items() if one.default is one.empty}
    assert {name for name in verb.body.__struct_fields__ if _is_needed(verb, name)} == set(needed)
    given = verb.body(**dict.fromkeys(needed))
    for name, one in keywords.items():
        if name not in needed:
            assert getattr(given, name) == one.default


def _is_needed(verb: HttpVerb, name: str) -> bool:
    fields = {one.name: one for one in msgspec.structs.fields(verb.body)}
    return fields[name].required


def test_each_example_is_answered_as_the_description_says(served: Served) -> None:
    token = served.token("kitchen")
    for verb in [*VERBS[:2], *VERBS]:
        answer = served.post(token, verb.name, verb.example)
        assert answer.status_code == 200, (verb.name, answer.text)
        if not verb.lines:
            found = answer.json()
            msgspec.convert(found, verb.answer, strict=True)
            if verb.name in ("recall", "list", "facts", "timeline", "explain"):
                assert found, verb.name


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("recall", {"query": "cat", "k": 2, **NOW}), ("recall", NOW), ("context", {"query": "Lisbon", **NOW}),
        ("count", {}), ("get", {"key": "cat"}), ("list", {"newest": True}),
        ("list", {"limit": 1}), ("list", {"role": "no"}),
        ("timeline", {"key": "move"}), ("facts", {}), ("explain", {"key": "cat", "query": "Miso", **NOW}),
        ("similar", {"least_words": 0.5}), ("stats", {}),
    ],
)  # fmt: skip
def test_an_answer_is_that_of_the_library(served: Served, verb: str, asked: dict[str, Any]) -> None:
    served.token(tenant=(tenant := served.place.tenant()))
    token = served.token("kitchen", tenant)
    items = [
        {"text": "My cat is called Miso.", "key": "cat", "role": "user", "at": "2026-01-02T03:04:05+02:00"},
        {"text": "I moved to Lisbon.", "key": "move", "metadata": {"a": [1, None, {"b": "ü"}]}},
        {"text": [{"text": "Hello", "role": "user"}, {"text": "Hi", "name": "Bo"}], "key": "talk"},
    ]
    assert served.post(token, "add_many", {"items": items}).json()["outcomes"] == {"inserted": 3}
    served.post(token, "fact", {"subject": "ada", "relation": "lives in", "object": "Lisbon"})
    given, _ = _by(verb).read(msgspec.json.encode(asked))
    here = served.memory.tenant(tenant).project("kitchen")

    async def library() -> Any:
        found = getattr(here, verb)(**given)
        return [one async for one in found] if hasattr(found, "__aiter__") else await found

    answer, found = served.post(token, verb, asked), served.run(library())
    told = found if verb == "list" else _by(verb).serialize(found, given)
    assert answer.json() == json.loads(msgspec.json.encode(told))


WHOLE = [
    ("add", {"text": "a", "importance": 4.0, "position": -7.0, "similar": 2.0}),
    ("add_many", {"items": [{"text": "a", "key": "a"}, {"text": "b", "importance": 2.0}], "batch": 1.0}),
    ("recall", {"query": "a", "k": 1.0}), ("context", {"query": "a", "k": 1.0, "max_tokens": 1e2}),
    ("update", {"key": "a", "importance": 5.0}), ("list", {"limit": 1.0}), ("facts", {"limit": 1.0}),
    ("similar", {"least_words": 1, "limit": 1.0}), ("explain", {"key": "a", "query": "a", "k": 1.0}),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "body"), WHOLE)
def test_a_whole_float_is_an_integer(served: Served, verb: str, body: dict[str, Any]) -> None:
    token = served.token("kitchen")
    served.post(token, "add", {"text": "a", "key": "a"})
    answer = served.post(token, verb, body)
    assert answer.status_code == 200, answer.text
    names = [name for name, value in body.items() if isinstance(value, float)]
    for name in names:
        assert served.post(token, verb, body | {name: 1.5}).status_code == 422
        assert served.post(token, verb, body | {name: 1e15}).status_code == 422
        assert served.post(token, verb, body | {name: "1"}).status_code == 422


def test_a_whole_float_of_metadata_stays_a_float(served: Served) -> None:
    token = served.token("kitchen")
    given = {"importance": 1.0, "k": {"limit": 2.0}}
    served.post(token, "add", {"text": "a", "key": "a", "importance": 4.0, "metadata": given})
    answer = served.post(token, "get", {"key": "a"})
    assert answer.json()["importance"] == 4
    assert '"importance":1.0' in answer.text
    assert '"limit":2.0' in answer.text


def _by(name: str) -> HttpVerb:
    return next(verb for verb in VERBS if verb.name == name)


def test_a_list_is_sent_in_parts_and_is_one_array(served: Served) -> None:
    token = served.token("kitchen")
    served.post(
        token, "add_many", {"items": [{"text": f"{'x' * 900} {n}", "key": f"{n}"} for n in range(600)]}
    )
    found = served.post(token, "list", {}).json()
    assert sorted(int(one["key"]) for one in found) == list(range(600))
    lines = served.post(token, "export", {}).text.splitlines()
    assert len(lines) == 601
    assert json.loads(lines[0])["lessons"] == 600


BAD = [
    (b"", 422), (b"{", 400), (b"[]", 422), (b"null", 422), (b"1", 422), (b'"x"', 422), (b"\xff", 400),
    (b'{"text": "\xff"}', 400), (b'{"text": "\\ud800"}', 400), (b'{"text": "\xed\xa0\x80"}', 400),
    (b'{"text": NaN}', 400), (b'{"text": "a", "metadata": {"a": NaN}}', 400), (b"[" * 100_000, 422),
    (b'{"text": "a", "metadata": {"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}", 400),
    (b'{"text": "a", "importance": 1' + b"0" * 30 + b"}", 422), (b'{"text": "a", "importance": 1e999}', 422),
    (b'{"text": "a", "importance": 1' + b"0" * 9000 + b"}", 422),
    (b'{"text": "a", "at": "0001-01-01T00:00:00+14:00"}', 422), (b'{"text": "a", "vector": [1e400]}', 422),
    (b'{"text": "a", "clear": ["nothing"]}', 422), (b'{"text": [{"text": "a", "more": 1}]}', 422),
    (b'{"text": "a", "project": "' + b"x" * 2000 + b'"}', 422), (b'{"text": "a", "txet": 1}', 422),
    (b'{"text": "a", "key": "' + b"k" * 10_000 + b'"}', 422),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status"), BAD)
def test_what_is_wrong_is_a_sentence(
    served: Served, told: Callable[[], str], body: bytes, status: int
) -> None:
    token = served.token(None)
    answer = served.post(token, "add", content=body, json=None)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"kind", "message"}
    assert "Traceback" not in answer.text
    assert "File " not in answer.text
    assert '"fault"' not in told()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (rb'{"text": "a\ud83d"}', r"the text holds \ud83d, half a surrogate pair: it is cut inside a"),
        (rb'{"text": "\ud83d\ude00\\ud83d, \uD83D b"}', r"the text holds \uD83D, half a surrogate pair"),
        (rb'{"text": "a\ude00", "key": "k"}', r"the text holds \ude00, half a surrogate pair"),
        (rb'{"text": "a', "Input data was truncated"),
        (rb'{"text": "\ud83d\ude00 a\ud83d\ude', "Input data was truncated"),
    ],
)  # fmt: skip
def test_half_a_surrogate_pair_is_not_called_cut_off(served: Served, body: bytes, sentence: str) -> None:
    answer = served.post(served.token(None), "add", content=body, json=None)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(f"the body is no JSON: {sentence}")


def test_unknown_fields_are_refused_by_name(served: Served) -> None:
    answer = served.post(served.token("p"), "add", {"text": "a", "txet": "b"})
    assert (answer.status_code, "`txet`" in answer.text) == (422, True)
    answer = served.post(served.token("p"), "add_many", {"items": [{"text": "a", "kee": "b"}]})
    assert "`kee`" in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/add", 405), ("DELETE", "/v1/forget", 405), ("POST", "/v1/nothing", 404),
        ("POST", "/v1/add/", 404), ("POST", "/v1/_call", 404), ("POST", "/v1/close", 404),
        ("POST", "/v1/../v1/reembed", 404), ("POST", "/v1/import_", 404), ("GET", "/v1", 404),
    ],
)  # fmt: skip
def test_other_paths_are_none(served: Served, method: str, path: str, status: int) -> None:
    answer = served.ask(method, path, served.token())
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"kind", "message"}


def test_errors_of_the_memory_have_their_status(served: Served) -> None:
    token = served.token("p")
    for key in ("a", "b"):
        served.post(token, "add", {"text": key, "key": key})
    for verb, body, status in (
        ("get", {"key": "no"}, 404), ("update", {"key": "no", "topic": "x"}, 404),
        ("supersede", {"old": "no"}, 404), ("link", {"source": "a", "target": "no"}, 404),
        ("recall", {"k": 0}, 422), ("recall", {"mode": "psychic"}, 422), ("forget", {}, 422),
        ("recall", {"vector": []}, 422), ("recall", {"filter": {"no": 1}}, 422),
        ("context", {"max_tokens": 0}, 422), ("context", {"max_tokens": 20_001}, 422),
        ("context", {"k": 101}, 422), ("recall", {"k": 10_001}, 422),
        ("add", {"text": "x", "project": "other"}, 403),
    ):  # fmt: skip
        assert served.post(token, verb, body).status_code == status, (verb, body)
    strange = served.tokens.create("nobody let alice in", "p")
    assert served.post(strange, "count", {}).status_code == 403


def test_an_answer_has_a_bound_in_bytes_and_a_list_comes_in_pages_within_it(served: Served) -> None:
    token = served.token("p")
    for number in range(24):
        text = f"kettle{' ' * 900_000}{number}"
        assert served.post(token, "add", {"text": text, "key": f"{number:02}"}).status_code == 200
    for verb, body in (("recall", {"query": "kettle", "k": 100}), ("context", {"query": "kettle", "k": 100})):
        answer = served.post(token, verb, body)
        assert (answer.status_code, "fewer" in answer.text) == (422, True), answer.text[:200]
    assert len(served.post(token, "recall", {"query": "kettle", "k": 5}).json()) == 5
    assert [one["key"] for one in served.post(token, "list").json()] == [
        f"{number:02}" for number in range(24)
    ]
    assert len(served.post(token, "export", {"vectors": False}).text.splitlines()) == 25


def test_a_token_has_one_export_at_a_time(served: Served) -> None:
    token, other = served.token("p"), served.token("p")
    for one in (token, other):
        served.post(one, "add", {"text": "note", "key": "k"})

    async def work() -> list[int | None]:
        raw = [Raw("POST", "/v1/export", token=one) for one in (token, token, other)]
        for one in raw:
            one._receive = _empty_body  # type: ignore[method-assign]
        return list(await asyncio.gather(*(one.through(served.app) for one in raw)))

    assert sorted(served.run(work())) == [200, 200, 429]  # type: ignore[type-var]
    assert served.post(token, "export").status_code == 200
    assert served.post(token, "export").status_code == 200


async def _empty_body() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


def test_what_others_have_ended_is_a_conflict(served: Served) -> None:
    token = served.token("p")
    for key in ("a", "b", "c"):
        served.post(token, "add", {"text": key, "key": key})
    assert served.post(token, "supersede", {"old": "a", "new": "b"}).status_code == 200
    assert served.post(token, "supersede", {"old": "a", "new": "c"}).status_code in (200, 409)


def test_the_description_is_whole(served: Served) -> None:
    found = served.ask("GET", "/openapi.json").json()
    assert found == json.loads(json.dumps(openapi_document()))
    assert found["security"] == [{"token": []}]
    assert set(found["paths"]) == {*(verb.path for verb in VERBS), "/healthz", "/openapi.json"}
    for verb in VERBS:
        told = found["paths"][verb.path]["post"]
        codes = {int(code) for code in told["responses"]}
        assert codes == {200, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503}
        msgspec.json.decode(
            json.dumps(told["requestBody"]["content"]["application/json"]["example"]), type=verb.body
        )
        assert told["summary"]
        assert told["description"]


@pytest.mark.parametrize("path", ["/healthz", "/openapi.json"])
def test_a_path_without_a_body_is_answered_as_described(served: Served, path: str) -> None:
    text = {"content-type": "text/plain"}
    codes = openapi_document()["paths"][path]["get"]["responses"]
    assert served.ask("GET", path, headers=text).status_code == 200
    for more in ({"content": b"{}", "headers": text}, {"content": b"x" * (2 << 20)}):
        status = served.ask("GET", path, **more).status_code
        assert status in (413, 415)
        assert str(status) in codes


def test_health_asks_the_database_once_a_second(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert served.ask("GET", "/healthz").json() == {"status": "ok"}
    asked = []

    async def away(call: Any) -> Any:
        asked.append(call)
        raise DatabaseError("secret")

    monkeypatch.setattr(served.memory._executor, "call", away)
    assert served.ask("GET", "/healthz").status_code == 200  # as a moment ago
    time.sleep(1.1)
    for _ in range(3):
        answer = served.ask("GET", "/healthz")
        assert (answer.status_code, "secret" in answer.text) == (503, False)
    assert len(asked) == 1


def test_nothing_that_is_said_is_logged(served: Served, told: Callable[[], str]) -> None:
    token = served.token("secret-project")
    for verb in VERBS:
        served.post(token, verb.name, _secret(verb.example))
    served.ask("POST", "/secret-path?secret=1", token)
    served.post(token, "add", {"secret": "secret"})
    served.ask("POST", "/v1/add", token, content=b'{"text": "secret')
    served.post(token + "secret", "add", {"text": "secret"})
    lines = told()
    assert "secret" not in lines
    assert token.split("_", 2)[2] not in lines
    assert len(lines.splitlines()) == len(VERBS) + 4
    for line in map(json.loads, lines.splitlines()):
        assert set(line) == {
            "at", "level", "event", "path", "method", "status", "whole", "bytes", "token", "ms",
        }  # fmt: skip


def _secret(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _secret(one) for name, one in value.items()}
    return (
        [_secret(one) for one in value]
        if isinstance(value, list)
        else "secret"
        if isinstance(value, str)
        else value
    )


def test_a_fault_of_the_server_is_one_sentence(
    served: Served, told: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*given: Any, **named: Any) -> Any:
        raise KeyError("secret")

    monkeypatch.setattr(AsyncScope, "stats", broken)
    answer = served.post(served.token(), "stats", {})
    assert answer.status_code == 500
    assert answer.json()["error"]["kind"] == "fault"
    lines = told()
    assert "KeyError at " in lines
    assert "secret" not in lines + answer.text
