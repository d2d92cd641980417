"""Every built-in system keeps the contract, on a corpus small enough to know every answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.systems import SYSTEMS, Match, Query, SystemContext, missing_parts, open_system, spec_of
from runner.systems.controls import ExactCosine
from runner.systems.query_runner import AnswerValidator, ask_all, components_of
from runner.systems.system import (
    SupportsAdd,
    SupportsComponents,
    SupportsExactSearch,
    SupportsNearest,
    SupportsRetrievers,
    SupportsThreads,
)
from tests.helping import CURRENT

pytestmark = pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")
NAMES = (
    "pgmnemo", "pgmnemo@0.2.1", "sqlite-fts5", "sqlite-hybrid", "chroma", "bm25s", "gin-hnsw", "pgvector",
    "pg-textsearch", "pg-textsearch-bm25", "langgraph",
)  # fmt: skip
# a lesson without any of the words is no answer; bm25s has stopwords
WORDS_ALONE = ("sqlite-fts5", "bm25s", "pg-textsearch-bm25")
APART = (
    "http",
    "mem0",
    "mempalace",
    "upstream-pgmnemo",
    "convex",
    "rrf",
    "bm25s-hybrid",
)  # each has tests of its own
FIXED = ("bm25s",)  # takes no lesson once it is loaded
WORDLESS = [name for name in NAMES if not spec_of(name).needs_vectors]
ODD = (
    '"NEAR( OR AND -- ; \'; DROP TABLE memory; \\', "*", "\0 zero", "🐕 ÆØÅ 日本語", "a:b ^c {d} (e",
    "x" * 9000, "?!",
)  # fmt: skip


class Loaded:
    """A system that has the tiny corpus, asked as a run asks."""

    def __init__(self, name: str, system: Any, lessons: Any) -> None:
        self.name, self.kind, self.system, self.lessons = name, spec_of(name), system, lessons

    def ask(
        self, queries: list[Query], k: int, settings: Mapping[str, str] | None = None, workers: int = 4
    ) -> list[tuple[Match, ...]]:
        judge = AnswerValidator(self.name, self.lessons, components_of(self.system))
        options = {"settings": settings, "workers": workers}
        return [one.matches for one in ask_all(self.system, self.name, queries, k, judge, **options)]


def located(name: str, server: str, folder: Path, label: str) -> SystemContext:
    """On the server that they share, but for what needs one of its own."""
    if sentence := missing_parts(spec_of(name)):
        pytest.skip(sentence)
    dsn = None if name.startswith("pg-textsearch") else server
    return SystemContext(folder, CURRENT, label, {"gate_strict": "off"}, {}, dsn)


def loaded(name: str, tools: Any, server: str, folder: Path, vectors: bool = True) -> Iterator[Loaded]:
    lessons = tools.Tiny(vectors)
    with open_system(name, located(name, server, folder, f"{name} {vectors}")) as system:
        seconds = system.load(lessons)
        assert all(taken >= 0 for taken in seconds.values())
        yield Loaded(name, system, lessons)


@pytest.fixture(scope="module", params=NAMES)
def one(
    request: pytest.FixtureRequest, tools: Any, server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    yield from loaded(request.param, tools, server, tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module", params=WORDLESS)
def without_vectors(
    request: pytest.FixtureRequest, tools: Any, server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    yield from loaded(request.param, tools, server, tmp_path_factory.mktemp("none"), vectors=False)


def places(system: Loaded, project: str | None) -> list[int]:
    """At which rank each lesson is found for a question of its own words."""
    pairs = system.lessons.queries(project)
    found = system.ask([query for query, _ in pairs], 50)
    return [
        numbers(matches).index(lesson.number) + 1 for matches, (_, lesson) in zip(found, pairs, strict=True)
    ]


def test_the_lesson_of_a_questions_words_comes_back_under_its_own_number(one: Loaded, tools: Any) -> None:
    for project in (*tools.PROJECTS, None):
        assert set(places(one, project)) == {1}


def test_so_it_does_without_vectors(without_vectors: Loaded, tools: Any) -> None:
    for project in (*tools.PROJECTS, None):
        assert set(places(without_vectors, project)) == {1}


@pytest.mark.parametrize("k", [2, 50])
def test_as_many_are_answered_as_there_are_and_no_more_than_k(one: Loaded, tools: Any, k: int) -> None:
    for project, size in ((tools.PROJECTS[2], 3), (None, 12)):
        queries = [query for query, _ in one.lessons.queries(project)]
        sizes = {len(matches) for matches in one.ask(queries, k)}
        most = min(k, size)
        fewest = most if one.name not in WORDS_ALONE else 1
        assert fewest <= min(sizes) <= max(sizes) <= most


def test_another_project_is_never_seen(one: Loaded, tools: Any) -> None:
    """Not even for its own words."""
    garden, boat, _ = tools.PROJECTS
    foreign = [replace(query, project=boat) for query, _ in one.lessons.queries(garden)]
    inside = {lesson.number for lesson in one.lessons if lesson.project == boat}
    for matches in one.ask(foreign, 50):
        assert set(numbers(matches)) <= inside


def test_answers_repeat_whoever_asks_and_however_many_at_once(one: Loaded) -> None:
    queries = [query for query, _ in one.lessons.queries()] * 3
    alone, together, again = (one.ask(queries, 10, workers=workers) for workers in (1, 4, 4))
    assert alone == together == again
    direct = [tuple(one.system.ask(query, 10)) for query in queries]
    assert direct == alone


def test_a_smaller_k_is_the_beginning_of_a_larger_one(one: Loaded) -> None:
    queries = [query for query, _ in one.lessons.queries()]
    ten, three = (one.ask(queries, k) for k in (10, 3))
    assert [numbers(matches[:3]) for matches in ten] == [numbers(matches) for matches in three]


def test_no_text_of_a_question_is_too_odd(one: Loaded, tools: Any) -> None:
    """But that PostgreSQL has no text with a zero in it."""
    odd = [text for text in ODD if not (one.kind.postgres and "\0" in text)]
    queries = [one.lessons.query(text, project) for text in odd for project in (tools.PROJECTS[0], None)]
    assert len(one.ask(queries, 5)) == len(queries)


def test_facts_and_sizes_are_told(one: Loaded) -> None:
    facts, sizes = one.system.facts(), one.system.sizes()
    assert facts["version"]
    assert all(isinstance(text, str) for text in (*facts, *facts.values()))
    assert sum(sizes.values()) > 1000
    assert all(isinstance(size, int) for size in sizes.values())
    assert (memory := one.system.memory()) is None or memory >= 0
    assert one.kind.title
    assert one.kind.description or one.system.description()


def test_components_are_those_that_it_names(one: Loaded) -> None:
    [query, *_] = [query for query, _ in one.lessons.queries()]
    named = one.system.components if isinstance(one.system, SupportsComponents) else ()
    assert bool(named) == (one.kind.separates_projects and one.kind.versions)
    assert {len(match.components) for match in one.ask([query], 10)[0]} == {len(named)}


def test_its_legs_answer_alone_and_none_is_the_whole(one: Loaded) -> None:
    queries = [query for query, _ in one.lessons.queries()]
    legs = one.system.retrievers if isinstance(one.system, SupportsRetrievers) else {}
    assert bool(legs) == one.kind.hybrid
    whole = one.ask(queries, 10)
    for settings, words in legs.values():
        assert words
        assert one.ask(queries, 10, settings) != whole
    if "vector" in legs:
        with closing(one.system.client()) as client:
            nearest = [tuple(client.nearest(query, 10)) for query in queries]
        assert one.ask(queries, 10, legs["vector"][0]) == nearest


def test_its_nearest_are_the_nearest(one: Loaded, tools: Any) -> None:
    """On a dozen lessons an approximate index has no excuse.

    What weighs more than one cosine a lesson names settings under which it compares every vector.
    """
    cosine, own = ExactCosine(), one.system.exact if isinstance(one.system, SupportsExactSearch) else None
    cosine.load(one.lessons)
    assert bool(own) == (one.name == "pgmnemo")
    with closing(one.system.client()) as client, closing(one.system.client(own)) as exact:
        assert isinstance(client, SupportsNearest) == one.kind.vectors
        for project in (*tools.PROJECTS, None) if one.kind.vectors else ():
            for query, _ in one.lessons.queries(project):
                wanted = exact.nearest(query, 3) if own else cosine.ask(query, 3)
                assert numbers(client.nearest(query, 3)) == numbers(wanted)


def numbers(matches: Iterable[Match]) -> list[int]:
    return [match.number for match in matches]


def test_it_has_clients_for_several_threads_and_takes_new_lessons(one: Loaded, tools: Any) -> None:
    """The last test: afterwards there is one lesson more."""
    assert isinstance(one.system, SupportsThreads)
    with closing(one.system.client()) as client:
        assert isinstance(client, SupportsAdd) == (one.name not in FIXED)
    if one.name in FIXED:
        return
    garden, boat, _ = tools.PROJECTS
    lesson, about = one.lessons.later(garden), f"What of the {tools.LATER}?"
    with closing(one.system.client()) as writer, closing(one.system.client()) as reader:
        before = reader.ask(one.lessons.query(about, garden), 10)
        assert lesson.number not in numbers(before)
        writer.add(lesson)
        for project in (garden, None):
            assert reader.ask(one.lessons.query(about, project), 10)[0].number == lesson.number
        elsewhere = reader.ask(one.lessons.query(about, boat), 10)
        assert lesson.number not in numbers(elsewhere)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_opening_holds_nothing_of_the_first(
    name: str, server: str, tools: Any, tmp_path: Path
) -> None:
    place = located(name, server, tmp_path, f"{name} twice")
    for projects in (tools.PROJECTS, tools.PROJECTS[:1]):
        lessons = tools.Tiny(projects=projects)
        with open_system(name, place) as system:
            system.load(lessons)
            queries = [query for query, _ in tools.Tiny().queries()]
            found = Loaded(name, system, lessons).ask(queries, 50)
            assert len({match.number for matches in found for match in matches}) <= len(lessons)


def test_all_that_need_no_network_are_among_them() -> None:
    told = "a new system needs its name in NAMES, or in APART with tests of its own"
    assert {name.partition("@")[0] for name in NAMES} == set(SYSTEMS) - set(APART), told
