"""Passages in place of lessons: the best one stands for its lesson, and nothing is believed unseen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from runner.errors import SystemFault
from runner.systems import Lesson, Lessons, Match, Query, absent, kind_of, open_system
from runner.systems.asking import Judge, answers
from runner.systems.best_passage import Pieces, best_passage
from runner.systems.system import Concurrent

pytestmark = pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")


def where(tiny: Any, piece: int) -> int:
    """The lesson that a piece is of: each has two."""
    number: int = tiny[piece // 2].number
    return number


def test_every_passage_is_a_lesson_of_its_own(tiny: Any) -> None:
    pieces = Pieces(tiny)
    assert len(pieces) == 2 * len(tiny)
    assert [one.number for one in pieces] == list(range(len(pieces)))
    assert pieces.owners == [where(tiny, piece) for piece in range(len(pieces))]
    assert (pieces.width, pieces.projects, pieces.pooled) == (tiny.width, tiny.projects, tiny.pooled)
    whole, parts = tiny[3], pieces[6:8]
    assert [part.text for part in parts] == list(whole.passages)
    assert [part.external_id for part in parts] == [f"{whole.external_id}.0", f"{whole.external_id}.1"]
    for part, vector in zip(parts, whole.passage_vectors, strict=True):
        assert (part.vector == vector).all()
        assert (part.project, part.occurred_at) == (whole.project, whole.occurred_at)
        assert (part.passages, part.passage_vectors) == ((), None)


def test_without_vectors_pieces_have_none(tools: Any) -> None:
    assert {piece.vector for piece in Pieces(tools.Tiny(vectors=False))} == {None}


def test_a_lesson_without_passages_is_its_own_piece(tiny: Any) -> None:
    class Whole(Lessons):
        width, projects = tiny.width, tiny.projects
        number = tiny.number

        def __len__(self) -> int:
            return len(tiny)

        def lesson(self, position: int) -> Lesson:
            return replace(tiny[position], passages=(), passage_vectors=None)

    pieces = Pieces(Whole())
    assert [(piece.text, pieces.owners[piece.number]) for piece in pieces] == [
        (one.text, one.number) for one in tiny
    ]
    assert all((piece.vector == one.vector).all() for piece, one in zip(pieces, tiny, strict=True))


@pytest.fixture
def asked(tools: Any, tiny: Any) -> Any:
    """Ask a system of pieces that answers by a function."""

    def ask(answer: Any, k: int, clients: bool = False) -> Any:
        inner = (tools.ScriptedClients if clients else tools.Scripted)(answer)
        system = best_passage("odd+passages", inner)
        system.load(tiny)
        judge, query = Judge("odd+passages", tiny), Query(6, "x", None, None)
        [found] = answers(system, "odd+passages", [query], k, judge)
        return inner, [match.number for match in found.matches], found.matches

    return ask


def test_the_best_of_its_passages_stands_for_a_lesson(tiny: Any, asked: Any) -> None:
    ranked = [Match(4, 0.9), Match(5, 0.8), Match(0, 0.7), Match(9, 0.6), Match(1, 0.5), Match(8, 0.4)]
    _, _, matches = asked(lambda query, k: ranked[:k], 3)
    wanted = [(where(tiny, 4), 0.9), (where(tiny, 0), 0.7), (where(tiny, 9), 0.6)]
    assert [(match.number, match.score) for match in matches] == wanted


class Long(Lessons):
    """Three lessons of ten passages each."""

    width, projects = None, ("p",)

    def __len__(self) -> int:
        return 3

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        passages = tuple(f"{position} {part}" for part in range(10))
        return Lesson(position, "p", str(position), "", passages=passages)


@pytest.mark.parametrize(
    ("k", "wanted", "found"), [(1, [4], [0]), (2, [8, 16], [0, 1]), (3, [12, 24], [0, 1, 2]),
                               (9, [36], [0, 1, 2])],
)  # fmt: skip
def test_it_asks_for_twice_as_many_until_there_are_k_lessons(
    k: int, wanted: list[int], found: list[int], tools: Any
) -> None:
    asked: list[int] = []

    def answer(query: Query, k: int) -> list[Match]:
        asked.append(k)
        return [Match(piece) for piece in range(min(k, 30))]

    system = best_passage("odd", tools.Scripted(answer))
    system.load(Long())
    assert [match.number for match in system.ask(Query(0, "x", None, None), k)] == found
    assert asked == wanted


def test_it_ends_where_there_are_no_more_pieces(tiny: Any, asked: Any) -> None:
    inner, found, _ = asked(lambda query, k: [Match(piece) for piece in (0, 1)], 12)
    assert (found, inner.asked) == ([where(tiny, 0)], 1)
    inner, found, _ = asked(lambda query, k: [Match(0)] * 0, 12)
    assert (found, inner.asked) == ([], 1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([Match(24)], "with 24, which is no lesson that it was given"),
        ([Match(-1)], "with -1, which is no lesson that it was given"),
        ([Match(3), Match(3)], "with lesson 3 twice"),
        ([Match(n) for n in range(9)], "with 9 lessons where 8 were asked for"),
        ([Match(3, float("nan"))], "with a score that is no number"),
    ],
)
def test_a_wrong_piece_is_refused(answer: list[Match], words: str, asked: Any) -> None:
    with pytest.raises(SystemFault, match=rf"^odd\+passages answered question 7 {words}$"):
        asked(lambda query, k: answer, 2)


def test_several_threads_ask_only_what_has_clients_for_them(tiny: Any, tools: Any, asked: Any) -> None:
    answer = tools.best(Pieces(tiny))
    assert not isinstance(best_passage("odd", tools.Scripted(answer)), Concurrent)
    assert isinstance(best_passage("odd", tools.ScriptedClients(answer)), Concurrent)
    inner, _, _ = asked(answer, 3, clients=True)
    assert (inner.opened, inner.closed) == (1, 1)


@pytest.fixture(params=["sqlite-fts5", "sqlite-hybrid", "chroma", "gin-hnsw"])
def held(request: pytest.FixtureRequest, place: Any, tiny: Any) -> Iterator[Any]:
    """A system that holds the passages of the tiny corpus."""
    if sentence := absent(kind_of(request.param)):
        pytest.skip(sentence)
    assert kind_of(request.param).passages
    with open_system(request.param, place) as system:
        best = best_passage(request.param, system)
        best.load(tiny)
        yield best


def test_systems_that_hold_texts_find_lessons_by_their_passages(held: Any, tiny: Any, tools: Any) -> None:
    for project in (*tools.PROJECTS, None):
        pairs = tiny.queries(project)
        found = answers(held, "odd", [query for query, _ in pairs], 3, Judge("odd", tiny))
        for answer, (_, lesson) in zip(found, pairs, strict=True):
            assert answer.matches[0].number == lesson.number
    assert held.facts()["rows"] == str(2 * len(tiny))
    assert held.facts()["version"]
    assert sum(held.sizes().values()) > 1000
    assert (memory := held.memory()) is None or memory >= 0
