"""Names of both forms of Unicode are one: keys, roles, topics, subjects and objects of facts."""

from __future__ import annotations

from unicodedata import normalize

from pgmnemo import Item
from tests.pgmnemo.client.driving import Place, Shell

ONE = "caf\u00e9"
OTHER = normalize("NFD", ONE)


def test_a_key_a_role_and_a_topic_of_either_form_are_one(shell: Shell, place: Place) -> None:
    scope = shell.open(place.dsn(), embedder=None).tenant(place.tenant()).project("p")
    assert scope.add("a note", key=OTHER, role=OTHER, topic=ONE).outcome == "inserted"
    assert scope.add("a note", key=ONE, role=ONE, topic=OTHER).outcome == "unchanged"
    assert scope.add_many([Item("a note", OTHER, role=ONE, topic=ONE)]).outcomes == {"unchanged": 1}
    for name in (ONE, OTHER):
        assert scope.get(name).key == ONE
        assert [hit.key for hit in scope.recall("note", role=name)] == [ONE]
        assert [one.key for one in scope.list(topic=name)] == [ONE]
    assert scope.forget(OTHER)


def test_a_fact_of_either_form_is_one(shell: Shell, place: Place) -> None:
    scope = shell.open(place.dsn(), embedder=None).tenant(place.tenant()).project("p")
    scope.fact(ONE, "is in", "Lisbon", single=True)
    scope.fact(OTHER, "is in", "Porto", single=True)
    assert [fact.object for fact in scope.facts(ONE)] == ["Porto"]
