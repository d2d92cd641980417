"""What a write keeps, what it answers, and what it refuses: nothing is kept of what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from pgmnemo import Added, Item, Turn
from pgmnemo.errors import HiddenError, MissingError, UsageError
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
    assert scope.add("The kettle leaks. 漢字 😀\n\tas ever", key="k", **EVERY) == Added("k", "inserted")
    found = scope.get("k")
    assert {name: getattr(found, name) for name in EVERY} == EVERY
    assert (found.text, found.active, found.superseded_at) == (
        "The kettle leaks. 漢字 😀\n\tas ever", True, None)  # fmt: skip
    assert found.project == scope.project_id
    assert found.stored_at.tzinfo is not None


def test_add_and_add_many_keep_the_same(scope: Any) -> None:
    turns = [Turn("Where is it?", "user", DAY), Turn("In the attic.", "assistant")]
    for text, more in ("one line", {}), ("two\nlines", {}), (turns, {}), ("parts", {"passages": ["a", "b"]}):
        scope.add(text, key="single", **EVERY, **more)
        scope.add_many([Item(text, "many", **EVERY, **more)])
        single, many = scope.get("single"), scope.get("many")
        assert [getattr(single, name) for name in ("text", *EVERY)] == [
            getattr(many, name) for name in ("text", *EVERY)
        ]


def test_a_time_of_another_zone_is_the_same_moment(scope: Any) -> None:
    tokyo = datetime(2024, 5, 8, 22, 56, tzinfo=timezone(timedelta(hours=9)))
    scope.add("x", key="k", at=tokyo)
    assert scope.get("k").at == DAY


def test_now_stands_for_a_time_that_is_left_out(scope: Any) -> None:
    scope.add("x", key="now", now=DAY)
    scope.add("x", key="at", at=DAY + timedelta(days=1), now=DAY)
    scope.add_many([Item("x", "many"), Item("x", "own", at=NAIVE.replace(tzinfo=UTC))], now=DAY)
    assert [scope.get(key).at for key in ("now", "at", "many", "own")] == [
        DAY, DAY + timedelta(days=1), DAY, NAIVE.replace(tzinfo=UTC)]  # fmt: skip


def test_turns_that_somebody_says_follow_one_another(scope: Any) -> None:
    added = [scope.add(text, role=role) for text, role in (("Hi", "user"), ("Hello", "assistant"))]
    assert added == [Added("turn/1", "inserted", 1), Added("turn/2", "inserted", 2)]
    key = scope.add("nobody says this").key
    assert scope.get(key).position is None
    assert scope.add("Bye", role="user").position == 3


def test_the_same_key_again_is_unchanged_updated_or_restored(scope: Any) -> None:
    outcomes = [scope.add("x", key="k").outcome, scope.add("x", key="k").outcome]
    outcomes.append(scope.add("x", key="k", topic="t").outcome)
    outcomes.append(scope.add("y", key="k").outcome)
    assert scope.get("k").topic == "t"  # what is left out stays
    outcomes.append(scope.add("y", key="k", clear=["topic"]).outcome)
    assert scope.get("k").topic is None
    scope.forget("k")
    outcomes.append(scope.add("y", key="k").outcome)
    assert outcomes == ["inserted", "unchanged", "updated", "updated", "updated", "restored"]


def test_a_conversation_is_one_lesson_with_passages_of_what_people_say(scope: Any) -> None:
    turns = [Turn("I moved to Lisbon.", "user", DAY), Turn("Noted.", "assistant"), Turn("Bye", name="Bob")]
    scope.add(turns, key="k")
    assert scope.get("k").text == ("[8 May 2024]\nuser: I moved to Lisbon.\nassistant: Noted.\nBob: Bye")
    assert scope.get("k").at == DAY
    assert scope.recall("Lisbon")[0].passage == "user: I moved to Lisbon."


def test_many_are_stored_in_the_order_in_which_they_are_given(scope: Any) -> None:
    texts = [f"note {number}" for number in range(25)]
    moved = scope.add_many(iter(texts), batch=7)
    assert (moved.outcomes, moved.lessons) == ({"inserted": 25}, 25)
    assert [lesson.text for lesson in scope.list()] == texts
    assert [lesson.text for lesson in scope.list(newest=True, most=3)] == texts[:-4:-1]


def test_of_one_key_in_a_batch_the_last_is_stored(scope: Any) -> None:
    assert scope.add_many([Item("a", "k"), Item("b", "k")]).outcomes == {"inserted": 1}
    assert scope.get("k").text == "b"
    assert scope.add_many([Item("c", "k"), Item("d", "k")], batch=1).outcomes == {"updated": 2}


def test_nothing_to_add_is_nothing(scope: Any) -> None:
    assert scope.add_many([]).outcomes == {}


def test_a_fault_in_a_later_batch_says_how_many_are_stored_and_all_can_be_given_again(scope: Any) -> None:
    items = [Item(f"note {number}", f"k{number}") for number in range(10)]
    with pytest.raises(UsageError, match="text of a lesson is empty") as raised:
        scope.add_many([*items, Item(" ", "blank")], batch=4)
    assert raised.value.__notes__ == ["8 lessons before them are stored; give all again, with their keys"]
    assert scope.count().lessons == 8
    assert scope.add_many(items, batch=4).outcomes == {"unchanged": 8, "inserted": 2}


def test_an_update_changes_what_is_given_and_never_the_text(scope: Any) -> None:
    scope.add("x", key="k", metadata={"a": 1, "b": 2}, topic="t")
    assert scope.update("k", patch={"b": 3, "c": {"d": 4}}, importance=4) == "updated"
    assert scope.update("k", importance=4) == "unchanged"
    found = scope.get("k")
    assert (found.text, found.metadata, found.importance, found.topic) == (
        "x", {"a": 1, "b": 3, "c": {"d": 4}}, 4, "t")  # fmt: skip
    scope.update("k", metadata={"z": 0}, clear=["topic", "importance"])
    found = scope.get("k")
    assert (found.metadata, found.topic, found.importance) == ({"z": 0}, None, 3)


def test_what_is_forgotten_is_out_of_recall_and_a_dry_run_forgets_nothing(scope: Any) -> None:
    for key in "abc":
        scope.add(f"kettle {key}", key=key, metadata={"old": key != "c"})
    assert scope.forget("a", dry_run=True) == scope.forget("a") == 1
    assert scope.forget("a") == scope.forget("a", dry_run=True) == 0
    assert scope.forget("nothing") == scope.forget("nothing", dry_run=True) == 0
    asked = {"metadata": {"old": True}}
    assert scope.forget(filter=asked, dry_run=True) == scope.forget(filter=asked) == 1
    assert {hit.key for hit in scope.recall("kettle")} == {"c"}
    assert [lesson.key for lesson in scope.list(everything=True) if not lesson.active] == ["a", "b"]
    assert scope.forget("a", hard=True, dry_run=True) == scope.forget("a", hard=True) == 1
    assert scope.get("a") is None
    assert scope.forget(everything=True, dry_run=True) == scope.forget(everything=True) == 2
    assert list(scope.list(everything=True)) == []


@pytest.mark.parametrize("given", [{}, {"filter": {"topic": "x"}, "everything": True}, {"filter": {}}])
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
    assert [lesson.key for lesson in tenant.list(everything=True)] == ["k"]
    assert tenant.count(everything=True).lessons == tenant.stats().everything == 1
    assert (
        tenant.count(everything=True, filter={"projects": [str(tenant.project("p").project_id)]}).lessons == 1
    )
    assert tenant.forget(filter=later, hard=True, dry_run=True) == 1
    assert tenant.forget(filter=later, hard=True) == 1
    assert tenant.stats().embedder is not None
    tenant.project("p").add("x", key="k")
    assert tenant.forget(everything=True) == 1
    assert tenant.stats().embedder is None


def test_a_lesson_holds_until_another_takes_its_place(scope: Any) -> None:
    scope.add("Ada lives in Porto.", key="old", at=DAY)
    scope.add("Ada lives in Lisbon.", key="new", at=DAY + timedelta(days=9))
    assert scope.supersede("old", "new", at=DAY + timedelta(days=9), reason="moved") == "superseded"
    assert scope.supersede("old", "new", at=DAY + timedelta(days=9)) == "unchanged"
    assert {hit.key for hit in scope.recall("Ada")} == {"new"}
    assert {hit.key for hit in scope.recall("Ada", valid_at=DAY)} == {"old"}
    steps = scope.timeline("new")
    assert [(step.key, step.reason) for step in steps] == [("old", "moved"), ("new", None)]
    with pytest.raises(HiddenError, match="superseded already"):
        scope.supersede("old", None)
    assert scope.undo_supersede("old")
    assert not scope.undo_supersede("old")
    with pytest.raises(MissingError, match="has no lesson 'nobody'"):
        scope.supersede("nobody")


def test_facts_hold_for_a_time(scope: Any) -> None:
    later = DAY + timedelta(days=30)
    first = scope.fact("Ada", "lives in", "Porto", at=DAY)
    assert scope.fact("Ada", "lives in", "Porto", at=later).outcome == "unchanged"
    second = scope.fact("Ada", "lives in", "Lisbon", at=later, single=True, reason="moved")
    assert (first.outcome, second.superseded) == ("inserted", 1)
    assert [fact.object for fact in scope.facts("Ada", at=DAY)] == ["Porto"]
    assert [fact.object for fact in scope.facts("Ada", now=later)] == ["Lisbon"]
    history = scope.facts("Ada", "lives in", history=True)
    assert [(fact.object, fact.valid_from, fact.valid_to, fact.reason) for fact in history] == [
        ("Porto", DAY, later, "moved"), ("Lisbon", later, None, None)]  # fmt: skip
    assert scope.end_fact("Ada", "lives in", at=later + timedelta(days=1)) == 1
    assert scope.facts("Ada") == []


def test_links_are_made_and_taken_away(scope: Any) -> None:
    scope.add("a", key="a"), scope.add("b", key="b")
    outcomes = [scope.link("a", "b"), scope.link("a", "b"), scope.link("a", "b", weight=0.5)]
    assert outcomes == ["inserted", "unchanged", "updated"]
    assert scope.unlink("a", "b")
    assert not scope.unlink("a", "b")
    with pytest.raises(MissingError):
        scope.link("a", "nobody")


def test_what_is_written_needs_a_project(memory: Any, place: Place) -> None:
    with pytest.raises(UsageError, match="this needs a project: say which"):
        memory.tenant(place.tenant()).add("x")


def test_what_has_expired_is_swept(scope: Any) -> None:
    scope.add("x", key="gone", expires_at=DAY), scope.add("x", key="stays")
    assert scope.sweep(DAY - timedelta(days=1)) == 0
    assert scope.sweep() == 1
    assert [lesson.key for lesson in scope.list(everything=True)] == ["stays"]


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no text": (lambda s: s.add(None), "a text or a list of at least one Turn"),
    "bytes": (lambda s: s.add(b"x"), "a text or a list of at least one Turn"),
    "no turns": (lambda s: s.add([]), "a text or a list of at least one Turn"),
    "texts for turns": (lambda s: s.add(["x"]), "a text or a list of at least one Turn"),
    "a turn of no text": (lambda s: s.add([Turn(7)]), "a text or a list of at least one Turn"),  # type: ignore[arg-type]
    "blank": (lambda s: s.add(" \n"), "empty; leave the lesson out"),
    "blank turns": (lambda s: s.add([Turn(" ", "user")]), "has a word; leave it out"),
    "no items": (lambda s: s.add_many([7]), "takes texts and Items, not int"),
    "a blank item": (lambda s: s.add_many(["x", " "]), "empty; leave the lesson out"),
    "batches of none": (lambda s: s.add_many(["x"], batch=0), "batch is 0"),
    "a naive time": (lambda s: s.add("x", at=NAIVE), "names no time zone; write it with one, such as 2024"),
    "a naive now": (lambda s: s.add("x", now=NAIVE), "names no time zone"),
    "a naive expiry": (lambda s: s.add_many([Item("x", expires_at=NAIVE)]), "names no time zone"),
    "a naive turn": (lambda s: s.add([Turn("x", at=DAY), Turn("y", at=NAIVE)]), "names no time zone"),
    "a naive time in metadata": (lambda s: s.add("x", metadata={"a": NAIVE}), "names no time zone"),
    "a naive filter": (lambda s: list(s.list(since=NAIVE)), "since is 2024.* names no time zone"),
    "a naive present": (lambda s: s.recall("x", as_of=NAIVE), "as_of is 2024.* names no time zone"),
    "a naive window": (lambda s: s.recall("x", windows=[(NAIVE, DAY)]), "names no time zone"),
    "a naive end": (lambda s: s.supersede("k", at=NAIVE), "names no time zone"),
    "a naive link": (lambda s: s.link("k", "k2", valid_from=NAIVE), "names no time zone"),
    "a date": (lambda s: s.add("x", at=DAY.date()), "at is a datetime with a time zone, not date"),
    "an empty key": (lambda s: s.add("x", key=""), "a key is a text of 1 to 1,000 bytes"),
    "a long key": (lambda s: s.add("x", key="ä" * 501), "a key is a text of 1 to 1,000 bytes"),
    "a number for a key": (lambda s: s.add("x", key=7), "a key is a text"),
    "importance": (lambda s: s.add("x", importance=6), "importance is 6, but must be"),
    "importance as a word": (lambda s: s.add_many([Item("x", importance="high")]), "importance is 'high'"),  # type: ignore[arg-type]
    "importance beyond 16 bits": (lambda s: s.add_many([Item("x", importance=65539)]), "importance is 65539"),
    "a position beyond 32 bits": (lambda s: s.add_many([Item("x", position=2**40)]), "position is 1099"),
    "metadata that is no JSON": (lambda s: s.add("x", metadata={"a": object()}), "cannot be written as JSON"),
    "a number that is none": (lambda s: s.add("x", metadata={"a": float("nan")}), "cannot be written"),
    "a topic that is no text": (lambda s: s.add("x", topic=7), "an argument is of another type"),
    "a topic that cannot be sent": (lambda s: s.add("x", topic=object()), "cannot be sent"),
    "NUL": (lambda s: s.add("a\0b"), "NUL character, which no database takes"),
    "NUL in a turn": (lambda s: s.add([Turn("a\0b")]), "NUL character"),
    "NUL in a key": (lambda s: s.add("x", key="a\0"), "cannot be sent: .*NUL"),
    "NUL in a topic": (lambda s: s.add("x", topic="a\0"), "cannot be sent: .*NUL"),
    "NUL in a staged topic": (lambda s: s.add_many([Item("x", topic="a\0")]), "invalid byte sequence"),
    "NUL in metadata": (lambda s: s.add("x", metadata={"a": "\0"}), "metadata has a NUL character"),
    "300 levels": (lambda s: s.add("x", metadata={"a": json.loads("[" * 300 + "]" * 300)}), "nests deeper"),
    "NUL in a question": (lambda s: s.recall("a\0"), "cannot be sent: .*NUL"),
    "half a pair": (lambda s: s.add("a\ud800"), "half a surrogate pair"),
    "half a pair in a key": (lambda s: s.add("x", key="\ud800"), "half a surrogate pair"),
    "half a pair in a staged role": (lambda s: s.add_many([Item("x", role="\udfff")]), "half a surr"),
    "half a pair in metadata": (lambda s: s.add("x", metadata={"\ud800": 1}), "half a surrogate pair"),
    "half a pair in a question": (lambda s: s.recall("\ud800"), "half a surrogate pair"),
    "half a pair in a filter": (lambda s: s.recall("x", filter={"topic": "\ud800"}), "half a surrogate"),
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
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 400
    assert scope.count(everything=True).lessons == 0
    assert scope.add("and on it goes", key="k").outcome == "inserted"
