"""ConvoMem, in both published shapes, on small files written to them: none of the real ones was at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.records import Corpus, Evidence

CONVOMEM = SUITES["convomem"]
TALK = {
    "id": "9f1c7a3e-aaaa",
    "containsEvidence": True,
    "messages": [
        {"speaker": "User", "text": "I have three cats."},
        {"speaker": "Assistant", "text": "Lovely cats!"},
        {"speaker": "User", "text": "Their names are Ox, Bo and Al."},
    ],
}
OTHER = {"id": "9f1c7a3e-bbbb", "messages": [{"speaker": "user", "text": "Rain today."}]}


def item(*cited: str, speaker: str = "User", **more: Any) -> dict[str, Any]:
    return {
        "question": "How many cats?", "answer": "three",
        "message_evidences": [{"speaker": speaker, "text": text} for text in cited],
        "conversations": [TALK, OTHER], "category": "pets", "personId": "p1", **more,
    }  # fmt: skip


def corpus(tmp_path: Path, content: Any, kind: str = "user", level: str = "turn") -> Corpus:
    folder = tmp_path / "evidence_questions" / f"{kind}_evidence" / "1_evidence"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "p1_Nurse.json").write_text(json.dumps(content))
    return CONVOMEM.load(CONVOMEM.locate(tmp_path, {}), level)


def test_each_message_of_an_item_is_a_lesson_of_its_project(tmp_path: Path) -> None:
    found = corpus(tmp_path, {"evidence_items": [item("I have three cats."), item("Rain today.")]})
    project = "user_evidence/1_evidence/p1_Nurse/0"
    first = [one for one in found.segments if one.project == project]
    assert [(one.id.removeprefix(project), one.text, one.role, one.position) for one in first] == [
        ("/c1:1", "user: I have three cats.", "user", 1),
        ("/c1:2", "assistant: Lovely cats!", "assistant", 2),
        ("/c1:3", "user: Their names are Ox, Bo and Al.", "user", 3),
        ("/c2:1", "user: Rain today.", "user", 5),
    ]
    assert found.shape["projects"] == 2
    assert {question.type for question in found.questions} == {"user"}


def test_evidence_is_the_message_with_the_same_words_of_the_same_speaker(tmp_path: Path) -> None:
    items = [
        item("i have  THREE cats."), item("three cats"), item("Lovely cats!"),
        item("Lovely cats!", speaker="Assistant"), item(),
    ]  # fmt: skip
    questions = corpus(tmp_path, {"evidence_items": items}).questions
    assert [question.gold for question in questions] == [
        ("user_evidence/1_evidence/p1_Nurse/0/c1:1",),
        ("user_evidence/1_evidence/p1_Nurse/1/c1:1",),  # part of a message
        (),  # the assistant said it
        ("user_evidence/1_evidence/p1_Nurse/3/c1:2",),
        (),
    ]
    assert questions[2].evidence == (Evidence("Lovely cats!", None),)
    assert [question.scored for question in questions] == [True, True, True, True, False]


def test_a_conversation_can_be_a_lesson(tmp_path: Path) -> None:
    found = corpus(tmp_path, {"evidence_items": [item("Their names are Ox, Bo and Al.")]}, level="session")
    assert len(found.segments) == 2
    assert found.segments[0].text.count("\n") == 2
    assert found.questions[0].gold == ("user_evidence/1_evidence/p1_Nurse/0/c1",)


def test_test_cases_that_are_mixed_before_share_their_conversations(tmp_path: Path) -> None:
    one, other = item("I have three cats.", conversations=[]), item("Rain today.", conversations=[])
    case = {"evidenceItems": [one, other], "conversations": [TALK, OTHER], "contextSize": 2}
    found = corpus(tmp_path, [case, case], "preference")
    assert len(found.segments) == 8
    assert [(question.project[-2:], question.key[-3:]) for question in found.questions] == [
        ("/0", "/q0"), ("/0", "/q1"), ("/1", "/q0"), ("/1", "/q1"),
    ]  # fmt: skip
    assert found.questions[3].gold == ("preference_evidence/1_evidence/p1_Nurse/1/c2:1",)


@pytest.mark.parametrize(
    ("content", "kind", "sentence"),
    [
        ({"items": []}, "user", "has no 'evidence_items'; its keys are: items"),
        ({"evidence_items": [item(conversations=[{"messages": [{"text": "x"}]}])]}, "user",
         "message 0 of conversation 0 of item 0 of .* has no 'speaker'"),
        ({"evidence_items": []}, "rumour", "the folder of .* is 'rumour', which is none of: user, assistant"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, content: Any, kind: str, sentence: str) -> None:
    with pytest.raises(CorpusError, match=sentence):
        corpus(tmp_path, content, kind)


def test_a_folder_without_a_file_of_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"holds no .* of ConvoMem \(evidence_questions\)"):
        CONVOMEM.locate(tmp_path, {})
