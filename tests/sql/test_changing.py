"""What a lesson says besides its text is changed by itself, and turns are appended without counting."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from pgmnemo import calls

WHOLE = {"role": "pilot", "topic": "harbour", "importance": 4, "metadata": '{"a": 1, "b": 2}',
         "occurred_at": "2025-01-01", "expires_at": "2099-01-01", "commit_sha": "c0ffee",
         "artifact_hash": "beef", "verified_at": "2025-02-01", '"position"': 7}  # fmt: skip


def update(tenant: Any, key: str, **options: object) -> Any:
    names = "".join(f', "{name}" => %s' for name in options)
    return tenant.value(f"SELECT pgmnemo.update(NULL, %s, %s{names})", tenant.project, key, *options.values())


def append(tenant: Any, content: str, connection: Any = None, **options: object) -> Any:
    names = "".join(f', "{name}" => %s' for name in options)
    query = f"SELECT external_id, position FROM pgmnemo.append(NULL, %s, %s{names})"
    return (
        (connection or tenant.client)
        .execute(query, (tenant.project, content, *options.values()))
        .fetchall()[0]
    )


def row(tenant: Any, key: str) -> dict[str, Any]:
    with tenant.client.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        query = "SELECT * FROM pgmnemo.get(NULL, %s, %s)"
        found: dict[str, Any] = cursor.execute(query, (tenant.project, key)).fetchall()[0]
        return found


CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"topic": "quay"}, {"topic": "quay"}),
    ({"role": "user", "importance": 5}, {"role": "user", "importance": 5}),
    ({"metadata": '{"c": 3}'}, {"metadata": {"c": 3}}),
    ({"patch": '{"b": null, "c": 3}'}, {"metadata": {"a": 1, "b": None, "c": 3}}),
    ({"clear": ["metadata"], "patch": '{"c": 3}'}, {"metadata": {"c": 3}}),
    ({"clear": ["topic", "importance", "position"]}, {"topic": None, "importance": 3, "position": None}),
    ({"clear": ["role"], "role": "user"}, {"role": "user"}),
    ({"clear": ["commit_sha", "artifact_hash", "verified_at", "expires_at", "occurred_at"]},
     dict.fromkeys(("commit_sha", "artifact_hash", "verified_at", "expires_at", "occurred_at"))),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), CHANGES)
def test_an_update_changes_what_it_names_and_nothing_else(
    tenant: Any, unit: Any, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    tenant.store("a", "the river", embedding=unit(1), passages=["the", "river"], **WHOLE)
    before = row(tenant, "a")
    kept = tenant.look("SELECT * FROM pgmnemo.passage ORDER BY number")
    assert update(tenant, "a", **given) == "updated"
    after = row(tenant, "a")
    derived = {"lexemes", "token_count"} if "topic" in wanted else set()
    assert {name for name in after if after[name] != before[name]} - derived == wanted.keys()
    assert {name: after[name] for name in wanted} == wanted
    assert tenant.look("SELECT * FROM pgmnemo.passage ORDER BY number") == kept
    assert update(tenant, "a", **given) == "unchanged"
    assert tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []


def test_what_an_update_says_is_found(tenant: Any) -> None:
    tenant.store("a", "the river", topic="harbour")
    update(tenant, "a", topic="lantern", patch='{"lang": "de"}')
    assert tenant.ids("lantern", filter='{"metadata": {"lang": "de"}}') == ["a"]
    assert tenant.value("SELECT count(*) FROM pgmnemo.postings WHERE lexeme = 'harbour'") == 0


@pytest.mark.parametrize(("given", "error", "told"), [
    ({"importance": 6}, errors.InvalidParameterValue, "importance from 1 to 5"),
    ({"occurred_at": "infinity"}, errors.InvalidParameterValue, "finite occurred_at"),
    ({"metadata": "{}", "patch": "{}"}, errors.InvalidParameterValue, "metadata and patch are both given"),
    ({"patch": "[1]"}, errors.InvalidParameterValue, "patch is of type array"),
    ({"patch": '{"n": 1e131071}'}, errors.InvalidParameterValue, "metadata"),
    ({"position": 2**31 - 1}, errors.InvalidParameterValue, "position"),
    ({"clear": ["embedding"]}, errors.InvalidParameterValue, "clear names 'embedding', which cannot"),
    ({"clear": ["passages"]}, errors.InvalidParameterValue, "clear names 'passages'"),
    ({"clear": [None]}, errors.InvalidParameterValue, "clear names NULL"),
])  # fmt: skip
def test_an_update_that_cannot_be_stored_is_refused_whole(
    tenant: Any, given: dict[str, Any], error: type[Exception], told: str
) -> None:
    tenant.store("a", "the river", **WHOLE)
    before = row(tenant, "a")
    with pytest.raises(error, match=told):
        update(tenant, "a", **{"topic": "x", **given})
    with pytest.raises(errors.NoDataFound, match="has no lesson 'none'"):
        update(tenant, "none", topic="x")
    assert row(tenant, "a") == before


def test_metadata_that_is_no_object_takes_no_patch(tenant: Any) -> None:
    tenant.store("a", "the river", metadata="[1]")
    with pytest.raises(errors.InvalidParameterValue, match="the metadata of lesson 'a' is no object"):
        update(tenant, "a", patch='{"b": 1}')
    assert update(tenant, "a", metadata='{"b": 1}') == "updated"


def test_the_gate_asks_of_an_update_what_it_asks_of_a_store(tenant: Any) -> None:
    tenant.store("bare", "the river")
    tenant.store("proven", "the river", commit_sha="c0ffee")
    tenant.set(gate_strict="enforce")
    assert update(tenant, "proven", topic="x") == "updated"
    for key, options in (("bare", {"topic": "x"}), ("proven", {"clear": ["commit_sha"]})):
        with pytest.raises(errors.CheckViolation, match="have no provenance"):
            update(tenant, key, **options)


def test_two_patches_at_once_are_both_kept(tenant: Any) -> None:
    tenant.store("a", "the river")

    def write(number: int) -> None:
        connection = tenant.connect()
        for n in range(20):
            patch = json.dumps({f"{number}/{n}": n})
            connection.execute("SELECT pgmnemo.update(NULL, %s, 'a', patch => %s)", (tenant.project, patch))

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, range(3)))
    assert len(row(tenant, "a")["metadata"]) == 60


def test_turns_get_the_place_after_the_last(tenant: Any) -> None:
    assert append(tenant, "one", apart=True) == ("turn/1", 1)
    assert append(tenant, "two") == ("turn/2", 2)
    assert append(tenant, "three", apart=True) == ("turn/4", 4)
    assert append(tenant, "four", prefix="note") == ("note/5", 5)
    tenant.store("turn/6", "taken")
    tenant.store("turn/8", "taken")
    assert append(tenant, "five") == ("turn/7", 6)
    assert append(tenant, "six") == ("turn/9", 7)
    tenant.store("far", "far", **{'"position"': 100})
    assert append(tenant, "seven", role="user", metadata='{"a": 1}') == ("turn/101", 101)
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'turn/101')", tenant.project)
    assert append(tenant, "eight") == ("turn/102", 102)  # a forgotten one keeps its place
    assert row(tenant, "turn/101")["metadata"] == {"a": 1}
    assert [row(tenant, f"turn/{n}")["content"] for n in (6, 7, 8, 9)] == ["taken", "five", "taken", "six"]


@pytest.mark.parametrize(("given", "error", "told"), [
    ({"prefix": ""}, errors.InvalidParameterValue, "prefix has 0 bytes"),
    ({"prefix": None}, errors.InvalidParameterValue, "prefix has 0 bytes"),
    ({"prefix": "x" * 901}, errors.InvalidParameterValue, "prefix has 901 bytes, but must have 1 to 900"),
    ({"importance": 9}, errors.InvalidParameterValue, "importance from 1 to 5"),
])  # fmt: skip
def test_an_append_that_cannot_be_stored_takes_no_place(
    tenant: Any, given: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        append(tenant, "one", **given)
    assert append(tenant, "one") == ("turn/1", 1)


def test_there_is_a_last_place(tenant: Any) -> None:
    tenant.store("last", "last", **{'"position"': 1})
    tenant.alter("UPDATE pgmnemo.lesson SET position = 1000000000")
    with pytest.raises(errors.ProgramLimitExceeded, match="has a lesson at position 1000000000"):
        append(tenant, "one")


def test_writers_at_once_get_places_of_their_own(tenant: Any) -> None:
    def write(number: int) -> list[tuple[str, int]]:
        connection = tenant.connect()
        return [append(tenant, f"{number} says {n}", connection) for n in range(20)]

    with ThreadPoolExecutor() as pool:
        told = [turn for turns in pool.map(write, range(3)) for turn in turns]
    assert sorted(place for _, place in told) == list(range(1, 61))
    assert len({key for key, _ in told}) == 60
    assert tenant.value("SELECT count(DISTINCT content) FROM pgmnemo.lessons") == 60


@pytest.mark.parametrize("prefix", ["turn", "note"])
@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ"])
def test_who_waited_comes_after_or_fails(tenant: Any, level: str, prefix: str) -> None:
    """Under REPEATABLE READ the first one's place cannot be seen, so that the second must be repeated."""
    append(tenant, "none")
    late = tenant.connect()
    late.execute(f"BEGIN ISOLATION LEVEL {level}")
    late.execute("SELECT count(*) FROM pgmnemo.lessons")
    assert append(tenant, "first") == ("turn/2", 2)
    if level == "READ COMMITTED":
        assert append(tenant, "second", late, prefix=prefix) == (f"{prefix}/3", 3)
        late.commit()
    else:
        with pytest.raises(errors.SerializationFailure):
            append(tenant, "second", late, prefix=prefix)
        late.rollback()
        assert append(tenant, "second", late, prefix=prefix) == (f"{prefix}/3", 3)
    assert tenant.value("SELECT count(*) FROM pgmnemo.lessons") == 3


def test_the_client_sends_each_verb_with_a_tenant_and_without(tenant: Any) -> None:
    like = Jsonb({"topic": "t"})
    for named in (None, tenant.id):
        tenant.store("a", "the river", topic="t", expires_at=None, clear=["expires_at"])

        def call(said: calls.Call[Any]) -> Any:
            return calls.execute(tenant.client, said)

        assert call(calls.append(named, tenant.project, "the river", topic="t"))[:2] == ("turn/1", 1)
        assert call(calls.update(named, tenant.project, "a", patch=Jsonb({"a": 1}), clear=["role"]))
        assert call(calls.get(named, tenant.project, "a", ["metadata"])) == [({"a": 1},)]
        assert call(calls.list_page(named, filter=like, newest=True, columns=["external_id"]))[0] == (
            "turn/1",
        )
        assert call(calls.count(named, tenant.project, like)) == (2, 0)
        assert call(calls.similar_pairs(named, tenant.project, least_words=0.9))[0][2:4] == ("a", "turn/1")
        past = datetime(2025, 1, 1, tzinfo=UTC)
        assert call(calls.update(named, tenant.project, "a", expires_at=past)) == "updated"
        assert call(calls.delete_expired(named, most=5)) == 1
        assert call(calls.forget_matching(named, like, hard=True)) == 1


def test_metadata_that_came_compressed_are_measured_whole(tenant: Any) -> None:
    tenant.store("u", "a lesson")
    with tenant.client.transaction():
        tenant.client.execute("CREATE TEMPORARY TABLE given (m jsonb) ON COMMIT DROP")
        tenant.client.execute("INSERT INTO given SELECT jsonb_build_array(repeat('a', 8000000))")
        query = "SELECT pgmnemo.update(NULL, %s, 'u', metadata => m) FROM given"
        with pytest.raises(errors.InvalidParameterValue, match="metadata of more than 1,000,000 bytes"):
            tenant.client.execute(query, (tenant.project,))
    with pytest.raises(errors.InvalidParameterValue, match="metadata of more than 10,000 values"):
        tenant.store("v", "a lesson", metadata=json.dumps({"a": list(range(10_000))}))
