"""bm25s: BM25 as a library in this process, the strongest plain BM25 in Python.

Configured by its README (https://github.com/xhluca/bm25s): its own method (lucene, exact), k1 1.5, b 0.75,
English stopwords, PyStemmer's English stemmer, on the numpy backend. One index has all lessons, so that
statistics are over all of them; a project is its `weight_mask`, which makes the scores of all other lessons
zero. A lesson with score zero has none of the words, or is outside the project, and is no answer. The index
is saved as its README shows, and lessons cannot be added to it: it has to be built again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmnemo.progress import QUIET, Progress
from runner.systems.memory_usage import InProcessSystem
from runner.systems.system import PEERS, Lessons, Match, Query, SystemContext, SystemSpec

BM25 = {"method": "lucene", "k1": 1.5, "b": 0.75}
LANGUAGE = "english"


class Bm25sClient:
    """The index, which all threads share, with a stemmer of its own for one thread."""

    def __init__(self, system: Bm25s) -> None:
        self._system, self._stemmer = system, stemmer()

    def ask(self, query: Query, k: int) -> list[Match]:
        system = self._system
        tokens = words([query.text], self._stemmer, return_ids=False)
        numbers, scores = system.index.retrieve(
            tokens, k=min(k, len(system.numbers)), show_progress=False, weight_mask=system.mask(query.project)
        )
        found = [
            Match(int(system.numbers[at]), float(score))
            for at, score in zip(numbers[0], scores[0], strict=True) if score > 0
        ]  # fmt: skip
        return sorted(found, key=lambda match: (-(match.score or 0.0), match.number))

    def close(self) -> None:
        """Do nothing: only the stemmer belongs to the thread."""


class Bm25s(InProcessSystem[Bm25sClient]):
    """An index in memory, saved in the context's folder."""

    def __init__(self, context: SystemContext) -> None:
        super().__init__(context)
        self.index: Any = None
        self.numbers: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._members: dict[str, list[int]] = {}  # project → indexes of its lessons

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        began = time.perf_counter()
        texts = []
        for at, lesson in enumerate(lessons):
            texts.append(lesson.text)
            self._members.setdefault(lesson.project, []).append(at)
        self.numbers = np.array([lesson.number for lesson in lessons], dtype=np.int64)
        tokens = words(texts, stemmer())
        split = time.perf_counter()
        self.index = import_module("bm25s").BM25(**BM25)
        self.index.index(tokens, show_progress=False)
        indexed = time.perf_counter()
        self.index.save(str(self.folder), show_progress=False)
        return {
            "tokenize": split - began, "index": indexed - split, "save": time.perf_counter() - indexed,
        }  # fmt: skip

    def mask(self, project: str | None) -> NDArray[np.float32] | None:
        """Return 1 for every lesson of the project and 0 for the others; None if all projects are
        searched.
        """
        if project is None:
            return None
        mask = np.zeros(len(self.numbers), dtype=np.float32)
        mask[self._members[project]] = 1
        return mask

    def client(self, settings: Mapping[str, str] | None = None) -> Bm25sClient:
        """Return a client for one thread; there are no settings."""
        return Bm25sClient(self)

    def facts(self) -> Mapping[str, str]:
        facts = {"version": import_module("bm25s").__version__, "stemmer": f"PyStemmer {LANGUAGE}",
                 "stopwords": LANGUAGE, "backend": "numpy"}  # fmt: skip
        return {**facts, **{name: str(value) for name, value in BM25.items()}}

    def close(self) -> None:
        super().close()
        self.index = None


def stemmer() -> Any:
    """Return PyStemmer's stemmer, which one thread may use."""
    return import_module("Stemmer").Stemmer(LANGUAGE)


def words(texts: list[str], stemming: Any, *, return_ids: bool = True) -> Any:
    """Return the library's own tokens of texts: words of two or more characters, stemmed, without
    stopwords.
    """
    tokenize = import_module("bm25s").tokenize
    return tokenize(texts, stopwords=LANGUAGE, stemmer=stemming, return_ids=return_ids, show_progress=False)


BM25S = SystemSpec(
    "bm25s",
    "a library in this process; BM25 of Lucene, English stopwords and stemmer, statistics of all lessons, "
    "the project as a mask; given texts alone, no vectors and no times",
    Bm25s,
    packages=("bm25s", "PyStemmer"),
    remedy=PEERS,
    vectors=False,
    hybrid=False,
    passages=True,
)
