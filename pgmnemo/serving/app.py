"""The application: the verbs of a memory over HTTP, its health and its description."""

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
from pgmnemo.client.scope_calls import VERSIONS
from pgmnemo.errors import PgmnemoError
from pgmnemo.serving.answers import FAULT, Refusal, Refused, refusal
from pgmnemo.serving.openapi import JSON, JSON_LINES, description
from pgmnemo.serving.verbs import VERBS, Verb

PART = 1 << 16  # bytes of an answer that are sent at a time
SECOND = 1.0
PATIENCE = 5.0  # seconds in which a database that is well answers
Endpoint = Callable[[Request], Awaitable[Response]]


def application(memory: AsyncMemory, *routes: Route) -> Starlette:
    """Return an application over a memory, which the caller closes; `routes` are added to it.

    A Guard before it must set `request.state.holder`, the holder that decides which rows a request can
    access.
    """
    return made(
        [
            *routes,
            *(Route(verb.path, endpoint(memory, verb), methods=["POST"]) for verb in VERBS),
            Route("/healthz", Health(memory).answer),
            Route("/openapi.json", openapi),
        ]
    )


def made(routes: list[Route]) -> Starlette:
    """Return an application that answers every error with a sentence of JSON."""
    handlers: Any = {
        HTTPException: _no_route, Refused: _refused, PgmnemoError: _wrong, msgspec.ValidationError: _invalid,
        msgspec.DecodeError: _malformed, UnicodeDecodeError: _malformed, RecursionError: _malformed,
        ClientDisconnect: _malformed, Exception: _fault,
    }  # fmt: skip
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app


def endpoint(memory: AsyncMemory, verb: Verb) -> Endpoint:
    """Return the handler of a verb."""

    exporting: set[str] = set()

    async def answer(request: Request) -> Response:
        given, project = verb.read(await request.body())
        if (cost := verb.cost(given)) >= 1:
            request.state.charge(cost)
        scope = request.state.holder.scope(memory, project)
        if verb.lines:
            return await _exported(scope, given, exporting, request.state.holder.id)
        found = getattr(scope, verb.name)(**given)
        if hasattr(found, "__aiter__"):
            return StreamingResponse(await _begun(_array(found, verb)), media_type=JSON)
        return await asyncio.to_thread(_told, verb, await found, given)

    return answer


def _told(verb: Verb, found: Any, given: dict[str, Any]) -> Response:
    return told(verb.told(found, given))


def told(answer: Any) -> Response:
    """Return an answer as a line of JSON."""
    return Response(msgspec.json.encode(answer) + b"\n", media_type=JSON)


async def _array(found: AsyncIterator[Any], verb: Verb) -> AsyncIterator[bytes]:
    """Yield an array of JSON, a part at a time, so that none is ever whole in memory."""
    part = bytearray(b"[")
    async for one in found:
        part += (b"," if part[-1:] != b"[" else b"") + msgspec.json.encode(verb.told(one, {}))
        if len(part) >= PART:
            yield bytes(part)
            part.clear()
    yield bytes(part + b"]\n")


class _Export(StreamingResponse):
    """The lines of an export, from a file of its own, so that a slow reader holds no transaction open."""

    def __init__(self, file: IO[bytes], done: Callable[[], object]) -> None:
        super().__init__(_parts(file), media_type=JSON_LINES)
        self._file, self._done = file, done

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()
            self._done()


async def _exported(scope: Any, given: dict[str, Any], exporting: set[str], whose: str) -> _Export:
    """Return an export; Refused while another one of the same token is made or read."""
    if whose in exporting:
        raise Refused(Refusal(429, "busy", "another export of this token is under way; read that one first"))
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
    return _Export(file, partial(exporting.discard, whose))


async def _parts(file: IO[bytes]) -> AsyncIterator[bytes]:
    while part := await asyncio.to_thread(file.read, PART):
        yield part


async def _begun(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Return the same parts, with the first part read now, so that an error before it still has a status."""
    first = await anext(parts)

    async def rest() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    return rest()


class Health:
    """The state of the database, checked at most once a second."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory, self._asking = memory, asyncio.Lock()
        self._well, self._until = False, 0.0

    async def answer(self, request: Request) -> Response:
        """Return 200, or 503 if the database does not answer."""
        async with self._asking:
            if time.monotonic() >= self._until:
                self._well, self._until = await self._asked(), time.monotonic() + SECOND
        if self._well:
            return told({"status": "ok"})
        return _answer(Refusal(503, "error", "the database does not answer"))

    async def _asked(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._memory._executor.call(VERSIONS)
        except (PgmnemoError, TimeoutError):
            return False
        return True


async def openapi(request: Request) -> Response:
    """Return the description of all this."""
    return told(description())


def _answer(no: Refusal) -> Response:
    return Response(no.body, no.status, no.fields)


async def _refused(request: Request, error: Any) -> Response:
    return _answer(error.refusal)


async def _wrong(request: Request, error: Any) -> Response:
    return _answer(refusal(error))


async def _no_route(request: Request, error: Any) -> Response:
    if error.status_code == 405:
        return _answer(Refusal(405, "wrong use", "this path takes another method", error.headers or {}))
    paths = ", ".join(route.path for route in request.app.routes)
    return _answer(Refusal(error.status_code, "wrong use", f"there is no such path; there are {paths}"))


async def _invalid(request: Request, error: Exception) -> Response:
    return _answer(Refusal(422, "wrong use", f"the body does not fit: {error}"))


async def _malformed(request: Request, error: Exception) -> Response:
    why = {
        UnicodeDecodeError: "it is not UTF-8", RecursionError: "it is nested too deeply",
        ClientDisconnect: "it ended before it was whole",
    }  # fmt: skip
    return _answer(Refusal(400, "wrong use", f"the body is no JSON: {why.get(type(error), str(error))}"))


async def _fault(request: Request, error: Exception) -> Response:
    return _answer(FAULT)
