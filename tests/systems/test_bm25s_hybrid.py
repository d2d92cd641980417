"""bm25s-hybrid: the min-max sum of a lesson's BM25 and half each of its best passage's BM25 and cosine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from runner.systems import Lesson, Query, SystemContext, missing_parts, open_system, spec_of

ROWS = [
    ("a", "gulls and lanterns and a long walk to the harbour"), ("a", "the lantern of the harbour"),
    ("a", "bread"), ("b", "lantern lantern lantern"),
]  # fmt: skip
VECTORS = np.array([[1, 0], [0.6, 0.8], [0, 1], [1, 0]], dtype=np.float32)
LANTERN = Query(0, "lantern", np.array([0, 1], dtype=np.float32), "a")


@pytest.fixture
def system(place: SystemContext) -> Iterator[Any]:
    if sentence := missing_parts(spec_of("bm25s-hybrid")):
        pytest.skip(sentence)
    with open_system("bm25s-hybrid", place) as opened:
        yield opened


def test_a_lesson_without_passages_is_its_own_passage(system: Any, tools: Any) -> None:
    system.load(tools.Listed(ROWS, VECTORS))
    found = {match.number: match.score for match in system.client().ask(LANTERN, 10)}
    # BM25 counts once for the lesson and half for its passage: the shorter has 1.5, one without the word 0.
    # The cosines 0, 0.8 and 1 count half.
    assert found[101] == pytest.approx(1.5 + 0.5 * 0.8)
    assert found[102] == pytest.approx(0.5)
    assert 0 < found[100] < 1.5
    assert 103 not in found  # of another project


def test_the_best_passage_counts(system: Any, tools: Any) -> None:
    class Parted(tools.Listed):  # type: ignore[misc]
        def lesson(self, position: int) -> Lesson:
            lesson: Lesson = super().lesson(position)
            if position:
                return lesson
            vectors = np.array([[1, 0], [0, 1]], dtype=np.float32)
            return replace(lesson, passages=("gulls", "lantern"), passage_vectors=vectors)

    system.load(Parted(ROWS, VECTORS))
    found = {match.number: match.score for match in system.client().ask(LANTERN, 10)}
    assert found[100] > 1 + 0.5  # its passage has the word alone, and the best cosine
    assert found[101] < 1.5 + 0.5 * 0.8


@pytest.mark.parametrize("text", ["", "?!", "nowhere", "the of and"])
def test_a_question_without_a_known_word_is_ranked_by_cosine(system: Any, tools: Any, text: str) -> None:
    system.load(tools.Listed(ROWS, VECTORS))
    found = system.client().ask(replace(LANTERN, text=text), 2)
    assert [match.number for match in found] == [102, 101]
