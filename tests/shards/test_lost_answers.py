"""Links that are cut while a tenant moves: whatever the mover hears, the lessons lie on one shard, whole."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from uuid import UUID

import pytest

from pgmnemo.errors import DatabaseError
from pgmnemo_shards import installing, move_sessions, moving
from pgmnemo_shards.installing import open_operator
from tests.shards.conftest import PROJECT, Site, fill, recovered
from tests.shards.cutting import Link, linked

RECALL = "SELECT external_id FROM pgmnemo.recall(%s, query_text => 'heron', k => 100) ORDER BY lesson_id"
ON = "SELECT external_id FROM pgmnemo.lesson WHERE tenant_id = %s ORDER BY id"
KEYS = [(f"k{n}",) for n in range(1, 51)]


@pytest.fixture
def link(site: Site) -> Iterator[Link]:
    with linked(site.cluster.conninfo()) as link:
        yield link


def filled(site: Site) -> UUID:
    tenant = site.tenant("shard1")
    fill(site.connect("alice"), tenant, len(KEYS))
    return tenant


def whole(site: Site, tenant: UUID, where: str) -> None:
    """Fifty lessons on one shard, none on the others, and the router finds them; writers are served."""
    for name in ("shard1", "shard2", "shard3"):
        assert site.rows(name, ON, tenant) == (KEYS if name == where else []), name
    client = site.connect("alice")
    assert client.execute(RECALL, (tenant,)).fetchall() == KEYS
    query = "SELECT pgmnemo.store(%s, %s, 'k1', 'The heron has flown.')"
    assert client.execute(query, (tenant, PROJECT)).fetchall() == [("updated",)]
    assert site.rows("router", "SELECT * FROM directory.move") == []


def test_a_command_waits_some_seconds_for_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "PATIENCE", "2")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = {"host": "127.0.0.1", "port": silent.getsockname()[1], "user": "x", "dbname": "x"}
        with pytest.raises(DatabaseError, match=r"127\.0\.0\.1:\d+/x"):
            open_operator(address)


@pytest.mark.parametrize("last", [False, True], ids=["router answers again", "router gone"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_link_that_is_cut_at_the_commit_of_the_switch(
    site: Site, link: Link, monkeypatch: pytest.MonkeyPatch, when: str, last: bool
) -> None:
    tenant = filled(site)
    monkeypatch.setattr(move_sessions, "RECONNECT_TIMEOUT", 0.3 if last else 10.0)

    def step(name: str) -> None:
        if name == "switch":
            link.told("COMMIT", when, last=last)

    with open_operator(link.conninfo) as router:
        if when == "after" and not last:
            moving.move(router, tenant, "shard2", step)
        else:
            told = "it is not known whether .* run pgmnemo-shards recover" if last else "router was lost"
            with pytest.raises(DatabaseError, match=told):
                moving.move(router, tenant, "shard2", step)
    assert link.was_cut
    if last:
        assert site.rows("shard1", ON, tenant) == site.rows("shard2", ON, tenant) == KEYS
        assert recovered(site) == ["moved" if when == "after" else "undone"]
    whole(site, tenant, "shard2" if when == "after" else "shard1")
