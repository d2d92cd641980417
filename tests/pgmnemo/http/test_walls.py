"""No token reaches another's rows, by whatever verb, name, key, uuid or filter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgmnemo.client.naming import project_id, tenant_id
from pgmnemo.http.verbs import VERBS, HttpVerb
from tests.pgmnemo.http.conftest import Served

SECRET = "swordfish"
KEYS = {"key": "theirs", "old": "theirs", "source": "theirs", "target": "theirs too"}
QUESTIONS = {"query": SECRET, "subject": SECRET, "relation": SECRET, "object": SECRET}
NAMES = (
    ("acme", "acme-corp"), ("a_c", "abc"), ("a%", "ab"), ("a\\b", "ab"), ("a'b", "ab"), ('a"b', "ab"),
    ("a\nb", "a b"), ("acme", "\u0430cme"), ("x" * 1000, "x" * 999), ("acme", "ACME"), ("a/b", "a"),
)  # fmt: skip
every = pytest.mark.parametrize("verb", VERBS, ids=[verb.name for verb in VERBS])


def told(verb: HttpVerb) -> dict[str, Any]:
    """A body of a verb that names what is another's, where it names anything."""
    fields = verb.body.__struct_fields__
    body = {name: value for name, value in (KEYS | QUESTIONS).items() if name in fields}
    if verb.name in ("add", "add_many"):
        given = {"text": "mine", "key": "theirs"}
        return given if verb.name == "add" else {"items": [given]}
    return body


def filled(served: Served, token: str, project: str | None) -> None:
    for key in ("theirs", "theirs too"):
        body = {"text": f"the password is {SECRET}", "key": key, "topic": SECRET, "project": project}
        assert served.post(token, "add", body | {"metadata": {"of": SECRET}}).status_code == 200
    said = {"subject": SECRET, "relation": SECRET, "object": SECRET, "project": project}
    assert served.post(token, "fact", said).status_code == 200
    link = {"source": "theirs", "target": "theirs too", "project": project}
    assert served.post(token, "link", link).status_code == 200


def state(served: Served, token: str) -> str:
    return served.post(token, "export", {}).text


def answers(served: Served, token: str, verb: HttpVerb, uuids: list[str]) -> str:
    """All that a verb tells when it is asked for another's in every way there is."""
    found = []
    for project in (None, "shared", "kitchen", *uuids):
        for more in _ways(verb, uuids):
            answer = served.post(token, verb.name, told(verb) | more | {"project": project})
            assert answer.status_code < 500
            found.append(_without_what_was_asked(answer.text))
    return "".join(found)


def _ways(verb: HttpVerb, uuids: list[str]) -> list[dict[str, Any]]:
    fields, ways = verb.body.__struct_fields__, [{}]
    if "filter" in fields:
        ways += [{"filter": {"projects": uuids}}, {"filter": {"topic": SECRET}}]
    if "include_inactive" in fields:
        ways.append({"include_inactive": True})
    if verb.name == "forget":
        ways += [{"key": None, "filter": {"projects": uuids}, "permanent": True}, {"permanent": True}]
        ways.append({"key": None, "all_lessons": True})
    return ways


def _without_what_was_asked(text: str) -> str:
    """Sentences quote what they were given; rows of others are no sentences."""
    try:
        found = json.loads(text)
    except ValueError:
        return text  # lines of an export
    return "" if isinstance(found, dict) and "error" in found else text


@every
def test_a_token_reaches_its_own_tenant_alone(served: Served, verb: HttpVerb) -> None:
    names = served.place.tenant(), served.place.tenant()
    theirs, own = (served.tokens.create(name) for name in names)
    filled(served, theirs, "shared")
    before = state(served, theirs)
    uuids = [str(project_id(tenant_id(names[0]), "shared")), str(tenant_id(names[0]))]
    found = answers(served, own, verb, uuids)
    if verb.name != "fact":  # which tells what it was given, as the asker's own
        assert SECRET not in found, verb.name
    assert state(served, theirs) == before


@every
def test_a_token_of_a_project_reaches_that_alone(served: Served, verb: HttpVerb) -> None:
    name = served.place.tenant()
    whole, own = served.tokens.create(name), served.tokens.create(name, "kitchen")
    filled(served, whole, "shared")
    before = served.post(whole, "export", {"project": "shared"}).text
    uuids = [str(project_id(tenant_id(name), "shared")), str(tenant_id(name))]
    for project in ("shared", *uuids):
        answer = served.post(own, verb.name, told(verb) | {"project": project})
        assert answer.status_code == 403
    found = answers(served, own, verb, uuids)
    if verb.name != "fact":
        assert SECRET not in found, verb.name
    assert served.post(whole, "export", {"project": "shared"}).text == before


@pytest.mark.parametrize(("name", "like"), NAMES)
def test_projects_with_names_that_are_alike_are_two(served: Served, name: str, like: str) -> None:
    tenant = served.place.tenant()
    first, second = served.tokens.create(tenant, name), served.tokens.create(tenant, like)
    assert served.post(first, "add", {"text": SECRET, "key": "k"}).status_code == 200
    assert served.post(first, "recall", {"query": SECRET}).json() != []
    for body in ({}, {"project": like}):
        assert served.post(second, "recall", body | {"query": SECRET}).json() == []
    assert served.post(second, "get", {"key": "k"}).status_code == 404
    assert served.post(second, "get", {"key": "k", "project": name}).status_code == 403
    assert served.post(first, "get", {"key": "k", "project": name}).status_code == 200


def test_a_tenant_that_is_called_as_anothers_uuid_is_another(served: Served) -> None:
    name = served.place.tenant()
    filled(served, served.tokens.create(name), "p")
    liar = served.tokens.create(str(tenant_id(name)), "p")
    assert served.post(liar, "recall", {"query": SECRET}).status_code == 403  # nobody let alice in
    exact = served.tokens.create(tenant_id(name), project_id(tenant_id(name), "p"))
    assert len(served.post(exact, "recall", {"query": SECRET}).json()) > 0


@every
def test_a_token_to_read_changes_nothing_and_reads_everything(served: Served, verb: HttpVerb) -> None:
    name = served.place.tenant()
    whole, reader = served.tokens.create(name), served.tokens.create(name, access="read")
    filled(served, whole, "shared")
    before = state(served, whole)
    answer = served.post(reader, verb.name, dict(verb.example) | {"project": "shared"})
    if verb.reads:
        assert answer.status_code in (200, 404)
    else:
        assert (answer.status_code, "may only read" in answer.text) == (403, True)
    assert state(served, whole) == before


@every
def test_a_token_with_another_tenant_recalls_it_and_does_nothing_else_there(
    served: Served, verb: HttpVerb
) -> None:
    names = served.place.tenant(), served.place.tenant()
    theirs, own = served.tokens.create(names[0]), served.tokens.create(names[1], others=[names[0]])
    filled(served, theirs, "shared")
    before = state(served, theirs)
    uuids = [str(project_id(tenant_id(names[0]), "shared")), str(tenant_id(names[0]))]
    found = answers(served, own, verb, uuids)
    if verb.name in ("recall", "context"):
        assert SECRET in found
        hits = served.post(own, "recall", {"query": SECRET}).json()
        assert {hit["tenant"] for hit in hits} == {names[0]}
    elif verb.name != "fact":
        assert SECRET not in found, verb.name
    assert state(served, theirs) == before
