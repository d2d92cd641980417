"""A server process that is killed in the midst of a call leaves nothing half done.

PGMNEMO_KILLS=50 kills 50 in each call.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from threading import Timer
from time import perf_counter, sleep
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from pgmnemo.errors import DatabaseError
from pgmnemo.postgres import open_database
from tests.helping import CURRENT
from tests.sql.conftest import POSTGRES, Connection, Tenant
from tests.sql.sound import QUESTIONS, WORDS

KILLS = int(os.environ.get("PGMNEMO_KILLS", "2"))
LESSONS, DIMENSIONS = 600, 64
ANEW = "UPDATE pgmnemo.lesson_vector SET indexed = false; SELECT pgmnemo._hnsw_remove('{t}')"
LOAD = """
SELECT count(*) FROM pgmnemo.store_set('{t}', ARRAY(
    SELECT ROW('{p}', 'load' || g, 'river ' || g, array_fill(g::real, '{{64}}'), NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::pgmnemo.lesson_input
      FROM generate_series({n}, {n} + 1200) g))
"""
CALLS = {  # what gives it work, past the verbs, and what is killed
    "merge": ("", "SELECT pgmnemo.index('{t}')"),
    "graph": (ANEW, "SELECT pgmnemo.index('{t}')"),
    "share": ("", "SELECT pgmnemo.store('{t}', '{p}', 'one{n}', 'river', array_fill(1::real, '{{64}}'))"),
    "maintain": ("", "SELECT pgmnemo.maintain(100)"),
    "repair": ("", "SELECT pgmnemo.repair('{t}')"),
    "merge_postings": ("", "SELECT pgmnemo.merge_postings('{t}')"),
    "load": ("DELETE FROM pgmnemo.lesson WHERE content ~ '^river'; "
             "SELECT pgmnemo._merge_postings('{t}')", LOAD),
    "forget": ("", "SELECT count(pgmnemo.forget('{t}', '{p}', 'l' || g, g % 2 = 0)) "
                   "FROM generate_series({m}, {m} + 40) g"),
}  # fmt: skip


@pytest.fixture(scope="module")
def own() -> Iterator[Any]:
    """A server that nobody else uses: it begins anew after each of these. Its pieces are of 64 lessons."""
    settings = {"synchronous_commit": "on"}
    with open_database(CURRENT, environ={}, postgres=POSTGRES, fresh=True, settings=settings) as database:
        with database.admin() as owner:
            owner.execute("CREATE OR REPLACE FUNCTION pgmnemo._segment_size() RETURNS integer LANGUAGE sql "
                          "IMMUTABLE PARALLEL SAFE AS 'SELECT 64'")  # fmt: skip
        yield database


def ready(tenant: Tenant) -> None:
    """Connect once the server is there again."""
    for _ in range(300):
        try:
            tenant.client = tenant.connect()
        except (psycopg.OperationalError, DatabaseError):
            sleep(0.1)
        else:
            tenant.set(hnsw_min_vectors=100)
            return
    raise AssertionError("the server did not come back")


def state(within: Connection) -> list[tuple[Any, ...]]:
    return within.execute("SELECT l.external_id, l.active, l.content, v.embedding::text "
                          "FROM pgmnemo.lessons l JOIN pgmnemo.vectors v ON v.lesson_id = l.id "
                          "ORDER BY 1").fetchall()  # fmt: skip


def signs(chance: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Vectors that are kept to the last bit."""
    return chance.choice([-1, 1], (count, DIMENSIONS)).astype(np.float32)


def fill(tenant: Tenant, chance: np.random.Generator, first: int, count: int) -> None:
    texts = {f"l{n}": " ".join(chance.choice(WORDS, 6)) for n in range(first, first + count)}
    tenant.store_many(texts, signs(chance, count))


def answers(tenant: Tenant) -> list[list[tuple[Any, ...]]]:
    tenant.set(hnsw_min_vectors=1_000_000, recency_weight=0)
    vectors = signs(np.random.default_rng(7), len(QUESTIONS))
    rows = [tenant.recall(text, vector, k=50) for text, vector in zip(QUESTIONS, vectors, strict=True)]
    return [
        [(row["external_id"], row["score"], row["bm25"], row["cosine"]) for row in found] for found in rows
    ]


@pytest.mark.parametrize("what", CALLS)
def test_what_is_killed_has_not_happened(own: Any, what: str) -> None:
    chance, took = np.random.default_rng(3), 0.0
    before, call = CALLS[what]
    with ExitStack() as stack:
        tenant = Tenant(own, stack)
        ready(tenant)
        fill(tenant, chance, 0, LESSONS)
        tenant.value("SELECT pgmnemo.index()")
        for step in range(KILLS):
            fill(tenant, chance, LESSONS + 30 * step, 30)
            if before:
                tenant.alter(before.format(t=tenant.id))
            asked = call.format(t=tenant.id, p=tenant.project, n=10_000 + 2_000 * step, m=10 * step)
            with session(own, tenant) as owner, owner.transaction(force_rollback=True):
                began = perf_counter()
                owner.execute(asked)
                took = max(took, perf_counter() - began)
                whole = state(owner)
            old = state(tenant.client)
            happened = killed(own, tenant, asked, took * chance.uniform(0, 1.1))
            ready(tenant)
            new = state(tenant.client)
            assert new == whole or (new == old and not happened)
            assert tenant.rows("SELECT * FROM pgmnemo.check()") == []
        with own.admin() as owner:
            owner.execute("SELECT pgmnemo.maintain()")
            there = owner.execute("SELECT relname FROM pg_class WHERE relkind = 'r' "
                                  "AND relname ~ '^hnsw_[0-9]' ORDER BY 1").fetchall()  # fmt: skip
            assert there == owner.execute("SELECT name FROM pgmnemo.hnsw_index ORDER BY 1").fetchall()
        twin = Tenant(own, stack)
        rows = tenant.rows("SELECT external_id, content, embedding::vector FROM pgmnemo.lessons l "
                           "JOIN pgmnemo.vectors v ON v.lesson_id = l.id WHERE active")  # fmt: skip
        vectors = np.array([row[2].to_numpy() for row in rows], dtype=np.float32)
        twin.store_many({row[0]: row[1] for row in rows}, vectors)
        assert answers(tenant) == answers(twin)


def session(own: Any, tenant: Tenant) -> Connection:
    owner: Connection = own.admin()
    for name, value in (("tenant_id", tenant.id), ("hnsw_min_vectors", 100), ("gate_strict", "off")):
        owner.execute("SELECT set_config(%s, %s, false)", (f"pgmnemo.{name}", str(value)))
    return owner


def killed(own: Any, tenant: Tenant, call: str, after: float) -> bool:
    """Whether the call was through before its process was killed."""
    happened = False
    with session(own, tenant) as owner:
        timer = Timer(after, os.kill, (owner.info.backend_pid, signal.SIGKILL))
        timer.start()
        try:
            owner.execute(call)
            happened = True
            owner.execute("SELECT pg_sleep(10)")
        except psycopg.OperationalError:
            pass
        else:
            raise AssertionError("nobody was killed")
        finally:
            timer.join()
    with suppress(psycopg.OperationalError):  # until the server has seen it, and has ended all the others
        tenant.client.execute("SELECT pg_sleep(60)")
    return happened
