"""Boosts by hand: what a question asks for, what a text bears of it, and how ranks move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runner.registry import Parts
from runner.systems import WRAPPERS, Match, Query
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


def test_the_wrappers_are_listed_where_one_is_not_known() -> None:
    assert isinstance(WRAPPERS, Parts)
    assert list(WRAPPERS) == ["passages", "keyword", "names", "quoted", "preference"]
    assert all(WRAPPERS[name].words for name in WRAPPERS)
