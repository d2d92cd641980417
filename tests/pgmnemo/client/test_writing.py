"""What a write keeps, what it answers, and what it refuses: nothing is kept of what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from pgmnemo import AddResult, Item, Turn
from pgmnemo.errors import PgmnemoError, UsageError
from tests.pgmnemo.client.driving import Place, Shell

DAY = datetime(2024, 5, 8, 13, 56, tzinfo=UTC)
NAIVE = datetime(2024, 5, 8)
MEGABYTES_20 = "x " * 10_000_000
MEGABYTES_200 = MEGABYTES_20 * 10
EVERY = {
    "role": "Ada", "topic": "home/kettle", "importance": 5, "metadata": {"ä": [1, None, {"b": 0.5}]},
    "at": DAY, "expires_at": DAY + timedelta(days=40_000), "commit_sha": "c0ffee", "artifact_hash": "decade",
    "verified_at": DAY, "position": 7,
}  # fmt: skip


def test_every_field_is_kept_as_it_was_given(scope: Any) -> None:
    assert scope.add("The kettle leaks. 漢字 😀\n\tas ever", key="k", **EVERY) == AddResult("k", "inserted")
    found = scope.get("k")
    assert {name: getattr(found, name) for name in EVERY} == EVERY
    assert (found.text, found.active, found.superseded_at) == (
        "The kettle leaks. 漢字 😀\n\tas ever", True, None)  # fmt: skip
    assert found.project == scope.project_id
    assert found.stored_at.tzinfo is not None


def test_a_time_of_another_zone_is_the_same_moment(scope: Any) -> None:
    tokyo = datetime(2024, 5, 8, 22, 56, tzinfo=timezone(timedelta(hours=9)))
    scope.add("x", key="k", at=tokyo)
    assert scope.get("k").at == DAY


def test_days_and_times_in_metadata_are_kept_as_iso_texts(scope: Any) -> None:
    scope.add("x", key="k", metadata={"day": DAY.date(), "times": [DAY]})
    assert scope.get("k").metadata == {"day": "2024-05-08", "times": ["2024-05-08T13:56:00+00:00"]}


def test_a_conversation_is_one_lesson_with_passages_of_what_people_say(scope: Any) -> None:
    turns = [Turn("I moved to Lisbon.", "user", DAY), Turn("Noted.", "assistant"), Turn("Bye", name="Bob")]
    scope.add(turns, key="k")
    assert scope.get("k").text == ("[8 May 2024]\nuser: I moved to Lisbon.\nassistant: Noted.\nBob: Bye")
    assert scope.get("k").at == DAY
    assert scope.recall("Lisbon")[0].passage == "user: I moved to Lisbon."


@pytest.mark.parametrize("bad", [Item("a\0b", "bad"), Item(" ", "bad"), Item("a", "bad", importance=9)])
def test_a_fault_in_a_later_batch_names_its_lesson_and_all_can_be_given_again(scope: Any, bad: Item) -> None:
    items = [Item(f"note {number}", f"k{number}") for number in range(10)]
    with pytest.raises(UsageError, match="lesson 'bad'") as raised:
        scope.add_many([*items, bad], batch=4)
    assert raised.value.__notes__ == ["8 lessons before them are stored; give all again, with their keys"]
    assert scope.count().lessons == 8
    assert scope.add_many(items, batch=4).outcomes == {"unchanged": 8, "inserted": 2}


@pytest.mark.parametrize("given", [{}, {"filter": {"topic": "x"}, "all_lessons": True}, {"filter": {}}])
def test_forgetting_needs_one_thing_to_forget(given: dict[str, Any], scope: Any) -> None:
    with pytest.raises(UsageError):
        scope.forget(**given)
    with pytest.raises(UsageError):
        scope.forget("k", filter={"topic": "x"})


def test_what_a_tenant_remembers_of_itself_is_no_lesson(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn(), embedder=lambda texts: [[1.0, 2.0] for _ in texts])
    tenant = memory.tenant(place.tenant())
    tenant.project("p").add("x", key="k")
    later = {"until": datetime(2100, 1, 1, tzinfo=UTC)}
    assert [lesson.key for lesson in tenant.list(include_inactive=True)] == ["k"]
    assert tenant.count(include_inactive=True).lessons == tenant.stats().everything == 1
    assert (
        tenant.count(
            include_inactive=True, filter={"projects": [str(tenant.project("p").project_id)]}
        ).lessons
        == 1
    )
    assert tenant.forget(filter=later, permanent=True, dry_run=True) == 1
    assert tenant.forget(filter=later, permanent=True) == 1
    assert tenant.stats().embedder is not None
    tenant.project("p").add("x", key="k")
    assert tenant.forget(all_lessons=True) == 1
    assert tenant.stats().embedder is None


def test_a_refusal_that_repeats_a_line_end_is_one_whole_sentence(scope: Any) -> None:
    for end in ("\n", "\r\n", "\u2028"):
        with pytest.raises(PgmnemoError, match=r"^[^\r\n\u2028]*'a b', which is neither auto, a text search"):
            scope.add_many([Item("x", "k", language=f"a{end}b")])


def test_what_is_written_needs_a_project(memory: Any, place: Place) -> None:
    with pytest.raises(UsageError, match="this needs a project: say which"):
        memory.tenant(place.tenant()).add("x")


GREAT = {"n": 10**400}
WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no turns": (lambda s: s.add([]), "a text or a list of at least one Turn"),
    "blank": (lambda s: s.add(" \n"), "empty; leave the lesson out"),
    "blank turns": (lambda s: s.add([Turn(" ", "user")]), "has a word; leave it out"),
    "no items": (lambda s: s.add_many([7]), "takes texts and Items, not int"),
    "batches of none": (lambda s: s.add_many(["x"], batch=0), "batch is 0"),
    "a naive time": (lambda s: s.add("x", at=NAIVE), "names no time zone; write it with one, such as 2024"),
    "a naive turn": (lambda s: s.add([Turn("x", at=DAY), Turn("y", at=NAIVE)]), "names no time zone"),
    "a naive time in metadata": (lambda s: s.add("x", metadata={"a": NAIVE}), "names no time zone"),
    "a naive filter": (lambda s: list(s.list(since=NAIVE)), "since is 2024.* names no time zone"),
    "a naive window": (lambda s: s.recall("x", time_ranges=[(NAIVE, DAY)]), "names no time zone"),
    "an empty key": (lambda s: s.add("x", key=""), "a key is a text of 1 to 1,000 bytes"),
    "a long key": (lambda s: s.add("x", key="ä" * 501), "a key is a text of 1 to 1,000 bytes"),
    "importance": (lambda s: s.add("x", importance=6), "importance is 6, but must be"),
    "importance beyond 16 bits": (lambda s: s.add_many([Item("x", importance=65539)]), "importance is 65539"),
    "a position beyond 32 bits": (lambda s: s.add_many([Item("x", position=2**40)]), "position is 1099"),
    "metadata that is no JSON": (lambda s: s.add("x", metadata={"a": object()}), "cannot be written as JSON"),
    "NUL": (lambda s: s.add("a\0b"), "NUL character, which no database takes"),
    "NUL in a staged topic": (lambda s: s.add_many([Item("x", topic="a\0")]), "topic has a NUL character"),
    "NUL in metadata": (lambda s: s.add("x", metadata={"a": "\0"}), "metadata has a NUL character"),
    "a great number": (
        lambda s: s.add("x", key="hn", metadata=GREAT),
        "^lesson 'hn' has a number in its metadata that .* decimals; it was not stored$",
    ),
    "a great number of a turn": (lambda s: s.add([Turn("x")], metadata=GREAT), "^lesson '[^']+' has a"),
    "a great number in a set": (
        lambda s: s.add_many([Item("x", "a"), Item("y", "b", metadata=GREAT)]),
        "^lesson 2 of the set, 'b', has a number .* decimals; nothing of the set was stored\n",
    ),
    "300 levels": (lambda s: s.add("x", metadata={"a": json.loads("[" * 300 + "]" * 300)}), "nests deeper"),
    "half a pair": (lambda s: s.add("a\ud800"), "half a surrogate pair"),
    "half a pair in a staged role": (lambda s: s.add_many([Item("x", role="\udfff")]), "half a surr"),
    "200 MB": (lambda s: s.add(MEGABYTES_200), "has 200,000,000 bytes and 10,000,000 are stored at most"),
    "20 MB of a turn": (lambda s: s.add([Turn(MEGABYTES_20)]), "10,000,000 are stored at most"),
    "20 MB among many": (lambda s: s.add_many(["x", MEGABYTES_20]), "10,000,000 are stored at most"),
    "20 MB of metadata": (lambda s: s.add("x", metadata={"a": MEGABYTES_20}), "far more than are stored"),
    "200 MB of a question": (lambda s: s.recall(MEGABYTES_200), "200,000,000 characters, and 100,000 bytes"),
    "a field that cannot be cleared": (lambda s: s.add("x", key="k", clear=["text"]), "cannot be cleared"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_meant_is_wrong_use_in_one_sentence_and_leaves_the_memory_usable(
    what: str, scope: Any
) -> None:
    call, sentence = WRONG[what]
    with pytest.raises(UsageError, match=sentence) as raised:
        call(scope)
    assert len(str(raised.value)) < 400
    assert scope.count(include_inactive=True).lessons == 0
    assert scope.add("and on it goes", key="k").outcome == "inserted"
