"""KnowMe-Bench becomes a lesson for each entry of its streams, with the gold that its answers cite."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.knowme import TYPES

KNOWME = SUITES["knowme"]
Data = dict[str, Any]
Write = Callable[..., Path]


@pytest.fixture
def data() -> Data:
    """Three entries in both spellings of the fields, and one question for each of four tasks."""
    first = {
        "id": 0,
        "timestamp": "1969-08-15 14:00:00",
        "location": "Path",
        "action": "I walked.",
        "dialogue": None,
        "environment": "It rained.",
        "background": "",
        "inner_thought": "Odd.",
    }
    second = {"id": 1, "timestamp": "", "location": "Home", "action": None, "dialogue": "Hello\0!"}
    third = {
        "id": 2,
        "timestamp": "1970-01-01 08:00:00",
        "location": "Home",
        "category": "Mind, Environment",
        "Mind": "I doubt.",
        "Environment": "Dark.",
        "Background": None,
    }
    answer = {"id": 1, "answer": "a secret answer", "reasoning": "a secret reason"}
    return {
        "input": [first, second, third],
        "Information Extraction": {**answer, "evidence": 2},
        "Adversarial Abstention": {**answer, "evidence_ids": [0, 0, 1]},
        "Temporal Reasoning": {**answer, "evidence": [1, 99]},
        "Mnestic Trigger Analysis": {**answer, "evidence": [99]},
    }  # fmt: skip


@pytest.fixture
def write(tmp_path: Path, data: Data) -> Write:
    """Write a data set; return the folder of all."""

    def written(name: str = "dataset1", ending: str = "s") -> Path:
        place = tmp_path / "KnowmeBench" / name
        for kind in ("input", "question", "answer"):
            (place / kind).mkdir(parents=True, exist_ok=True)
        (place / "input" / f"{name}.json").write_text(json.dumps(data["input"]))
        for task in TYPES:
            files = {"question": {"id": 1, "question": f"{task}?"}, "answer": data.get(task, {"id": "1"})}
            for kind, entry in files.items():
                path = place / kind / f"{task}_{kind}{ending}.json"
                path.write_text(json.dumps([entry]))
        return place.parent

    return written


def test_an_entry_is_a_lesson_with_a_line_for_each_of_its_fields(write: Write) -> None:
    first, second, third = KNOWME.load(write()).segments
    assert (first.id, first.text) == (
        "dataset1/0", "[1969-08-15 14:00:00]\nPath\nI walked.\nIt rained.\nOdd.",
    )  # fmt: skip
    assert first.occurred_at == datetime(1969, 8, 15, 14, tzinfo=UTC)
    assert (second.text, second.occurred_at) == ("Home\nHello!", None)
    assert third.text == "[1970-01-01 08:00:00]\nHome\nDark.\nI doubt."
    assert [one.position for one in (first, second, third)] == [1, 2, 3]
    assert not any("secret" in one.text for one in (first, second, third))


def test_gold_is_the_entries_that_the_answer_cites(write: Write) -> None:
    corpus = KNOWME.load(write("dataset3", ""))
    assert {one.type: one.gold for one in corpus.questions if one.scored} == {
        "Information Extraction": ("dataset3/2",),
        "Adversarial Abstention": ("dataset3/0", "dataset3/1"),
        "Temporal Reasoning": ("dataset3/1",),
    }
    assert {one.as_of for one in corpus.questions} == {datetime(1970, 1, 1, 8, tzinfo=UTC)}
    assert (corpus.shape["questions"], corpus.shape["scored"]) == (7, 3)
    assert corpus.questions[0].key == "dataset3/Information-Extraction/1"


def test_a_data_set_is_a_project_and_the_folder_or_its_parent_leads_to_all(write: Write) -> None:
    write("dataset3", "")
    path = write()
    assert list(KNOWME.load(path).project_sizes()) == ["dataset1", "dataset3"]
    assert KNOWME.locate(path, {}) == KNOWME.locate(path.parent, {}) == path


def test_a_data_set_that_lacks_a_file_is_named(write: Write) -> None:
    path = write()
    (path / "dataset1/input/dataset1.json").rename(path / "kept")
    with pytest.raises(
        CorpusError, match=r"dataset1 holds no input/dataset1\.json; .* take the data set out"
    ):
        KNOWME.load(path)
    (path / "kept").rename(path / "dataset1/input/dataset1.json")
    (path / "dataset1/answer/Temporal Reasoning_answers.json").unlink()
    with pytest.raises(CorpusError, match=r"Temporal Reasoning_answer\.json does not exist"):
        KNOWME.load(path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda data: data["input"][1].pop("id"), r"entry 2 of .*dataset1\.json has no 'id'"),
        (lambda data: data["input"][0].update(timestamp="then"), "the time of entry 1 of .* is 'then'"),
        (lambda data: data["Temporal Reasoning"].update(evidence="1"), "evidence of Temporal Reasoning 1 of"),
        (lambda data: data["Temporal Reasoning"].update(id=7), "Temporal Reasoning 1 .* has no entry among"),
        (lambda data: data["input"].append(1), r"entry 4 of what .*dataset1\.json holds must be an object"),
    ],
)  # fmt: skip
def test_a_broken_entry_is_named(
    write: Write, data: Data, change: Callable[[Data], object], complaint: str
) -> None:
    change(data)
    with pytest.raises(CorpusError, match=complaint):
        KNOWME.load(write())
