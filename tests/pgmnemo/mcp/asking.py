"""A server of the Model Context Protocol in this process, and clients of the SDK that ask it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pgmnemo import AsyncMemory
from pgmnemo.http.tokens import Principal
from pgmnemo.mcp.lazy_memory import LazyMemory
from pgmnemo.mcp.server import memory_server
from tests.pgmnemo.client.driving import Place

ERAS = ("legacy", "2026-07-28")
KITCHEN = "kitchen"
MALFORMED: list[tuple[bytes, str | int | None, int]] = [  # a message, and the id and code of its error
    (b"x", None, -32700), (b"{", None, -32700), (b"\xff\xfe", None, -32700), (b"[" * 100_000, None, -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\x01"}}', None, -32700),
    (b"[]", None, -32600), (b"5", None, -32600), (b"null", None, -32600), (b'"x"', None, -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
    (b'{"jsonrpc":"2.0","id":2,"method":123}', 2, -32600), (b'{"id":"a","method":"ping"}', "a", -32600),
    (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', 3, -32600), (b'{"jsonrpc":"2.0","id":4}', 4, -32600),
    (b'{"jsonrpc":"2.0","method":5}', None, -32600), (b'{"jsonrpc":"2.0","id":5,"error":5}', 5, -32600),
    *((b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id, None, -32600)
      for id in (b"null", b"1.5", b"true", b"{}", b"[1]", b'"\\ud800"')),
    (b'{"jsonrpc":"2.0","id":6,"method":"ping","params":[]}', 6, -32602),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":5}', 7, -32602),
    (b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"recall","arguments":{"query":"\\ud800"}}}',
     8, -32602),
    (b'{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"\\udfff"}}', 9, -32602),
]  # fmt: skip


def run(body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(body())


def principal(tenant: str, project: str | None = KITCHEN) -> Principal:
    return Principal(id="own", tenant=tenant, project=project, made_at=datetime.now(UTC))


def opened(place: Place) -> Callable[[], Coroutine[Any, Any, AsyncMemory]]:
    """What opens a memory of words alone, as alice."""
    return lambda: AsyncMemory.open(place.dsn(), embedder=None)


@asynccontextmanager
async def asked(place: Place, own: Principal, era: str = ERAS[1], **given: Any) -> AsyncIterator[Client]:
    """A client of a server in memory."""
    async with (
        await opened(place)() as memory,
        Client(memory_server(memory, own, **given), mode=era) as client,
    ):
        yield client


async def told(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool answers as a record; it must not be an error."""
    answer = await client.call_tool(tool, given)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


async def fault(client: Client, tool: str, given: Any) -> str:
    """The sentence of a tool's error."""
    answer = await client.call_tool(tool, given)
    assert answer.is_error, answer
    assert answer.structured_content is None
    [content] = answer.content
    assert content.type == "text"
    return content.text


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """The URL of an ASGI application that is served on the loopback interface."""
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", lifespan="on", http="h11", timeout_graceful_shutdown=5)
    )
    task = asyncio.create_task(server.serve(sockets=[bound]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await task
        bound.close()


@asynccontextmanager
async def over_http(url: str, token: str | None = None, era: str = ERAS[1]) -> AsyncIterator[Client]:
    """A client over streamable HTTP, with a token."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


def opening(place: Place) -> LazyMemory:
    return LazyMemory(opened(place))
