"""What a scope answers: hits with their reasons, lists page by page, times, twins, figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgmnemo import Item
from pgmnemo.client import scope_calls
from pgmnemo.errors import MissingError, UsageError
from tests.helping import CURRENT
from tests.pgmnemo.client.driving import Place, Shell
from tests.sql.conftest import POSTGRES

DAY = datetime(2024, 5, 8, tzinfo=UTC)
NOTES = [
    Item("The kettle leaks at the spout.", "spout", "user", "home", at=DAY),
    Item("user: The kettle is old.\nassistant: Buy another.\nuser: A blue kettle then.", "talk", at=DAY),
    Item("Buy a new kettle in Lisbon.", "shop", "assistant", "travel", 5, at=DAY + timedelta(days=40)),
    Item("The violin is out of tune.", "violin", "Ada", "home/music", at=DAY + timedelta(days=80)),
]


@pytest.fixture
def notes(scope: Any) -> Any:
    scope.add_many(NOTES)
    return scope


def test_a_hit_tells_what_its_score_is_made_of(notes: Any) -> None:
    for hit in notes.recall("Where does the kettle leak?", as_of=DAY):
        assert sum(hit.shares().values()) == pytest.approx(hit.score)
        assert hit.why().endswith(f" = {hit.score:.2f}")
        assert "\n" not in hit.why()
    best = notes.recall("Where does the kettle leak?", k=1)[0]
    assert (best.key, best.role, best.topic, best.at) == ("spout", "user", "home", DAY)
    assert best.why().startswith(f"fit {best.fit:.2f}: ")
    assert "words of the question +" in best.why()
    assert 0 < (best.fit or 0) <= 1


def test_a_hit_that_another_of_its_moment_lifts_names_it(scope: Any) -> None:
    scope.add("The kettle leaks at the spout.", key="spout", at=DAY)
    scope.add("Nadia waters the ferns.", key="ferns", at=DAY)
    scope.add("The violin is out of tune.", key="violin", at=DAY + timedelta(days=1))
    hits = {hit.key: hit for hit in scope.recall("Where does the kettle leak?", as_of=DAY)}
    assert {key: hit.lifted_by for key, hit in hits.items()} == {
        "spout": None,
        "ferns": "spout",
        "violin": None,
    }
    assert "'spout' of the same moment +" in hits["ferns"].why()
    assert not any(hits[key].shares().get("moment") for key in ("spout", "violin"))


def test_settings_of_a_memory_weigh_its_answers_and_their_reasons(shell: Shell, place: Place) -> None:
    name = place.tenant()
    settings = {"assistant_weight": 0, "importance_weight": 0.5}
    mine = shell.open(place.dsn(), settings=settings).tenant(name).project("p")
    mine.add_many(NOTES)
    hits = {hit.key: hit for hit in mine.recall("new kettle in Lisbon", as_of=DAY)}
    assert sum(hits["shop"].shares().values()) == pytest.approx(hits["shop"].score)
    assert not hits["shop"].shares().get("words")
    theirs = shell.open(place.dsn()).tenant(name).project("p")
    assert theirs.recall("new kettle in Lisbon", as_of=DAY)[0].key == "shop"


def test_a_hit_of_a_lesson_with_parts_shows_the_best_one(notes: Any) -> None:
    hit = next(hit for hit in notes.recall("blue kettle") if hit.key == "talk")
    assert hit.passage == "user: A blue kettle then."
    assert next(hit for hit in notes.recall("spout") if hit.key == "spout").passage is None


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ({"role": "user"}, {"spout"}),
        ({"filter": {"topic_prefix": "home"}}, {"spout", "violin"}),
        ({"since": DAY + timedelta(days=1)}, {"shop", "violin"}),
        ({"until": DAY + timedelta(days=1)}, {"spout", "talk"}),
        ({"since": DAY, "until": DAY + timedelta(days=41)}, {"spout", "talk", "shop"}),
        ({"valid_at": DAY + timedelta(days=41)}, {"spout", "talk", "shop"}),
        ({"filter": {"role": ["Ada", "assistant"]}, "since": DAY}, {"shop", "violin"}),
        ({"k": 1, "mode": "keyword"}, {"talk"}),
    ],
)
def test_a_recall_answers_with_what_its_filters_leave(asked: Any, keys: set[str], notes: Any) -> None:
    assert {hit.key for hit in notes.recall("kettle", **asked)} == keys


def test_windows_name_the_times_that_a_question_means(notes: Any) -> None:
    window = [(DAY + timedelta(days=79), DAY + timedelta(days=81)), (None, DAY - timedelta(days=999))]
    hits = {hit.key: hit.components["temporal"] for hit in notes.recall("what happened?", time_ranges=window)}
    assert hits["violin"] == 1
    assert hits["spout"] == pytest.approx(0, abs=0.1)


def test_a_floor_leaves_out_what_does_not_fit(notes: Any) -> None:
    assert notes.recall("quantum chromodynamics", min_fit=0.9) == []
    assert len(notes.recall("quantum chromodynamics")) == len(NOTES)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"k": 0}, "k is 0, but must be from 1"),
        ({"mode": "fast"}, "mode is 'fast', but must be one of hybrid, vector, keyword"),
        ({"mode": "vector"}, "mode vector needs an embedding"),
        ({"min_fit": 2}, "min_fit is 2, but must be from 0 to 1"),
        ({"filter": {"colour": 1}}, "it has no key 'colour'; those are projects, role, topic"),
        ({"since": DAY, "until": DAY}, "'until' must be after 'since'"),
        ({"time_ranges": [(DAY, DAY - timedelta(days=1))]}, "a time range ends before it begins"),
        ({"time_ranges": [DAY]}, "time_ranges are pairs of two times"),
        ({"k": 2**40}, "must be a whole number"),
    ],
)
def test_a_question_that_cannot_be_meant_is_wrong_use(asked: Any, sentence: str, notes: Any) -> None:
    with pytest.raises(UsageError, match=sentence):
        notes.recall("kettle", **asked)


def test_without_a_question_what_is_new_and_important_comes(notes: Any) -> None:
    assert [hit.key for hit in notes.recall(k=3)] == [hit.key for hit in notes.recall("", k=3)] != []


@pytest.mark.parametrize("newest", [False, True])
@pytest.mark.parametrize("most", [None, 1, 6, 7, 8, 25])
def test_a_list_is_whole_whatever_its_pages(
    monkeypatch: pytest.MonkeyPatch, most: int | None, newest: bool, shell: Shell, place: Place
) -> None:
    monkeypatch.setattr(scope_calls, "PAGE_SIZE", 3)
    memory = shell.open(place.dsn(), embedder=lambda texts: [[1.0, 2.0] for _ in texts])
    tenant = memory.tenant(place.tenant())
    tenant.project("p").add_many([f"note {number}" for number in range(7)])
    for everything in (False, True):
        found = [one.text for one in tenant.list(newest=newest, limit=most, include_inactive=everything)]
        assert found == [f"note {number}" for number in range(7)][:: -1 if newest else 1][:most]


def test_what_is_written_while_a_list_is_read_moves_nothing(
    monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    from pgmnemo import Memory

    monkeypatch.setattr(scope_calls, "PAGE_SIZE", 2)
    with Memory.open(place.dsn(), embedder=None) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        scope.add_many([Item(f"note {number}", f"k{number}") for number in range(6)])
        found = []
        for lesson in scope.list():
            found.append(lesson.key)
            scope.forget("k1", permanent=True)
            scope.forget("k4", permanent=True)
    assert found == ["k0", "k1", "k2", "k3", "k5"]


def test_what_was_known_then_is_told(scope: Any) -> None:
    scope.add("Ada lives in Porto.", key="old")
    scope.add("Ada lives in Lisbon.", key="new")
    before = scope.get("new").stored_at
    scope.supersede("old", "new", at=DAY)
    assert [one.key for one in scope.list()] == ["new"]
    assert {one.key for one in scope.list(known_at=before)} == {"old", "new"}
    assert {hit.key for hit in scope.recall("Ada", known_at=before)} == {"old", "new"}
    assert [step.key for step in scope.timeline("new", known_at=before)] == ["new"]


def test_twins_are_told(scope: Any) -> None:
    texts = ("The kettle leaks at the spout.", "The kettle leaks at its spout.", "A violin.", "A violin!")
    scope.add_many([Item(text, str(number)) for number, text in enumerate(texts)])
    pairs = {(pair.first, pair.second): pair for pair in scope.similar()}
    assert set(pairs) == {("0", "1"), ("2", "3")}
    assert (pairs["0", "1"].cosine, pairs["0", "1"].words) == (None, 1)
    assert len(scope.similar(limit=1)) == 1


def test_an_explanation_says_why_a_lesson_is_where_it_is(notes: Any) -> None:
    reasons = notes.explain("spout", "Where does the kettle leak?", as_of=DAY)
    score = notes.recall("Where does the kettle leak?", as_of=DAY, k=1)[0].score
    told = {one.item: one for one in reasons if one.section == "score"}
    assert sum(one.contribution or 0 for one in told.values() if one.weight) == pytest.approx(score)
    with pytest.raises(MissingError, match="has no lesson 'nobody'"):
        notes.explain("nobody", "kettle")


def test_figures_tell_what_is_there(notes: Any) -> None:
    notes.forget("violin")
    stats = notes.stats()
    assert (stats.lessons, stats.hidden, stats.everything) == (3, 0, 4)
    assert (stats.tenant, stats.project) == (notes.tenant_id, notes.project_id)
    assert stats.postgresql.startswith(f"{POSTGRES}.")
    assert stats.place.startswith("the database at ")
    assert stats.extension == CURRENT


def test_known_texts_are_told_by_their_hash(notes: Any) -> None:
    from hashlib import sha256

    notes.forget("violin")
    assert notes.known(["spout", "violin", "nobody"]) == {
        one.key: sha256(str(one.text).encode()).hexdigest() for one in NOTES if one.key in ("spout", "violin")
    }
    assert notes.known([]) == {}


BLANKS = ["", "   ", "\t\n", "\u3000", "\u200b", "\u00a0", "\ufeff\u00ad"]


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_question_fits_nothing(shell: Shell, place: Place, blank: str) -> None:
    scope = shell.open(place.dsn(), embedder="hash").tenant(place.tenant()).project("p")
    scope.add("I moved to Lisbon in May.")
    assert [hit.fit for hit in scope.recall(blank)] == [0]
    assert scope.recall(blank, min_fit=0.01) == []


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_text_is_refused(shell: Shell, place: Place, blank: str) -> None:
    scope = shell.open(place.dsn(), embedder=None).tenant(place.tenant()).project("p")
    with pytest.raises(UsageError, match="empty"):
        scope.add(blank)
