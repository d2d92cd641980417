"""LoCoMo's evidence strings: every id is read, and what names nothing is said, not dropped."""

from __future__ import annotations

import pytest

from runner.suites.citations import resolve

SESSIONS = {f"c/D{session}" for session in range(1, 31)}
TURNS = {f"c/D{session}:{turn}" for session in range(1, 31) for turn in range(1, 30)}


def found(strings: list[str], turns: bool = False) -> list[tuple[str, str | None]]:
    pairs = resolve(strings, "c", TURNS if turns else SESSIONS, turns)
    return [(one.cited, one.segment) for one in pairs]


@pytest.mark.parametrize(
    ("strings", "cited"),
    [
        (["D1:3"], ["D1:3"]),
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"]),
        (["D22:1 D22:2 D9:10 D9:11"], ["D22:1", "D22:2", "D9:10", "D9:11"]),
        (["D:11:26", "D20:21"], ["D:11:26", "D20:21"]),
        (["D30:05"], ["D30:05"]),
        (["D1:18", "D", "D1:20"], ["D1:18", "D1:20"]),
        (["D1:1", "D1:1"], ["D1:1"]),
        ([], []),
    ],
)
def test_every_id_in_every_string_is_read(strings: list[str], cited: list[str]) -> None:
    assert [one for one, _ in found(strings)] == cited
    assert all(segment for _, segment in found(strings))


@pytest.mark.parametrize(
    ("text", "session", "turn"),
    [("D30:05", "c/D30", "c/D30:5"), ("D:11:26", "c/D11", "c/D11:26"), ("D1:3", "c/D1", "c/D1:3")],
)
def test_id_resolves_to_its_session_or_its_turn(text: str, session: str, turn: str) -> None:
    assert found([text]) == [(text, session)]
    assert found([text], turns=True) == [(text, turn)]


def test_turn_that_does_not_exist_resolves_to_nothing_at_turn_level_only() -> None:
    assert found(["D4:36"], turns=True) == [("D4:36", None)]
    assert found(["D4:36"]) == [("D4:36", "c/D4")]


def test_session_that_does_not_exist_resolves_to_nothing() -> None:
    assert found(["D31:1", "D1:1"]) == [("D31:1", None), ("D1:1", "c/D1")]


def test_question_whose_strings_hold_no_id_stays_with_unresolved_evidence() -> None:
    assert found(["D", "see above"]) == [("D", None), ("see above", None)]
