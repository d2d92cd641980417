"""Writing says what became of each lesson, in the order given, and refuses with one sentence."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from psycopg import errors

ALL = {"role": "pilot", "topic": "harbour", "importance": 4,
       "occurred_at": "2025-01-01", "expires_at": "2026-01-01",
       "commit_sha": "c0ffee", "artifact_hash": "beef", "verified_at": "2025-02-01"}  # fmt: skip


def test_a_retry_changes_nothing_and_other_content_is_an_update(tenant: Any, unit: Any) -> None:
    assert tenant.store("a", "river", embedding=unit(1), **ALL) == "inserted"
    before = tenant.look("SELECT ctid, xmin FROM pgmnemo.lesson")
    assert tenant.store("a", "river", embedding=unit(1), **ALL) == "unchanged"
    assert tenant.look("SELECT ctid, xmin FROM pgmnemo.lesson") == before
    for name, value in {
        "topic": "quay",
        "importance": 5,
        "occurred_at": "2025-01-02",
        "commit_sha": None,
    }.items():
        assert tenant.store("a", "river", embedding=unit(1), **{**ALL, name: value}) == "updated"
        assert tenant.store("a", "river", embedding=unit(1), **{**ALL, name: value}) == "unchanged"
    assert tenant.store("a", "river", embedding=unit(2, 1), **ALL) == "updated"
    assert tenant.store("a", "rivers", embedding=unit(2, 1), **ALL) == "updated"


def test_a_set_tells_outcomes_in_the_order_given(tenant: Any) -> None:
    tenant.store("b", "same")
    tenant.store("c", "old")
    tenant.store("d", "gone")
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'd')", tenant.project)
    lessons = "ARRAY[" + ", ".join(
        f"ROW('{tenant.project}', '{name}', '{text}'{', NULL' * 14})::pgmnemo.lesson_input"
        for name, text in (("d", "gone"), ("c", "new"), ("a", "new"), ("b", "same"))
    ) + "]"  # fmt: skip
    rows = tenant.rows(
        f"SELECT external_id, outcome, lesson_id IS NOT NULL FROM pgmnemo.store_set(NULL, {lessons})"
    )
    assert rows == [
        ("d", "restored", True), ("c", "updated", True), ("a", "inserted", True), ("b", "unchanged", True),
    ]  # fmt: skip


def test_outcomes_hold_within_one_transaction(tenant: Any) -> None:
    with tenant.client.transaction():
        assert [tenant.store("a", text) for text in ("x", "x", "y", "y", "x")] == [
            "inserted", "unchanged", "updated", "unchanged", "updated"]  # fmt: skip


def test_staging_takes_the_same_path(tenant: Any) -> None:
    lessons = {f"l{n}": f"text {n}" for n in range(1201)}
    assert tenant.store_many(lessons) == {"inserted": 1201}
    lessons["l7"] = "other"
    assert tenant.store_many({**lessons, "new": "x"}) == {"inserted": 1, "unchanged": 1200, "updated": 1}


def test_staging_lives_within_one_transaction(tenant: Any) -> None:
    with tenant.client.transaction():
        assert tenant.store_many({"a": "text"}) == {"inserted": 1}
        assert tenant.value("SELECT count(*) FROM lesson_staging") == 0
        assert tenant.rows("SELECT * FROM pgmnemo.store_staged()") == []
        assert tenant.store_many({"b": "text"}) == {"inserted": 1}  # a new one in place of the old
    assert tenant.value("SELECT to_regclass('pg_temp.lesson_staging') IS NULL")
    tenant.client.execute("SELECT pgmnemo.open_staging()")  # which is a transaction of its own
    with pytest.raises(errors.UndefinedTable, match="has no staging table in this transaction"):
        tenant.rows("SELECT * FROM pgmnemo.store_staged()")


def test_a_staging_table_names_its_tenant_and_no_other_table_will_do(tenant: Any, make_tenant: Any) -> None:
    other = make_tenant()
    insert = "INSERT INTO lesson_staging (project_id, external_id, content) VALUES (%s, 'a', 'b')"
    with tenant.client.transaction():
        tenant.client.execute("SELECT pgmnemo.open_staging(%s)", (other.id,))
        tenant.client.execute(insert, (tenant.project,))
        assert tenant.rows("SELECT * FROM pgmnemo.store_staged()") == [("inserted", 1)]
    assert other.rows("SELECT project_id, external_id FROM pgmnemo.lessons") == [(tenant.project, "a")]
    assert tenant.rows("SELECT * FROM pgmnemo.lessons") == []
    with tenant.client.transaction(force_rollback=True):
        columns = "project_id uuid, external_id text, content text"
        tenant.client.execute(f"CREATE TEMPORARY TABLE lesson_staging ({columns})")
        with pytest.raises(errors.UndefinedTable):
            tenant.rows("SELECT * FROM pgmnemo.store_staged()")


@pytest.mark.parametrize(("gate", "bare", "recalled"), [("enforce", None, []), ("warn", "inserted", ["a"]),
                                                        ("off", "inserted", ["a"])])  # fmt: skip
def test_the_gate_decides_on_lessons_without_provenance(
    tenant: Any, gate: str, bare: Any, recalled: list[str]
) -> None:
    notices: list[str] = []
    tenant.client.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    tenant.set(gate_strict=gate)
    assert tenant.store("proven", "river", commit_sha="c0ffee") == "inserted"
    assert tenant.store("proven too", "river", artifact_hash="beef") == "inserted"
    if bare is None:
        with pytest.raises(errors.CheckViolation, match="1 of 1 lessons have no provenance, 'a' among them"):
            tenant.store("a", "river", commit_sha=" ", artifact_hash="")
        tenant.set(gate_strict="off")
        tenant.store("a", "river", commit_sha="")
        tenant.set(gate_strict=gate)
    else:
        assert tenant.store("a", "river") == bare
    assert sorted(tenant.ids("river")) == [*recalled, "proven", "proven too"]
    told = {
        "enforce": ["pgmnemo.gate_strict is enforce and hides 1 lesson in scope, "
                    "which have neither commit_sha nor artifact_hash"],
        "warn": ["1 of 1 lessons have no provenance, 'a' among them"],
        "off": [],
    }  # fmt: skip
    assert notices == told[gate]


@pytest.mark.parametrize("given", ["array_fill({}, '{{1}}', '{{0}}')", "array_fill({}, '{{1}}', '{{7}}')",
                                   "ARRAY[ARRAY[{}]]"])  # fmt: skip
def test_a_set_may_be_an_array_of_any_bounds(tenant: Any, given: str) -> None:
    lesson = "ROW(%s, U&'e\\0301', 'river'" + ", NULL" * 14 + ")::pgmnemo.lesson_input"
    query = f"SELECT external_id, outcome FROM pgmnemo.store_set(NULL, {given.format(lesson)})"
    assert tenant.rows(query, tenant.project) == [("\u00e9", "inserted")]


def test_a_key_twice_in_one_set_is_refused_whole(tenant: Any) -> None:
    with tenant.client.transaction():
        tenant.client.execute("SELECT pgmnemo.open_staging()")
        tenant.client.execute(
            "INSERT INTO lesson_staging (project_id, external_id, content) "
            "SELECT %s, n, 'x' FROM unnest('{a,b,a}'::text[]) n",
            (tenant.project,),
        )
        sentence = "external_id 'a' stands more than once in the set"
        with pytest.raises(errors.UniqueViolation, match=sentence), tenant.client.transaction():
            tenant.rows("SELECT * FROM pgmnemo.store_staged()")


@pytest.mark.parametrize("size", [0, -1, 10_001, None])
def test_a_batch_has_from_1_to_10_000_lessons(tenant: Any, size: int | None) -> None:
    told = "NULL" if size is None else str(size)
    sentence = f"batch_size is {told}, but must be from 1 to 10000"
    with tenant.client.transaction():
        tenant.client.execute("SELECT pgmnemo.open_staging()")
        with pytest.raises(errors.InvalidParameterValue, match=sentence), tenant.client.transaction():
            tenant.client.execute("SELECT pgmnemo.store_staged(%s)", (size,))


def test_writers_of_the_same_keys_neither_fail_nor_deadlock(tenant: Any) -> None:
    def write(number: int) -> list[tuple[Any, ...]]:
        connection = tenant.connect()
        names = [f"l{n}" for n in range(60)]
        random.Random(number).shuffle(names)
        told = []
        row = "ROW(%s::uuid, n, %s" + ", NULL" * 14 + ")::pgmnemo.lesson_input"
        query = (
            "SELECT external_id, outcome, lesson_id "
            f"FROM pgmnemo.store_set(NULL, ARRAY(SELECT {row} FROM unnest(%s::text[]) n))"
        )
        for version in range(3):
            told += connection.execute(query, (tenant.project, f"version {version}", names)).fetchall()
        return told

    with ThreadPoolExecutor(6) as pool:
        told = [row for rows in pool.map(write, range(6)) for row in rows]
    inserted = [name for name, outcome, _ in told if outcome == "inserted"]
    assert sorted(inserted) == sorted({name for name, _, _ in told})
    assert {outcome for _, outcome, _ in told} <= {"inserted", "updated", "unchanged"}
    assert None not in {lesson_id for _, _, lesson_id in told}
    assert tenant.value("SELECT sum(lesson_count) FROM pgmnemo.postings WHERE lexeme = 'version'") == 60


@pytest.mark.parametrize("key", ["known", "new"])
def test_a_rival_under_repeatable_read_is_a_serialization_error(tenant: Any, key: str) -> None:
    tenant.store("known", "one")
    late = tenant.connect()
    with late.transaction(force_rollback=True):
        late.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        late.execute("SELECT count(*) FROM pgmnemo.lessons")
        tenant.store(key, "two")
        with pytest.raises(errors.SerializationFailure):
            late.execute("SELECT pgmnemo.store(NULL, %s, %s, 'three')", (tenant.project, key))


def test_an_id_that_is_taken_is_an_error_and_stores_nothing(tenant: Any, owner: Any) -> None:
    """A sequence that was set back: what it gives again must not pass for a key that is there already."""
    assert tenant.store("a", "the harbour") == "inserted"
    [(last,)] = owner.execute("SELECT last_value FROM pgmnemo.lesson_id_seq").fetchall()
    taken = tenant.value("SELECT id FROM pgmnemo.lessons WHERE external_id = 'a'")
    try:
        owner.execute("SELECT setval('pgmnemo.lesson_id_seq', %s, false)", (taken,))
        with pytest.raises(errors.UniqueViolation, match="lesson_pkey"):
            tenant.store("b", "the lantern")
    finally:
        owner.execute("SELECT setval('pgmnemo.lesson_id_seq', %s)", (last + 1000,))
    assert tenant.rows("SELECT external_id FROM pgmnemo.lessons") == [("a",)]
    assert tenant.store("b", "the lantern") == "inserted"
