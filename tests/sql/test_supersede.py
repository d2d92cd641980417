"""Lessons that take the place of others, facts, and the two times: of the world and of the memory."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import errors

MARCH, MAY, JUNE = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 5, 6))


def supersede(tenant: Any, old: str, new: str | None = None, **options: object) -> Any:
    names = "".join(f", {name} => %s" for name in options)
    query = f"SELECT pgmnemo.supersede(NULL, %s, %s, %s{names})"
    return tenant.value(query, tenant.project, old, new, *options.values())


def undo(tenant: Any, old: str) -> Any:
    return tenant.value("SELECT pgmnemo.undo_supersede(NULL, %s, %s)", tenant.project, old)


def timeline(tenant: Any, key: str, known_at: datetime | None = None) -> list[tuple[Any, ...]]:
    query = "SELECT step, key, valid_to, reason FROM pgmnemo.timeline(NULL, %s, %s, %s)"
    return tenant.rows(query, tenant.project, key, known_at)  # type: ignore[no-any-return]


def now(tenant: Any) -> datetime:
    return tenant.value("SELECT clock_timestamp()")  # type: ignore[no-any-return]


def chain(tenant: Any) -> None:
    """`river-2` takes the place of `river-1` in May and `river-3` its in June."""
    for number, happened in ((1, MARCH), (2, MAY), (3, JUNE)):
        tenant.store(f"river-{number}", f"the river has {number} bridges", occurred_at=happened)
    supersede(tenant, "river-1", "river-2", at=MAY, reason="one was built")
    supersede(tenant, "river-2", "river-3", at=JUNE)


def test_what_is_superseded_leaves_recall_from_then_on(tenant: Any) -> None:
    chain(tenant)
    assert tenant.ids("river bridges") == ["river-3"]
    assert tenant.ids("river bridges", valid_at=MAY) == ["river-2"]
    assert tenant.ids("river bridges", valid_at=MAY - timedelta(days=1)) == ["river-1"]
    # as_of asks nothing of what happened
    assert sorted(tenant.ids("river bridges", as_of=MAY)) == ["river-2", "river-3"]
    assert timeline(tenant, "river-2") == [
        (-1, "river-1", MAY, "one was built"), (0, "river-2", JUNE, None), (1, "river-3", None, None),
    ]  # fmt: skip
    assert tenant.rows("SELECT * FROM pgmnemo.check()") == []


def test_undoing_brings_it_back_and_the_memory_knows_what_it_believed(tenant: Any) -> None:
    tenant.store("old", "the shop opens at eight", occurred_at=MARCH)
    tenant.store("new", "the shop opens at nine", occurred_at=MARCH)
    before = now(tenant)
    assert supersede(tenant, "old", "new", at=MAY) == "superseded"
    between = now(tenant)
    assert undo(tenant, "old") is True
    assert undo(tenant, "old") is False
    after = now(tenant)
    assert sorted(tenant.ids("shop opens")) == ["new", "old"]
    for known_at, believed in ((before, ["new", "old"]), (between, ["new"]), (after, ["new", "old"])):
        assert sorted(tenant.ids("shop opens", known_at=known_at)) == believed
    assert sorted(tenant.ids("shop opens", known_at=between, valid_at=MARCH)) == ["new", "old"]
    assert tenant.ids("shop opens", known_at=MARCH) == []  # nothing was stored yet
    assert timeline(tenant, "old", between)[0] == (0, "old", MAY, None)
    assert timeline(tenant, "old", after) == [(0, "old", None, None)]


def test_a_correction_keeps_what_was_known_before(tenant: Any) -> None:
    tenant.store("old", "eight", occurred_at=MARCH)
    tenant.store("new", "nine", occurred_at=MARCH)
    assert supersede(tenant, "old", "new", at=JUNE, reason="a sign") == "superseded"
    first = now(tenant)
    assert supersede(tenant, "old", "new") == supersede(tenant, "old", "new", at=JUNE) == "unchanged"
    assert supersede(tenant, "old", "new", at=MAY) == "corrected"
    assert timeline(tenant, "old")[0] == (0, "old", MAY, "a sign")
    assert timeline(tenant, "old", first)[0] == (0, "old", JUNE, "a sign")


REFUSED = [
    ("supersede(NULL, {p}, 'c', 'c')", errors.InvalidParameterValue, "cannot supersede itself"),
    ("supersede(NULL, {p}, 'c', 'a')", errors.InvalidParameterValue, "nor one that took its place"),
    ("supersede(NULL, {p}, 'a', 'd')", errors.ObjectNotInPrerequisiteState, "superseded already, by 'b'"),
    ("supersede(NULL, {p}, 'c', 'gone')", errors.ObjectNotInPrerequisiteState, "lesson 'gone' is forgotten"),
    ("supersede(NULL, {p}, 'gone', 'c')", errors.ObjectNotInPrerequisiteState, "lesson 'gone' is forgotten"),
    ("supersede(NULL, {p}, 'none', 'c')", errors.NoDataFound, "has no lesson 'none'"),
    ("supersede(NULL, {p}, 'c', 'theirs')", errors.NoDataFound, "has no lesson 'theirs'"),
    ("supersede(NULL, {p}, 'c', 'd', at => 'infinity')", errors.InvalidParameterValue, "must be finite"),
    ("supersede(NULL, {p}, 'c', 'd', repeat('x', 10001))", errors.InvalidParameterValue, "10001 bytes"),
    ("undo_supersede(NULL, {p}, 'none')", errors.NoDataFound, "has no lesson 'none'"),
    ("timeline(NULL, {p}, 'none')", errors.NoDataFound, "has no lesson 'none'"),
    ("assert_fact(NULL, {p}, '', 'is', 'x')", errors.InvalidParameterValue, "subject must have 1 to 1000"),
    ("assert_fact(NULL, {p}, 'x', NULL, 'x')", errors.InvalidParameterValue, "needs a subject"),
    ("assert_fact(NULL, {p}, 'x', 'is', 'y', metadata => '{{\"fact\": 1}}')", errors.InvalidParameterValue,
     "without the key fact"),
    ("assert_fact(NULL, {p}, 'x', 'is', 'y', source => 'none')", errors.NoDataFound, "has no lesson 'none'"),
    ("facts(NULL, most => 0)", errors.InvalidParameterValue, "most is 0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "said"), REFUSED)
def test_what_cannot_be_is_refused(
    tenant: Any, make_tenant: Any, call: str, error: type[psycopg.Error], said: str
) -> None:
    make_tenant().store("theirs", "theirs", project_id=tenant.project)
    for key in ("a", "b", "c", "d", "gone"):
        tenant.store(key, f"lesson {key}")
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'gone')", tenant.project)
    supersede(tenant, "a", "b")
    supersede(tenant, "b", "c")
    before = tenant.look("SELECT * FROM pgmnemo.supersession ORDER BY number")
    with pytest.raises(error, match=said):
        tenant.rows("SELECT * FROM pgmnemo." + call.format(p=f"'{tenant.project}'"))
    assert tenant.look("SELECT * FROM pgmnemo.supersession ORDER BY number") == before
    assert sorted(tenant.ids("lesson")) == ["c", "d"]


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ"])
def test_of_two_sessions_that_supersede_one_lesson_one_wins(tenant: Any, level: str) -> None:
    for key in ("old", "mine", "yours"):
        tenant.store(key, key)
    query = "SELECT pgmnemo.supersede(NULL, %s, 'old', %s)"
    other = tenant.connect()
    with tenant.client.transaction():
        tenant.client.execute(query, (tenant.project, "mine"))
        other.execute("SET lock_timeout = '300ms'")
        with pytest.raises(errors.LockNotAvailable):
            other.execute(query, (tenant.project, "yours"))
    other.execute("BEGIN ISOLATION LEVEL " + level)
    with pytest.raises((errors.ObjectNotInPrerequisiteState, errors.SerializationFailure)):
        other.execute(query, (tenant.project, "yours"))
    other.rollback()
    assert [row[1] for row in timeline(tenant, "old")] == ["old", "mine"]


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("revive", [False, True])
def test_forgetting_the_new_one_says_what_becomes_of_the_old(tenant: Any, hard: bool, revive: bool) -> None:
    tenant.store("old", "the shop opens at eight")
    tenant.store("new", "the shop opens at nine")
    supersede(tenant, "old", "new")
    told: list[str] = []
    tenant.client.add_notice_handler(lambda notice: told.append(notice.message_primary))
    query = "SELECT pgmnemo.forget(NULL, %s, 'new', %s, %s)"
    assert tenant.value(query, tenant.project, hard, revive) is True
    assert tenant.ids("shop") == (["old"] if revive else [])
    assert [text for text in told if "superseded" in text] == (
        [] if revive else ["1 lesson stays out of recall, superseded by what is forgotten"]
    )
    if not revive:
        assert undo(tenant, "old") is True
        assert tenant.ids("shop") == ["old"]


def assert_fact(tenant: Any, subject: str, relation: str, object: str, **options: object) -> Any:
    names = "".join(f", {name} => %s" for name in options)
    query = f"SELECT * FROM pgmnemo.assert_fact(NULL, %s, %s, %s, %s{names})"
    return tenant.rows(query, tenant.project, subject, relation, object, *options.values())[0]


def facts(tenant: Any, **options: object) -> list[tuple[Any, ...]]:
    names = "".join(f", {name} => %s" for name in options)
    query = f"SELECT told, valid_from, valid_to FROM pgmnemo.facts(NULL, %s{names})"
    return tenant.rows(query, tenant.project, *options.values())  # type: ignore[no-any-return]


def test_a_fact_ends_and_may_hold_again(tenant: Any) -> None:
    key = assert_fact(tenant, "ada", "owns", "a boat", at=MARCH)[0]
    query = "SELECT pgmnemo.end_fact(NULL, %s, 'ada', 'owns', at => %s, reason => 'sold')"
    believed = now(tenant)
    assert tenant.value(query, tenant.project, MAY) == 1
    assert tenant.value(query, tenant.project, JUNE) == 0
    assert facts(tenant, subject="ada") == []
    assert facts(tenant, subject="ada", known_at=believed) == [("a boat", MARCH, None)]
    assert assert_fact(tenant, "ada", "owns", "a boat", at=JUNE)[0] != key
    assert facts(tenant, subject="ada", history=True) == [("a boat", MARCH, MAY), ("a boat", JUNE, None)]
    assert undo(tenant, key) is True
    assert facts(tenant, subject="ada", at=MAY) == [("a boat", MARCH, None)]


@pytest.mark.parametrize("way", ["end", "supersede", "expire"])
def test_a_fact_that_held_at_no_time_ends_no_other(tenant: Any, way: str) -> None:
    assert_fact(tenant, "ada", "lives in", "Rome", at=MARCH, single=True)
    key = assert_fact(tenant, "ada", "lives in", "Oslo", at=JUNE, single=True)[0]
    match way:
        case "end":
            query = "SELECT pgmnemo.end_fact(NULL, %s, 'ada', 'lives in', 'Oslo', at => %s)"
            assert tenant.value(query, tenant.project, JUNE) == 1
        case "supersede":
            supersede(tenant, key, at=MAY)
        case "expire":
            tenant.value("SELECT pgmnemo.update(NULL, %s, %s, expires_at => %s)", tenant.project, key, JUNE)
    assert_fact(tenant, "ada", "lives in", "Lima", at=MAY, single=True)
    assert facts(tenant, subject="ada") == [("Lima", MAY, None)]


def test_a_fact_without_a_time_holds_from_when_it_was_stored(tenant: Any) -> None:
    fact = {"fact": {"subject": "eve", "relation": "works at", "object": "X"}}
    tenant.store("hand", "Eve works at X", metadata=json.dumps(fact))
    stored_at = tenant.value("SELECT stored_at FROM pgmnemo.lessons")
    assert_fact(tenant, "eve", "works at", "Y", at=MARCH, single=True)
    assert facts(tenant, subject="eve", history=True) == [("Y", MARCH, stored_at), ("X", stored_at, None)]


def test_an_expired_fact_holds_until_it_expires(tenant: Any) -> None:
    key = assert_fact(tenant, "max", "has", "a dog", at=MARCH)[0]
    tenant.value("SELECT pgmnemo.update(NULL, %s, %s, expires_at => %s)", tenant.project, key, MAY)
    assert facts(tenant, subject="max", history=True) == [("a dog", MARCH, MAY)]
    assert timeline(tenant, key) == [(0, key, MAY, None)]
    tenant.value("SELECT pgmnemo.update(NULL, %s, %s, expires_at => 'infinity')", tenant.project, key)
    assert facts(tenant, subject="max", history=True) == [("a dog", MARCH, None)]


def test_a_fact_that_its_follower_would_precede_is_refused(tenant: Any) -> None:
    assert_fact(tenant, "bob", "uses", "A", at=MARCH)
    assert_fact(tenant, "bob", "uses", "B", at=MARCH)
    assert_fact(tenant, "bob", "uses", "A", at=JUNE, single=True)
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="took its place later"):
        assert_fact(tenant, "bob", "uses", "B", at=MAY, single=True)
    assert facts(tenant, subject="bob") == [("A", MARCH, None)]


def test_facts_are_in_order_however_many_there_are(tenant: Any) -> None:
    """12,000 keys ascend while their times descend."""
    tenant.rows(
        "SELECT count(*) FROM generate_series(0, 1) part CROSS JOIN LATERAL pgmnemo.store_set(NULL, ARRAY("
        "SELECT ROW(%s, 'f' || to_char(n, 'FM000000'), 'event ' || n, NULL, NULL, NULL, NULL, "
        "jsonb_build_object('fact', "
        "jsonb_build_object('subject', 'host', 'relation', 'load', 'object', 'o' || n)), "
        "%s::timestamptz - n * interval '1 minute', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
        "::pgmnemo.lesson_input FROM generate_series(part * 6000 + 1, part * 6000 + 6000) n)) s",
        tenant.project, MAY,
    )  # fmt: skip
    told = facts(tenant, subject="host", history=True, most=2)
    assert [object for object, _, _ in told] == ["o12000", "o11999"]


def test_an_expired_lesson_is_recalled_only_as_of_an_earlier_time(tenant: Any) -> None:
    tenant.store("milk", "the milk is in the fridge", occurred_at=MARCH, expires_at=MAY)
    assert tenant.ids("milk") == []
    assert tenant.ids("milk", as_of=MARCH) == tenant.ids("milk", valid_at=MARCH) == ["milk"]
    assert tenant.ids("milk", valid_at=MAY) == []


def test_nothing_is_superseded_by_what_another_session_has_just_forgotten(tenant: Any) -> None:
    for key in ("a", "b"):
        tenant.store(key, f"lesson {key}")
    other = tenant.connect()
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT * FROM pgmnemo.count(NULL)")
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'b')", tenant.project)
    with pytest.raises(errors.SerializationFailure):
        other.execute("SELECT pgmnemo.supersede(NULL, %s, 'a', 'b')", (tenant.project,))
    other.rollback()
    assert tenant.ids("lesson") == ["a"]


def test_numbers_that_were_set_back_are_found_and_mended(tenant: Any, owner: Any) -> None:
    """As in a database that got its rows by logical replication, whose sequences do not come along."""
    chain(tenant)
    undo(tenant, "river-2")
    undo(tenant, "river-1")
    owner.execute("SELECT setval('pgmnemo.supersession_number_seq', 1, false)")
    [problem] = tenant.rows("SELECT problem FROM pgmnemo.check()")
    assert problem == ("sequence of supersessions behind the greatest number",)
    tenant.value("SELECT pgmnemo.repair()")
    assert tenant.rows("SELECT problem FROM pgmnemo.check()") == []
    assert supersede(tenant, "river-1", "river-2", at=MAY) == "superseded"
    assert timeline(tenant, "river-1")[0] == (0, "river-1", MAY, None)


def test_the_set_of_ended_lessons_is_what_each_lookup_finds(tenant: Any) -> None:
    tenant.store_many({f"k{n}": f"river {n}" for n in range(6)})
    for n in range(4):
        supersede(tenant, f"k{n}", f"k{n + 1}", at=MARCH)
    between = now(tenant)
    undo(tenant, "k1")
    found = tenant.look(
        """
        SELECT pgmnemo._superseded_then(l.tenant_id, l.id, m, k),
               pgmnemo._superseded_ids(l.tenant_id, m, k) @> l.id
          FROM pgmnemo.lesson l, unnest(%s::timestamptz[]) m, unnest(%s::timestamptz[]) k
         WHERE l.tenant_id = %s
        """,
        [MARCH - timedelta(1), MAY], [between - timedelta(1), between, between + timedelta(1)], tenant.id,
    )  # fmt: skip
    assert sorted(found) == [(False, False)] * 29 + [(True, True)] * 7
