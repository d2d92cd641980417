"""MemBench, in both published shapes, on small files written to them: none of the real ones was at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.records import Corpus, Evidence

MEMBENCH = SUITES["membench"]


def trajectory(messages: Any, *targets: Any) -> dict[str, Any]:
    asked = {
        "qid": 0, "question": "Where does Maya live?", "answer": "Boston", "target_step_id": list(targets),
        "choices": {"A": "Austin", "B": "Boston"}, "ground_truth": "B", "time": "'2024-10-01 08:13' Tuesday",
    }  # fmt: skip
    return {"tid": 4, "message_list": messages, "QA": asked}


SESSIONS = [
    [
        {"sid": 0, "user_message": "Maya moved.", "assistant_message": "Where to?", "place": "Boston, MA"},
        {"sid": 1, "user_message": "To Boston.", "assistant_message": "Noted.", "time": "'2024-10-01 08:00'"},
    ],
    [{"sid": 0, "user_message": "Rain.", "assistant_message": "Sad."}],
]


def corpus(tmp_path: Path, content: Any, name: str = "FirstAgent/simple.json") -> Corpus:
    path = tmp_path / "MemData" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return MEMBENCH.load(MEMBENCH.locate(tmp_path, {}))


def test_a_step_is_what_user_and_assistant_say_and_sessions_are_told_apart(tmp_path: Path) -> None:
    found = corpus(tmp_path, {"roles": [trajectory(SESSIONS, [1, 0])]})
    project = "FirstAgent/simple/roles/0"
    assert [(one.id, one.position) for one in found.segments] == [
        (f"{project}/s0:0", 1), (f"{project}/s0:1", 2), (f"{project}/s1:0", 4),
    ]  # fmt: skip
    assert found.segments[0].text == "user: Maya moved. (place: Boston, MA)\nassistant: Where to?"
    assert found.segments[1].text == "user: To Boston. (time: '2024-10-01 08:00')\nassistant: Noted."
    assert found.questions[0].gold == (f"{project}/s0:1",)
    assert found.questions[0].type == "simple"


def test_a_step_of_an_observer_is_a_string(tmp_path: Path) -> None:
    found = corpus(tmp_path, {"events": [trajectory(["Maya moved.", "She lives in Boston."], 1)]},
                   "ThirdAgent/knowledge_update.json")  # fmt: skip
    assert [one.text for one in found.segments] == ["Maya moved.", "She lives in Boston."]
    assert found.questions[0].gold == ("ThirdAgent/knowledge_update/events/0/s0:1",)


def test_the_files_mixed_with_noise_have_categories_above_the_topics(tmp_path: Path) -> None:
    flat = [{"user": "Maya moved.", "agent": "Where to?"}, {"user": "To Boston.", "agent": "Noted."}]
    content = {"comparative": {"roles": [trajectory(flat, 1)]}, "noisy": {"roles": [trajectory(flat, 0, 0)]}}
    found = corpus(tmp_path, content, "FirstAgentDataLowLevel_multiple_0.json")
    assert [(question.type, question.gold[0].rpartition("/")[2]) for question in found.questions] == [
        ("comparative", "s0:1"),
        ("noisy", "s0:0"),
    ]
    assert len({question.project for question in found.questions}) == 2


def test_a_number_counts_steps_over_all_sessions(tmp_path: Path) -> None:
    found = corpus(tmp_path, {"roles": [trajectory(SESSIONS, 2)]})
    assert found.questions[0].gold == ("FirstAgent/simple/roles/0/s1:0",)


def test_a_step_that_is_not_there_is_cited_and_resolves_to_nothing(tmp_path: Path) -> None:
    found = corpus(tmp_path, {"roles": [trajectory(SESSIONS, 3, [0, 9], -1), trajectory(SESSIONS)]})
    assert [one.evidence for one in found.questions] == [
        (Evidence("3", None), Evidence("[0, 9]", None), Evidence("-1", None)),
        (),
    ]
    assert (found.shape["scored"], found.shape["questions"]) == (1, 2)


def test_neither_answer_nor_choices_nor_targets_reach_a_text(tmp_path: Path) -> None:
    found = corpus(tmp_path, {"roles": [trajectory(["Maya moved.", "Rain."], 0)]})
    texts = " ".join([*(one.text for one in found.segments), *(one.text for one in found.questions)])
    assert not any(word in texts for word in ("Austin", "Boston", "ground_truth", "target"))


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        ({"roles": [{"QA": {}}]}, "FirstAgent/simple.json", "roles/0 has no 'message_list'"),
        ({"roles": [trajectory(SESSIONS, "1")]}, "FirstAgent/simple.json", "holds '1', which is no step"),
        ({"roles": [trajectory([{"text": "x"}], 0)]}, "FirstAgent/simple.json",
         "message 0 of session 0 of .* has none of: user_message, user"),
        ({"roles": []}, "FirstAgent/riddle.json", "a category of .* is 'riddle', which is none of: simple"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, content: Any, name: str, sentence: str) -> None:
    with pytest.raises(CorpusError, match=sentence):
        corpus(tmp_path, content, name)
