"""The command that serves a memory by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from cyclopts import Parameter

from pgmnemo.cli.open_scope import empty_folder
from pgmnemo.cli.options import LOCAL, ME, PROJECT, Embedder, KeepSecrets, Names, Others
from pgmnemo.cli.output import print_note
from pgmnemo.cli.serve import File, single_principal, token_file
from pgmnemo.errors import UsageError

if TYPE_CHECKING:
    from pgmnemo import AsyncMemory
    from pgmnemo.http.oauth import OAuthTokens

PORT = 7438
Url = Annotated[str | None, Parameter(metavar="URL")]
LEAST, MOST = 50, 20_000  # tokens of a wake-up


def _variable_name(variable: str) -> Parameter:
    return Parameter(env_var=variable, metavar="NAME")


def mcp(
    memory: str | None = None, *,
    tenant: Annotated[str, _variable_name("PGMNEMO_TENANT")] = ME,
    project: Annotated[str | None, _variable_name(PROJECT)] = None,
    others: Others = None, access: Literal["read", "write"] = "write",
    wake_up_tokens: int = 800, http: bool = False, tokens: File = None, host: str = "127.0.0.1",
    port: int = PORT, known_as: Names = None, issuer: Url = None, resource: Url = None,
    keep_secrets: KeepSecrets = False, embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """Serve a memory by the Model Context Protocol (MCP).

    The server uses standard input and output, for a client that starts
    and stops this command; with --http it listens at
    http://HOST:PORT/mcp.

    Args:
        memory: a folder or DSN; else what PGMNEMO_MEMORY names, else the
            folder pgmnemo/memory among your data
        tenant: name or uuid of the tenant
        project: only this project; else each call may name a project,
            `default` by default
        access: read offers only tools that change nothing, write all
        wake_up_tokens: maximum number of tokens of the resource
            memory://wake-up
        http: serve over HTTP
        tokens: the file that `mnemo token make` writes; a token names
            its tenant. Without the file only this machine is served,
            for --tenant
        host: the address to listen on
        port: the port; 0: a free one
        known_as: a name by which clients call this server, such as
            memory.example.org; may be repeated
        issuer: the authorization server whose access tokens are
            accepted; a token's subject is the tenant, and its scope
            memory.read or memory.write
        resource: with --issuer, the URL of this server as clients call
            it, such as https://memory.example.org/mcp; it is the
            audience of the tokens
    """
    from pgmnemo.models.runtime import demand

    demand("mcp_types", "mnemo mcp", "mcp")
    if not LEAST <= wake_up_tokens <= MOST:
        raise UsageError(f"--wake-up-tokens is {wake_up_tokens:,}, but must be from {LEAST} to {MOST:,}")
    if not http and tokens is not None:
        raise UsageError("--tokens is for a server over HTTP; add --http")
    if resource is not None and issuer is None:
        raise UsageError("--resource names this server for the tokens of --issuer; give both")
    if (tokens is not None or issuer is not None) and (others or access != "write"):
        raise UsageError("--with and --access belong to a token here; give them to mnemo token make")
    if known_as and tokens is None and issuer is None:
        raise UsageError("--known-as is for others than this machine, who need --tokens")
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    known = token_file(host, tokens) if issuer is None else oauth_tokens(issuer, resource, http, tokens)
    if resource is not None:
        known_as = [*(known_as or []), urlsplit(resource).hostname or ""]
    principal = single_principal(tenant, project, others or (), access) if known is None else None
    opener = memory_opener(memory, embedder)
    if not http and (folder := empty_folder(memory)):
        print_note(False, f"there is no memory in {folder} yet; the first call makes one")
    from pgmnemo.mcp.lazy_memory import LazyMemory
    from pgmnemo.mcp.server import memory_server

    async def served() -> None:
        opening = LazyMemory(opener)
        server = memory_server(opening, principal, wake_up_tokens=wake_up_tokens, keep_secrets=keep_secrets)
        if http:
            await _over_http(server, opening, known, principal, host, port, known_as or [])
        else:
            from pgmnemo.mcp.stdio import serve

            await serve(server, opening)

    asyncio.run(served())


async def _over_http(
    server: Any, opening: Any, known: Any, principal: Any, host: str, port: int, names: list[str]
) -> None:
    from pgmnemo.http.auth import Limits
    from pgmnemo.http.logs import RequestLogMiddleware
    from pgmnemo.http.server import serve
    from pgmnemo.mcp.http import PATH, build_app

    limits, own = Limits(), f"[{host}]" if ":" in host else host
    async with build_app(
        server, opening, known, principal=principal, hosts=[own, *names], limits=limits
    ) as app:
        await serve(RequestLogMiddleware(app, [PATH]), host, port, limits.seconds)


def oauth_tokens(issuer: str, resource: str | None, http: bool, tokens: str | None) -> OAuthTokens:
    """Return the tokens of an authorization server; raise UsageError for options that exclude each other."""
    from pgmnemo.http.oauth import OAuthTokens

    if not http or resource is None or tokens is not None:
        raise UsageError(
            "--issuer is for a server over HTTP: give --http and --resource with it, no --tokens"
        )
    return OAuthTokens.discover(issuer, resource)


def memory_opener(place: str | None, embedder: str) -> Callable[[], Awaitable[AsyncMemory]]:
    """Return a function that opens the memory; raise an error now for an invalid place or embedder."""
    from pgmnemo import AsyncMemory
    from pgmnemo.client.location import resolve_location
    from pgmnemo.client.memory_embedder import memory_embedder

    resolve_location(place)
    memory_embedder(embedder)
    return lambda: AsyncMemory.open(place, embedder=embedder)
