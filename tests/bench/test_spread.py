"""A part of the questions is spread evenly over types and projects; a smaller one lies in a larger one."""

from __future__ import annotations

from collections import Counter

from runner.bench.workload import IndexedQuestion, evenly
from runner.records import Evidence, Question


def questions(*plan: tuple[str, str]) -> list[IndexedQuestion]:
    """One question for each (project, type)."""
    return [
        IndexedQuestion(at, Question(f"q{at}", project, "?", kind, (Evidence("s", "s"),)))
        for at, (project, kind) in enumerate(plan)
    ]


def plan(asked: list[IndexedQuestion]) -> list[tuple[str, str]]:
    return [(one.question.project, one.question.type) for one in asked]


def test_types_come_first_and_then_projects() -> None:
    asked = questions(*[("a", "x")] * 9, ("b", "x"), ("a", "y"), ("b", "y"), ("c", "z"))
    assert plan(evenly(asked, 3)) == [("a", "x"), ("b", "y"), ("c", "z")]
    assert plan(evenly(asked, 5)) == [("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("c", "z")]


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
