"""One id planted in one text is found; ordinary text is not taken for an id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from runner.protocol.editions import current
from runner.protocol.gates import RunFacts, gates_of
from runner.protocol.gates.leak import _keys
from runner.records import Corpus, Evidence, Question, SearchScope, Segment, Status

Changed = Callable[..., RunFacts]

GATES = {gate.name: gate for gate in gates_of(current())}
GOLD = "answer_280352e9_1"


def haystack(*texts: str, suite: str = "longmemeval", **segment: Any) -> Corpus:
    """One question with a session for each text; ids in LongMemEval's form."""
    ids = (GOLD, "sharegpt_yywfIrx_0", "ultrachat_168672", "eac54add", "55a59bc9_2")
    pairs = zip(ids, texts, strict=False)
    segments = tuple(Segment("gpt4_2655b836", one, text, **segment) for one, text in pairs)
    question = Question("gpt4_2655b836", "gpt4_2655b836", "Which?", "multi-session", (Evidence(GOLD, GOLD),))
    return Corpus(suite, "x.json", "f" * 64, "session", segments, (question,), (SearchScope("haystack"),))


@pytest.mark.parametrize(
    "planted", [GOLD, "answer_sharegpt_hA7AkP3_0", '"has_answer": true', "eac54add", "gpt4_2655b836"]
)
def test_an_id_or_label_in_a_text_fails(changed: Changed, planted: str) -> None:
    texts = ["[2023/05/30 (Tue) 23:40]\nuser: hello"] * 4
    assert GATES["leak"](changed(corpus=haystack(*texts))).status is Status.PASSED
    texts[2] += f" {planted} and more"
    result = GATES["leak"](changed(corpus=haystack(*texts)))
    assert result.status is Status.FAILED
    assert "segment ultrachat_168672 of gpt4_2655b836" in result.where


@pytest.mark.parametrize("planted", ["see D12:4.", "conv-1/D2", "conv-2/q1", "has_answer"])
def test_a_dialog_id_fails_where_the_corpus_has_such(
    changed: Changed, verified: RunFacts, planted: str
) -> None:
    first, *others = verified.corpus.segments
    leaking = replace(first, text=f"{first.text} {planted}")
    result = GATES["leak"](changed(corpus_segments=(leaking, *others)))
    assert result.status is Status.FAILED
    assert "segment conv-1/D1" in result.where


@pytest.mark.parametrize("field", ["topic", "role"])
def test_a_topic_or_role_counts_as_text(changed: Changed, field: str) -> None:
    assert GATES["leak"](changed(corpus=haystack("user: hello", **{field: GOLD}))).status is Status.FAILED


def test_an_id_in_a_question_counts(changed: Changed, verified: RunFacts) -> None:
    first, *others = verified.corpus.questions
    leaking = replace(first, text="Where in conv-1/D1 is it?")
    result = GATES["leak"](changed(corpus_questions=(leaking, *others)))
    assert "question conv-1/q0" in result.where


@pytest.mark.parametrize(
    "text",
    [
        "the answer_key is in D3.js and D1:3",
        "in 2023 we met 55 times",
        "Ann: the answer is here, has it an answer?",
    ],
)
def test_ordinary_text_is_no_leak(changed: Changed, text: str) -> None:
    assert GATES["leak"](changed(corpus=haystack(text))).status is Status.PASSED


def test_a_short_or_plain_id_is_not_looked_for(changed: Changed) -> None:
    segments = tuple(
        Segment("garden", one, f"the garden, note s{n}, in 2024") for n, one in enumerate(("s1", "2024"))
    )
    corpus = replace(haystack(), segments=segments, suite="sample")
    assert GATES["leak"](changed(corpus=corpus)).status is Status.PASSED


def test_an_id_is_looked_for_by_the_word_that_the_fewest_ids_have() -> None:
    ids = [f"ann/sms/{number}" for number in range(1000, 1100)]
    assert {len(group) for group in _keys(ids).values()} == {1}
