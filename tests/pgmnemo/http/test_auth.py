"""The wall by itself, before small applications: who passes, and when a request is cut."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest

from pgmnemo.http.auth import AuthMiddleware, Limits
from pgmnemo.http.error_response import RequestError
from pgmnemo.http.tokens import Principal, TokenFile
from tests.pgmnemo.http.raw import Raw


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 60))


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Tells the tenant and how many bytes came."""
    read, more = 0, True
    while more:
        message = await receive()
        read, more = read + len(message.get("body", b"")), message.get("more_body", False)
    principal = scope["state"]["principal"]
    told = f"{principal.tenant if principal else 'nobody'} {read}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": told})


def client(app: Any, token: str | None = None, **headers: str) -> httpx.AsyncClient:
    given = {"authorization": f"Bearer {token}"} if token else {}
    transport = httpx.ASGITransport(app)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7437", headers=given | headers)


def ask(app: Any, token: str | None = None, path: str = "/v1/x", **given: Any) -> httpx.Response:
    headers = given.pop("headers", {})

    async def work() -> httpx.Response:
        async with client(app, token, **headers) as one:
            return await one.request(given.pop("method", "POST"), path, **given)

    found: httpx.Response = run(work())
    return found


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401), ("", 401), ("Bearer", 401), ("Bearer ", 401), ("Basic {}", 401), ("{}", 401),
        ("Bearer {}x", 401), ("bearer {}", 200), ("Bearer  {} ", 200), ("Bearer {}", 200),
    ],
)  # fmt: skip
def test_who_passes(tokens: TokenFile, header: str | None, status: int) -> None:
    token = tokens.create("ada")
    headers = {} if header is None else {"authorization": header.format(token)}
    headers["content-type"] = "application/json"
    answer = ask(AuthMiddleware(echo, tokens), headers=headers, content=b"12345")
    assert answer.status_code == status
    if status == 200:
        assert answer.text == "ada 5"
    else:
        assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert set(answer.json()["error"]) == {"kind", "message"}


def test_what_anybody_may_read_is_read_alone(tokens: TokenFile) -> None:
    middleware = AuthMiddleware(echo, tokens, public=("/open",))
    assert ask(middleware, method="GET", path="/open").text == "nobody 0"
    assert ask(middleware, method="POST", path="/open").status_code == 401
    assert ask(middleware, method="GET", path="/open/").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200), ({"host": "localhost"}, 200), ({"host": "[::1]:7437"}, 200), ({"host": "127.9.9.9"}, 200),
        ({"host": "evil.example"}, 403), ({"host": "127.0.0.1.evil.example"}, 403), ({"host": ""}, 403),
        ({"host": "localhost.evil.example:7437"}, 403), ({"host": "[::1"}, 403), ({"host": "10.0.0.1"}, 403),
        ({"host": "evil.example@127.0.0.1"}, 403), ({"host": "127.0.0.1/x"}, 403),
        ({"origin": "https://evil.example"}, 403), ({"origin": "null"}, 403), ({"origin": ""}, 403),
        ({"origin": "http://127.0.0.1:7437"}, 200), ({"origin": "http://127.0.0.1:7437/"}, 403),
        ({"origin": "http://127.0.0.1:3000"}, 403), ({"origin": "http://127.0.0.1"}, 403),
        ({"origin": "https://127.0.0.1:7437"}, 403), ({"origin": "http://localhost:7437"}, 403),
        ({"origin": "http://127.0.0.2:7437"}, 403), ({"origin": "http://[::1]:7437"}, 403),
        ({"origin": "http://localhost:7437", "host": "localhost:7437"}, 200),
        ({"origin": "http://localhost:3000", "host": "localhost:3000"}, 403),
        ({"origin": "http://localhost", "host": "localhost"}, 403),
    ],
)  # fmt: skip
def test_without_tokens_this_machine_alone_is_served(
    principal: Principal, headers: dict[str, str], status: int
) -> None:
    assert ask(AuthMiddleware(echo, None, principal=principal), headers=headers).status_code == status


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415), ("", 415),
        ("text/plain; application/json", 415), ("application/json, text/plain", 415), (None, 415),
        ("application/x-www-form-urlencoded", 415), ("multipart/form-data; boundary=x", 415),
        ("application/jsonp", 415), ("application/vnd.api+json", 415),
    ],
)  # fmt: skip
def test_a_body_is_declared_as_json(
    tokens: TokenFile, principal: Principal, kind: str | None, status: int
) -> None:
    headers = {} if kind is None else {"content-type": kind}
    for middleware, token in (
        (AuthMiddleware(echo, None, principal=principal), None),
        (AuthMiddleware(echo, tokens), tokens.create("a")),
    ):
        for content in (b"{}", _parts()):
            assert ask(middleware, token, headers=headers, content=content).status_code == status
        assert ask(middleware, token, headers=headers).status_code == 200  # without a body


async def _parts() -> AsyncIterator[bytes]:
    yield b"{}"


def test_two_tokens_two_origins_or_two_types_are_none(tokens: TokenFile, principal: Principal) -> None:
    two = Raw("POST", "/", headers=[(b"authorization", f"Bearer {tokens.create('ada')}".encode())] * 2)
    assert run(two.through(AuthMiddleware(echo, tokens))) == 401
    own, json = (b"origin", b"http://127.0.0.1"), (b"content-type", b"application/json")
    body = (b"content-length", b"2")
    for headers, status in (([own], 200), ([own, own], 403), ([body, json], 200), ([body, json, json], 415)):
        raw = Raw("POST", "/", headers=headers)
        assert run(raw.through(AuthMiddleware(echo, None, principal=principal))) == status


def test_each_token_has_its_own_rate(tokens: TokenFile) -> None:
    ada, bob = tokens.create("ada"), tokens.create("bob")
    middleware = AuthMiddleware(echo, tokens, Limits(rate=0.001))
    first, second = ask(middleware, ada), ask(middleware, ada)
    assert (first.status_code, second.status_code) == (200, 429)
    assert int(second.headers["retry-after"]) > 0
    assert ask(middleware, bob).status_code == 200


def test_a_rate_is_given_back_with_time(tokens: TokenFile) -> None:
    token = tokens.create("ada")
    middleware = AuthMiddleware(echo, tokens, Limits(rate=20))
    answers = [ask(middleware, token).status_code for _ in range(100)]
    assert 40 <= answers.count(200) < 100


async def sleeper(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(3600)


def test_no_more_than_so_many_are_served_at_once_and_half_of_them_of_one_token(tokens: TokenFile) -> None:
    made = [tokens.create(name) for name in ("ada", "bob", "eve")]
    middleware = AuthMiddleware(sleeper, tokens, Limits(concurrent=4, seconds=1))

    async def work() -> list[str]:
        async with client(middleware) as one:
            asked = [(token, number) for token in made for number in range(3)]
            headers = [{"authorization": f"Bearer {token}"} for token, _ in asked]
            answers = await asyncio.gather(*(one.get("/x", headers=held) for held in headers))
            return [f"{answer.status_code} {answer.json()['error']['kind']}" for answer in answers]

    late, own, full = "503 too slow", "429 busy", "503 busy"
    assert run(work()) == [late, late, own, late, late, full, full, full, full]
    assert run(work()) == [late, late, own, late, late, full, full, full, full]


def test_one_token_leaves_work_to_others(tokens: TokenFile) -> None:
    at_work: Counter[str] = Counter()
    most: Counter[str] = Counter()

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        whose = scope["state"]["principal"].tenant
        at_work[whose] += 1
        most[whose] = max(most[whose], at_work[whose])
        await asyncio.sleep(0.1)
        at_work[whose] -= 1
        await echo(scope, receive, send)

    ada, bob = tokens.create("ada"), tokens.create("bob")
    middleware = AuthMiddleware(busy, tokens, Limits(at_work=2))

    async def work() -> tuple[list[int], float]:
        async with client(middleware, ada) as first, client(middleware, bob) as second:
            many = [asyncio.create_task(first.post("/x")) for _ in range(20)]
            await asyncio.sleep(0.05)
            began = time.monotonic()
            await second.post("/x")
            seconds = time.monotonic() - began
            return [answer.status_code for answer in await asyncio.gather(*many)], seconds

    statuses, seconds = run(work())
    assert statuses == [200] * 20
    assert dict(most) == {"ada": 2, "bob": 1}
    assert seconds < 0.6
    assert not middleware._at_work


def test_what_costs_more_is_served_less_often(tokens: TokenFile) -> None:
    async def costly(scope: Any, receive: Any, send: Any) -> None:
        try:
            scope["state"]["charge"](60)
        except RequestError as error:
            await error.response.send(send)
        else:
            await echo(scope, receive, send)

    middleware, ada, bob = (
        AuthMiddleware(costly, tokens, Limits(rate=100)),
        tokens.create("ada"),
        tokens.create("bob"),
    )
    assert [ask(middleware, ada).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    assert ask(middleware, bob).status_code == 200


async def stream(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(10_000):
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await asyncio.sleep(0.01)


async def idle(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    await asyncio.sleep(3600)


async def stubborn(scope: Any, receive: Any, send: Any) -> None:
    try:
        await idle(scope, receive, send)
    finally:
        await send({"type": "http.response.body", "body": b"secret"})


def revoke(tokens: TokenFile) -> None:
    tokens.revoke(tokens.principals()[0].id)


@pytest.mark.parametrize("app", [stream, idle, stubborn])
@pytest.mark.parametrize("end", [revoke, lambda tokens: tokens.path.write_text("broken")])
def test_a_stream_is_cut_when_its_token_is_revoked(
    tokens: TokenFile, app: Any, end: Callable[[TokenFile], None]
) -> None:
    raw = Raw("GET", "/v1/export", token=tokens.create("ada"))

    async def work() -> None:
        under_way = asyncio.ensure_future(raw.through(AuthMiddleware(app, tokens)))
        while not raw.body:
            await asyncio.sleep(0.01)
        end(tokens)
        await asyncio.wait_for(under_way, 5)

    run(work())
    assert raw.status == 200
    assert not raw.whole
    assert b"secret" not in raw.body


def test_a_stream_may_last_longer_than_a_request(tokens: TokenFile) -> None:
    async def lasting(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(8):
            await asyncio.sleep(0.2)
            await send({"type": "http.response.body", "body": b"x", "more_body": number < 7})

    raw = Raw("GET", "/v1/export", token=tokens.create("ada"))
    run(raw.through(AuthMiddleware(lasting, tokens, Limits(seconds=1.0))))
    assert raw.whole
    assert raw.body == b"x" * 8


def test_a_token_that_is_revoked_before_the_answer_gets_none(tokens: TokenFile) -> None:
    raw = Raw("GET", "/x", token=tokens.create("ada"))

    async def work() -> int:
        under_way = asyncio.ensure_future(raw.through(AuthMiddleware(sleeper, tokens)))
        await asyncio.sleep(0.05)
        revoke(tokens)
        return await under_way

    assert run(work()) == 401


def test_a_request_whose_client_leaves_is_ended(tokens: TokenFile) -> None:
    ended = []

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(time.monotonic())

    async def work() -> int | None:
        raw, left = Raw("POST", "/x", token=tokens.create("ada")), asyncio.Event()
        first = raw._receive

        async def receive() -> Any:
            if raw.given:
                await left.wait()
                return {"type": "http.disconnect"}
            return await first()

        raw._receive = receive  # type: ignore[method-assign]
        under_way = asyncio.ensure_future(raw.through(AuthMiddleware(busy, tokens)))
        await asyncio.sleep(0.1)
        assert not ended
        left.set()
        return await asyncio.wait_for(under_way, 2)

    assert run(work()) == 499
    assert len(ended) == 1


def test_sockets_of_the_web_are_not_served(tokens: TokenFile) -> None:
    raw = Raw("GET", "/", kind="websocket")
    run(raw.through(AuthMiddleware(echo, tokens)))
    assert raw.status is None
