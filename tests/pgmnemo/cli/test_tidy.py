"""`mnemo tidy` lists near-copies and contradictions, does what is agreed to, and loses nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.pgmnemo.cli.conftest import Mnemo

DAY = datetime(2026, 5, 1, tzinfo=UTC)
OLD = "Ada prefers tabs over spaces in all Python code of the boats project"
NEW = f"{OLD} always"


@pytest.fixture
def untidy(scope: Any) -> Any:
    scope.add(OLD, key="old", at=DAY)
    scope.add(NEW, key="new", at=DAY + timedelta(days=1))
    scope.add("Something else.", key="other")
    for day, town in enumerate(("Lisbon", "Porto")):
        scope.fact("ada", "lives in", town, at=DAY + timedelta(days=day))
    scope.fact("ada", "was in", "Rome", at=DAY)
    scope.end_fact("ada", "was in", at=DAY + timedelta(days=1))
    scope.fact("ada", "was in", "Oslo", at=DAY + timedelta(days=1))
    return scope


def held(scope: Any) -> set[str]:
    return {one.text for one in scope.list()}


def test_a_dry_run_lists_and_changes_nothing(mnemo: Mnemo, untidy: Any) -> None:
    before = held(untidy)
    done = mnemo("tidy", "--dry-run", "--json")
    assert done.code == 0
    steps = done.json["steps"]
    assert [(one["kind"], one["old_text"], one["new_text"]) for one in steps] == [
        ("near-copy", OLD, NEW), ("contradiction", "ada lives in Lisbon", "ada lives in Porto"),
    ]  # fmt: skip
    assert (done.json["superseded"], done.json["dry_run"]) == (0, True)
    assert held(untidy) == before


def test_all_is_done_with_yes_and_each_can_be_taken_back(mnemo: Mnemo, untidy: Any) -> None:
    before = held(untidy)
    done = mnemo("tidy", "--yes")
    assert (done.code, "found 2, superseded 2" in done.out) == (0, True)
    assert OLD in done.out
    assert before - held(untidy) == {OLD, "ada lives in Lisbon"}
    assert [step.key for step in untidy.timeline("new")] == ["old", "new"]
    assert "found 0, superseded 0" in mnemo("tidy", "--yes").out
    assert mnemo("undo-supersede", "old").code == 0
    assert OLD in held(untidy)


def test_only_what_is_agreed_to_is_done(mnemo: Mnemo, untidy: Any) -> None:
    done = mnemo("tidy", stdin=b"n\ny\n", terminal=True)
    assert "found 2, superseded 1" in done.out
    assert {OLD, NEW} <= held(untidy)
    assert "ada lives in Lisbon" not in held(untidy)


def test_without_a_terminal_it_asks_for_yes(mnemo: Mnemo, untidy: Any) -> None:
    before = held(untidy)
    done = mnemo("tidy")
    assert (done.code, "--yes" in done.err) == (2, True)
    assert held(untidy) == before
    assert mnemo("tidy", "--only", "copies", "--yes", "--json").json["superseded"] == 1
    assert "ada lives in Lisbon" in held(untidy)
    assert mnemo("tidy", "--least-words", "7").code == 2


def test_each_contradicting_fact_ends_when_the_next_begins(mnemo: Mnemo, scope: Any) -> None:
    towns = ("Lisbon", "Lisbon", "Porto", "Faro")
    for day, town in enumerate(towns):
        scope.fact("eva", "lives in", town, at=DAY + timedelta(days=day))
    assert "superseded" in mnemo("tidy", "--only", "facts", "--yes").out
    told = {one.object: one.valid_to for one in scope.facts("eva", history=True)}
    assert told == {"Lisbon": DAY + timedelta(days=2), "Porto": DAY + timedelta(days=3), "Faro": None}
    assert "found 0" in mnemo("tidy", "--only", "facts", "--yes").out


def test_facts_of_one_moment_end_now(mnemo: Mnemo, scope: Any) -> None:
    for town in ("Lisbon", "Porto"):
        scope.fact("eva", "lives in", town, at=DAY)
    assert "superseded 1" in mnemo("tidy", "--only", "facts", "--yes").out
    assert len(scope.facts("eva")) == 1
