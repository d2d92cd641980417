"""Segments of the keyword index answer bit for bit as the postings that they were made of, whatever is
stored, changed and forgotten meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

WORDS = [f"w{'abcdefghij'[n // 10]}{'bdfghklmnp'[n % 10]}x" for n in range(90)]  # no word of English, no stem
NOW = datetime(2025, 6, 30, tzinfo=UTC)
PROJECTS = [UUID(int=n) for n in (1, 2, 3)]
SIZE = 64  # of a segment here; pgmnemo.merge_postings takes thousands
NUMBERS = ("score", "bm25", "passage_terms", "context", "fit")


def words(chance: random.Random, count: int) -> str:
    """Zipf's distribution: the first words are in most lessons, the last in a few."""
    return " ".join(chance.choices(WORDS, weights=[1 / (rank + 1) for rank in range(len(WORDS))], k=count))


def seal(tenant: Any, within: Any = None) -> None:
    with tenant.acting(within) as owner:
        owner.execute("SELECT pgmnemo._lock_tenant(%s)", (tenant.id,))
        while owner.execute("SELECT pgmnemo._merge_segments(%s, %s)", (tenant.id, SIZE)).fetchone()[0]:
            pass


def segments(tenant: Any) -> int:
    return int(tenant.look("SELECT count(*) FROM pgmnemo.segment WHERE tenant_id = %s", tenant.id)[0][0])


def store(tenants: list[Any], chance: random.Random, key: str) -> None:
    project = chance.choice(PROJECTS)
    text = words(chance, chance.choice((1, 5, 20, 20, 60, 200)))
    role = chance.choice(("pilot", "cook", None))
    for tenant in tenants:
        tenant.store(key, text, project_id=project, role=role, occurred_at=NOW, importance=3)


def forget(tenants: list[Any], chance: random.Random, key: str) -> None:
    hard = chance.random() < 0.5
    for tenant in tenants:
        for project in PROJECTS:
            tenant.rows("SELECT pgmnemo.forget(%s, %s, %s, %s)", tenant.id, project, key, hard)


def asked(tenant: Any, question: str, **options: Any) -> list[tuple[Any, ...]]:
    rows = tenant.recall(question, mode="keyword", as_of=NOW, **options)
    return [(row["external_id"], row["in_project"], *(row[name] for name in NUMBERS)) for row in rows]


@pytest.fixture
def twins(make_tenant: Callable[[], Any]) -> list[Any]:
    made = [make_tenant(), make_tenant()]
    for tenant in made:
        tenant.set(recency_weight=0)
    return made


def test_sealing_goes_on_where_it_stopped(twins: list[Any]) -> None:
    chance, (sealed, _) = random.Random(4), twins
    for n in range(200):
        store(twins, chance, f"l{n:03}")
    more = []
    while not more or more[-1]:
        with sealed.acting() as owner:
            owner.execute("SELECT pgmnemo._lock_tenant(%s)", (sealed.id,))
            [one] = owner.execute("SELECT pgmnemo._merge_segments(%s, %s)", (sealed.id, SIZE)).fetchone()
        more.append(one)
        found = [asked(twin, words(random.Random(len(more)), 9), project_id=None) for twin in twins]
        assert found[0] == found[1] != []
        assert sealed.rows("SELECT * FROM pgmnemo.check(%s)", sealed.id) == []
    assert more == [True, True, True, False]
    assert segments(sealed) == 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_tenant_with_pieces_answers_as_its_twin_without(twins: list[Any], seed: int) -> None:
    chance, (sealed, plain) = random.Random(seed), twins
    keys = [f"{chance.choice('aBé')}{n:03}" for n in range(260)]
    for key in keys:
        store(twins, chance, key)
    seal(sealed)
    assert segments(sealed) == len(keys) // SIZE + 1  # the last holds four lessons, the least that one may
    for _ in range(12):
        for _ in range(chance.randint(1, 12)):
            chance.choice((store, store, forget))(twins, chance, chance.choice(keys))
        if chance.random() < 0.5:
            seal(sealed)
        question = words(chance, chance.choice((1, 2, 4, 9, 30)))
        filters = Jsonb({"projects": [str(one) for one in PROJECTS[:2]]})
        for options in (
            {"project_id": None}, {"project_id": PROJECTS[0]}, {"project_id": None, "filter": filters},
            {"project_id": None, "role": "cook"},
        ):  # fmt: skip
            for k in (1, 10, 200):
                sealed.set(pool_depth=k)
                plain.set(pool_depth=k)
                found = [asked(tenant, question, k=k, **options) for tenant in twins]
                assert found[0] == found[1]
    assert segments(sealed) > 0
    assert sealed.rows("SELECT * FROM pgmnemo.check(%s)", sealed.id) == []
    assert sealed.look(HELD, sealed.id) == plain.look(HELD, plain.id)


HELD = """
SELECT sum(lesson_count), sum(token_total)
  FROM (SELECT lesson_count, token_total FROM pgmnemo.posting WHERE tenant_id = %s AND lexeme = ''
         UNION ALL SELECT lesson_count, token_total FROM pgmnemo.segment) p
"""


DAMAGES = [
    ("UPDATE pgmnemo.segment_term SET holders = ~ holders WHERE lexeme = "
     "(SELECT min(lexeme) FROM pgmnemo.segment_term WHERE holders IS NOT NULL)",
     {"term of a segment with wrong lesson_count", "term of a segment with wrong min_tokens",
      "term of a segment with a wrong bitmap", "posting missing", "posting surplus"}),
    ("UPDATE pgmnemo.segment_term SET repeaters = NULL, repeated_at = NULL, frequencies = NULL "
     "WHERE frequencies IS NOT NULL",
     {"term of a segment with wrong frequencies", "posting with wrong frequency", "posting surplus"}),
    ("UPDATE pgmnemo.segment_term SET holders = holders || '0' WHERE holders IS NOT NULL",
     {"term of a segment with a wrong bitmap"}),
    ("UPDATE pgmnemo.segment_term SET min_tokens = min_tokens + 1",
     {"term of a segment with wrong min_tokens"}),
    ("UPDATE pgmnemo.segment SET token_total = 1", {"segment with wrong token_total"}),
    ("UPDATE pgmnemo.segment_project SET first_place = first_place + 1",
     {"segment whose projects do not stand side by side", "posting missing", "posting surplus"}),
    ("DELETE FROM pgmnemo.segment_lesson",
     {"segment with wrong lesson_count", "segment with wrong token_total",
      "term of a segment with wrong min_tokens", "posting missing", "posting surplus"}),
    ("DELETE FROM pgmnemo.posting WHERE lesson_count < 0", {"posting surplus"}),
    ("INSERT INTO pgmnemo.posting SELECT r.tenant_id, j.project_id, '', b.ids, "
     "array_fill(0::smallint, ARRAY[n]), array_fill(9, ARRAY[n]), s * n, 9 * s * n, 0, 9, s * b.ids[1] "
     "FROM pgmnemo.segment_lesson r, pgmnemo.segment_project j, "
     "LATERAL (VALUES (r.lesson_ids[1:2], 2), (r.lesson_ids[2:2], 1)) AS b (ids, n), "
     "(VALUES (1), (-1)) AS u (s)",
     {"posting more than once"}),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "expected"), DAMAGES, ids=range(len(DAMAGES)))
def test_damage_of_pieces_is_found_and_repaired(tenant: Any, statement: str, expected: set[str]) -> None:
    chance = random.Random(5)
    for n in range(SIZE):
        tenant.store(f"l{n}", words(chance, 20))
    seal(tenant)
    tenant.rows("SELECT pgmnemo.forget(NULL, %s, 'l3', true)", tenant.project)
    assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []
    tenant.alter(statement)
    assert {row[0] for row in tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id)} == expected
    tenant.rows("SELECT pgmnemo.repair(%s)", tenant.id)
    assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []


def test_segments_with_many_undone_lessons_are_rebuilt(tenant: Any) -> None:
    chance = random.Random(6)
    for n in range(2 * SIZE):
        tenant.store(f"l{n:03}", words(chance, 20))
    seal(tenant)
    for n in range(5):
        tenant.rows("SELECT pgmnemo.forget(NULL, %s, %s)", tenant.project, f"l00{n}")
    seal(tenant)
    kept = "SELECT lesson_count FROM pgmnemo.segment WHERE tenant_id = %s ORDER BY 1"
    assert tenant.look(kept, tenant.id) == [(SIZE - 5,), (SIZE,)]
    undone = "SELECT count(*) FROM pgmnemo.posting WHERE tenant_id = %s AND lesson_count < 0"
    assert tenant.look(undone, tenant.id) == [(0,)]
    assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []
    assert tenant.value("SELECT pgmnemo.forget_all(NULL)") == 2 * SIZE
    assert segments(tenant) == 0
    assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_older_snapshot_neither_seals_nor_changes_what_was_changed_or_sealed(
    tenant: Any, level: str
) -> None:
    chance, late = random.Random(7), tenant.connect()
    for n in range(SIZE):
        tenant.store(f"l{n}", words(chance, 20))
    seal(tenant)
    for n in range(2, SIZE):
        tenant.rows("SELECT pgmnemo.forget(NULL, %s, %s)", tenant.project, f"l{n}")
    store = "SELECT pgmnemo.store(NULL, %s, 'l1', %s)"
    for sealed_first in (True, False):
        with pytest.raises(errors.SerializationFailure), late.transaction():  # noqa: PT012
            late.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            late.execute("SELECT count(*) FROM pgmnemo.lessons")
            if sealed_first:
                seal(tenant)
                late.execute(store, (tenant.project, "river"))
            tenant.rows(store, tenant.project, "harbour")
            seal(tenant, late)
        assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []


def test_upkeep_compacts_a_small_tenant_too(tenant: Any, owner: Any) -> None:
    """One of some hundred lessons was never compacted, and grew with every change."""
    blocks = "SELECT count(*) FROM pgmnemo.posting WHERE tenant_id = %s"
    tenant.store_many({f"l{n}": "river bridge" for n in range(300)})
    tenant.rows("SELECT pgmnemo.merge_postings(%s)", tenant.id)
    for n, due in ((76, False), (103, True)):
        for key in range(n):
            tenant.store(f"l{key}", f"river {'lantern' if due else 'boat'}")
        before = tenant.look(blocks, tenant.id)
        owner.execute("SELECT pgmnemo.maintain(100000)")
        assert (tenant.look(blocks, tenant.id) < before) == due
    assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []


def test_each_tenant_is_kept_up_in_its_own_transaction(tenant: Any, make_tenant: Any, owner: Any) -> None:
    """One transaction held what it changed of all tenants to its end. Whatever path the caller has set."""
    both = (tenant, make_tenant())
    for one in both:
        for n in range(110):
            one.store(f"l{n}", "river bridge")
    owner.execute("CREATE SCHEMA planted")
    try:
        owner.execute(
            "CREATE FUNCTION planted.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql "
            "AS $$ BEGIN RAISE 'planted'; END $$"
        )
        owner.execute("SET search_path = planted, pg_catalog")
        assert owner.execute("CALL pgmnemo.maintain_all()").fetchone() == (0,)
    finally:
        owner.execute("RESET search_path")
        owner.execute("DROP SCHEMA planted CASCADE")
    blocks = "SELECT count(*), min(xmin::text), max(xmin::text) FROM pgmnemo.posting WHERE tenant_id = %s"
    (few, first, last), (more, other, _) = (one.look(blocks, one.id)[0] for one in both)
    assert (few, more) == (3, 3)
    assert first == last != other
    health = owner.execute(
        "SELECT maintenance_left, last_merge > maintenance_began FROM pgmnemo.health"
    ).fetchone()
    assert health == (0, True)


def test_health_says_what_upkeep_left(tenant: Any, owner: Any) -> None:
    for n in range(110):
        tenant.store(f"l{n}", "river bridge")
    columns = "maintenance_left, tenants_skipped, blocks_waiting, last_merge, maintenance_began"
    health = f"SELECT {columns} FROM pgmnemo.health"
    with tenant.client.transaction():
        tenant.store("l0", "river lantern")
        owner.execute("SELECT pgmnemo.maintain()")
        *held, merged, began = owner.execute(health).fetchone()
    assert held[0] >= 109
    assert held[1] >= 1
    while owner.execute("SELECT pgmnemo.maintain()").fetchone()[0]:
        pass
    *left, merged_now, began_now = owner.execute(health).fetchone()
    assert left[:2] == [0, 0]
    assert left[2] <= held[2] - 109
    assert merged_now > began > (merged or began_now.min.replace(tzinfo=began.tzinfo))
    assert began_now > began


def test_upkeep_compacts_whose_writers_rest(tenant: Any, owner: Any) -> None:
    for n in range(502):  # beyond the one that a project has
        tenant.store(f"l{n}", "river bridge")
    blocks = "SELECT count(*) FROM pgmnemo.posting WHERE tenant_id = %s"
    assert tenant.look(blocks, tenant.id) == [(3 * 502,)]
    with tenant.client.transaction():
        tenant.store("l0", "river lantern")
        assert owner.execute("SELECT pgmnemo.maintain()").fetchone()[0] >= 501
    left = [owner.execute("SELECT pgmnemo.maintain()").fetchone() for _ in range(8)]  # others may come first
    assert left[-1] == (0,)
    assert tenant.look(blocks, tenant.id)[0][0] < 20
    assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []
