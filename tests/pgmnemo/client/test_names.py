"""Names of tenants and projects become uuids by a rule that any program can follow."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any
from unicodedata import normalize
from uuid import UUID, uuid5

import pytest

from pgmnemo import Item
from pgmnemo.client.naming import LONGEST, NAMESPACE, project_id, tenant_id
from pgmnemo.errors import GrantError, MissingError, RefusedError, UsageError
from tests.pgmnemo.client.driving import Place, Shell

ADA, BOB = tenant_id("ada"), tenant_id("bob")


def test_names_lead_to_the_uuids_that_they_have_always_led_to() -> None:
    """Whoever changes the rule loses everybody's memories."""
    assert UUID("3c2f5ee1-5d0c-5c5f-9a1f-6a3b6e1d7c55") == NAMESPACE
    assert tenant_id("ada") == UUID("46ca6d74-2a99-5587-b147-b30d68e96f01")
    assert project_id(ADA, "kitchen") == UUID("fdccb37b-46b6-5623-a0a2-ac5b4730c914")


@pytest.mark.parametrize("name", ["ada", "kitchen", "a" * LONGEST])
def test_a_name_is_hashed_in_its_namespace_and_a_uuid_stays_that_uuid(name: str) -> None:
    assert tenant_id(name) == uuid5(NAMESPACE, name)
    assert project_id(ADA, name) == uuid5(ADA, name) != project_id(BOB, name)
    assert tenant_id(ADA) == project_id(BOB, ADA) == ADA


@pytest.mark.parametrize("name", [str(ADA), str(ADA).upper(), ADA.hex, f"{{{ADA}}}", ADA.urn])
def test_nobody_becomes_another_by_taking_his_uuid_for_a_name(name: str) -> None:
    assert tenant_id(name) == uuid5(NAMESPACE, name) != ADA
    assert project_id(BOB, name) == uuid5(BOB, name)


def test_a_name_is_the_same_however_it_was_typed() -> None:
    composed = "Zoë Müller"
    assert normalize("NFD", composed) != composed
    assert tenant_id(normalize("NFD", composed)) == tenant_id(f"  {composed}\n") == tenant_id(composed)


@pytest.mark.parametrize("one", ["Ada", "ada ", "ada\u200b", "\u0430da", "ada/kitchen", "ﬁ"])
def test_names_that_differ_are_different(one: str) -> None:
    other = {"ada ": "Ada", "ﬁ": "fi"}.get(one, "ada")
    assert tenant_id(one) != tenant_id(other)


@pytest.mark.parametrize("name", ["", " \t\n", "a" * (LONGEST + 1), 7, None, b"ada", ["ada"]])
@pytest.mark.parametrize("kind", ["tenant", "project"])
def test_what_is_no_name_is_wrong_use(name: Any, kind: str) -> None:
    with pytest.raises(UsageError, match=f"a {kind} is named by a text of 1 to 1,000 characters"):
        tenant_id(name) if kind == "tenant" else project_id(ADA, name)


@pytest.mark.parametrize("name", ["ada\0", "\ud800"])
def test_a_name_that_no_database_takes_is_wrong_use(name: str) -> None:
    with pytest.raises(UsageError, match="no database takes"):
        tenant_id(name)


@pytest.mark.parametrize("by", [str, tenant_id])
def test_an_error_calls_tenants_and_projects_as_the_caller_does(by: Any, memory: Any, place: Place) -> None:
    name = by(place.tenant())
    with pytest.raises(MissingError, match=r"^project 'the kitchen' has no lesson 'nobody'"):
        memory.tenant(name).project("the kitchen").timeline("nobody")
    with pytest.raises(RefusedError, match="it has no key 'None'"):
        memory.tenant(name).recall("x", filter={"None": 1})
    with pytest.raises(GrantError, match="'bob'"):
        memory.tenant("bob").count()


UUIDS = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-")
VERBS: dict[str, Callable[[Any], object]] = {
    "add": lambda scope: scope.add("a"), "add with a key": lambda scope: scope.add("a", key="a"),
    "add_many": lambda scope: scope.add_many(["a"]), "recall": lambda scope: scope.recall("a"),
    "context": lambda scope: scope.context("a"), "list": lambda scope: list(scope.list()),
    "count": lambda scope: scope.count(),
    "explain": lambda scope: scope.explain("a", "b"), "get": lambda scope: scope.get("a"),
    "known": lambda scope: scope.known(["a"]), "forget": lambda scope: scope.forget("a"),
    "facts": lambda scope: scope.facts("a"), "fact": lambda scope: scope.fact("a", "b", "c"),
    "stats": lambda scope: scope.stats(), "export": lambda scope: scope.export(io.BytesIO()),
    "similar": lambda scope: scope.similar(), "supersede": lambda scope: scope.supersede("a"),
    "link": lambda scope: scope.link("a", "b", "c"),
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_role_without_a_grant_is_told_so_by_every_verb_and_by_the_tenants_name(
    verb: Callable[[Any], object], memory: Any
) -> None:
    with pytest.raises(GrantError, match="nobody's") as caught:
        verb(memory.tenant("nobody's").project("the kitchen"))
    assert not UUIDS.search(str(caught.value)), caught.value
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("verb", ["add", "add_many", "recall", "similar"])
def test_nor_does_one_of_a_memory_that_embeds(verb: str, shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn(), embedder=lambda texts: [[1.0, 2.0] for _ in texts])
    with pytest.raises(GrantError, match="nobody's") as caught:
        VERBS[verb](memory.tenant("nobody's").project("the kitchen"))
    assert not UUIDS.search(str(caught.value)), caught.value


def test_explain_calls_projects_as_the_caller_does(scope: Any) -> None:
    scope.add("The kettle leaks.", key="leak")
    notes = " ".join(reason.note or "" for reason in scope.explain("leak", "kettle"))
    assert "lesson in project 'kitchen', recall in 'kitchen'" in notes
    assert not UUIDS.search(notes)


def test_names_and_uuids_lead_a_memory_to_the_same_lessons(memory: Any, place: Place) -> None:
    name = place.tenant()
    memory.tenant(name).project("kitchen").add("The kettle leaks.", key="kettle")
    by_number = memory.tenant(tenant_id(name)).project(project_id(tenant_id(name), "kitchen"))
    assert by_number.get("kettle").text == "The kettle leaks."
    assert memory.tenant(name).project("Kitchen").get("kettle") is None
    assert memory.tenant(name).project("garden").get("kettle") is None
    assert by_number.tenant_id == tenant_id(name)


def test_names_of_either_form_are_one(shell: Shell, place: Place) -> None:
    one, other = "caf\u00e9", "cafe\u0301"
    scope = shell.open(place.dsn(), embedder=None).tenant(place.tenant()).project("p")
    added = scope.add("a note", key=other, role=other, topic=one)
    assert (added.key, added.outcome) == (one, "inserted")
    assert scope.add("a note", key=one, role=one, topic=other).outcome == "unchanged"
    assert scope.add_many([Item("a note", other, role=one, topic=one)]).outcomes == {"unchanged": 1}
    assert scope.known([other]).keys() == {other}
    for name in (one, other):
        assert scope.get(name).key == one
        assert [hit.key for hit in scope.recall("note", role=name)] == [one]
        assert [lesson.key for lesson in scope.list(topic=name)] == [one]
    scope.fact(one, "is in", "Lisbon", exclusive=True)
    scope.fact(other, "is in", "Porto", exclusive=True)
    assert [fact.object for fact in scope.facts(one)] == ["Porto"]
    assert scope.forget(other)


def test_two_keys_of_one_set_that_become_one_are_refused(memory: Any, place: Place) -> None:
    scope = memory.tenant(place.tenant()).project("p")
    with pytest.raises(UsageError, match="are the same in Unicode's composed form"):
        scope.add_many([Item("a note", "caf\u00e9"), Item("another", "cafe\u0301")])
    assert scope.count().lessons == 0
