"""The command `mnemo mcp`."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from cyclopts import Parameter
from cyclopts.validators import Number

from pgmnemo.errors import PgmnemoError, UsageError, os_errors
from pgmnemo.terminal import say

if TYPE_CHECKING:
    from pgmnemo import AsyncMemory
    from pgmnemo.serving.tokens import Holder

NONE = "none"
PORT = 8765
GRACE = 5  # seconds in which calls under way are answered at the end


def mcp(
    memory: str | None = None,
    /,
    *,
    tenant: Annotated[str, Parameter(env_var="PGMNEMO_TENANT", metavar="NAME")] = "me",
    project: Annotated[str | None, Parameter(env_var="PGMNEMO_PROJECT", metavar="NAME")] = None,
    embedder: Annotated[str, Parameter(env_var="PGMNEMO_EMBEDDER", metavar="NAME")] = "local",
    wake_up_tokens: Annotated[int, Parameter(validator=Number(gte=50, lte=20_000), metavar="N")] = 800,
    http: bool = False,
    host: Annotated[str, Parameter(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65_535), metavar="N")] = PORT,
    tokens: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    called: Annotated[list[str] | None, Parameter(consume_multiple=False, metavar="NAME")] = None,
) -> None:
    """Serve a memory to a model's client by the Model Context Protocol.

    Over standard input and output, for a client that starts this
    command; with --http at http://HOST:PORT/mcp.

    Args:
        memory: a folder, or a DSN; else what PGMNEMO_MEMORY names, else
            the folder pgmnemo/memory among your data
        tenant: whose memory it is: a name or uuid
        project: this project alone; else the client may name one, and
            `default` is the usual one
        embedder: what makes vectors of texts: local, minilm, bge-m3, …,
            or none: words alone
        wake_up_tokens: of the resource memory://wake-up, at most
        http: serve over HTTP
        host: at this address; another than 127.0.0.1 needs --tokens
        port: 0: any that is free
        tokens: a file of mnemo token make: each token is served as its
            tenant; else all on this machine are, as --tenant
        called: a name by which clients reach this server, such as
            memory.example.org; may be repeated
    """
    if find_spec("mcp_types") is None:
        told = "mnemo mcp needs the package mcp, version 2 or later; pip install 'pgmnemo-memory[mcp]'"
        raise PgmnemoError(told)
    if not http and (tokens is not None or called):
        raise UsageError("--tokens and --called are for a server over HTTP; add --http")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    from pgmnemo.mcp.opening import Opening
    from pgmnemo.mcp.server import memory_server

    opening = Opening(_opener(memory, embedder))
    own = None if tokens is not None else _holder(tenant, project)
    server = memory_server(opening, own, wake_up_tokens=wake_up_tokens)
    if http:
        _serve_http(server, opening, own, tokens, called or [], host, port)
    else:
        from pgmnemo.mcp.stdio import serve

        asyncio.run(serve(server, opening))


def _opener(place: str | None, embedder: str) -> Callable[[], Awaitable[AsyncMemory]]:
    """What opens the memory; UsageError now for a place or an embedder that cannot be meant."""
    from pgmnemo import AsyncMemory
    from pgmnemo.client.embedding import embedding_of
    from pgmnemo.client.opening import resolve

    resolve(place)
    made_of = None if embedder == NONE else embedder
    embedding_of(made_of)
    return lambda: AsyncMemory.open(place, embedder=made_of)


def _holder(tenant: str, project: str | None) -> Holder:
    from pgmnemo.client.naming import named, project_id, tenant_id
    from pgmnemo.serving.tokens import Holder

    whose, part = named(tenant), None if project is None else named(project)
    of = tenant_id(whose)
    if part is not None:
        project_id(of, part)
    return Holder(
        id="own", tenant=tenant, project=project, made_at=datetime.now(UTC),
        tenant_id=whose if isinstance(whose, UUID) else None,
        project_id=part if isinstance(part, UUID) else None,
    )  # fmt: skip


def _serve_http(
    server: Any,
    opening: Any,
    own: Holder | None,
    tokens: Path | None,
    called: list[str],
    host: str,
    port: int,
) -> None:
    import uvicorn

    from pgmnemo.mcp.http import PATH, application
    from pgmnemo.serving.guard import is_loopback
    from pgmnemo.serving.tokens import Tokens

    if tokens is None and not is_loopback(host):
        raise UsageError(f"whoever reaches {host} could read this memory; give --tokens, or leave out --host")
    known = None if tokens is None else Tokens(tokens)
    if known is not None and not known.listed():
        raise UsageError(f"there is no token in {tokens}; make one by mnemo token make")
    app = application(server, opening, known, holder=own, hosts=[host, *called])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with os_errors(f"{host}:{port} cannot be served at ({{why}}); name another --port", UsageError):
        bound = socket.create_server((host, port), family=family)
    shown = f"[{host}]" if ":" in host else host
    say(f"serving at http://{shown}:{bound.getsockname()[1]}{PATH}", error=True)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, http="h11", lifespan="on", timeout_graceful_shutdown=GRACE
    )
    uvicorn.Server(config).run(sockets=[bound])
