"""Names are found in both forms of Unicode: keys, topics, roles and facts, and texts in filters."""

from __future__ import annotations

import json
from hashlib import sha1
from typing import Any
from unicodedata import normalize

import psycopg
import pytest

from pgmnemo.client.naming import project_id, tenant_id

COMPOSED = "caf\u00e9"
DECOMPOSED = normalize("NFD", COMPOSED)
BOTH = [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)]


def keys(tenant: Any, **filter: object) -> list[str]:
    """The keys that `list` answers under a filter."""
    query = "SELECT external_id FROM pgmnemo.list(NULL, %s, %s)"
    return [key for (key,) in tenant.rows(query, tenant.project, json.dumps(filter))]


@pytest.mark.parametrize(("stored", "asked"), BOTH)
def test_names_are_found_in_the_other_form(tenant: Any, stored: str, asked: str) -> None:
    assert tenant.store(stored, "a note", role=stored, topic=f"{stored}/x") == "inserted"
    assert tenant.store(asked, "a note", role=asked, topic=f"{asked}/x") == "unchanged"
    kept = [(COMPOSED, COMPOSED, f"{COMPOSED}/x")]
    assert tenant.rows("SELECT external_id, role, topic FROM pgmnemo.lessons") == kept
    assert tenant.ids("note", role=asked) == [COMPOSED]
    filters = [{"role": asked}, {"topic": [f"{asked}/x"]}, {"topic_prefix": asked}]
    assert [keys(tenant, **one) for one in filters] == [[COMPOSED]] * 3
    call = "SELECT pgmnemo.update(NULL, %s, %s, topic => %s, role => %s)"
    assert tenant.value(call, tenant.project, asked, f"{asked}/x", asked) == "unchanged"
    assert tenant.value("SELECT content FROM pgmnemo.get(NULL, %s, %s)", tenant.project, asked) == "a note"
    tenant.store("other", "another note")
    assert tenant.link(asked, "other") == "inserted"
    assert tenant.value("SELECT pgmnemo.forget(NULL, %s, %s)", tenant.project, asked) is True


@pytest.mark.parametrize(("stored", "asked"), BOTH)
def test_a_set_and_a_turn_have_composed_names(tenant: Any, stored: str, asked: str) -> None:
    assert tenant.store_many({stored: "a note", "plain": "another", "\u00e9": "a third"}) == {"inserted": 3}
    assert tenant.store_many({asked: "a note", "e\u0301": "a third"}) == {"unchanged": 2}
    turn = "SELECT external_id FROM pgmnemo.append(NULL, %s, 'said', role => %s, prefix => %s)"
    assert tenant.value(turn, tenant.project, stored, stored) == f"{COMPOSED}/1"
    assert tenant.ids("said", role=asked)[0] == f"{COMPOSED}/1"


def test_a_set_that_has_a_key_in_both_forms_is_refused(tenant: Any) -> None:
    with pytest.raises(Exception, match="stands more than once in the set"):
        tenant.store_many({COMPOSED: "a note", DECOMPOSED: "another"})


@pytest.mark.parametrize(("stored", "asked"), BOTH)
def test_a_single_fact_of_either_form_replaces_the_other(tenant: Any, stored: str, asked: str) -> None:
    state = "SELECT outcome, superseded FROM pgmnemo.assert_fact(NULL, %s, %s, %s, %s, single => true)"
    assert tenant.rows(state, tenant.project, stored, stored, stored) == [("inserted", 0)]
    assert tenant.rows(state, tenant.project, asked, asked, asked) == [("unchanged", 0)]
    assert tenant.rows(state, tenant.project, asked, asked, "Porto") == [("inserted", 1)]
    facts = "SELECT said_of, told FROM pgmnemo.facts(NULL, %s, %s, %s)"
    for name in (stored, asked):
        assert tenant.rows(facts, tenant.project, name, name) == [(COMPOSED, "Porto")]
    end = "SELECT pgmnemo.end_fact(NULL, %s, %s, %s)"
    assert tenant.value(end, tenant.project, asked, asked) == 1


@pytest.mark.parametrize(("stored", "asked"), BOTH)
def test_metadata_stay_as_they_are_and_filters_meet_both_forms(tenant: Any, stored: str, asked: str) -> None:
    tenant.store("it", "a note", metadata=json.dumps({"place": stored, "tags": ["x", stored]}))
    tenant.store("other", "a note", metadata=json.dumps({"place": "cafe"}))
    assert tenant.value("SELECT metadata ->> 'place' FROM pgmnemo.lessons ORDER BY id LIMIT 1") == stored
    conditions = [
        asked, {"eq": asked}, {"in": ["y", asked]}, {"prefix": asked}, {"ne": "cafe"},
    ]  # fmt: skip
    for condition in conditions:
        assert keys(tenant, metadata={"place": condition}) == ["it"]
    assert keys(tenant, metadata={"tags": asked}) == ["it"]
    assert keys(tenant, metadata={"place": {"ne": asked}}) == ["other"]
    assert keys(tenant, metadata={"contains": {"place": stored}}) == ["it"]
    assert keys(tenant, metadata={"contains": {"place": asked}}) == []


def test_a_key_that_was_left_in_another_form_is_found_by_itself(tenant: Any) -> None:
    """As an upgrade leaves it beside the lesson that has its composed form."""
    tenant.store(COMPOSED, "the composed one")
    tenant.store("left", "the one that was left")
    tenant.alter("UPDATE pgmnemo.lesson SET external_id = %s WHERE external_id = 'left'", DECOMPOSED)
    get = "SELECT content FROM pgmnemo.get(NULL, %s, %s)"
    assert tenant.value(get, tenant.project, COMPOSED) == "the composed one"
    assert tenant.value(get, tenant.project, DECOMPOSED) == "the one that was left"
    assert tenant.store(DECOMPOSED, "another text") == "updated"
    assert tenant.store_many({DECOMPOSED: "another text"}) == {"unchanged": 1}
    assert tenant.value(get, tenant.project, COMPOSED) == "the composed one"
    assert tenant.value(get, tenant.project, DECOMPOSED) == "another text"
    assert tenant.value("SELECT pgmnemo.forget(NULL, %s, %s, true)", tenant.project, DECOMPOSED) is True
    assert tenant.rows(get, tenant.project, DECOMPOSED) == [("the composed one",)]


@pytest.mark.parametrize(
    "name",
    [
        "ada", " ada\u3000", "\x1f\x85ada\u2029", COMPOSED, DECOMPOSED, "東京", "x" * 55, "x" * 56,
        "ü" * 1000, "\u200bada", "7d3f0c52-92a5-4c1e-a7ab-4d1f6b2c9e10", "\U0001f600", "a" * 120,
    ],
)  # fmt: skip
def test_sql_gives_a_name_the_uuid_that_the_client_gives_it(tenant: Any, name: str) -> None:
    ada = tenant.value("SELECT pgmnemo.tenant_uuid(%s)", name)
    assert ada == tenant_id(name)
    assert tenant.value("SELECT pgmnemo.project_uuid(%s, %s)", name, ada) == project_id(ada, name)
    assert tenant.value("SELECT pgmnemo.project_uuid(%s)", name) == project_id(tenant.id, name)


@pytest.mark.parametrize("name", [None, "", " \u00a0\t", "x" * 1001])
def test_a_name_without_a_uuid_is_refused(tenant: Any, name: str | None) -> None:
    with pytest.raises(
        psycopg.errors.InvalidParameterValue, match="is named by a text of 1 to 1000 characters"
    ):
        tenant.value("SELECT pgmnemo.tenant_uuid(%s)", name)


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])
def test_sha1_is_that_of_the_standard_library(tenant: Any, size: int) -> None:
    message = bytes(range(256)) * 4
    assert tenant.value("SELECT pgmnemo._sha1(%s)", message[:size]) == sha1(message[:size]).digest()
