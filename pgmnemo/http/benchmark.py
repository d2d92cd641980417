"""The routes that wrappers of benchmarks call, over a tenant of their own (`mnemo serve --benchmark`).

`user_id` is a project of that tenant, `beliefId` a lesson's key, `scope` a value of its metadata, and aliases
are appended to its text. An added lesson can be found at once, so `wait` returns immediately.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pgmnemo import AsyncMemory
from pgmnemo.errors import MissingError, UsageError
from pgmnemo.http.app import json_app, json_response
from pgmnemo.http.json_types import INTEGER

NOBODY = "default"


class Belief(msgspec.Struct, kw_only=True):
    """The body of a request to add a belief."""

    text: str
    user_id: str = NOBODY
    metadata: dict[str, Any] = {}
    aliases: list[str] = []

    @property
    def key(self) -> str:
        """Return the id of a belief; a new id if it has none; raise UsageError if it is not a text."""
        found = self.metadata.get("beliefId")
        if found is not None and not isinstance(found, str | int):
            raise UsageError("beliefId is a text")
        return uuid4().hex if found is None else str(found)


class Update(Belief, kw_only=True):
    """The body of a request to change the text of a belief."""

    beliefId: str


class Search(msgspec.Struct, kw_only=True):
    """The body of a search request."""

    query: str
    user_id: str = NOBODY
    limit: INTEGER = 10
    scope: str | None = None


def build_app(memory: AsyncMemory, min_fit: float | None = None) -> Starlette:
    """Return an application with the routes, over the tenant of the request's principal.

    A search finds no lesson with a fit below `min_fit`.
    """

    def of(request: Request, user: str | None = None) -> Any:
        tenant = request.state.principal.scope(memory)
        return tenant if user is None else tenant.project(user)

    async def add(request: Request) -> Response:
        given = msgspec.json.decode(await request.body(), type=Belief)
        return await store(request, given, given.key)

    async def update(request: Request) -> Response:
        given = msgspec.json.decode(await request.body(), type=Update)
        if await of(request, given.user_id).get(given.beliefId) is None:
            raise MissingError(f"there is no belief {given.beliefId!r} of this user; add it")
        return await store(request, given, given.beliefId)

    async def store(request: Request, given: Belief, key: str) -> Response:
        text = "\n".join([given.text, *given.aliases])
        await of(request, given.user_id).add(text, key=key, metadata=given.metadata)
        return json_response({"id": key})

    async def search(request: Request) -> Response:
        given = msgspec.json.decode(await request.body(), type=Search)
        only = None if given.scope is None else {"metadata": {"scope": given.scope}}
        scope = of(request, given.user_id)
        hits = await scope.recall(given.query, k=given.limit, filter=only, duplicates=True, min_fit=min_fit)
        results = [{"id": hit.key, "text": hit.text, "score": hit.score} for hit in hits]
        return json_response({"results": results})

    async def reset(request: Request) -> Response:
        return json_response({"deleted": await of(request).forget(all_lessons=True)})

    async def wait(request: Request) -> Response:
        return json_response({"status": "ok"})

    return json_app(
        [
            Route("/add", add, methods=["POST"]),
            Route("/search", search, methods=["POST"]),
            Route("/reset", reset, methods=["DELETE"]),
            Route("/wait", wait, methods=["POST"]),
            Route("/update", update, methods=["PUT"]),
        ]
    )
