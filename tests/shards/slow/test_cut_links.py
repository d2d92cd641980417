"""Each link of a move is cut before the answer to each message that writes: no lesson is lost or doubled."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.errors import PgmnemoError
from pgmnemo_shards import moving
from pgmnemo_shards.installing import open_operator
from tests.shards.conftest import Site, recovered, where
from tests.shards.cutting import linked
from tests.shards.test_lost_answers import filled, whole

WRITES = "COMMIT|INSERT|UPDATE|DELETE|CREATE|ALTER|pg_advisory"
OPERATOR = "UPDATE directory.shard SET operator = %s WHERE name = %s"


@pytest.mark.parametrize("end", ["router", "shard1", "shard2"])
def test_a_link_that_is_cut_at_any_message(site: Site, end: str) -> None:
    place = 0
    with linked(site.cluster.conninfo(end)) as link:
        while link.was_cut or place == 0:
            tenant, link.was_cut = filled(site), False
            with open_operator(link.conninfo if end == "router" else site.cluster.conninfo()) as router:
                if end != "router":
                    site.run("router", OPERATOR, make_conninfo("", **link.conninfo), end)
                link.told(WRITES, "after", place)
                try:
                    moving.move(router, tenant, "shard2")
                except (PgmnemoError, psycopg.OperationalError) as error:
                    print(end, place, error)
                finally:
                    link.told("nothing", "after")
                    if end != "router":
                        site.run("router", OPERATOR, site.cluster.operator(end), end)
            assert set(recovered(site)) <= {"moved", "undone"}
            whole(site, tenant, where(site, tenant))
            place += 1
    assert place > 5
