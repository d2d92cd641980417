"""LifeBench becomes a lesson for each record of a phone, as the development file has them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import SUITES, Suite
from runner.protocol.datasets.lifebench import WRITERS
from runner.records import Corpus

ENGLISH, CHINESE = SUITES["lifebench"], SUITES["lifebench-zh"]
Phone = dict[str, list[dict[str, Any]]]
Write = Callable[..., Path]


def said(user: str, assistant: str) -> dict[str, Any]:
    return {"user": {"action": "ask", "content": user}, "assistant": {"action": "say", "content": assistant}}


@pytest.fixture
def phone() -> Phone:
    """A record of each kind, a doubled one, and five questions."""
    made = {"summarized_info": "A secret summary.", "event_id": "9"}
    sms = {"type": "sms", "event_id": 9, "datetime": "2025-01-03 08:00:30", "contactName": "Bo"}
    note = {"title": "List", "content": "Buy a kite.", "datetime": "2025-01-02 20:15:00", "phone_id": "3"}
    return {
        "agent_chat": [{
            "date": "2025-01-01", "phone_id": 1,
            "conversation": {"turn 1": said("Which kite?", "A red one."), "turn 2": said("Why?", "Wind.")},
        }],
        "fitness_health": [{
            "日期": "2025-01-01", "城市": "Haikou", "跑步": {"运动类型": "none", "运动时间": "", "距离": 4},
            "用户交互事件": [{"时间": "08:30"}], "summarized_info": "Ann ran.", "phone_id": 1,
        }],
        "note": [{**note, **made}, {**note, **made}],
        "sms": [
            {**sms, "message_content": "Come at six", "message_type": "Receive", "phone_id": 1},
            {**sms, "message_content": "Yes", "message_type": "Send", "phone_id": 2},
            {**sms, "message_content": "Cy: No", "message_type": "Receive", "phone_id": 3},
            {**sms, "message_content": " ", "message_type": "Send", "phone_id": 4},
        ],
        "call": [
            {"contactName": "Bo", "datetime": "2025-01-03 09:00:00", "call_type": "Missed", "phone_id": 1}
        ],
        "calendar": [{
            "title": "Tea", "description": "", "start_time": "2025-01-05 10:00:00", "phone_id": 1,
            "datetime": "2025-01-04 09:00:00", **made,
        }],
        "photo": [{
            "caption": "A kite", "location": {"city": "Haikou", "district": "Longhua"},
            "imageTag": ["kite", "sky"], "ocrText": "none", "phone_id": 1,
            "datetime": "2025-01-04 10:00:00", **made,
        }],
        "push": [
            {"title": "Bank", "content": "Paid.", "datetime": "2025-01-04 11:00:00", "phone_id": 1, **made}
        ],
        "questions": [
            {"question": "Who?", "answer": "a secret answer", "question_type": "Multi-hop reasoning",
             "evidence": [{"type": "sms", "id": "1"}, {"type": "sms", "id": 1}, {"type": "push", "id": 77}]},
            {"question": "Which?", "question_type": "Nondeclarative", "evidence": [{"type": "note", "id": 3}],
             "options": [{"option": "A", "content": "a secret option"}]},
            {"question": "When?", "question_type": "Nondeclarative",
             "evidence": [{"type": "call", "phone_id": "1", "datetime": "2025-01-03 09:00:00"}]},
            {"question": "Why?", "question_type": "Information Extraction",
             "evidence": [{"type": "agent_chat", "id": 6, "error": "Phone data item not found"}]},
            {"question": "What?", "question_type": "Unanswerable"},
        ],
    }  # fmt: skip


@pytest.fixture
def write(tmp_path: Path, phone: Phone) -> Write:
    """Write the phone as that of a person, and return the folder of all persons."""

    def written(person: str = "ann") -> Path:
        place = tmp_path / "data_en" / person
        for kind, records in phone.items():
            path = place / ("QA/QA_clean.json" if kind == "questions" else f"phone_data/{kind}.json")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
        return tmp_path / "data_en"

    return written


def test_each_kind_of_record_is_a_lesson_under_its_minute(write: Write) -> None:
    texts = {one.id: one.text for one in ENGLISH.load(write()).segments}
    assert texts == {
        "ann/agent_chat/1": (
            "[2025-01-01]\nann: Which kite?\nassistant: A red one.\nann: Why?\nassistant: Wind."
        ),
        "ann/fitness_health/1": (
            "[2025-01-01]\n日期: 2025-01-01\n城市: Haikou\n距离: 4\n时间: 08:30\nsummarized_info: Ann ran."
        ),
        "ann/note/3": "[2025-01-02 20:15]\nList\nBuy a kite.",
        "ann/note/3#2": "[2025-01-02 20:15]\nList\nBuy a kite.",
        "ann/sms/1": "[2025-01-03 08:00]\nBo: Come at six",
        "ann/sms/2": "[2025-01-03 08:00]\nann: Yes",
        "ann/sms/3": "[2025-01-03 08:00]\nCy: No",
        "ann/call/1": "[2025-01-03 09:00]\nPhone call: Bo Missed",
        "ann/calendar/1": "[2025-01-04 09:00]\nTea\n2025-01-05 10:00:00",
        "ann/photo/1": "[2025-01-04 10:00]\nA kite\nHaikou Longhua \nkite, sky\nnone",
        "ann/push/1": "[2025-01-04 11:00]\nBank\nPaid.",
    }
    assert not any("secret" in text for text in texts.values())


def test_a_call_is_named_in_the_language_of_the_suite(write: Write) -> None:
    texts = {one.id: one.text for one in CHINESE.load(write()).segments}
    assert texts["ann/call/1"].endswith("\n电话: Bo Missed")


def test_gold_is_every_record_with_a_cited_id_and_no_other(write: Write) -> None:
    corpus = ENGLISH.load(write())
    assert {one.text: one.gold for one in corpus.questions} == {
        "Who?": ("ann/sms/1",), "Which?": ("ann/note/3", "ann/note/3#2"), "When?": ("ann/call/1",),
        "Why?": (), "What?": (),
    }  # fmt: skip
    assert {one.as_of for one in corpus.questions} == {datetime(2025, 1, 4, 11, tzinfo=UTC)}
    assert [one.key for one in corpus.questions][:2] == ["ann/q0", "ann/q1"]
    assert (corpus.shape["segments"], corpus.shape["scored"], corpus.shape["Unanswerable"]) == (11, 3, 1)


def test_a_person_is_a_project_and_a_folder_that_lacks_a_file_is_named(write: Write) -> None:
    write("cy")
    path = write()
    assert list(ENGLISH.load(path).project_sizes()) == ["ann", "cy"]
    assert sorted(ENGLISH.load(path).files)[:2] == ["ann/QA/QA_clean.json", "ann/phone_data/agent_chat.json"]
    for name in ("QA/QA_clean.json", *(f"phone_data/{kind}.json" for kind in WRITERS)):
        (path / "cy" / name).rename(path / "kept")
        with pytest.raises(CorpusError, match=rf"cy holds no {name}; fetch it, or take the person out"):
            ENGLISH.load(path)
        (path / "kept").rename(path / "cy" / name)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda phone: phone["sms"][0].pop("phone_id"), r"record 0 of .*sms\.json has no 'phone_id'"),
        (lambda phone: phone["sms"][0].update(datetime="now"), "time of ann/sms/1 is 'now'"),
        (lambda phone: phone["note"].append([]), r"record 2 of .*note\.json must be an object"),
        (lambda phone: phone["push"][0].pop("datetime"), r"the time of record 0 of .*push\.json"),
        (lambda phone: phone["photo"][0].update(imageTag="sky"), r"'imageTag' of record 0 of .*photo\.json"),
        (lambda phone: phone["questions"][0].update(question_type="Riddle"), "type of question 0 .*'Riddle'"),
        (lambda phone: [phone[kind].clear() for kind in WRITERS], "ann holds no record of a phone"),
    ],
)  # fmt: skip
def test_a_broken_record_is_named(
    write: Write, phone: Phone, change: Callable[[Phone], object], complaint: str
) -> None:
    change(phone)
    with pytest.raises(CorpusError, match=complaint):
        ENGLISH.load(write())


def test_the_folder_of_a_language_and_its_parent_lead_to_it(write: Write) -> None:
    path = write()
    assert ENGLISH.locate(path, {}) == ENGLISH.locate(path.parent, {}) == path
    with pytest.raises(CorpusError, match=r"holds no \*/QA/QA_clean\.json of LifeBench, Chinese"):
        CHINESE.locate(path.parent, {})


@pytest.mark.parametrize(
    ("suite", "folder", "language"), [(ENGLISH, "data_en", "en"), (CHINESE, "data", "zh")]
)
def test_the_persons_of_the_development_file_are_read_as_it_has_them(
    tmp_path: Path, suite: Suite, folder: str, language: str
) -> None:
    whole = Path(os.environ.get("LIFEBENCH_DATA_DIR", "")) / folder
    file = Path(os.environ.get("LOCOMO_DATA_DIR", "")) / f"general_dev/lifebench-{language}.jsonl"
    if not whole.is_dir() or not file.is_file():
        pytest.skip("no LifeBench: set LIFEBENCH_DATA_DIR to life_bench_data of its repository")
    theirs = SUITES["file"].load(file)
    for person in theirs.project_sizes():
        (tmp_path / person).symlink_to(whole / person)
    ours = suite.load(tmp_path)
    assert _lessons(ours) == _lessons(theirs)
    assert _questions(ours) == _questions(theirs)


def _lessons(corpus: Corpus) -> Counter[Any]:
    return Counter((one.project, one.text, one.occurred_at, one.passages) for one in corpus.segments)


def _questions(corpus: Corpus) -> Counter[Any]:
    texts = {one.id: one.text for one in corpus.segments}
    return Counter(
        (one.project, one.text, one.type, one.as_of, tuple(sorted(texts[gold] for gold in one.gold)))
        for one in corpus.questions
    )
