"""Who says a lesson of one turn, and where it stands: neighbours in a session, and none across its end."""

from __future__ import annotations

from runner.suites.order import positions, speaker
from runner.texts import Turn


def test_two_sessions_are_apart_and_two_turns_of_one_are_not() -> None:
    assert [list(order) for order in positions([2, 1, 0, 3])] == [[1, 2], [4], [], [7, 8, 9]]
    assert list(positions([2, 1], turns=False)) == [(None,), (None,)]


def test_who_says_a_turn_has_no_nul_and_may_be_nobody() -> None:
    assert [speaker(Turn(name, "words")) for name in ("Ana", "A\0na", "", "\0")] == ["Ana", "Ana", None, None]
