"""A recall over several tenants: whose each hit is, what stays apart, and what a missing grant does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

import pytest

from pgmnemo import GrantError, UsageError
from pgmnemo.client.naming import tenant_id
from tests.pgmnemo.client.driving import Place, Shell

QUESTION = "Which port does the staging server use?"


@pytest.fixture
def names(place: Place) -> tuple[str, str]:
    """Return a tenant of alice's own and one of her team."""
    return place.tenant(), place.tenant()


@pytest.fixture
def pair(memory: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    """Return a project of each tenant with lessons about the same."""
    own, team = (memory.tenant(name).project("ops") for name in names)
    own.add("I deploy to the staging server on Fridays.", key="own")
    team.add("The staging server uses port 8443.", key="team")
    memory.tenant(names[1]).project("other").add("The staging server of another project.", key="apart")
    return own, team


def revoke(place: Place, name: str, role: str = "alice") -> None:
    with place.connect("keeper") as owner:
        owner.execute("SELECT pgmnemo.revoke_tenant(%s, %s)", (tenant_id(name), role))


def test_hits_of_all_tenants_come_best_first_and_say_whose_they_are(pair: Any, names: Any) -> None:
    span = pair[0].with_(names[1], names[1], names[0])
    found = span.recall(QUESTION, mode="keyword")
    assert [(hit.key, hit.tenant) for hit in found[:2]] == [("team", names[1]), ("own", names[0])]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert "apart" not in {hit.key for hit in found}  # of another project than the scope's
    assert [hit.key for hit in span.recall(QUESTION, k=1)] == ["team"]
    assert [hit.tenant for hit in pair[0].recall(QUESTION)] == [None]
    assert names[1].replace(" ", "") in span.context(QUESTION).text.replace(" ", "")


def test_without_a_project_each_tenant_is_recalled_whole(memory: Any, pair: Any, names: Any) -> None:
    found = memory.tenant(names[0]).with_(names[1]).recall(QUESTION)
    assert {hit.key for hit in found} == {"own", "team", "apart"}
    in_project = memory.tenant(names[0]).with_(names[1]).project("ops").recall(QUESTION)
    assert {hit.key for hit in in_project} == {"own", "team"}


def test_every_other_verb_keeps_to_the_own_tenant(pair: Any, names: Any) -> None:
    span = pair[0].with_(names[1])
    span.add("The staging server has a new certificate.", key="new", similar=5)
    assert pair[1].get("new") is None
    assert span.get("team") is None
    assert {lesson.key for lesson in span.list()} == {"own", "new"}
    assert span.count().lessons == 2
    assert span.forget("team") == 0
    assert {hit.key for hit in pair[1].recall(QUESTION)} == {"team"}
    added = span.add("The staging server uses port 8443.", key="copy", similar=5)
    assert "team" not in {one.key for one in added.similar}


def test_lessons_of_one_tenant_never_move_scores_of_another(pair: Any, names: Any) -> None:
    span = pair[0].with_(names[1])
    later = datetime.now(UTC) + timedelta(hours=1)
    alone = [(hit.key, hit.score, hit.fit) for hit in pair[0].recall(QUESTION, as_of=later)]
    for number in range(30):
        pair[1].add(f"The staging server has a port, note {number}.", key=f"note {number}")
    found = span.recall(QUESTION, k=100, as_of=later)
    assert [(hit.key, hit.score, hit.fit) for hit in found if hit.tenant == names[0]] == alone


def test_a_missing_grant_is_an_error_that_names_the_tenant(pair: Any, names: Any, place: Place) -> None:
    revoke(place, names[1])
    with pytest.raises(GrantError, match=names[1]):
        pair[0].with_(names[1]).recall(QUESTION)
    assert [hit.key for hit in pair[0].recall(QUESTION)] == ["own"]
    for wrong in ("", 7, None):
        with pytest.raises(UsageError, match="tenant"):
            pair[0].with_(wrong)


def test_a_grant_to_read_is_enough_for_the_others(pair: Any, names: Any, place: Place) -> None:
    with place.connect("keeper") as owner:
        owner.execute("SELECT pgmnemo.grant_tenant(%s, 'alice', 'read')", (tenant_id(names[1]),))
    span = pair[0].with_(names[1])
    assert {hit.key for hit in span.recall(QUESTION)} == {"own", "team"}
    span.add("I watch the staging server.", key="mine")
    with pytest.raises(GrantError, match="may only read"):
        pair[1].add("The port has changed.")


def test_a_grant_lost_in_the_middle_gives_all_hits_or_an_error(
    shell: Shell, pair: Any, names: Any, place: Place
) -> None:
    """A reader asks on while the grant of one tenant comes and goes: no answer lacks a tenant in silence."""
    over = Event()

    def coming_and_going() -> None:
        with place.connect("keeper") as owner:
            while not over.is_set():
                for verb in ("revoke_tenant", "grant_tenant"):
                    owner.execute(f"SELECT pgmnemo.{verb}(%s, 'alice')", (tenant_id(names[1]),))

    span, outcomes = pair[0].with_(names[1]), []
    changing = Thread(target=coming_and_going)
    changing.start()
    try:
        for _ in range(200):
            try:
                outcomes.append({hit.key for hit in span.recall(QUESTION, mode="keyword")})
            except GrantError:
                outcomes.append(set())
    finally:
        over.set()
        changing.join()
    assert [found for found in outcomes if found not in ({"own", "team"}, set())] == []
    revoke(place, names[1])
    with pytest.raises(GrantError):
        span.recall(QUESTION)
