"""The server over streamable HTTP: tokens, other names of hosts, streams, and the command's mistakes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pgmnemo import AsyncMemory
from pgmnemo.cli.commands import main
from pgmnemo.http.tokens import TokenFile
from pgmnemo.mcp.http import build_app
from pgmnemo.mcp.lazy_memory import LazyMemory
from pgmnemo.mcp.server import memory_server
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.mcp.asking import ERAS, MALFORMED, fault, opening, over_http, principal, serving, told

BOTH = "application/json, text/event-stream"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
CALL = {**LIST, "method": "tools/call", "params": {"name": "list", "arguments": {}}}
HOSTS = [
    ({}, 200), ({"host": "localhost:7"}, 200), ({"host": "memory.example.org"}, 200),
    ({"host": "evil.example"}, 421), ({"host": "127.0.0.1.evil.example"}, 421),
    ({"host": "memory.example.org.evil.example:80"}, 421), ({"origin": "http://localhost:3000"}, 403),
    ({"origin": "https://memory.example.org"}, 200), ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403), ({"origin": "http://localhost.evil.example"}, 403),
]  # fmt: skip
WRONG: list[tuple[list[str], str]] = [
    (["--tokens", "x"], "add --http"), (["--http", "--known-as", "x"], "who need --tokens"),
    (["--issuer", "https://login.example"], "give --http and --resource with it"),
    (["--http", "--resource", "https://m.example/mcp"], "give both"),
    (["--http", "--issuer", "http://login.example", "--resource", "https://m.example/mcp"], "an https URL"),
    (["--wake-up-tokens", "49"], "must be from 50 to 20,000"),
    (["--http", "--host", "0.0.0.0"], "without tokens anybody could read"),
    (["--http", "--tokens", "/nowhere/tokens.json"], "holds no token"),
    (["--http", "--host", "256.0.0.1", "--tokens", "TOKENS"], "name another --host or --port"),
    (["--tenant", " "], "a tenant is named by"), (["--project", ""], "a project is named by"),
    (["--embedder", "nothing"], "nothing"),
]  # fmt: skip


@asynccontextmanager
async def served(place: Place, tokens: TokenFile | None, **given: Any) -> AsyncIterator[str]:
    """The URL of a server behind AuthMiddleware."""
    made = given.pop("opening", None) or opening(place)
    server = memory_server(made)
    async with build_app(server, made, tokens, **given) as app, serving(app) as url:
        yield url


async def post(url: str, body: Any, token: str | None = None, **headers: str) -> httpx2.Response:
    bearer = {} if token is None else {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(timeout=120) as http:
        return await http.post(url, json=body, headers={"accept": BOTH, **bearer, **headers})


@pytest.mark.parametrize("era", ERAS)
async def test_two_tokens_never_see_each_others_memories(place: Place, tmp_path: Path, era: str) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    made = {name: tokens.create(place.tenant(), "kitchen") for name in ("amber", "violet")}

    async def stays_in(url: str, name: str, other: str) -> None:
        async with over_http(url, made[name], era) as client:
            for number in range(5):
                text = f"{name} wrote secret {number}"
                await told(
                    client, "remember", text=text, key=f"{number}", topic="secret", metadata={"of": name}
                )
                fact = {"subject": "whose", "relation": "is it", "object": name}
                await told(client, "remember", text=f"{name}'s own fact {number}", fact=fact)
                await told(client, "link", source="0", target=str(number)) if number else None
                answers = [
                    await client.call_tool(tool, given)
                    for tool, given in (
                        ("recall", {"query": "secret of amber and violet", "k": 50}),
                        ("context", {"max_tokens": 5000}),
                        ("list", {"include_inactive": True, "limit": 200}),
                        ("timeline", {"key": "0"}),
                        ("facts", {"history": True}),
                    )
                ]
                answers.append(await client.read_resource("memory://wake-up"))  # type: ignore[arg-type]
                for answer in answers:
                    text = answer.model_dump_json()
                    assert name in text
                    assert other not in text
            assert (await told(client, "forget", topic="secret"))["memories"] == 5

    async with served(place, tokens) as url:
        await asyncio.gather(stays_in(url, "amber", "violet"), stays_in(url, "violet", "amber"))


@pytest.mark.parametrize("era", ERAS)
async def test_no_token_no_answer(place: Place, tmp_path: Path, era: str) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token = tokens.create(place.tenant())

    async with served(place, tokens) as url:
        for given in (None, "x", "mnemo_0_x", token[:-1], token + "x"):
            answer = await post(url, LIST, given)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
        assert (await post(url, LIST, token)).status_code == 200
        assert (await post(url, {**LIST, "params": {"x": "y" * (2 << 20)}}, token)).status_code == 413
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}) as http:
            assert [(await http.request(verb, url)).status_code for verb in ("GET", "DELETE")] == [
                405,
                405,
            ]
        async with over_http(url, token, era) as client:
            assert "project" in (await client.list_tools()).tools[0].input_schema["properties"]
            tokens.revoke(tokens.principals()[0].id)
            with pytest.raises(Exception, match="an error response"):
                await client.list_tools(cache_mode="bypass")


async def test_other_names_of_hosts_are_refused(place: Place, tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token = tokens.create(place.tenant())

    async with served(place, tokens, hosts=["memory.example.org"]) as url:
        for headers, status in HOSTS:
            assert (await post(url, LIST, token, **headers)).status_code == status, headers
    async with served(place, None, principal=principal(place.tenant())) as url:
        for headers, status in HOSTS:
            wanted = 403 if status == 421 or "example" in str(headers) else status
            assert (await post(url, LIST, **headers)).status_code == wanted, headers


async def test_a_stream_ends_when_its_token_is_revoked(place: Place, tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    token = tokens.create(place.tenant())

    async def never() -> AsyncMemory:
        await asyncio.sleep(3600)
        raise AssertionError("the call was called off")

    headers = {"accept": BOTH, "authorization": f"Bearer {token}"}
    async with (
        served(place, tokens, opening=LazyMemory(never)) as url,
        httpx2.AsyncClient(timeout=120, headers=headers) as http,
        http.stream("POST", url, json=CALL) as answer,
    ):
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
        tokens.revoke(tokens.principals()[0].id)
        with pytest.raises(httpx2.RemoteProtocolError):
            async with asyncio.timeout(60):
                await answer.aread()


async def test_malformed_messages_are_the_protocols_errors(place: Place) -> None:
    async with (
        served(place, None, principal=principal(place.tenant())) as url,
        httpx2.AsyncClient() as http,
    ):
        for content in (b"", b"{", b"[]", b"\xff", b'{"jsonrpc":"2.0","id":1}', b"[" * 100_000):
            for era in ({}, {"mcp-protocol-version": ERAS[1]}):
                headers = {"accept": BOTH, "content-type": "application/json", **era}
                answer = await http.post(url, content=content, headers=headers)
                assert answer.status_code == 400, content[:20]
                assert "Traceback" not in answer.text
        for content, id, code in MALFORMED:
            headers = {"accept": BOTH, "content-type": "application/json"}
            answer = await http.post(url, content=content, headers=headers)
            assert answer.status_code == 400
            assert (answer.json()["id"], answer.json()["error"]["code"]) == (id, code), content[:80]
        deep: Any = {}
        for _ in range(400):
            deep = {"a": deep}
        for given in ({"text": "x", "metadata": deep}, {"text": "\ud800"}):
            message = json.dumps({**CALL, "params": {"name": "remember", "arguments": given}}).encode()
            headers = {"accept": BOTH, "content-type": "application/json"}
            answer = await http.post(url, content=message, headers=headers)
            assert (
                answer.status_code == 400
                or json.loads(answer.text.partition("data: ")[2])["result"]["isError"]
            )
            assert "Traceback" not in answer.text


@pytest.mark.parametrize(("options", "part"), WRONG, ids=[" ".join(one) for one, _ in WRONG])
def test_a_wrong_command_line_is_one_sentence(
    options: list[str], part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TokenFile(tmp_path / "tokens.json").create("ada")
    given = [str(tmp_path / "tokens.json") if one == "TOKENS" else one for one in options]
    assert main(["mcp", "host=/nowhere dbname=x", *given]) in (2, 3)
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err.splitlines()[-1]


async def test_the_memory_that_is_handed_in_stays_open(place: Place) -> None:
    async with await AsyncMemory.open(place.dsn(), embedder=None) as memory:
        own = principal(place.tenant())
        from mcp import Client

        for era in ERAS:
            async with Client(memory_server(memory, own), mode=era) as client:
                await told(client, "list")
                await fault(client, "timeline", {"key": "nothing"})
        assert (await memory.tenant(own.tenant).count()).lessons == 0
