"""A small LoCoMo, a small LongMemEval, a run over each by an in-process system, and a reader and judge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.stages.answers.options import AnswerOptions
from tests.service import Body, chat

pytest.importorskip("bm25s")
pytest.importorskip("Stemmer")


def locomo() -> list[Any]:
    turns = [
        [("Ann", "I adopted a grey cat named Biscuit."), ("Bob", "I bought a red kayak last week.")],
        [("Ann", "Biscuit broke the blue vase."), ("Bob", "I paddled the kayak to the lighthouse.")],
    ]
    conversation: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Bob"}
    for number, said in enumerate(turns, start=1):
        conversation[f"session_{number}_date_time"] = f"1:5{number} pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"speaker": who, "dia_id": f"D{number}:{at}", "text": text}
            for at, (who, text) in enumerate(said, start=1)
        ]
    asked = [
        ("What is Ann's cat called?", "Biscuit", 4, ["D1:1"]),
        ("What did Bob buy and where did he paddle?", "a red kayak, the lighthouse", 1, ["D1:2", "D2:2"]),
        ("When did Bob buy the kayak?", "2 May 2023", 2, ["D1:2"]),
        ("Would Ann like a dog?", "Likely no; she has a cat", 3, ["D1:1"]),
    ]
    qa: list[Any] = [
        {"question": text, "answer": answer, "category": category, "evidence": evidence}
        for text, answer, category, evidence in asked
    ]
    qa.append(
        {"question": "What is Bob's cat called?", "adversarial_answer": "Biscuit", "category": 5,
         "evidence": ["D1:1"]}
    )  # fmt: skip
    return [{"sample_id": "conv-1", "conversation": conversation, "qa": qa}]


def longmemeval() -> list[Any]:
    items: list[Any] = []
    for name, kind, question, answer in (
        ("q1", "single-session-user", "Which cat do I have?", "a grey cat"),
        ("q2", "temporal-reasoning", "How many days ago did I buy the kayak?", 5),
        ("q3_abs", "multi-session", "Which dog do I have?", "No dog was mentioned."),
    ):
        items.append({
            "question_id": name, "question_type": kind, "question": question, "answer": answer,
            "question_date": "2023/05/30 (Tue) 23:40", "answer_session_ids": [f"answer_{name}"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/25 (Thu) 10:00"],
            "haystack_session_ids": [f"answer_{name}", "other"],
            "haystack_sessions": [
                [{"role": "user", "content": "I have a grey cat and bought a kayak"}],
                [{"role": "user", "content": "The weather is fine in the garden"}],
            ],
        })  # fmt: skip
    return items


@pytest.fixture(scope="session")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path]]:
    """(results folder, corpus) of a suite, run once."""
    made: dict[str, tuple[Path, Path]] = {}

    def make(suite: str) -> tuple[Path, Path]:
        if suite not in made:
            base = tmp_path_factory.mktemp(suite)
            corpus = base / f"{suite}.json"
            corpus.write_text(json.dumps({"locomo": locomo, "longmemeval": longmemeval}[suite]()))
            asked = runner.Request(
                suite, system="bm25s", embedder="none", data=corpus, allow_unregistered_corpus=True,
                output=base / "out",
            )  # fmt: skip
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PYTHONHASHSEED", "42")
                made[suite] = (runner.run(asked).folder, corpus)
        return made[suite]

    return make


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., AnswerOptions]:
    def make(url: str, data: Path, **told: Any) -> AnswerOptions:
        return AnswerOptions(
            reader_url=url, reader_model="reader", judge_model="judge", data=data,
            output=tmp_path / "answers", **{"workers": 2, **told},
        )  # fmt: skip

    return make


def sensible(_: str, body: Body) -> Body:
    """A reader that knows the cat, and a judge that says yes where key and response speak of a cat."""
    prompt = body["messages"][-1]["content"]
    if body["model"] == "reader":
        question = prompt.rpartition("Question: ")[2]
        return chat(
            "not mentioned" if "Bob's cat" in question or "dog" in question else "Biscuit, a grey cat"
        )
    key, _, response = prompt.partition("Response: ")
    return chat("yes" if "cat" in key and "cat" in response else "no")
