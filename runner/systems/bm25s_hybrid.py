"""bm25s-hybrid: what a few lines of Python make of the same input, the peer that needs no database.

BM25 of a lesson, by bm25s as `bm25s` uses it, and half as much each of BM25 and exact cosine of its best
passage; each of the three is brought to 0 to 1 over the lessons that are searched (min-max). A lesson without
passages is its own passage. Everything is in memory, and lessons cannot be added.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmnemo.progress import QUIET, Progress
from runner.systems.bm25s import BM25, LANGUAGE, stemmer, words
from runner.systems.fusion import Floats, min_max
from runner.systems.memory_usage import InProcessSystem
from runner.systems.system import PEERS, Lessons, Match, Query, SystemContext, SystemSpec

HALF = 0.5  # what each leg of the best passage counts, beside BM25 of the lesson


class HybridClient:
    """The indexes, which all threads share, with a stemmer of its own for one thread."""

    def __init__(self, system: Bm25sHybrid) -> None:
        self._system, self._stemmer = system, stemmer()

    def ask(self, query: Query, k: int) -> list[Match]:
        system = self._system
        inside = system.inside(query.project)
        tokens = words([query.text], self._stemmer, return_ids=False)[0]
        scores = min_max(scores_of(system.lessons, tokens)[inside])
        scores += HALF * min_max(system.best(scores_of(system.passages, tokens))[inside])
        if query.vector is not None and system.vectors is not None:
            scores += HALF * min_max(system.best(system.vectors @ query.vector.astype(np.float32))[inside])
        numbers = system.numbers[inside]
        best = np.lexsort((numbers, -scores))[:k]
        return [Match(int(numbers[at]), float(scores[at])) for at in best]

    def close(self) -> None:
        """Do nothing: only the stemmer belongs to the thread."""


class Bm25sHybrid(InProcessSystem[HybridClient]):
    """Two indexes of bm25s, of lessons and of their passages, and a matrix of the passages' vectors."""

    def __init__(self, context: SystemContext) -> None:
        super().__init__(context)
        self.lessons: Any = None
        self.passages: Any = None
        self.vectors: NDArray[np.float32] | None = None
        self.numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._first: NDArray[np.int64] = np.empty(0, dtype=np.int64)  # each lesson's first passage
        self._members: dict[str, list[int]] = {}  # project → indexes of its lessons

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        began = time.perf_counter()
        texts: list[str] = []
        parts: list[str] = []
        vectors: list[NDArray[np.float32]] = []
        first: list[int] = []
        for at, lesson in enumerate(lessons):
            texts.append(lesson.text)
            first.append(len(parts))
            parts += lesson.passages or (lesson.text,)
            if lesson.passages and lesson.passage_vectors is not None:
                vectors += list(lesson.passage_vectors)
            elif lesson.vector is not None:
                vectors += [lesson.vector] * max(1, len(lesson.passages))
            self._members.setdefault(lesson.project, []).append(at)
        self.numbers = np.array([lesson.number for lesson in lessons], dtype=np.int64)
        self._first = np.array(first, dtype=np.int64)
        self.vectors = np.array(vectors, dtype=np.float32) if vectors else None
        self.lessons, self.passages = _index(texts), _index(parts)
        return {"index": time.perf_counter() - began}

    def inside(self, project: str | None) -> NDArray[np.int64]:
        """Return the indexes of the lessons of a project, or of all lessons."""
        return np.arange(len(self.numbers)) if project is None else np.array(self._members[project])

    def best(self, scores: NDArray[np.floating[Any]]) -> Floats:
        """Return the score of the best passage of each lesson."""
        return np.maximum.reduceat(scores.astype(np.float64), self._first)

    def client(self, settings: Mapping[str, str] | None = None) -> HybridClient:
        """Return a client for one thread; there are no settings."""
        return HybridClient(self)

    def facts(self) -> Mapping[str, str]:
        facts = {"version": import_module("bm25s").__version__, "stemmer": f"PyStemmer {LANGUAGE}"}
        return {**facts, **{name: str(value) for name, value in BM25.items()}}

    def close(self) -> None:
        super().close()
        self.lessons = self.passages = self.vectors = None


def scores_of(index: Any, tokens: list[str]) -> Floats:
    """Return the BM25 of every text of an index; 0 where none of the words is known."""
    known = [token for token in tokens if token in index.vocab_dict]
    scores = index.get_scores(known) if known else np.zeros(index.scores["num_docs"])
    return np.asarray(scores, dtype=np.float64)


def _index(texts: list[str]) -> Any:
    index = import_module("bm25s").BM25(**BM25)
    index.index(words(texts, stemmer()), show_progress=False)
    return index


BM25S_HYBRID = SystemSpec(
    "bm25s and numpy",
    "a library in this process; min-max sum of BM25 of the lesson and half each of BM25 and exact cosine of "
    "its best passage, statistics of all lessons; given texts, passages and vectors, no times",
    Bm25sHybrid,
    packages=("bm25s", "PyStemmer"),
    remedy=PEERS,
    needs_vectors=True,
    approximate=False,
)
