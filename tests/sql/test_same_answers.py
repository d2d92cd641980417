"""0.4.1 answers as 0.4.0 does, to the last bit: it costs less, and does nothing else."""

from __future__ import annotations

import importlib.util
import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.records import Passage
from runner.places import ROOT
from runner.protocol.suites import SUITES
from runner.records import Corpus, Edge, Question, SearchScope, Segment

WORDS = [
    "went", "go", "children", "child", "mice", "lantern", "harbour", "violin", "running", "garden", "film",
    "the", "one", "teeth", "engine", "painted", "bridges", "winter", "market", "deadline", "dentist", "of",
]  # fmt: skip
QUESTIONS = [
    "Where did the children go in winter?", "a mouse wrote one letter", "violin", "bridge engines deadline",
    "What was painted in May 2024?", "the of and", "lantern harbour market garden",
    "running dentist teeth film",
]  # fmt: skip
MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
LESSONS, COPIES = 160, 5


def script() -> ModuleType:
    """The command that compares two versions."""
    path = ROOT / "benchmarks" / "performance" / "same_answers.py"
    spec = importlib.util.spec_from_file_location("same_answers", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def segment(project: str, number: int, chance: random.Random) -> Segment:
    """One lesson of some length from one word to a hundred, with all that the score looks at."""
    text = " ".join(chance.choices(WORDS, k=chance.choice([1, 3, 12, 40, 100]) * chance.randint(1, 3)))
    cut = text.split()
    parts = [" ".join(cut[start : start + 15]) for start in range(0, len(cut), 15)]
    return Segment(
        project, f"{project} {number}", text,
        occurred_at=chance.choice([None, MONDAY + timedelta(days=number // 8)]),
        role=chance.choice([None, "user", "assistant"]),
        topic=chance.choice([None, "harbour notes"]),
        importance=chance.randint(1, 5),
        passages=tuple(Passage(one, one) for one in parts) if chance.random() < 0.5 else (),
        position=chance.choice([None, number + number // 9]),
    )  # fmt: skip


def mixed() -> Corpus:
    """Lengths from one word to three hundred, near-duplicates, roles, places, times, links, two projects."""
    chance = random.Random(7)
    own = [segment(project, n, chance) for project in ("a", "b") for n in range(LESSONS)]
    copies = [Segment("a", f"copy {n}", own[3].text, position=None) for n in range(COPIES)]
    edges = [
        Edge(project, f"{project} {n}", f"{project} {n * 7 % LESSONS}", "follows", chance.choice([0.3, 1.0]))
        for project in ("a", "b")
        for n in range(1, LESSONS, 6)
    ]
    asked = [
        Question(f"{project} {place}", project, text, "any", as_of=MONDAY + timedelta(days=40))
        for project in ("a", "b")
        for place, text in enumerate(QUESTIONS)
    ]
    return Corpus(
        "sample", Path("here"), "0" * 64, "session", (*own, *copies), tuple(asked),
        (SearchScope("conversation"), SearchScope("pool", pooled=True)), edges=tuple(edges),
    )  # fmt: skip


def sample() -> Corpus:
    suite = SUITES["sample"]
    return suite.load(suite.locate(None, os.environ))


@pytest.mark.parametrize("corpus", [sample, mixed], ids=["sample", "mixed"])
def test_every_answer_of_every_mode_is_that_of_0_4_0(corpus: object, tmp_path: Path) -> None:
    same = script()
    assert callable(corpus)
    embedder = EMBEDDERS["hash"](EmbedderOptions(dimensions=384))
    material = same.material_of(corpus(), embedder, None)
    first, second = (same.answers(version, material, tmp_path) for version in ("0.4.0", "0.4.1"))
    asked = len(same.queries_of(material))
    assert len(first) == len(second) == asked * len(same.MODES)
    assert sum(len(answer) for answer in first) > 5 * asked  # they are answers
    assert same.differing(first, second) == 0
    spoilt = [*second[:-1], ((0, same.bits(0.5)),)]
    assert same.differing(first, spoilt) == 1  # and a difference would be seen
