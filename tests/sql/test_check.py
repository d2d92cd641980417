"""Damage of every kind is found and repaired, and nothing that the engine itself does counts as damage."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.sql.sound import sound, text

WRITERS, STEPS = 16, 5


def problems(tenant: Any) -> set[str]:
    return {row[0] for row in tenant.rows("SELECT problem FROM pgmnemo.check()")}


@pytest.fixture
def filled(tenant: Any, unit: Any) -> Any:
    """200 lessons in full blocks, and one with passages and vectors that are in an HNSW index."""
    chance = random.Random(1)
    tenant.store_many({f"l{n:03}": text(chance) for n in range(200)})
    tenant.value("SELECT pgmnemo.merge_postings()")
    tenant.set(hnsw_min_vectors=0)
    tenant.store(
        "whole", "river bridge", embedding=unit(1), passages=["river", "bridges"],
        passage_embeddings=[unit(1, 1), [1.0] * 384], metadata=Jsonb({"a": 1, "b": {"c": [2, 3]}}),
    )  # fmt: skip
    tenant.value("SELECT pgmnemo.index()")
    tenant.set(hnsw_min_vectors=10_000)
    tenant.value("SELECT pgmnemo.supersede(NULL, %s, 'l000', 'l001', at => '2090-01-01Z')", tenant.project)
    return tenant


ONE = (
    "ctid = (SELECT max(ctid) FROM pgmnemo.posting "
    "WHERE tenant_id = %(tenant)s AND lexeme = 'river' AND lesson_count > 2)"
)
WHOLE = "tenant_id = %(tenant)s AND external_id = 'whole'"
PASSAGE = "tenant_id = %(tenant)s AND number = "
DAMAGES = [
    (f"DELETE FROM pgmnemo.posting WHERE {ONE}", {"posting missing"}),
    ("DELETE FROM pgmnemo.posting WHERE tenant_id = %(tenant)s AND lexeme = ''", {"posting missing"}),
    (f"INSERT INTO pgmnemo.posting SELECT tenant_id, project_id, lexeme, lesson_ids, frequencies, "
     "token_counts, lesson_count, token_total, max_frequency, min_tokens, 0 "
     f"FROM pgmnemo.posting WHERE {ONE}",
     {"posting more than once", "block with wrong first_id"}),
    (f"UPDATE pgmnemo.posting SET lexeme = 'stranger' WHERE {ONE}", {"posting missing", "posting surplus"}),
    (f"UPDATE pgmnemo.posting SET project_id = gen_random_uuid() WHERE {ONE}",
     {"posting missing", "posting surplus"}),
    (f"UPDATE pgmnemo.posting SET lesson_ids[1] = NULL WHERE {ONE}",
     {"posting missing", "posting surplus", "block not in ascending order", "block with wrong first_id"}),
    (f"UPDATE pgmnemo.posting SET lesson_ids[1] = lesson_ids[2], lesson_ids[2] = lesson_ids[1], "
     f"frequencies[1] = frequencies[2], frequencies[2] = frequencies[1], token_counts[1] = token_counts[2], "
     f"token_counts[2] = token_counts[1] WHERE {ONE}",
     {"block not in ascending order", "block with wrong first_id"}),
    (f"UPDATE pgmnemo.posting SET frequencies[1] = 77 WHERE {ONE}",
     {"posting with wrong frequency", "block with wrong max_frequency"}),
    (f"UPDATE pgmnemo.posting SET token_counts[1] = 0 WHERE {ONE}",
     {"posting with wrong token count", "block with wrong token_total", "block with wrong min_tokens"}),
    (f"UPDATE pgmnemo.posting SET frequencies = frequencies || 1::smallint WHERE {ONE}",
     {"block with lists of different lengths", "posting surplus"}),
    (f"UPDATE pgmnemo.posting SET lesson_count = lesson_count + 1 WHERE {ONE}",
     {"block with wrong lesson_count"}),
    (f"UPDATE pgmnemo.posting SET max_frequency = 9 WHERE {ONE}", {"block with wrong max_frequency"}),
    (f"INSERT INTO pgmnemo.posting SELECT tenant_id, project_id, 'none', '{{}}', '{{}}', '{{}}', "
     f"0, 0, 0, 0, 0 FROM pgmnemo.posting WHERE {ONE}",
     {"block of no or more than 128 lessons", "block with wrong first_id"}),
    (f"UPDATE pgmnemo.lesson SET content = 'quietly' WHERE {WHOLE}",
     {"lesson with stale lexemes", "lesson with wrong token_count"}),
    (f"UPDATE pgmnemo.lesson SET token_count = 9 WHERE {WHOLE}",
     {"lesson with wrong token_count", "posting with wrong token count"}),
    (f"UPDATE pgmnemo.lesson SET text_config = 'gone' WHERE {WHOLE}", {"lesson with unknown text_config"}),
    (f"UPDATE pgmnemo.lesson SET active = false WHERE {WHOLE}", {"posting surplus"}),
    (f"UPDATE pgmnemo.passage SET project_id = gen_random_uuid() WHERE {PASSAGE} 1",
     {"passage in another project"}),
    (f"UPDATE pgmnemo.passage SET lexemes = 'forged' WHERE {PASSAGE} 1", {"passage with stale lexemes"}),
    (f"UPDATE pgmnemo.lesson_vector SET embedding = (ARRAY[1.005] || array_fill(0.0, '{{383}}'))::halfvec "
     f"WHERE {PASSAGE} 1", {"vector not of unit length", "vector otherwise in the HNSW index"}),
    (f"UPDATE pgmnemo.lesson_vector SET embedding = (ARRAY[1] || array_fill(0, '{{767}}'))::halfvec "
     f"WHERE {PASSAGE} 1", {"vector of another dimension", "vector otherwise in the HNSW index"}),
    (f"UPDATE pgmnemo.lesson_vector SET embedding = '[1,0,0]' WHERE {PASSAGE} 1",
     {"vector of another dimension", "vector otherwise in the HNSW index"}),
    (f"UPDATE pgmnemo.lesson_vector SET project_id = gen_random_uuid() WHERE {PASSAGE} 1",
     {"vector in another project", "vector otherwise in the HNSW index"}),
    (f"UPDATE pgmnemo.lesson_vector SET indexed = false WHERE {PASSAGE} 1",
     {"vector surplus in the HNSW index"}),
    (f"DELETE FROM pgmnemo.lesson_vector WHERE {PASSAGE} 1", {"vector surplus in the HNSW index"}),
    (f"DELETE FROM pgmnemo.passage WHERE {PASSAGE} 1", {"vector without its passage"}),
    ("DELETE FROM pgmnemo.hnsw_index WHERE tenant_id = %(tenant)s", {"HNSW index missing"}),
    ("DELETE FROM pgmnemo.embedding_space WHERE tenant_id = %(tenant)s", {"vector of another dimension"}),
    ("DELETE FROM pgmnemo.lesson_entry WHERE tenant_id = %(tenant)s", {"entry missing"}),
    ("INSERT INTO pgmnemo.lesson_entry VALUES (%(tenant)s, 7, -1)", {"entry surplus"}),
    (f"UPDATE pgmnemo.lesson SET superseded_at = now() WHERE {WHOLE}", {"lesson with wrong superseded_at"}),
    ("DELETE FROM pgmnemo.supersession WHERE tenant_id = %(tenant)s", {"lesson with wrong superseded_at"}),
]  # fmt: skip


@contextmanager
def unnoticed(owner: psycopg.Connection[Any]) -> Iterator[None]:
    """Within it no trigger mends at once what is damaged."""
    always = [name for (name,) in owner.execute(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'pgmnemo.lesson'::regclass AND tgenabled = 'A'"
    )]  # fmt: skip
    with owner.transaction():
        owner.execute("SET LOCAL session_replication_role = replica")
        for name in always:
            owner.execute(f"ALTER TABLE pgmnemo.lesson DISABLE TRIGGER {name}")
        yield
        for name in always:
            owner.execute(f"ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER {name}")


@pytest.mark.parametrize(("statement", "expected"), DAMAGES, ids=range(len(DAMAGES)))
def test_damage_is_found_and_repaired(
    filled: Any, owner: psycopg.Connection[Any], statement: str, expected: set[str]
) -> None:
    assert problems(filled) == set()
    with unnoticed(owner):
        assert owner.execute(statement, {"tenant": filled.id}).rowcount >= 1
    assert problems(filled) == expected
    assert filled.value("SELECT pgmnemo.repair()") == filled.value(
        "SELECT count(*) FROM pgmnemo.lessons WHERE active"
    )
    sound(filled)
    orphans = "lesson_id NOT IN (SELECT id FROM pgmnemo.lesson)"  # which no dump could bring back
    owner.execute(f"DELETE FROM pgmnemo.passage WHERE {orphans}")
    owner.execute(f"DELETE FROM pgmnemo.lesson_vector WHERE {orphans}")


def test_a_row_names_the_place_and_both_values(filled: Any, owner: psycopg.Connection[Any]) -> None:
    owner.execute(f"UPDATE pgmnemo.posting SET lesson_count = 0 WHERE {ONE}", {"tenant": filled.id})
    ((problem, project, lesson, item, found, wanted),) = filled.rows("SELECT * FROM pgmnemo.check()")
    held = filled.value("SELECT lesson_ids FROM pgmnemo.postings WHERE lesson_count = 0")
    assert (problem, project, lesson) == ("block with wrong lesson_count", filled.project, held[0])
    assert (item, found, wanted) == ("river", "0", str(len(held)))


def test_another_tenants_damage_is_neither_seen_nor_touched(
    filled: Any, make_tenant: Any, owner: Any
) -> None:
    other = make_tenant()
    other.store("a", "river")
    owner.execute("DELETE FROM pgmnemo.posting WHERE tenant_id = %s", (filled.id,))
    assert problems(other) == set()
    assert other.value("SELECT pgmnemo.repair()") == 1
    assert problems(filled) == {"posting missing"}


def test_each_lesson_keeps_its_own_text_configuration(tenant: Any, owner: Any) -> None:
    tenant.store("a", "the rivers")
    tenant.set(text_config="simple")
    tenant.store("b", "the rivers")
    with unnoticed(owner):
        owner.execute("UPDATE pgmnemo.lesson SET lexemes = '' WHERE tenant_id = %s", (tenant.id,))
    tenant.set(text_config="german")
    tenant.value("SELECT pgmnemo.repair()")
    assert tenant.value("SHOW pgmnemo.text_config") == "german"
    kept = "SELECT external_id, text_config, tsvector_to_array(lexemes) FROM pgmnemo.lessons ORDER BY 1"
    assert tenant.rows(kept) == [("a", "english", ["river"]), ("b", "simple", ["rivers", "the"])]
    assert problems(tenant) == set()


def test_repair_leaves_full_blocks(filled: Any) -> None:
    chance = random.Random(3)
    for n in range(20):
        filled.store(f"s{n}", text(chance))
    filled.value("SELECT pgmnemo.repair()")
    blocks = filled.rows("SELECT lexeme, count(*), sum(lesson_count) FROM pgmnemo.postings GROUP BY lexeme")
    assert all(count == -(-held // 128) for _, count, held in blocks)


def test_nothing_stored_is_nothing_wrong(tenant: Any) -> None:
    assert problems(tenant) == set()
    assert tenant.value("SELECT pgmnemo.repair()") == 0


def test_what_the_verbs_do_is_no_damage(filled: Any, unit: Any) -> None:
    chance = random.Random(4)
    for n in range(0, 40, 3):
        filled.store(f"l{n:03}", text(chance), topic="harbour", embedding=unit(1, n))
        filled.store(f"p{n}", text(chance), passages=[text(chance), text(chance)])
    sound(filled)
    for n in range(0, 40, 4):
        filled.value("SELECT pgmnemo.forget(NULL, %s, %s, %s)", filled.project, f"l{n:03}", n % 8 == 0)
    filled.alter("UPDATE pgmnemo.lesson SET content = content || ' river' WHERE id % 3 = 0")
    filled.alter("DELETE FROM pgmnemo.lesson WHERE id % 7 = 0")
    sound(filled)
    with filled.client.transaction(force_rollback=True):
        filled.store("l001", "something else")
        filled.alter("UPDATE pgmnemo.lesson SET project_id = gen_random_uuid() WHERE id % 5 = 0")
        sound(filled)
    with filled.client.transaction():
        filled.store("kept", "river river")
        with filled.client.transaction(force_rollback=True):  # a savepoint
            filled.store("gone", "river harbour")
            filled.value("SELECT pgmnemo.forget(NULL, %s, 'l002', true)", filled.project)
        filled.store("l002", "kept as well")
    sound(filled)
    filled.value("SELECT pgmnemo.merge_postings()")
    sound(filled)


def test_a_lesson_and_its_passages_are_indexed_together(tenant: Any, unit: Any) -> None:
    tenant.set(hnsw_min_vectors=0)
    tenant.store("a", "x", embedding=unit(1), passages=["p"], passage_embeddings=[unit(0, 1)])
    assert tenant.store("a", "x", embedding=unit(1), importance=5) == "updated"
    tenant.store("b", "y", embedding=unit(1))
    vector = "[" + ",".join(map(str, unit(0, 1))) + "]"
    tenant.rows(
        "SELECT pgmnemo.store_passages(NULL, id, '{q}', ARRAY[%s]::vector[]) FROM pgmnemo.lessons "
        "WHERE external_id = 'b'",
        vector,
    )
    assert problems(tenant) == set()
    assert tenant.value("SELECT bool_and(indexed) FROM pgmnemo.vectors") is True


def write(tenant: Any, number: int) -> int:
    """A writer's steps, each a transaction of one or several calls that is tried until it goes through."""
    chance = random.Random(number)
    connection = tenant.connect()
    retries = 0

    def call(verb: str, *parameters: object) -> None:
        places = ", ".join(["NULL", *["%s"] * len(parameters)])
        connection.execute(f"SELECT pgmnemo.{verb}({places})", parameters)

    def several() -> None:
        for _ in range(chance.randint(1, 3)):
            name, kind = f"l{chance.randint(0, 40)}", chance.random()
            if kind < 0.2:
                call("forget", tenant.project, name, chance.random() < 0.5)
            elif kind < 0.25:
                call("merge_postings")
            elif kind < 0.3:
                call("repair")
            elif kind < 0.4:
                with connection.transaction(force_rollback=True):
                    call("store", tenant.project, name, "undone")
            elif kind < 0.5:
                changed = "UPDATE pgmnemo.lesson SET content = content || ' river' WHERE external_id = %s"
                with tenant.acting(connection):
                    connection.execute(changed, (name,))
            else:
                call("store", tenant.project, name, text(chance))

    for _ in range(STEPS):
        while True:
            try:
                with connection.transaction(force_rollback=chance.random() < 0.1):
                    several()
                break
            except (psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation):
                retries += 1
    return retries


def test_sixteen_writers_at_once_leave_nothing_wrong(tenant: Any) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda number: write(tenant, number), range(WRITERS)))
    assert tenant.value("SELECT count(*) FROM pgmnemo.lessons") > 10
    sound(tenant)
    tenant.value("SELECT pgmnemo.merge_postings()")
    sound(tenant)
