"""BEAM becomes messages and questions, with the counts that a little script of its own finds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.records import Passage
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.beam import INDEX, TYPES, without_plan_index
from runner.protocol.gates import RunFacts
from runner.protocol.gates.leak import leak
from runner.protocol.gates.of_corpus import coverage
from runner.records import Corpus, Status

BEAM, BEAM_500K = SUITES["beam"], SUITES["beam-500k"]
POINTED = (
    "information_extraction", "knowledge_update", "multi_session_reasoning", "temporal_reasoning",
    "contradiction_resolution",
)  # fmt: skip
Chat = list[Any]
Questions = dict[str, list[Any]]
Write = Callable[..., Path]


@pytest.fixture
def chat() -> Chat:
    """Two batches; the date of the first stands on its second message, the other has none."""
    return [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [
                [
                    {"id": 0, "role": "user", "content": "I sail\0 a dinghy ->-> 1,1", "index": "1,1"},
                    {
                        "id": 1,
                        "role": "assistant",
                        "content": "Fine: " + "x" * 800,
                        "time_anchor": "March-05-2024",
                    },
                ],
                [{"id": 2, "role": "user", "content": "A ->-> B is a path."}],
            ],
        },
        {"batch_number": 2, "turns": [[{"id": 3, "role": "assistant", "content": "Really? ->->  3,8"}]]},
    ]


@pytest.fixture
def questions() -> Questions:
    return {
        "abstention": [{"question": "Who won?"}],
        "knowledge_update": [
            {"question": "Which boat?", "source_chat_ids": {"original_info": [0], "updated_info": [3, 0]}}
        ],
        "event_ordering": [{"question": "In which order?", "source_chat_ids": [0, [2, 3]]}],
    }


@pytest.fixture
def write_chat(tmp_path: Path, chat: Chat, questions: Questions) -> Write:
    """Write a chat as a folder of BEAM and return the folder of all chats."""

    def written(number: str = "1", name: str = "chat.json", value: Any = None) -> Path:
        place = tmp_path / "100K" / number
        (place / "probing_questions").mkdir(parents=True, exist_ok=True)
        (place / name).write_text(json.dumps(chat if value is None else value), encoding="utf-8")
        asked = place / "probing_questions" / "probing_questions.json"
        asked.write_text(json.dumps(questions), encoding="utf-8")
        return tmp_path / "100K"

    return written


def test_a_message_is_a_lesson_under_the_date_of_its_batch(write_chat: Write) -> None:
    corpus = BEAM.load(write_chat())
    first, second, third, fourth = corpus.segments
    assert (first.id, first.text) == ("100k_1/0", "[March-05-2024]\nuser: I sail a dinghy")
    assert second.text.startswith("[March-05-2024]\nassistant: Fine: xxx")
    assert first.occurred_at == third.occurred_at == datetime(2024, 3, 5, tzinfo=UTC)
    assert (fourth.text, fourth.occurred_at) == ("assistant: Really?", None)
    assert {one.as_of for one in corpus.questions} == {first.occurred_at}


def test_a_message_has_its_role_and_a_position_by_its_batch(write_chat: Write) -> None:
    lessons = BEAM.load(write_chat()).segments
    assert [one.role for one in lessons] == ["user", "assistant", "user", "assistant"]
    assert [one.position for one in lessons] == [1, 2, 3, 5]


def test_a_passage_is_the_message_of_which_the_beginning_is_embedded(write_chat: Write) -> None:
    first, second, *_ = BEAM.load(write_chat()).segments
    assert first.passages == (Passage("user: I sail a dinghy", "I sail a dinghy"),)
    assert [len(one.embedded) for one in second.passages] == [700]
    assert second.passages[0].text == second.text.partition("\n")[2]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("Shall we? ->-> 1,12", "Shall we?"), ("```\ncode\n``` ->-> 2,N/A\n", "```\ncode\n```"),
        ("So ->->  3,8", "So"), ("One ->-> 1,1 and more", "One  and more"), ("a ->-> b", "a ->-> b"),
    ],
)  # fmt: skip
def test_the_index_is_cut_off_and_nothing_else(content: str, kept: str) -> None:
    assert without_plan_index(content) == kept


def test_gold_is_every_id_however_deep_it_stands(write_chat: Write) -> None:
    who, which, order = BEAM.load(write_chat()).questions
    assert (who.type, who.scored) == ("abstention", False)
    assert (which.key, which.gold) == ("100k_1/q1", ("100k_1/0", "100k_1/3"))
    assert (order.type, order.gold) == ("event_ordering", ("100k_1/0", "100k_1/2", "100k_1/3"))


def test_the_truncated_chat_is_read_where_there_is_one(write_chat: Write, chat: Chat) -> None:
    write_chat()
    corpus = BEAM.load(write_chat(name="chat_trunecated.json", value=chat[:1]))
    assert corpus.shape["segments"] == 3
    assert sorted(corpus.files) == ["1/chat_trunecated.json", "1/probing_questions/probing_questions.json"]
    ordering = corpus.questions[2]
    assert [one.segment for one in ordering.evidence] == ["100k_1/0", "100k_1/2", None]


def test_chats_come_in_the_order_of_their_numbers_under_the_name_of_their_size(write_chat: Write) -> None:
    write_chat("10")
    path = write_chat("9")
    assert list(BEAM.load(path).project_sizes()) == ["100k_9", "100k_10"]
    assert list(BEAM_500K.load(path).project_sizes()) == ["500k_9", "500k_10"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda chat, asked: chat[0]["turns"][0][0].pop("role"),
         "message 0 of batch 1 of 1/chat.json has no 'role'"),
        (lambda chat, asked: chat[0]["turns"][0][0].pop("id"), "'id' of a message of batch 1 .* but is None"),
        (lambda chat, asked: chat.clear(), r"1/chat\.json holds no message; fetch it again"),
        (lambda chat, asked: chat[1].update(time_anchor="spring"),
         "date of batch 2 of .* cannot be read: 'spring'"),
        (lambda chat, asked: asked.update(riddle=[{"question": "?"}]),
         "type of question 3 of .* is 'riddle'"),
        (lambda chat, asked: asked["event_ordering"][0].update(source_chat_ids=[1.5]),
         "'source_chat_ids' of question 2 of .* holds 1.5"),
    ],
)  # fmt: skip
def test_a_broken_chat_is_named(
    write_chat: Write,
    chat: Chat,
    questions: Questions,
    change: Callable[[Chat, Questions], object],
    complaint: str,
) -> None:
    change(chat, questions)
    with pytest.raises(CorpusError, match=complaint):
        BEAM.load(write_chat())


def test_a_chat_that_lacks_a_file_or_is_strange_is_named(write_chat: Write) -> None:
    path = write_chat()
    asked = path / "1" / "probing_questions" / "probing_questions.json"
    text = asked.read_text(encoding="utf-8")
    asked.unlink()
    with pytest.raises(CorpusError, match=r"1 holds no probing_questions/probing_questions\.json; fetch it"):
        BEAM.load(path)
    asked.write_text(text)
    (path / "1" / "chat.json").rename(path / "kept")
    with pytest.raises(CorpusError, match=r"1 holds no chat\.json; fetch it"):
        BEAM.load(path)
    (path / "kept").rename(path / "1" / "chat.json")
    (path / "1").rename(path / "1 (copy)")
    with pytest.raises(CorpusError, match=r"1 \(copy\) is no chat of BEAM, whose folders are numbers"):
        BEAM.load(path)


def test_evidence_that_a_changed_chat_lacks_is_got_again(
    write_chat: Write, chat: Chat, in_force: Callable[..., RunFacts]
) -> None:
    del chat[1]
    found = coverage(in_force(BEAM.load(write_chat()), False))
    assert found.status is Status.FAILED
    assert "100k_1/q1 cites 3" in found.where
    assert found.resolve == (
        "get the files that were changed (1/chat.json, 1/probing_questions/probing_questions.json) with "
        "`python -m runner fetch beam`"
    )


def test_the_chats_folder_of_the_repository_leads_to_it(write_chat: Write, tmp_path: Path) -> None:
    path = write_chat()
    (tmp_path / "clone").mkdir()
    path.parent.joinpath("100K").rename(tmp_path / "clone" / "100K")
    (tmp_path / "clone").rename(tmp_path / "chats")
    assert BEAM.locate(tmp_path, {}) == tmp_path / "chats" / "100K"


def test_the_size_s_folder_its_parent_and_the_variable_lead_to_it(write_chat: Write) -> None:
    path = write_chat()
    for place in (path, path.parent):
        assert BEAM.locate(place, {}) == path
        assert BEAM.locate(None, {"BEAM_DATA_DIR": str(place)}) == path
    with pytest.raises(CorpusError, match=r"is the folder of the suite beam; .* 500K of BEAM 500K"):
        BEAM_500K.locate(path, {})
    with pytest.raises(
        CorpusError, match=r"holds no \*/chat\.json of BEAM 500K .*, nor does a folder 500K in it"
    ):
        BEAM_500K.locate(path.parent, {})


@pytest.fixture(scope="module")
def real(beam_path: Path) -> Corpus:
    return BEAM.load(BEAM.locate(beam_path, {}))


def _ids(value: Any) -> list[int]:
    if isinstance(value, dict | list):
        return [one for part in (value.values() if isinstance(value, dict) else value) for one in _ids(part)]
    return [value]


def test_the_six_chats_have_the_counts_that_their_files_show(real: Corpus, beam_path: Path) -> None:
    messages = cited = 0
    for place in (beam_path / "100K").iterdir():
        short, whole = place / "chat_trunecated.json", place / "chat.json"
        batches = json.loads((short if short.exists() else whole).read_text(encoding="utf-8"))
        messages += sum(len(exchange) for batch in batches for exchange in batch["turns"])
        asked = json.loads(
            (place / "probing_questions" / "probing_questions.json").read_text(encoding="utf-8")
        )
        golds = [set(_ids(one.get("source_chat_ids", []))) for entries in asked.values() for one in entries]
        cited += sum(map(len, golds))
    assert (messages, cited) == (1284, len([e for q in real.questions for e in q.evidence]))
    assert dict(real.shape) == {
        "projects": 6, "segments": 1284, "questions": 120, "scored": 108, **dict.fromkeys(TYPES, 12),
    }  # fmt: skip
    assert all(evidence.segment for question in real.questions for evidence in question.evidence)
    assert sum(bool(one.gold) for one in real.questions if one.type in POINTED) == 60
    assert all(one.occurred_at for one in real.segments)


def test_no_index_reaches_a_text(real: Corpus, in_force: Callable[..., RunFacts]) -> None:
    assert not any(re.search(r"->\s*->", one.text) for one in real.segments)
    assert real.labels == (INDEX,)
    assert leak(in_force(real, True)).status is Status.PASSED
