"""Corpora small enough to check by eye, invented for these tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runner.protocol.editions import current, list_digest
from runner.protocol.gates import RunFacts
from runner.records import Corpus
from runner.runs.config import RunConfig
from runner.runs.run import Run
from tests.helping import CURRENT

Write = Callable[[Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a value as a corpus file and return its path."""

    def written(value: Any) -> Path:
        path = tmp_path / "corpus.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return written


@pytest.fixture(scope="session")
def in_force() -> Callable[..., RunFacts]:
    """What the gates of the edition in force see of a corpus, with other `files` than were read if given."""

    def facts(corpus: Corpus, allowed: bool, files: Mapping[str, str] | None = None) -> RunFacts:
        read = corpus.files if files is None else files
        own = {"suite": corpus.suite, "level": corpus.granularity, "embedder": "none", "version": CURRENT}
        choice = RunConfig(**own, allow_unregistered_corpus=allowed)
        run = cast(Run, SimpleNamespace(edition=current(), choice=choice))
        return RunFacts(run, replace(corpus, files=read, sha256=list_digest(read)))

    return facts


@pytest.fixture
def conversation() -> dict[str, Any]:
    """A LoCoMo conversation of two sessions (and a date without one), three turns, three questions."""
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_1_date_time": "12:05 am on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "Look\u0000!", "blip_caption": "a red kite"},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice.", "query": "kite photo"},
            ],
            "session_2_date_time": "1:56 pm on 9 May, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I sold the kite."}],
            "session_3_date_time": "2:00 pm on 9 June, 2023",
        },
        "qa": [
            {"question": "Which kite?", "answer": "red", "evidence": ["D1:1; D2:1"], "category": 1},
            {"question": "When was it sold?", "answer": "May", "evidence": ["D2:1"], "category": 2},
            {"question": "Does Bo like kites?", "answer": "no", "evidence": [], "category": 3},
        ],
        "event_summary": {"events": "secret summary"},
        "observation": {},
        "session_summary": {},
    }


@pytest.fixture
def item() -> dict[str, Any]:
    """A LongMemEval item: three sessions, one of them twice, one with an empty turn."""
    tea = [{"role": "user", "content": "I drink tea.", "has_answer": True}]
    rain = [{"role": "user", "content": "Rain?"}, {"role": "assistant", "content": ""}]
    return {
        "question_id": "q1_abs", "question_type": "multi-session", "question": "What do I drink?",
        "question_date": "2023/05/30 (Tue) 23:40", "answer": 7, "answer_session_ids": ["answer_1"],
        "haystack_session_ids": ["answer_1", "other", "other"],
        "haystack_dates": ["2023/05/20 (Sat) 10:44", "2023/05/21 (Sun) 08:00", "2023/05/22 (Mon) 09:00"],
        "haystack_sessions": [tea, rain, rain],
    }  # fmt: skip
