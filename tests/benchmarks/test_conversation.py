"""The chats of 60 days: their right answers hold by construction, and the figures count what they say."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks import conversation
from benchmarks.chats import generator
from benchmarks.chats.generator import DAYS, LANGUAGES, NOW, USER, Question, make_chat
from benchmarks.chats.measure import Result, ask_about_boat, nearly_equal, open_memory
from pgmnemo.postgres.releases import default_version

CHANGED = Question("Where do I live?", "I live in Porto now.", "I live in Faro.", "address", False)


def result(*hits: str, context: tuple[str, ...] = ()) -> Result:
    """Return what a memory answered to CHANGED."""
    return Result("english", 1, CHANGED, hits, ("",) * len(hits), context)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_chat_has_an_answer_to_each_question_and_changes(language: str) -> None:
    chat = make_chat(language)
    said = {message.text: message for message in chat.messages}
    times = Counter(message.text for message in chat.messages)
    assert len({question.text for question in chat.questions}) == 30
    assert sum(question.older is not None for question in chat.questions) >= 8
    for question in chat.questions:
        assert times[question.answer] == 1
        assert said[question.answer].at < NOW
        if question.older is not None:
            assert times[question.older] == 1
            assert said[question.answer].at - said[question.older].at > timedelta(days=7)
        assert question.text not in times
    assert {*make_chat(language, seed=2).messages} != {*chat.messages}
    assert make_chat(language) == chat


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_chat_has_ten_to_twenty_messages_a_day_and_repeats_small_talk(language: str) -> None:
    chat = make_chat(language)
    assert len({message.at.date() for message in chat.messages}) == DAYS
    assert 10 <= len(chat.messages) / DAYS <= 20
    assert [message.at for message in chat.messages] == sorted(message.at for message in chat.messages)
    assert sum(count >= 10 for count in Counter(message.text for message in chat.messages).values()) >= 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_is_asked_as_often_as_said_and_after_its_fact(language: str) -> None:
    before: set[generator.Message] = set()
    for asked in (0, 1, 5, 10):
        chat = make_chat(language, asked=asked)
        assert before <= {*chat.messages}
        before = {*chat.messages}
        said = {message.text: message.at for message in chat.messages}
        for question in chat.questions:
            fact = said[question.older or question.answer]
            askings = [m.at for m in chat.messages if m.role == USER and m.text.endswith(question.text)]
            assert len(askings) == asked
            assert all(at > fact for at in askings)
    with pytest.raises(ValueError, match="from 0 to 10"):
        make_chat(language, asked=11)


def test_texts_are_nearly_equal_that_differ_in_form_or_a_few_letters() -> None:
    assert nearly_equal("Thanks!", "thanks")
    assert nearly_equal("What colour is my boat?", "Quick question: What colour is my boat?")
    assert nearly_equal("那个我的狗叫什么名字", "我的狗叫什么名字")
    assert not nearly_equal("My boat is green.", "What colour is my boat?")
    assert not nearly_equal("Ok", "Okay, that was a long day")


def test_a_result_counts_ranks_repeats_and_questions() -> None:
    found = result("Where do I live", "Ok", "ok", CHANGED.answer, "Well", "well", context=("Ok",))
    assert (found.rank, found.in_context, found.newer_ahead) == (4, False, True)
    assert (found.repeats, found.questions) == (1, 1)  # the sixth hit is beyond the first five
    assert not result(CHANGED.older or "", CHANGED.answer).newer_ahead
    assert result("Ok").rank is None
    assert not result("Ok").newer_ahead
    assert result(context=(CHANGED.answer,)).in_context


def test_the_table_leaves_a_missing_answer_in_the_number_of_questions() -> None:
    plain = replace(result("Ok"), question=replace(CHANGED, older=None))
    row = conversation.row_of([result(CHANGED.answer, context=(CHANGED.answer,)), plain])
    assert row[:3] == ("english", "1", "2")
    assert [cell.split()[0] for cell in row[3:6]] == ["50.0", "50.0", "50.0"]
    assert row[8] == "1"
    lines = list(conversation.misses([plain]))
    assert lines[1] == f"  expected: {CHANGED.answer}"
    assert lines[2] == "  not among 10 hits, not in context"
    assert lines[3].startswith("  1. Ok")


def test_the_command_measures_a_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results.json"
    words = ["--embedder", "hash", "--languages", "german", "--asked", "1", "--list", "--out", str(out)]
    assert conversation.main(words) == 0
    printed = capsys.readouterr().out
    assert "| german " in printed
    assert "\nThe boat, asked 10 times before: rank " in printed
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    assert len(results) == 30
    assert all(len(one["hits"]) == 10 for one in results)
    assert any(one["rank"] for one in results)
    missed = [one["question"]["text"] for one in results if one["rank"] != 1 or not one["in_context"]]
    assert all(f"direct: {text}\n" in printed for text in missed)


def test_a_small_memory_answers_before_the_question_was_asked() -> None:
    with open_memory(default_version(), "hash", {}) as memory:
        assert ask_about_boat(memory, times=0) == (1, True)


@pytest.mark.parametrize(
    "words", [["--asked", "11"], ["--asked", "x"], ["--languages", "latin"], ["--set", "a"]]
)
def test_a_wrong_option_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        conversation.main(words)
    assert ended.value.code == 2
    assert repr(words[1]) in capsys.readouterr().err


def test_an_unknown_version_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert conversation.main(["--version", "9.9.9"]) == 2
    assert capsys.readouterr().err.startswith("error: ")
