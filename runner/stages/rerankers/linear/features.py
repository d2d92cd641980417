"""The features of the linear reranker: a row of numbers for each candidate of a pool.

Every feature is between 0 and 1 and relative to the other candidates of the same question, so that it means
the same for a message of one line and for a session of two pages. There is no word list, no stemmer and no
model: rarity is counted among the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from runner.stages.rerankers import Candidate, LessonIndex, Pool
from runner.systems.system import Lesson

Floats = NDArray[np.float64]

STEPS = (-2, -1, 1, 2)  # neighbours in the same session that are used
DEEPEST = 50  # ranks over which the feature `rank` goes from 0 to 1
FEATURES = (
    "score",  # the system's own, as a share of the first candidate's
    "rank",  # 0 for the first rank, 1 from the fiftieth on
    "speaker",  # 1 if the question names the speaker
    "asks",  # 1 if a person asks another person a question, which rarely answers anything
    "cover",  # share of the question's words in the lesson, weighted by rarity
    "window",  # the same share for the lesson with its two neighbours on each side
    *(f"score{step:+d}" for step in STEPS),  # the score of a neighbour that is also a candidate
    *(f"cover{step:+d}" for step in STEPS),  # the share of a neighbour
)
ASSISTANT = "assistant"
ROOT = 5  # leading letters by which words are compared
WORD = re.compile(r"\w+")


class LessonCache:
    """A cache of the words and the neighbours of lessons."""

    def __init__(self, shelf: LessonIndex) -> None:
        self._shelf = shelf
        self.words: dict[int, frozenset[str]] = {}
        self.beside: dict[int, Mapping[int, int]] = {}

    def window(self, lesson: Lesson) -> Mapping[int, int]:
        """Return the numbers of the lesson (under 0) and of its neighbours (under their steps)."""
        if lesson.number not in self.beside:
            steps = {step: self._shelf.beside(lesson, step) for step in STEPS}
            there = {0: lesson, **{step: other for step, other in steps.items() if other is not None}}
            for one in there.values():
                if one.number not in self.words:
                    self.words[one.number] = words(one.text)
            self.beside[lesson.number] = {step: one.number for step, one in there.items()}
        return self.beside[lesson.number]


class FeatureReader:
    """A reader of the features of pools, with a cache that lives as long as the lesson index."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[LessonIndex, LessonCache] = WeakKeyDictionary()

    def features(self, pool: Pool) -> Floats:
        """Return the features of the candidates, in their order; shape (candidates, features)."""
        candidates, known = pool.candidates, self._known.setdefault(pool.shelf, LessonCache(pool.shelf))
        asked = words(pool.query.text)
        windows = [known.window(one.lesson) for one in candidates]
        held = {
            number: known.words[number] & asked
            for number in {one for some in windows for one in some.values()}
        }
        weights = word_weights([held[one.lesson.number] for one in candidates])
        covers = {number: _weight(weights, found) for number, found in held.items()}
        shares = _shares(candidates)
        peers = all(one.lesson.role != ASSISTANT for one in candidates)
        rows = [
            (
                shares[one.lesson.number],
                min(one.rank - 1, DEEPEST) / DEEPEST,
                float(_named(one.lesson.role, asked)),
                float(peers and one.lesson.role is not None and one.lesson.text.rstrip().endswith("?")),
                covers[one.lesson.number],
                _weight(weights, frozenset().union(*(held[number] for number in window.values()))),
                *(shares.get(window[step], 0.0) if step in window else 0.0 for step in STEPS),
                *(covers[window[step]] if step in window else 0.0 for step in STEPS),
            )
            for one, window in zip(candidates, windows, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(len(candidates), len(FEATURES))


def words(text: str) -> frozenset[str]:
    """Return the distinct words of a text, cut to their first letters, so that most forms of a word are
    equal.
    """
    return frozenset(_root(word) for word in WORD.findall(text.casefold()))


def _root(word: str) -> str:
    return word[:ROOT]


def word_weights(held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the weight of each word of a question: higher if fewer candidates contain it; they sum up to 1.

    BM25's inverse document frequency, over only the candidates; a word in no candidate has no weight.
    """
    counts: dict[str, int] = {}
    for one in held:
        for word in one:
            counts[word] = counts.get(word, 0) + 1
    weights = {word: log(1 + (len(held) - count + 0.5) / (count + 0.5)) for word, count in counts.items()}
    whole = sum(weights[word] for word in sorted(weights)) or 1.0
    return {word: weight / whole for word, weight in weights.items()}


def _weight(weights: Mapping[str, float], found: frozenset[str]) -> float:
    return sum(weights.get(word, 0.0) for word in sorted(found))


def _shares(candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return each candidate's score as a share of the best score, by lesson number.

    All 0 if the best is not above 0.
    """
    best = max((one.score or 0.0 for one in candidates), default=0.0)
    if best <= 0:
        return {one.lesson.number: 0.0 for one in candidates}
    return {one.lesson.number: max(one.score or 0.0, 0.0) / best for one in candidates}


def _named(role: str | None, asked: frozenset[str]) -> bool:
    """Return whether the question names the speaker, by the first word of the name."""
    found = WORD.search(role.casefold()) if role else None
    return found is not None and _root(found.group()) in asked
