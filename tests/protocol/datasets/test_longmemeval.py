"""LongMemEval-S becomes one project a question; twice the same session is one; the oracle file is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.records import Passage
from runner.bench.workload import CorpusLessons, Workload
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.records import Corpus, RankedSegment, SearchScope
from runner.runs.config import RunConfig
from runner.systems.system import Match

LONGMEMEVAL = SUITES["longmemeval"]
Item = dict[str, Any]
Write = Callable[[Any], Path]


def test_session_is_its_date_and_its_turns_without_empty_ones(write: Write, item: Item) -> None:
    corpus = LONGMEMEVAL.load(write([item]))
    assert [(one.id, one.text) for one in corpus.segments] == [
        ("answer_1", "[2023/05/20 (Sat) 10:44]\nuser: I drink tea."),
        ("other", "[2023/05/21 (Sun) 08:00]\nuser: Rain?"),
    ]
    assert corpus.segments[0].occurred_at == datetime(2023, 5, 20, 10, 44, tzinfo=UTC)


def test_a_passage_is_a_turn_of_the_user_and_its_words_are_embedded(write: Write, item: Item) -> None:
    item["haystack_sessions"][0] = [
        {"role": "assistant", "content": "Hello?"}, {"role": "user", "content": " Tea\0, " + 700 * "m"},
        {"role": "assistant", "content": "Noted."}, {"role": "user", "content": "And milk."},
    ]  # fmt: skip
    first = LONGMEMEVAL.load(write([item])).segments[0]
    assert first.passages == (
        Passage(f"user:  Tea, {700 * 'm'}", f" Tea, {694 * 'm'}"),
        Passage("user: And milk.", "And milk."),
    )


def test_id_twice_with_the_same_turns_is_one_session_under_its_first_date(write: Write, item: Item) -> None:
    times = [one.occurred_at for one in LONGMEMEVAL.load(write([item])).segments]
    assert times[1:] == [datetime(2023, 5, 21, 8, 0, tzinfo=UTC)]


def test_id_twice_with_other_turns_is_kept_under_a_second_id(write: Write, item: Item) -> None:
    item["haystack_sessions"][2] = [{"role": "user", "content": "Snow?"}]
    assert [one.id for one in LONGMEMEVAL.load(write([item])).segments] == ["answer_1", "other", "other#2"]


def test_question_carries_its_type_date_and_evidence(write: Write, item: Item) -> None:
    (question,) = LONGMEMEVAL.load(write([item])).questions
    assert (question.key, question.project, question.type) == ("q1_abs", "q1_abs", "multi-session")
    assert question.gold == ("answer_1",)
    assert question.as_of == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)


def test_evidence_outside_the_haystack_resolves_to_nothing(write: Write, item: Item) -> None:
    item["answer_session_ids"] = ["answer_1", "answer_2"]
    (question,) = LONGMEMEVAL.load(write([item])).questions
    assert [(one.cited, one.segment) for one in question.evidence] == [
        ("answer_1", "answer_1"),
        ("answer_2", None),
    ]


def test_view_without_abstention_goes_by_the_key(write: Write, item: Item) -> None:
    everything, view = LONGMEMEVAL.views(current())
    assert (everything.name, view.name) == ("all", "without abstention")
    assert not view("q1_abs", "multi-session")
    assert view("q1", "multi-session")
    assert LONGMEMEVAL.load(write([item])).shape["abstention"] == 1


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("question_id", None, "'question_id' of item 0 of .* must be a string, but is None"),
        ("question_type", "riddle", "'question_type' of q1_abs is 'riddle', which is none of"),
        ("question_date", "today", "the date of question q1_abs cannot be read: 'today'"),
        ("haystack_dates", ["2023/05/20 (Sat) 10:44"], "3 haystack_session_ids, 1 haystack_dates and 3"),
        ("haystack_sessions", [[{"role": "user"}], [], []], "turn 0 of session 'answer_1' .* no 'content'"),
    ],
)
def test_wrong_item_and_key_are_named(write: Write, item: Item, key: str, value: Any, sentence: str) -> None:
    item[key] = value
    with pytest.raises(CorpusError, match=sentence):
        LONGMEMEVAL.load(write([item]))


def test_question_that_stands_twice_is_refused(write: Write, item: Item) -> None:
    with pytest.raises(CorpusError, match="the question 'q1_abs' occurs twice"):
        LONGMEMEVAL.load(write([item, item]))


def test_development_split_loads_whole(longmemeval_corpus: Corpus) -> None:
    assert longmemeval_corpus.sha256 == "1b6e84ec6f26bed1a4b8e41b828ed99476627b46dfd0cd4b801f40324ec95c53"
    assert dict(longmemeval_corpus.shape) == {
        "projects": 246,
        "segments": 11_777 - 7,  # seven haystacks hold an id twice, with the same turns
        "questions": 246,
        "scored": 246,
        "abstention": 16,
        "single-session-user": 31,
        "multi-session": 71,
        "single-session-preference": 15,
        "temporal-reasoning": 68,
        "knowledge-update": 38,
        "single-session-assistant": 23,
    }
    assert not any("#" in segment.id for segment in longmemeval_corpus.segments)
    assert all(one.segment for question in longmemeval_corpus.questions for one in question.evidence)


def test_longmemeval_texts_hold_no_id(longmemeval_corpus: Corpus) -> None:
    """No raw turn of the corpus holds such a string by chance, so the check needs no exception."""
    labels = ("answer_", "has_answer", "sharegpt_", "ultrachat_", "_session_ids", "question_id")
    for segment in longmemeval_corpus.segments:
        for label in (*labels, segment.id, segment.project, segment.external_id):
            assert label not in segment.text


def test_order_of_opaque_ids_does_not_put_evidence_first(longmemeval_corpus: Corpus) -> None:
    """Ties go by the opaque id: gold is in the first half of its haystack about as often as not."""
    gold = {(question.project, one) for question in longmemeval_corpus.questions for one in question.gold}
    haystacks: dict[str, list[tuple[str, bool]]] = {}
    for one in longmemeval_corpus.segments:
        haystacks.setdefault(one.project, []).append((one.external_id, (one.project, one.id) in gold))
    ranks = [at / len(rows) for rows in haystacks.values() for at, (_, hit) in enumerate(sorted(rows)) if hit]
    assert 0.44 < sum(ranks) / len(ranks) < 0.54


def test_equal_texts_are_one_object(longmemeval_corpus: Corpus) -> None:
    texts = [segment.text for segment in longmemeval_corpus.segments]
    assert len(set(map(id, texts))) == len(set(texts))


# At turn level


def turned(write: Write, *items: Item) -> Corpus:
    return LONGMEMEVAL.load(write(list(items)), "turn")


def test_at_turn_level_a_lesson_is_a_turn_with_its_date_role_and_position(write: Write, item: Item) -> None:
    item["haystack_sessions"][0] += [
        {"role": "assistant", "content": " "},
        {"role": "assistant", "content": "Noted."},
    ]
    corpus = turned(write, item)
    assert [(one.id, one.text, one.role, one.position) for one in corpus.segments] == [
        ("answer_1:1", "[2023/05/20 (Sat) 10:44]\nuser: I drink tea.", "user", 1),
        ("answer_1:3", "[2023/05/20 (Sat) 10:44]\nassistant: Noted.", "assistant", 2),
        ("other:1", "[2023/05/21 (Sun) 08:00]\nuser: Rain?", "user", 4),
    ]
    assert [len(one.passages) for one in corpus.segments] == [1, 1, 1]


def test_at_turn_level_marked_turns_are_the_gold(write: Write, item: Item) -> None:
    item["haystack_sessions"][0] += [{"role": "user", "content": "And milk.", "has_answer": False}]
    (question,) = turned(write, item).questions
    assert question.gold == ("answer_1:1",)


def test_a_question_without_a_marked_turn_is_scored_and_has_no_gold(write: Write, item: Item) -> None:
    del item["haystack_sessions"][0][0]["has_answer"]
    corpus = turned(write, item)
    (question,) = corpus.questions
    assert question.scored
    assert not question.gold
    assert (corpus.shape["scored"], corpus.shape["answerable"]) == (1, 0)


def test_the_development_split_has_13_questions_without_a_marked_turn(longmemeval_path: Path) -> None:
    corpus = LONGMEMEVAL.load(longmemeval_path, "turn")
    unmarked = [question.key for question in corpus.questions if not question.gold]
    assert len(unmarked) == 13
    assert all("_abs" in key for key in unmarked)
    assert (corpus.shape["scored"], corpus.shape["answerable"]) == (246, 233)
    assert len({one for question in corpus.questions for one in question.gold}) > 400
    assert {segment.role for segment in corpus.segments} == {"user", "assistant"}


# The pool of all haystacks


def test_the_pool_is_a_scope_that_can_be_asked_for(write: Write, item: Item) -> None:
    path = write([item])
    choice = RunConfig(suite="longmemeval", level="session", scopes=("pool", "haystack"))
    corpus = LONGMEMEVAL.chosen(path, choice, current())
    assert [(scope.name, scope.pooled) for scope in corpus.scopes] == [("haystack", False), ("pool", True)]
    assert LONGMEMEVAL.load(path).scopes == (SearchScope("haystack"),)
    alone = LONGMEMEVAL.chosen(path, replace(choice, scopes=("pool",)), current())
    assert [scope.name for scope in alone.scopes] == ["pool"]


def test_copies_of_a_session_are_one_hit_at_the_place_of_the_first(write: Write, item: Item) -> None:
    corpus = LONGMEMEVAL.load(write([item, {**item, "question_id": "q2"}]))
    lessons = CorpusLessons(corpus, None)
    material = Workload(corpus, None, (), lessons)
    numbers = [number for number, one in enumerate(lessons.ids) if one == "other"]
    first = next(number for number, one in enumerate(lessons.ids) if one == "answer_1")
    matches = [Match(numbers[1], 3.0), Match(first, 2.0), Match(numbers[0], 1.0)]
    assert list(material.hits(matches)) == [RankedSegment("other", 3.0), RankedSegment("answer_1", 2.0)]
