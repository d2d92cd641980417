"""Wrappers by hand: passages in place of lessons, and boosts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runner.errors import SystemFault
from runner.systems import WRAPPERS, Lesson, Lessons, Match, Query
from runner.systems.boosts import (
    any_phrase,
    distances,
    keywords_of,
    names_of,
    quotes_of,
    share_of_wishes,
    share_of_words,
    wishes_of,
)
from runner.systems.query_runner import AnswerValidator, ask_all
from runner.systems.system import SupportsThreads
from runner.systems.wrappers import BestPassage, PassageLessons

pytestmark = pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")


def where(tiny: Any, piece: int) -> int:
    """The lesson that a piece is of: each has two."""
    number: int = tiny[piece // 2].number
    return number


def test_every_passage_is_a_lesson_of_its_own(tiny: Any) -> None:
    pieces = PassageLessons(tiny)
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


def test_a_lesson_without_passages_is_its_own_piece(tools: Any) -> None:
    pieces = PassageLessons(tools.Listed([("a", "one"), ("b", "two")]))
    assert [(piece.text, pieces.owners[piece.number]) for piece in pieces] == [("one", 100), ("two", 101)]


@pytest.fixture
def asked(tools: Any, tiny: Any) -> Any:
    """Ask a system of pieces that answers by a function."""

    def ask(answer: Any, k: int, clients: bool = False) -> Any:
        inner = (tools.ScriptedClients if clients else tools.Scripted)(answer)
        system = BestPassage("odd+passages", inner)
        system.load(tiny)
        judge, query = AnswerValidator("odd+passages", tiny), Query(6, "x", None, None)
        [found] = ask_all(system, "odd+passages", [query], k, judge)
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

    system = BestPassage("odd", tools.Scripted(answer))
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
        ([Match(3), Match(3)], "with lesson 3 twice"),
        ([Match(n) for n in range(9)], "with 9 lessons where 8 were asked for"),
    ],
)
def test_a_wrong_piece_is_refused(answer: list[Match], words: str, asked: Any) -> None:
    with pytest.raises(SystemFault, match=rf"^odd\+passages answered question 7 {words}$"):
        asked(lambda query, k: answer, 2)


def test_several_threads_ask_only_what_has_clients_for_them(tiny: Any, tools: Any, asked: Any) -> None:
    answer = tools.best(PassageLessons(tiny))
    assert not isinstance(BestPassage("odd", tools.Scripted(answer)), SupportsThreads)
    assert isinstance(BestPassage("odd", tools.ScriptedClients(answer)), SupportsThreads)
    inner, _, _ = asked(answer, 3, clients=True)
    assert (inner.opened, inner.closed) == (1, 1)


@pytest.mark.parametrize(
    ("of", "question", "wanted"),
    [
        (keywords_of, "What did Ada plant behind the old barn in May?", {"plant", "behind", "old", "barn"}),
        (keywords_of, "What did she do?", set()),
        (names_of, "When did Ada meet Bram on Tuesday?", {"ada", "bram"}),
        (names_of, "What happened?", set()),
        (quotes_of, "Who said 'see you' and \"never again\"?", {"see you", "never again"}),
        (quotes_of, "What is Ada's dog's name?", set()),
        (wishes_of, "Can you recommend a hotel in Miami?", {"recommend", "hotel"}),
        (wishes_of, "Which hotel did I book?", set()),
    ],
)
def test_a_question_asks_for(of: Callable[[str], frozenset[str]], question: str, wanted: set[str]) -> None:
    assert of(question) == wanted


def test_a_text_bears_words_phrases_and_wishes() -> None:
    assert share_of_words(frozenset({"plant", "barn"}), "He planted it.") == 0.5
    assert share_of_words(frozenset({"ant"}), "He planted it.") == 0  # the beginning of a word, or nothing
    assert any_phrase(frozenset({"see you"}), "They said: See you soon.") == 1
    wanted = frozenset({"hotel", "view"})
    assert share_of_wishes(wanted, "I love a hotel with a pool.") == 0.75
    assert share_of_wishes(wanted, "I love to swim. The hotel has a view.") == 0.5
    assert share_of_wishes(wanted, "The hotel has a view.") == 0


def test_distances_are_those_of_cosines_and_half_of_one_where_scores_have_no_bound() -> None:
    assert distances([Match(1, 0.9), Match(2, 0.4)]) == pytest.approx([0.1, 0.6])
    assert distances([Match(1, 12.0), Match(2, 8.0), Match(3, 4.0)]) == pytest.approx([0.5, 0.75, 1.0])
    assert distances([Match(1), Match(2)]) == pytest.approx([0.5, 1.0])
    assert distances([Match(1, 7.0)]) == [0.5]
    assert distances([]) == []


@pytest.mark.parametrize("clients", [False, True])
def test_a_boosted_system_answers_the_best_of_a_deeper_pool(clients: bool, tools: Any, tiny: Any) -> None:
    lessons = [one for one in tiny if one.project == "bakery"]
    ranking = [Match(lessons[0].number, 0.6), Match(lessons[1].number, 0.5), Match(lessons[2].number, 0.4)]
    inner = (tools.ScriptedClients if clients else tools.Scripted)(lambda query, k: ranking[:k])
    system = WRAPPERS["keyword"].wrap("odd+keyword", inner)
    system.load(tiny)
    asking = system.client() if clients else system  # type: ignore[attr-defined]
    assert [one.number for one in asking.ask(Query(0, "What of it?", None, "bakery"), 1)] == [
        ranking[0].number
    ]
    [best] = asking.ask(Query(0, "What of the oven?", None, "bakery"), 1)
    assert (best.number, best.score) == (lessons[2].number, pytest.approx(1 - 0.6 * 0.5))


@pytest.mark.parametrize("wrapper", ["keyword", "names", "quoted", "preference"])
@pytest.mark.parametrize("question", ["what?", 'Can you recommend what Ada calls "the oven"?'])
def test_no_boosted_answer_comes_with_the_components_of_the_system_within(
    wrapper: str, question: str, tools: Any, tiny: Any
) -> None:
    inner = tools.Scripted(lambda query, k: [Match(one.number, 0.5, (0.25, 0.25)) for one in tiny][:k])
    system = WRAPPERS[wrapper].wrap("odd", inner)
    system.load(tiny)
    assert {match.components for match in system.ask(Query(0, question, None, None), 3)} == {()}
