"""A part of the questions is spread evenly over types and projects; a smaller one lies in a larger one."""

from __future__ import annotations

from collections import Counter

import pytest

from runner.bench.material import Asked
from runner.bench.request import selected
from runner.bench.spread import evenly
from runner.editions import current, edition
from runner.errors import UsageError
from runner.records import Corpus, Evidence, Question, SearchScope
from runner.runs.choice import Choice


def questions(*plan: tuple[str, str]) -> list[Asked]:
    """One question for each (project, type)."""
    return [
        Asked(at, Question(f"q{at}", project, "?", kind, (Evidence("s", "s"),)))
        for at, (project, kind) in enumerate(plan)
    ]


def plan(asked: list[Asked]) -> list[tuple[str, str]]:
    return [(one.question.project, one.question.type) for one in asked]


def test_types_come_first_and_then_projects() -> None:
    asked = questions(*[("a", "x")] * 9, ("b", "x"), ("a", "y"), ("b", "y"), ("c", "z"))
    assert plan(evenly(asked, 3)) == [("a", "x"), ("b", "y"), ("c", "z")]
    assert plan(evenly(asked, 5)) == [("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("c", "z")]


def test_questions_come_in_the_order_of_the_corpus_each_once() -> None:
    asked = questions(("b", "y"), ("a", "x"), ("a", "y"), ("b", "x"))
    for most in range(6):
        found = [one.position for one in evenly(asked, most)]
        assert found == sorted(set(found))
        assert len(found) == min(most, 4)


def test_a_smaller_part_lies_within_a_larger_one() -> None:
    asked = questions(*((f"p{at * at % 7}", f"t{at % 5}") for at in range(60)))
    for most in range(60):
        assert {one.position for one in evenly(asked, most)} < {
            one.position for one in evenly(asked, most + 1)
        }


def test_types_and_projects_are_as_even_as_they_can_be() -> None:
    asked = questions(*((f"p{at % 10}", f"t{at // 40}") for at in range(200)))
    found = plan(evenly(asked, 50))
    assert set(Counter(kind for _, kind in found).values()) == {10}
    assert set(Counter(project for project, _ in found).values()) == {5}


def corpus(asked: list[Asked]) -> Corpus:
    scopes = (SearchScope("conversation"),)
    return Corpus("longmemeval", "f", "0", "session", (), tuple(one.question for one in asked), scopes)


def test_up_to_edition_1_4_a_limit_asks_the_first_questions() -> None:
    asked = questions(("a", "x"), ("a", "x"), ("b", "y"))
    choice = Choice(suite="longmemeval", level="session", limit=2)
    for known, positions in ((edition("1.4.0"), [0, 1]), (current(), [0, 2])):
        assert [one.position for one in selected(choice, corpus(asked), known)] == positions


def test_a_split_asks_its_own_questions() -> None:
    asked = questions(*[("a", "x")] * 20)
    parts = {
        name: {
            one.question.key
            for one in selected(
                Choice(suite="longmemeval", level="session", split=name), corpus(asked), current()
            )
        }
        for name in ("development", "held-out")
    }
    assert not parts["development"] & parts["held-out"]
    assert len(parts["development"] | parts["held-out"]) == 20


def test_a_split_without_a_question_is_refused() -> None:
    asked = questions(("a", "x"))
    empty = [
        name
        for name in ("development", "held-out")
        if not _any(Choice(suite="longmemeval", level="session", split=name), corpus(asked))
    ]
    assert len(empty) == 1


def _any(choice: Choice, of: Corpus) -> bool:
    try:
        return bool(selected(choice, of, current()))
    except UsageError as error:
        assert "has no question of the split" in str(error)  # noqa: PT017  either answer is right, the sentence is one
        return False


@pytest.mark.parametrize("most", [1, 7])
def test_one_type_and_one_project_give_the_first(most: int) -> None:
    assert [one.position for one in evenly(questions(*[("a", "x")] * 9), most)] == list(range(most))
