"""One table of wrong and odd inputs against every interface: each answers with the same class everywhere.

Its rows come from what an interface says of itself, so that a new verb, argument or tool is in it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import pytest

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.http.app import build_app
from pgmnemo.http.auth import AuthMiddleware, Limits
from pgmnemo.http.openapi import openapi_document
from pgmnemo.importers import IMPORTERS
from pgmnemo.mcp.http import build_app as mcp_application
from pgmnemo.mcp.server import memory_server
from tests.pgmnemo import integration_calls, interfaces
from tests.pgmnemo.client.driving import Driven, Place
from tests.pgmnemo.interfaces import DONE, WRONG_USE, Argument, Interface
from tests.pgmnemo.mcp.asking import opening, principal, serving
from tests.pgmnemo.mcp.test_stdio import HELLO, READY, answer, process, send

HALF, NUL = "a\ud800", "a\0b"
DEEP: dict[str, Any] = {}
for _ in range(400):
    DEEP = {"a": DEEP}
NAN, INF = float("nan"), float("inf")
WRONG: dict[str, list[Any]] = {
    "text": [HALF, NUL, 5, 1.5, True, ["x"], {"a": 1}, b"x"],
    "whole": [1.5, True, "x", NAN, INF, [1], {"a": 1}],
    "number": ["x", True, [1], NAN, INF, 10**400],
    "flag": ["yes", 1, [1]],
    "time": ["soon", 5, True, datetime(2026, 5, 1), [1]],
    "mapping": [5, "x", [1], {"a": HALF}, {"a": NUL}, {HALF: 1}, {"a": NAN}, {"a": b"x"}, DEEP],
    "vector": [5, "x", True, [NAN], ["x"], [[]], {"a": 1}],
    "list": [5, True, [5], [HALF], [NUL], {"a": 1}],
}
"""By kind of an argument, what no interface takes for it."""
ODD: dict[str, list[Any]] = {
    "text": ["", "  ", "\t", "\u3000", "\u200b", "word " * 20_001],
    "whole": [0, -1, 9, 2**31, 2**63],
    "number": [-1.0, 2.0],
    "flag": [],
    "time": [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)],
    "mapping": [{}],
    "vector": [[1.0]],
    "list": [[], [None]],
}
"""What some verbs take and others refuse: an interface that mirrors the library does as the library."""
FILES = {
    "empty": b"", "blank": b" \n\n", "no UTF-8": b"\xff\xfe\n", "NUL": b"\0" * 9, "cut": b"{", "number": b"5",
    "numbers": b"[1, 2]", "null": b"null", "object": b"{}", "nested": b"[" * 100_000, "digits": b"1" * 5_000,
    "NaN": b"NaN", "half a pair": b'{"text": "\\ud800"}', "wrong types": b'{"text": 5, "key": [1], "at": 5}',
    "archive": b"PK\3\4x", "database": b"SQLite format 3\0x",
}  # fmt: skip
"""What a file may hold that an importer is given."""


def values(argument: Argument, table: dict[str, list[Any]]) -> Iterator[tuple[str, Any]]:
    """The values of a table for an argument, without those that another of its kinds takes."""
    for kind in argument.kinds:
        others = argument.kinds - {kind}
        yield from ((kind, value) for value in table[kind] if not any(_may_be(value, one) for one in others))


def _may_be(value: Any, kind: str) -> bool:
    types = {"text": str, "list": list, "mapping": dict, "number": (int, float), "whole": int, "flag": bool}
    return isinstance(value, types.get(kind, ())) and (kind == "flag" or not isinstance(value, bool))


@dataclass
class Makers:
    """Every interface, over a new tenant with two lessons."""

    place: Place
    memory: Memory
    stack: ExitStack
    patch: pytest.MonkeyPatch

    def new(self) -> Scope:
        return self._new(self.place.tenant())

    def _new(self, tenant: str) -> Scope:
        scope = self.memory.tenant(tenant).project("kitchen")
        scope.add("a text", key="k")
        scope.add("b text", key="l")
        return scope

    def library(self) -> Interface:
        return interfaces.library(self.new())

    def library_awaited(self) -> Interface:
        runner = self.stack.enter_context(asyncio.Runner())
        memory = runner.run(AsyncMemory.open(self.place.dsn(), embedder=None))
        self.stack.callback(lambda: runner.run(memory.close()))
        scope = memory.tenant(self.new()._name).project("kitchen")
        return interfaces.library(Driven(runner, scope), sampled=True)

    def command_line(self) -> Interface:
        return interfaces.command_line(self.new(), self.patch)

    def http(self) -> Interface:
        runner = self.stack.enter_context(asyncio.Runner())
        memory = runner.run(AsyncMemory.open(self.place.dsn(), embedder=None))
        self.stack.callback(lambda: runner.run(memory.close()))
        own = principal(self.new()._name, None)
        app = AuthMiddleware(build_app(memory), None, Limits(rate=1e9), principal=own)
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
        self.stack.callback(lambda: runner.run(client.aclose()))

        def post(path: str, body: bytes) -> tuple[int, Any]:
            headers = {"content-type": "application/json"}
            answer = runner.run(client.post(path, content=body, headers=headers))
            return answer.status_code, answer.json()

        return interfaces.over_http(openapi_document(), post)

    def mcp(self) -> Interface:
        server = self.stack.enter_context(process(self.place.dsn(), self.new()._name))
        send(server, HELLO, READY)
        answer(server)

        def ask(message: Any) -> Any:
            server.stdin.write(str(interfaces.as_json(message)).encode() + b"\n")
            return answer(server)

        return interfaces.over_mcp(ask)

    def mcp_over_http(self) -> Interface:
        url = self.stack.enter_context(_mcp_over_http(self.place, self.new()._name))
        client = self.stack.enter_context(httpx.Client(timeout=60))
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

        def ask(message: Any) -> Any:
            found = client.post(url, content=str(interfaces.as_json(message)), headers=headers).text
            return json.loads(found.partition("data: ")[2] or found)

        return interfaces.over_mcp(ask, sampled=True)


@contextmanager
def _mcp_over_http(place: Place, tenant: str) -> Iterator[str]:
    """The URL of a server that runs in a thread until the block ends."""
    told: Queue[str] = Queue()
    end = threading.Event()

    async def body() -> None:
        opened, limits = opening(place), Limits(rate=1e9)
        server = memory_server(opened)
        made = mcp_application(server, opened, None, principal=principal(tenant), limits=limits)
        async with made as app, serving(app) as url:
            told.put(url)
            await asyncio.to_thread(end.wait)

    thread = threading.Thread(target=asyncio.run, args=(body(),))
    thread.start()
    try:
        yield told.get(timeout=60)
    finally:
        end.set()
        thread.join()


@pytest.fixture
def makers(place: Place, open_memory: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Makers]:
    with ExitStack() as stack:
        yield Makers(place, open_memory(), stack, monkeypatch)


def cells(interface: Interface, own: Interface) -> Iterator[str]:
    """The cells of an interface whose answer is of another class than it must be."""
    seen: set[Any] = set()
    for verb, arguments in interface.verbs.items():
        for argument in arguments:
            if interface.sampled and argument.kinds in seen:
                continue
            seen.add(argument.kinds)
            for table in (WRONG, ODD):
                for kind, value in values(argument, table):
                    if interface.takes(kind, value):
                        found = interface.ask(verb, {**interface.base(verb), argument.name: value})
                        wanted = allowed(interface, own, verb, argument, value, table)
                        if found not in wanted:
                            yield f"{verb} {argument.name}={value!a:.60}: {found}, but must be {wanted}"


def allowed(
    interface: Interface, own: Interface, verb: str, argument: Argument, value: Any, table: Any
) -> set[str]:
    """The classes that an answer may have."""
    if table is WRONG:
        return {WRONG_USE}
    if not interface.mirrors or argument.name not in {one.name for one in own.verbs.get(verb, ())}:
        return {DONE, WRONG_USE}
    told = {own.ask(verb, {**own.base(verb), argument.name: value})}
    return told | {WRONG_USE} if verb == "get" else told  # None of the library is a 404, or an exit code of 2


NAMES = ["library", "library_awaited", "command_line", "http", "mcp", "mcp_over_http"]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_input_gets_the_same_class_of_answer(name: str, makers: Makers) -> None:
    interface: Interface = getattr(makers, name)()
    assert len(interface.verbs) > 8
    assert [*cells(interface, makers.library())] == []


@pytest.mark.parametrize("made", integration_calls.ALL, ids=lambda made: made.__name__)
def test_an_integration_answers_with_wrong_use_or_its_frameworks_error(made: Any, makers: Makers) -> None:
    interface = made(makers.new, makers.patch)
    assert sum(len(arguments) for arguments in interface.verbs.values()) > 2
    assert [*cells(interface, interface)] == []


@pytest.mark.parametrize("format", IMPORTERS)
def test_an_importer_says_what_a_file_is_not(format: str, makers: Makers, tmp_path: Path) -> None:
    interface = makers.command_line()
    assert "add" in interface.verbs  # the commands now work in its memory
    for name, held in FILES.items():
        (file := tmp_path / f"{name}.json").write_bytes(held)
        found = interfaces.ended(["import", str(file), "--from", format])
        assert found in (DONE, WRONG_USE), (name, found)
    for place in (tmp_path / "none", tmp_path / ("x" * 5_000), HALF, NUL):
        assert interfaces.ended(["import", str(place), "--from", format]) == WRONG_USE, place
    assert interfaces.ended(["import", "", "--from", "markdown"]) == WRONG_USE
