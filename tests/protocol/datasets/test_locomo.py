"""LoCoMo becomes sessions (or turns) and questions, with the counts that the protocol pins."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.records import Passage
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.locomo import resolve_evidence
from runner.protocol.editions import current
from runner.records import Corpus

LOCOMO = SUITES["locomo"]
Conversation = dict[str, Any]
Write = Callable[[Any], Path]


@pytest.fixture
def real(locomo_corpora: dict[str, Corpus]) -> Corpus:
    return locomo_corpora["session"]


@pytest.fixture
def real_turns(locomo_corpora: dict[str, Corpus]) -> Corpus:
    return locomo_corpora["turn"]


def test_session_is_its_date_and_its_turns_with_captions(write: Write, conversation: Conversation) -> None:
    corpus = LOCOMO.load(write([conversation]))
    assert [(one.id, one.text) for one in corpus.segments] == [
        ("conv-1/D1", "[12:05 am on 8 May, 2023]\nAna: Look! [a red kite]\nBo: Nice."),
        ("conv-1/D2", "[1:56 pm on 9 May, 2023]\nBo: I sold the kite."),
    ]
    assert corpus.segments[0].occurred_at == datetime(2023, 5, 8, 0, 5, tzinfo=UTC)
    assert {one.project for one in corpus.segments} == {"conv-1"}


def test_turn_carries_the_date_of_its_session(write: Write, conversation: Conversation) -> None:
    corpus = LOCOMO.load(write([conversation]), "turn")
    assert corpus.segments[1].id == "conv-1/D1:2"
    assert corpus.segments[1].text == "[12:05 am on 8 May, 2023]\nBo: Nice."
    assert corpus.shape["turns"] == corpus.shape["segments"] == 3


def test_a_turn_has_its_speaker_and_position_and_a_session_neither(
    write: Write, conversation: Conversation
) -> None:
    turns = LOCOMO.load(write([conversation]), "turn").segments
    assert [(one.role, one.position) for one in turns] == [("Ana", 1), ("Bo", 2), ("Bo", 4)]
    sessions = LOCOMO.load(write([conversation])).segments
    assert {(one.role, one.position) for one in sessions} == {(None, None)}


def test_a_passage_is_lines_of_turns_without_the_date(write: Write, conversation: Conversation) -> None:
    session, other = LOCOMO.load(write([conversation])).segments
    text = "Ana: Look! [a red kite]\nBo: Nice."
    assert session.passages == (Passage(text, text),)
    assert [one.text for one in other.passages] == ["Bo: I sold the kite."]
    turns = LOCOMO.load(write([conversation]), "turn").segments
    assert [one.passages for one in turns][1] == (Passage("Bo: Nice.", "Bo: Nice."),)


def test_real_sessions_have_the_passages_that_the_protocol_counts(real: Corpus, real_turns: Corpus) -> None:
    assert sum(len(one.passages) for one in real.segments) == 2739
    assert all(passage.text in one.text for one in real.segments for passage in one.passages)
    assert all(one.text.endswith(f"\n{one.passages[0].text}") for one in real_turns.segments)
    assert {len(one.passages) for one in real_turns.segments} == {1}


def test_question_is_keyed_by_position_and_asked_after_the_last_session(
    write: Write, conversation: Conversation
) -> None:
    first, second, third = LOCOMO.load(write([conversation])).questions
    assert (first.key, first.type, first.gold) == ("conv-1/q0", "multi-hop", ("conv-1/D1", "conv-1/D2"))
    assert (second.type, second.gold) == ("temporal", ("conv-1/D2",))
    assert (third.type, third.scored) == ("open-domain", False)
    assert first.as_of == datetime(2023, 5, 9, 13, 56, tzinfo=UTC)


def _delete(*path: str | int) -> Callable[[Conversation], None]:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return change


def _put(new: Any, *path: str | int) -> Callable[[Conversation], None]:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = new

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_delete("sample_id"), "item 0 of .* has no 'sample_id'; its keys are: conversation"),
        (_delete("conversation", "session_2_date_time"), "conv-1 has no 'session_2_date_time'"),
        (_put("May", "conversation", "session_1_date_time"), "date of session 1 of conv-1 cannot be read"),
        (_delete("conversation", "session_1", 1, "text"), "turn 2 of session 1 of conv-1 has no 'text'"),
        (_put("D2:7", "conversation", "session_1", 0, "dia_id"), "'dia_id' of turn 1 .* is 'D2:7', not D1"),
        (_put(6, "qa", 1, "category"), "'category' of question 1 of conv-1 is 6, which is none of: 1, 2"),
        (_put("D1:1", "qa", 0, "evidence"), "'evidence' of question 0 of conv-1 must be a list"),
    ],
)
def test_wrong_item_and_key_are_named(
    write: Write, conversation: Conversation, change: Callable[[Conversation], None], sentence: str
) -> None:
    change(conversation)
    with pytest.raises(CorpusError, match=sentence):
        LOCOMO.load(write([conversation]))


def test_conversation_that_stands_twice_is_refused(write: Write, conversation: Conversation) -> None:
    with pytest.raises(CorpusError, match="the question 'conv-1/q0' occurs twice"):
        LOCOMO.load(write([conversation, conversation]))


def test_real_corpus_has_the_shape_and_hash_that_the_protocol_pins(real: Corpus) -> None:
    pins = current().suites["locomo"]
    assert real.sha256 == pins.sha256
    assert {name: real.shape[name] for name in pins.shape} == dict(pins.shape)
    assert len(set(real.project_sizes().values())) > 1
    assert len({one.text for one in real.segments}) == 272


def test_all_evidence_of_the_real_corpus_resolves_at_session_level(real: Corpus) -> None:
    assert sum(question.scored for question in real.questions) == 1982
    assert all(one.segment for question in real.questions for one in question.evidence)
    assert sum(len(question.gold) > 1 for question in real.questions) == 333


def test_view_of_categories_1_to_4_leaves_out_adversarial_questions(real: Corpus) -> None:
    everything, view = LOCOMO.views(current())
    assert (everything.name, view.name) == ("all", "categories 1-4")
    assert all(everything(question.key, question.type) for question in real.questions)
    assert sum(view(question.key, question.type) for question in real.questions) == 1986 - 446


@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_locomo_texts_hold_no_id(locomo_corpora: dict[str, Corpus], granularity: str) -> None:
    for segment in locomo_corpora[granularity].segments:
        assert not re.search(r"\bD\d+:\d+", segment.text)
        for label in ("dia_id", "session_", "conv-", segment.id, segment.external_id):
            assert label not in segment.text


SESSIONS = {f"c/D{session}" for session in range(1, 31)}
TURNS = {f"c/D{session}:{turn}" for session in range(1, 31) for turn in range(1, 30)}


def found(strings: list[str], turns: bool = False) -> list[tuple[str, str | None]]:
    pairs = resolve_evidence(strings, "c", TURNS if turns else SESSIONS, turns)
    return [(one.cited, one.segment) for one in pairs]


@pytest.mark.parametrize(
    ("strings", "cited"),
    [
        (["D1:3"], ["D1:3"]), (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"]),
        (["D:11:26", "D20:21"], ["D:11:26", "D20:21"]), (["D30:05"], ["D30:05"]),
        (["D1:18", "D", "D1:20"], ["D1:18", "D1:20"]), (["D1:1", "D1:1"], ["D1:1"]),
    ],
)  # fmt: skip
def test_every_id_in_every_string_is_read(strings: list[str], cited: list[str]) -> None:
    assert [one for one, _ in found(strings)] == cited
    assert all(segment for _, segment in found(strings))


@pytest.mark.parametrize(
    ("text", "session", "turn"),
    [
        ("D30:05", "c/D30", "c/D30:5"), ("D:11:26", "c/D11", "c/D11:26"), ("D1:3", "c/D1", "c/D1:3"),
        ("D4:36", "c/D4", None), ("D31:1", None, None), ("see above", None, None),
    ],
)  # fmt: skip
def test_id_resolves_to_its_session_or_its_turn_where_there_is_one(
    text: str, session: str | None, turn: str | None
) -> None:
    assert found([text]) == [(text, session)]
    assert found([text], turns=True) == [(text, turn)]


def test_question_whose_strings_hold_no_id_stays_with_unresolved_evidence() -> None:
    assert found(["D", "see above"]) == [("D", None), ("see above", None)]
