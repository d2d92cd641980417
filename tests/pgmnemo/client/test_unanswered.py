"""A call whose answer is lost is given again: what the second time answers, and that it happened once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import errors

from pgmnemo import Item
from pgmnemo.client.retries import RetryTimer
from pgmnemo.errors import LostError
from tests.pgmnemo.client.cutting import SOCKET, CuttingProxy
from tests.pgmnemo.client.driving import Place, Shell

VERBS: dict[str, tuple[str, Callable[[Any], Any], Any]] = {  # the statement, the call, its second answer
    "add": ("pgmnemo.store", lambda scope: scope.add("z", key="c").outcome, "unchanged"),
    "add_many": ("COMMIT", lambda scope: scope.add_many([Item("z", "c")]).outcomes, {"unchanged": 1}),
    "update": ("pgmnemo.update", lambda scope: scope.update("a", topic="t"), "unchanged"),
    "link": ("pgmnemo.link", lambda scope: scope.link("a", "b"), "unchanged"),
    "supersede": ("pgmnemo.supersede", lambda scope: scope.supersede("a", "b"), "unchanged"),
    "undo_supersede": ("pgmnemo.undo", lambda scope: scope.undo_supersede("old"), False),
    "forget": ("pgmnemo.forget", lambda scope: scope.forget("a"), 0),
    "forget hard": ("pgmnemo.forget", lambda scope: scope.forget("a", permanent=True), 0),
    "fact": ("pgmnemo.assert_fact", lambda scope: scope.fact("a", "is", "b", exclusive=True).outcome,
             "unchanged"),
    "end_fact": ("pgmnemo.end_fact", lambda scope: scope.end_fact("x", "is"), 0),
}  # fmt: skip


def through(shell: Shell, place: Place, proxy: CuttingProxy, **given: Any) -> Any:
    scope = shell.open(place.dsn(host=str(proxy.folder)), **given).tenant(place.tenant()).project("p")
    scope.add_many([Item("one", "a"), Item("two", "b"), Item("three", "old")])
    scope.supersede("old", "b")
    scope.fact("x", "is", "y")
    return scope


def kept(scope: Any) -> list[Any]:
    every = list(scope.list(include_inactive=True))
    return [(one.key[:4], one.text, one.topic, one.active, one.superseded_at is None) for one in every]


@pytest.mark.parametrize("verb", VERBS)
def test_a_call_that_is_given_again_happens_once(
    verb: str, shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    statement, call, answer = VERBS[verb]
    twice, once = through(shell, place, shut), through(shell, place, shut)
    call(once)
    shut.cut(statement)
    assert call(twice) == answer
    assert len(shut.passed) == 2
    assert kept(twice) == kept(once)


@pytest.mark.parametrize("verb", ["add", "add_many"])
def test_a_server_that_stays_away_after_a_lost_answer_leaves_it_unknown(
    verb: str, shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    statement, call, _ = VERBS[verb]
    scope = through(shell, place, shut, retry_timeout=0.3)
    proxy = shut.folder / SOCKET
    proxy.rename(shut.folder / "away")
    shut.cut(statement)
    with pytest.raises(LostError, match=r"the connection to .* was lost .*; try again"):
        call(scope)
    (shut.folder / "away").rename(proxy)
    assert scope.get("c").text == "z"


def test_after_a_lost_answer_no_error_says_that_nothing_was_stored() -> None:
    attempts = RetryTimer(1.0, chance=lambda: 0.0)
    attempts.pause(psycopg.OperationalError("server closed the connection"), True)
    with pytest.raises(LostError, match=r"is full.*; an earlier try may have been done: try again"):
        attempts.pause(errors.DiskFull("x"), True)
