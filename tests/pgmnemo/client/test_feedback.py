"""Feedback moves the importance of a lesson within its bounds, and is taken back without a trace."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from pgmnemo import Feedback, Memory, Scope
from pgmnemo.errors import MissingError, UsageError
from tests.pgmnemo.client.driving import Place


def importance(scope: Scope, key: str = "k") -> int:
    found = scope.get(key)
    assert found is not None
    return found.importance


def test_three_uses_raise_and_one_wrong_lowers_the_importance(scope: Scope) -> None:
    scope.add("a text", key="k", metadata={"place": "home"})
    assert scope.used("k") == Feedback("k", 3, 1, 0)
    assert [scope.used("k").importance for _ in range(12)] == [3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5]
    assert [scope.wrong("k").importance for _ in range(8)] == [5, 5, 4, 3, 2, 1, 1, 1]
    found = scope.get("k")
    assert found is not None
    assert found.metadata["place"] == "home"


def test_feedback_of_many_at_once_is_all_counted_beside_other_changes(place: Place) -> None:
    with Memory.open(place.dsn(), embedder=None) as memory, ThreadPoolExecutor(8) as pool:
        scope = memory.tenant(place.tenant()).project("p")
        scope.add("a text", key="k")
        assert len({one.used for one in pool.map(lambda _: scope.used("k"), range(24))}) == 24
        undone = [pool.submit(scope.used, "k", undo=True) for _ in range(24)]
        notes = {f"note{n}": n for n in range(8)}
        written = [pool.submit(scope.update, "k", patch={name: n}) for name, n in notes.items()]
        assert sorted(one.result().used for one in undone) == [*range(24)]
        assert {one.result() for one in written} == {"updated"}
        found = scope.get("k")
    assert found is not None
    assert (found.importance, found.metadata) == (3, notes)


def test_random_feedback_that_is_taken_back_leaves_no_trace(scope: Scope) -> None:
    drawn = random.Random(3)
    for before in (1, 3, 5):
        scope.add("a text", key="k", importance=before, metadata={"n": before})
        first = scope.get("k")
        said = [drawn.choice(("used", "wrong")) for _ in range(15)]
        for verdict in said:
            assert 1 <= getattr(scope, verdict)("k").importance <= 5
        for verdict in drawn.sample(said, len(said)):
            getattr(scope, verdict)("k", undo=True)
        assert scope.get("k") == first


def test_an_importance_that_is_set_by_hand_is_where_feedback_goes_on(scope: Scope) -> None:
    scope.add("a text", key="k")
    scope.wrong("k")
    scope.wrong("k")
    assert importance(scope) == 1
    scope.update("k", importance=5)
    assert scope.used("k").importance == 5
    assert scope.wrong("k").importance == 4
    assert scope.wrong("k", undo=True).importance == 5


def test_feedback_that_was_not_given_cannot_be_undone(scope: Scope) -> None:
    scope.add("a text", key="k", metadata={"pgmnemo_feedback": {"used": "many", "wrong": -5}})
    for undo in (scope.used, scope.wrong):
        with pytest.raises(UsageError, match="nothing to undo"):
            undo("k", undo=True)
    assert importance(scope) == 3
    for give in (scope.used, scope.wrong):
        with pytest.raises(MissingError, match="nowhere"):
            give("nowhere")


def test_a_lesson_that_was_used_comes_first_without_a_question(scope: Scope) -> None:
    scope.add("The boat is red on the left.", key="left")
    scope.add("The boat is red on the right.", key="right")
    for _ in range(6):
        scope.used("left")
        scope.wrong("right")
    assert [hit.key for hit in scope.recall()] == ["left", "right"]
    for _ in range(6):
        scope.used("left", undo=True)
        scope.wrong("right", undo=True)
        scope.used("right")
        scope.wrong("left")
    assert [hit.key for hit in scope.recall()] == ["right", "left"]
