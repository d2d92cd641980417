"""The control `plain-bm25`: BM25 over the words of the lessons, equal for every system and version.

PROTOCOL.md §4.6 defines it. It needs no database, no library and no word list.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pgmnemo.progress import QUIET, Progress
from runner.systems.system import Lessons, Match, Query, System

K1, B = 1.2, 0.75
UNSPACED = (  # Thai, Lao, Myanmar, Khmer, Han and kana put no blanks between words
    r"\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
    r"\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
MARKS = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
RUN = re.compile(rf"(?P<unspaced>[{UNSPACED}]+)|(?:(?![{UNSPACED}])[^\W_]|[{MARKS}])+")


def words(text: str) -> list[str]:
    """Return the words of a text in NFKC, lower case: runs of letters and digits.

    In a script without blanks, each pair of neighbouring characters of a run is a word; a single character is
    one word.
    """
    found: list[str] = []
    for run in RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = run[0]
        if run["unspaced"] and len(word) > 1:
            found += map("".join, pairwise(word))
        else:
            found.append(word)
    return found


@dataclass(frozen=True, slots=True)
class Index:
    """The words of one scope's lessons: word `terms[i]` has `weights` in `places`, both from `starts[i]` on.

    `members` are the lessons' numbers, ascending; a place is an index into them.
    """

    members: NDArray[np.int64]
    terms: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    weights: NDArray[np.float64]


class PlainBM25(System):
    """An index for every project and, if the corpus has a pooled scope, one for all lessons."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # word → its number
        self._indexes: dict[str | None, Index] = {}

    def description(self) -> str:
        return "BM25 over plain words, the same for every version"

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        scopes: dict[str | None, dict[int, Counter[int]]] = defaultdict(dict)
        for lesson in lessons:
            counted = Counter(
                self._numbers.setdefault(word, len(self._numbers)) for word in words(lesson.text)
            )
            for scope in (lesson.project, *([None] if lessons.pooled else [])):
                scopes[scope][lesson.number] = counted
        self._indexes = {scope: index_of(counts) for scope, counts in scopes.items()}
        return {}

    def ask(self, query: Query, k: int) -> list[Match]:
        index = self._indexes[query.project]
        scores = np.zeros(len(index.members))
        for word in dict.fromkeys(words(query.text)):
            number = self._numbers.get(word, -1)
            at = int(np.searchsorted(index.terms, number))
            if at < len(index.terms) and index.terms[at] == number:
                span = slice(index.starts[at], index.starts[at + 1])
                scores[index.places[span]] += index.weights[span]
        scores = scores.round(9)
        order = np.argsort(-scores, kind="stable")[:k]
        return [Match(int(index.members[place]), float(scores[place])) for place in order]


def index_of(counts: Mapping[int, Counter[int]]) -> Index:
    """Return the index of a scope's lessons from the word counts of each lesson, by its number."""
    members = sorted(counts)
    rows = [counts[member] for member in members]
    terms = _flat([list(row) for row in rows])
    times = _flat([list(row.values()) for row in rows]).astype(np.float64)
    places = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    lengths = np.array([row.total() for row in rows], dtype=np.float64)
    order = np.argsort(terms, kind="stable")
    terms, times, places = terms[order], times[order], places[order]
    distinct, starts, within = np.unique(terms, return_index=True, return_counts=True)
    rarity = np.log1p((len(rows) - within + 0.5) / (within + 0.5))
    norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
    weights = np.repeat(rarity, within) * times * (K1 + 1) / (times + norm[places])
    return Index(np.array(members, dtype=np.int64), distinct, np.append(starts, len(terms)), places, weights)


def _flat(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.array([value for row in rows for value in row], dtype=np.int64)
