"""MemPalace, where it is installed: its own ranking over our vectors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from typing import Any

import pytest

from runner.systems import Place, absent, kind_of, open_system
from runner.systems.controls import ExactCosine
from tests.helping import ranked

LACKING = absent(kind_of("mempalace"))
pytestmark = pytest.mark.skipif(bool(LACKING), reason=f"mempalace is {LACKING}")


@pytest.fixture(scope="module")
def mempalace(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_system("mempalace", Place(tmp_path_factory.mktemp("palace"), environ=os.environ)) as system:
        system.load(tiny)
        yield system


def test_the_lesson_of_a_questions_words_comes_first_wherever_it_is_asked(mempalace: Any, tiny: Any) -> None:
    for project in (*tiny.projects, None):
        pairs = tiny.queries(project)
        found = ranked("mempalace", mempalace, tiny, [query for query, _ in pairs], 50)
        assert [numbers[0] for numbers in found] == [lesson.number for _, lesson in pairs]
        sizes = {len(numbers) for numbers in found}
        assert sizes == {sum(project in (None, one.project) for one in tiny)}


def test_it_has_our_vectors_and_its_words_rank_anew(mempalace: Any, tiny: Any) -> None:
    """With words of no lesson the cosine alone ranks; with the words of one, that one comes first."""
    cosine = ExactCosine()
    cosine.load(tiny)
    query, lesson = tiny.queries()[0]
    wordless = replace(query, text="zzz")
    wanted = [match.number for match in cosine.ask(wordless, 3)]
    assert ranked("mempalace", mempalace, tiny, [wordless], 3) == [wanted]
    other = next(one for one in tiny if one.number not in wanted)
    thing = other.text.partition("the ")[2].partition(" ")[0]
    worded = replace(query, text=f"{thing} {thing}")
    assert ranked("mempalace", mempalace, tiny, [worded], 3)[0][0] == other.number != lesson.number


def test_another_project_is_never_seen(mempalace: Any, tiny: Any) -> None:
    garden, boat, _ = tiny.projects
    inside = {lesson.number for lesson in tiny if lesson.project == boat}
    queries = [replace(query, project=boat) for query, _ in tiny.queries(garden)]
    for numbers in ranked("mempalace", mempalace, tiny, queries, 50):
        assert set(numbers) <= inside


def test_version_weights_and_sizes_are_told(mempalace: Any) -> None:
    facts = mempalace.facts()
    assert facts["version"] == metadata.version("mempalace")
    assert facts["weights"] == "0.6 similarity, 0.4 BM25 among the candidates"
    assert mempalace.sizes()["palace"] > 1000


def test_lessons_of_one_text_all_come_back(tiny: Any, place: Place) -> None:
    """It folds them into one result that lists the others."""

    class Twins(type(tiny)):  # type: ignore[misc]
        def lesson(self, position: int) -> Any:
            lesson = super().lesson(position)
            return replace(lesson, text="The same long text, again and again. " * 5)

    lessons = Twins()
    with open_system("mempalace", place) as system:
        system.load(lessons)
        [numbers] = ranked("mempalace", system, lessons, [tiny.query("The same text?")], 50)
    assert sorted(numbers) == sorted(lesson.number for lesson in tiny)
