"""The MCP server over streamable HTTP, behind AuthMiddleware; it keeps no sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pgmnemo.http.auth import AuthMiddleware, Limits
from pgmnemo.http.oauth import OAuthTokens
from pgmnemo.http.origin import JSON, is_loopback
from pgmnemo.http.tokens import Principal, TokenFile
from pgmnemo.mcp.lazy_memory import LazyMemory
from pgmnemo.mcp.messages import error_of

PATH = "/mcp"
SCHEMES, PORTS = ("http", "https"), ("", ":*")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@asynccontextmanager
async def build_app(
    server: Server[Any],
    memory: LazyMemory,
    tokens: TokenFile | OAuthTokens | None,
    *,
    principal: Principal | None = None,
    hosts: Sequence[str] = (),
    limits: Limits | None = None,
) -> AsyncIterator[AuthMiddleware]:
    """Yield an ASGI application that answers POST /mcp, while its memory is open.

    tokens: the accepted tokens; None: only `principal`, and only calls from this machine.
    hosts: names of the server, in addition to those of the loopback interface; a request to another name, or
        from a web page of another name or another local port, is refused.
    """
    names = [*LOOPBACK, *hosts]
    pages = [one for one in names if tokens is None or not is_loopback(one.strip("[]"))]
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}{port}" for name in names for port in PORTS],
        allowed_origins=[
            f"{scheme}://{name}{port}" for scheme in SCHEMES for name in pages for port in PORTS
        ],
    )
    manager = StreamableHTTPSessionManager(server, stateless=True, security_settings=security)
    routes = [Route(PATH, MessageValidator(StreamableHTTPASGIApp(manager)), methods=["POST"])]
    public: tuple[str, ...] = ()
    if isinstance(tokens, OAuthTokens):
        public = (tokens.metadata_path,)
        metadata = JSONResponse(tokens.metadata)
        routes.append(Route(tokens.metadata_path, metadata, methods=["GET"]))
    app = Starlette(routes=routes)
    try:
        async with memory.running(), manager.run():
            yield AuthMiddleware(app, tokens, limits, principal=principal, public=public)
    except BaseExceptionGroup as group:  # the manager's tasks wrap the error of the caller's block
        raise _single_error(group) from None


class MessageValidator:
    """A middleware that answers malformed messages with the same errors as over stdio."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return
        if (error := error_of(body)) is not None:
            told = error.model_dump_json(by_alias=True, exclude_unset=True)
            await Response(told, 400, media_type=JSON)(scope, receive, send)
            return
        read = False

        async def again() -> Any:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, again, send)


def _single_error(error: BaseException) -> BaseException:
    """Return the only error in nested exception groups of one; any other error unchanged."""
    single = isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1
    return _single_error(error.exceptions[0]) if single else error  # type: ignore[attr-defined]
