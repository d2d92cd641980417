"""The web application: the verbs of a memory over HTTP, a health check, and the OpenAPI description."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from tempfile import TemporaryFile
from typing import IO, Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from pgmnemo import AsyncMemory
from pgmnemo.client.aio.concurrency import MAX_ANSWER_BYTES
from pgmnemo.client.jsonl_format import decode_fault, misfit
from pgmnemo.client.scope_calls import VERSIONS
from pgmnemo.errors import PgmnemoError
from pgmnemo.http.error_response import SERVER_FAULT, ErrorResponse, RequestError, error_response
from pgmnemo.http.openapi import JSON, JSON_LINES, openapi_document
from pgmnemo.http.verbs import VERBS, HttpVerb

PART_BYTES = 1 << 16  # bytes of an answer that are sent at a time
CHECK_INTERVAL = 1.0
PING_TIMEOUT = 5.0  # seconds in which a healthy database answers
Endpoint = Callable[[Request], Awaitable[Response]]


def build_app(memory: AsyncMemory, *routes: Route) -> Starlette:
    """Return the application over a memory, which the caller closes; `routes` are added to it.

    AuthMiddleware in front of it must set `request.state.principal`, which decides what rows a request can
    access.
    """
    return json_app(
        [
            *routes,
            *(Route(verb.path, endpoint(memory, verb), methods=["POST"]) for verb in VERBS),
            Route("/healthz", HealthCheck(memory).answer),
            Route("/openapi.json", openapi),
        ]
    )


def json_app(routes: list[Route]) -> Starlette:
    """Return an application with these routes that answers every error with a JSON sentence."""
    handlers: Any = {
        HTTPException: _on_http_exception, RequestError: _on_request_error, PgmnemoError: _on_pgmnemo_error,
        msgspec.ValidationError: _on_invalid_body, msgspec.DecodeError: _on_malformed_body,
        UnicodeDecodeError: _on_malformed_body, RecursionError: _on_malformed_body,
        ClientDisconnect: _on_malformed_body, Exception: _on_fault,
    }  # fmt: skip
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app


def endpoint(memory: AsyncMemory, verb: HttpVerb) -> Endpoint:
    """Return the handler of a verb."""

    exporting: set[str] = set()

    async def answer(request: Request) -> Response:
        given, project = verb.read(await request.body())
        if (cost := verb.cost(given)) >= 1:
            request.state.charge(cost)
        request.state.principal.check_access(reads=verb.reads)
        scope = request.state.principal.scope(memory, project)
        if verb.lines:
            return await _export_response(scope, given, exporting, request.state.principal.id)
        found = getattr(scope, verb.name)(**given)
        if hasattr(found, "__aiter__"):
            return StreamingResponse(await _with_first_part(_json_array(found, verb)), media_type=JSON)
        return await asyncio.to_thread(_verb_response, verb, await found, given)

    return answer


def _verb_response(verb: HttpVerb, found: Any, given: dict[str, Any]) -> Response:
    return json_response(verb.serialize(found, given))


def json_response(answer: Any) -> Response:
    """Return an answer as a line of JSON."""
    return Response(msgspec.json.encode(answer) + b"\n", media_type=JSON)


async def _json_array(found: AsyncIterator[Any], verb: HttpVerb) -> AsyncIterator[bytes]:
    """Yield a JSON array in parts, so that the whole array is never in memory."""
    part = bytearray(b"[")
    async for one in found:
        part += (b"," if part[-1:] != b"[" else b"") + msgspec.json.encode(verb.serialize(one, {}))
        if len(part) >= PART_BYTES:
            yield bytes(part)
            part.clear()
    yield bytes(part + b"]\n")


class _ExportResponse(StreamingResponse):
    """The lines of an export, sent from a temporary file, so that a slow reader keeps no transaction open."""

    def __init__(self, file: IO[bytes], done: Callable[[], object]) -> None:
        super().__init__(_parts(file), media_type=JSON_LINES)
        self._file, self._done = file, done

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()
            self._done()


async def _export_response(
    scope: Any, given: dict[str, Any], exporting: set[str], whose: str
) -> _ExportResponse:
    """Return an export; raise RequestError while another export of the same token is in progress."""
    if whose in exporting:
        raise RequestError(
            ErrorResponse(429, "busy", "another export of this token is under way; read that one first")
        )
    exporting.add(whose)
    file = TemporaryFile()  # noqa: SIM115
    try:
        MAX_ANSWER_BYTES.set(None)  # a file may be larger than an answer
        await scope.export(file, **given)
        await asyncio.to_thread(file.seek, 0)
    except BaseException:
        file.close()
        exporting.discard(whose)
        raise
    return _ExportResponse(file, partial(exporting.discard, whose))


async def _parts(file: IO[bytes]) -> AsyncIterator[bytes]:
    while part := await asyncio.to_thread(file.read, PART_BYTES):
        yield part


async def _with_first_part(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Return the same parts, with the first part read now: an error before it can still set the status."""
    first = await anext(parts)

    async def rest() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    return rest()


class HealthCheck:
    """The state of the database, checked at most once a second."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory, self._asking = memory, asyncio.Lock()
        self._well, self._until = False, 0.0

    async def answer(self, request: Request) -> Response:
        """Return 200, or 503 if the database does not answer."""
        async with self._asking:
            if time.monotonic() >= self._until:
                self._well, self._until = await self._ping(), time.monotonic() + CHECK_INTERVAL
        if self._well:
            return json_response({"status": "ok"})
        return _to_response(ErrorResponse(503, "error", "the database does not answer"))

    async def _ping(self) -> bool:
        try:
            async with asyncio.timeout(PING_TIMEOUT):
                await self._memory._executor.call(VERSIONS)
        except (PgmnemoError, TimeoutError):
            return False
        return True


async def openapi(request: Request) -> Response:
    """Return the OpenAPI description of this interface."""
    return json_response(openapi_document())


def _to_response(no: ErrorResponse) -> Response:
    return Response(no.body, no.status, no.all_headers)


async def _on_request_error(request: Request, error: Any) -> Response:
    return _to_response(error.response)


async def _on_pgmnemo_error(request: Request, error: Any) -> Response:
    return _to_response(error_response(error))


async def _on_http_exception(request: Request, error: Any) -> Response:
    if error.status_code == 405:
        return _to_response(
            ErrorResponse(405, "wrong use", "this path takes another method", error.headers or {})
        )
    paths = ", ".join(route.path for route in request.app.routes)
    return _to_response(
        ErrorResponse(error.status_code, "wrong use", f"there is no such path; there are {paths}")
    )


async def _on_invalid_body(request: Request, error: Exception) -> Response:
    return _to_response(ErrorResponse(422, "wrong use", f"the body does not fit: {misfit(error)}"))


async def _on_malformed_body(request: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        why = "it ended before it was whole"
    else:
        why = decode_fault(error, await request.body())
    return _to_response(ErrorResponse(400, "wrong use", f"the body is no JSON: {why}"))


async def _on_fault(request: Request, error: Exception) -> Response:
    return _to_response(SERVER_FAULT)
