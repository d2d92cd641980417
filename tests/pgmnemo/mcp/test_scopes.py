"""Whose memory a call reaches: tenants, projects by name, and the wake-up of each."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from pgmnemo import AsyncMemory
from pgmnemo.client.naming import tenant_id
from pgmnemo.errors import DatabaseError
from pgmnemo.mcp.lazy_memory import LazyMemory
from pgmnemo.mcp.server import memory_server
from pgmnemo.mcp.tools import TOOLS
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.mcp.asking import ERAS, asked, fault, opened, principal, run, told

WAKE_UP = "memory://wake-up"
NAMES = [
    "acme", "acme-corp", "acme_", "acme%", "Acme", "\u0430cme", "a/b", "a/../acme", "..", "'; --", "a\\b",
    "a b\nc", "memory://wake-up", "{project}", "x" * 1000, "🍳", "00000000-0000-0000-0000-0000000000cc",
]  # fmt: skip
NO_NAMES = ["", "x" * 1001, "a\0b"]
NO_RESOURCES = [
    "memory://other", "memory://wake-up/", "memory://wake-up/a/b", "memory://wake-up/%2", "memory://wake-up/a%2fb",
    "memory://wake-up?x", "memory://WAKE-UP", "file:///etc/passwd", "x", "xmemory://wake-up/a",
]  # fmt: skip


async def texts(client: Client, **given: Any) -> list[str]:
    return [one["text"] for one in (await told(client, "list", **given))["memories"]]


async def wake_up(client: Client, uri: str = WAKE_UP) -> str:
    [content] = (await client.read_resource(uri)).contents
    return content.text  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
async def test_projects_of_a_tenant_stay_apart_whatever_they_are_called(place: Place, era: str) -> None:
    async with asked(place, principal(place.tenant(), None), era) as client:
        await told(client, "remember", text="the usual one")
        for number, name in enumerate(NAMES):
            await told(client, "remember", text=f"number {number}", project=name)
        for number, name in enumerate(NAMES):
            assert await texts(client, project=name) == [f"number {number}"]
            assert f"> number {number}\n" in await wake_up(client, f"{WAKE_UP}/{quote(name, safe='')}")
        assert await texts(client) == await texts(client, project="default") == ["the usual one"]
        assert "the usual one" in await wake_up(client)
        for name in NO_NAMES:
            await fault(client, "list", {"project": name})
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "memory://wake-up/{project}"


@pytest.mark.parametrize("era", ERAS)
async def test_who_is_in_one_project_reaches_no_other(place: Place, era: str) -> None:
    tenant = place.tenant()
    async with asked(place, principal(tenant, "acme-corp")) as other:
        await told(other, "remember", text="a secret", key="k")
    async with asked(place, principal(tenant, "acme"), era) as client:
        assert await texts(client, project="acme") == []
        for name in [name for name in NAMES if name != "acme"]:
            assert "alone" in await fault(client, "list", {"project": name})
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"{WAKE_UP}/{quote(name, safe='')}")
            assert caught.value.code == -32602
        assert (await client.list_resource_templates()).resource_templates == []
        for given in ({"key": "k"}, {"include_inactive": True}):
            assert await texts(client, **given) == []
        assert "secret" not in await wake_up(client)


@pytest.mark.parametrize("era", ERAS)
async def test_another_resource_is_not_found(place: Place, era: str) -> None:
    async with asked(place, principal(place.tenant(), None), era) as client:
        [resource] = (await client.list_resources()).resources
        assert (resource.uri, resource.mime_type) == (WAKE_UP, "text/plain")
        assert await wake_up(client) == ""
        for uri in NO_RESOURCES:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.code == -32602, uri
            assert caught.value.data == {"uri": uri}


async def test_a_tenant_without_a_grant_is_told_so(place: Place) -> None:
    async with asked(place, principal("nobody's")) as client:
        assert "grant" in await fault(client, "recall", {"query": "x"})
        with pytest.raises(MCPError, match="grant"):
            await client.read_resource(WAKE_UP)


async def test_a_uuid_of_a_command_is_that_tenant(place: Place) -> None:
    name = place.tenant()
    async with asked(place, principal(name)) as client:
        await told(client, "remember", text="mine")
    from pgmnemo.cli.serve import single_principal

    async with asked(place, single_principal(str(tenant_id(name)), "kitchen")) as client:
        assert await texts(client) == ["mine"]


def test_a_memory_that_cannot_be_opened_is_told_and_opened_with_the_next_call(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    async def body() -> None:
        tries = 0

        async def make() -> AsyncMemory:
            nonlocal tries
            tries += 1
            await asyncio.sleep(0.01)
            if tries < 3:
                raise DatabaseError("the database is not there; start it")
            return await opened(place)()

        opening = LazyMemory(make)
        server = memory_server(opening, principal(place.tenant()))
        async with opening.running(), Client(server, mode=ERAS[1]) as client:
            first = await asyncio.gather(*(fault(client, "list", {}) for _ in range(3)))
            assert set(first) == {"the database is not there; start it"}
            await fault(client, "list", {})
            assert await texts(client) == []
        assert tries == 3

    with caplog.at_level(logging.ERROR):
        run(body)
    assert [one.message for one in caplog.records] == ["the database is not there; start it"] * 2


async def test_an_opening_that_is_not_done_is_called_off() -> None:
    begun = asyncio.Event()

    async def make() -> AsyncMemory:
        begun.set()
        await asyncio.sleep(3600)
        raise AssertionError("it was called off")

    async with asyncio.timeout(60), LazyMemory(make).running():
        await begun.wait()


async def test_who_may_only_read_is_offered_and_served_the_tools_that_read(place: Place) -> None:
    name = place.tenant()
    async with asked(place, principal(name)) as client:
        await told(client, "remember", text="a note", key="k")
    reader = msgspec.structs.replace(principal(name), access="read")
    async with asked(place, reader) as client:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        assert offered == {name for name, tool in TOOLS.items() if tool.read_only}
        assert "may only read" in await fault(client, "remember", {"text": "another"})
        assert "may only read" in await fault(client, "forget", {"key": "k"})
        assert await texts(client) == ["a note"]


async def test_a_recall_over_another_tenant_says_whose_each_memory_is(place: Place) -> None:
    own, team = place.tenant(), place.tenant()
    async with asked(place, principal(team)) as client:
        await told(client, "remember", text="The port is 8443.", key="team")
    spanning = msgspec.structs.replace(principal(own), others=(team,))
    async with asked(place, spanning) as client:
        await told(client, "remember", text="My port is 22.", key="own")
        found = (await told(client, "recall", query="Which port?"))["memories"]
        assert {(one["key"], one["tenant"]) for one in found} == {("team", team), ("own", own)}
        assert await texts(client) == ["My port is 22."]
