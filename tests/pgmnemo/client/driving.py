"""Synchronous and asynchronous memories behind one synchronous interface, and a PostgreSQL for them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.conninfo import make_conninfo

from pgmnemo import AsyncMemory, Memory
from pgmnemo.client.naming import tenant_id
from tests.security.attacked import Server

SHELLS = ("sync", "async")
Connection = psycopg.Connection[Any]


class Driven:
    """A synchronous wrapper of an asynchronous memory or scope."""

    def __init__(self, runner: asyncio.Runner, inner: Any) -> None:
        self.runner, self.inner = runner, inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if inspect.iscoroutinefunction(found):
            return lambda *given, **named: self._run(found(*given, **named))
        if inspect.isasyncgenfunction(found):
            return lambda *given, **named: iter(self._run(collected(found(*given, **named))))
        if inspect.ismethod(found):  # tenant and project
            return lambda *given: Driven(self.runner, found(*given))
        return found

    def _run(self, answer: Any) -> Any:
        return self.runner.run(answer, context=copy_context())  # the caller's, as without a runner


async def collected(answers: Any) -> list[Any]:
    return [answer async for answer in answers]


@dataclass(frozen=True)
class Place:
    """A database with the extension, owned by keeper; alice and bob work in it, each for their tenants."""

    server: Server
    name: str

    def dsn(self, role: str = "alice", **more: str) -> str:
        return make_conninfo(**{**self.server.conninfo, "dbname": self.name, "user": role, **more})

    def connect(self, role: str | None = None) -> Connection:
        """Return a connection as a superuser, or as `role`."""
        return self.server.connect(self.name, role)

    def tenant(self, *roles: str) -> str:
        """Return the name of a new tenant that the roles (default: alice and bob) may work for."""
        name = f"tenant {uuid4().hex}"
        with self.connect("keeper") as owner:
            for role in roles or ("alice", "bob"):
                owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant_id(name), role))
        return name


@dataclass(frozen=True)
class Shell:
    """The synchronous or asynchronous client, by `kind`."""

    kind: str
    stack: ExitStack
    runner: asyncio.Runner

    def open(self, place: Any, **given: Any) -> Any:
        """Open a memory that is closed with the test; the default embedder is None."""
        given = {"embedder": None, **given}
        if self.kind == "sync":
            return self.stack.enter_context(Memory.open(place, **given))
        memory = Driven(self.runner, self.runner.run(AsyncMemory.open(place, **given)))
        self.stack.callback(memory.close)
        return memory

    def call(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call a function and return its result, awaited if it is awaitable."""
        answer = function(*given, **named)
        return self.runner.run(answer) if inspect.isawaitable(answer) else answer
