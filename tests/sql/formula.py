"""An independent Python implementation of the score, from the stored texts and vectors.

to_tsvector cuts the words, so texts and questions must be free of the irregular forms that pgmnemo._lexemes
merges. Every stored lesson is a candidate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

WEIGHTS = {"bm25": 1.0, "passage_terms": 0.75, "passage_cosine": 13.0, "pair_cosine": 7.0, "cosine": 7.0,
           "temporal": 12.0, "context": 1.0, "neighbours": 0.2, "recency": 0.1, "importance": 0.1,
           "graph": 1.0}  # fmt: skip
COSINES = ("passage_cosine", "pair_cosine", "cosine")
RELEVANCE = ("bm25", "passage_terms", "passage_cosine", "pair_cosine", "cosine", "temporal")
DAY = timedelta(days=1)
Words = Mapping[str, int]  # lexeme, and how often it stands there
Span = tuple[datetime, datetime]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """The settings that are not weights, with their defaults."""

    statistics_scope: str = "both"
    bm25_k1: float = 0.9
    bm25_b: float = 0.4
    length_pivot: float = 70
    passage_term_bonus: float = 1.5
    full_coverage: float = 0.7
    question_weight: float = 0.4
    assistant_weight: float = 0.8
    neighbours_half_length: float = 20
    recency_half_life: float = 30
    graph_depth: int = 2
    graph_seeds: int = 10


@dataclass(frozen=True, kw_only=True)
class Lesson:
    content: str
    at: datetime | None = None
    importance: int = 3
    vector: tuple[float, ...] | None = None
    passages: tuple[str, ...] = ()
    vectors: tuple[tuple[float, ...] | None, ...] | None = None
    role: str | None = None
    position: int | None = None

    def store(self, tenant: Any, name: str, unit: Any, **more: Any) -> None:
        tenant.store(
            name, self.content, importance=self.importance, occurred_at=self.at, role=self.role,
            embedding=None if self.vector is None else unit(*self.vector),
            passages=list(self.passages) or None,
            passage_embeddings=self.vectors and [row and unit(*row) for row in self.vectors],
            **{'"position"': self.position}, **more,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """The words of the tenant's lessons and of the lessons in scope, from which term rarity is computed."""

    everywhere: Sequence[Words]
    inside: Sequence[Words]
    numbers: Numbers

    def idf(self, term: str) -> float:
        share = {"tenant": 0.0, "both": 0.5, "project": 1.0}[self.numbers.statistics_scope]
        return (1 - share) * rareness(term, self.everywhere) + share * rareness(term, self.inside)

    @property
    def mean(self) -> float:
        counted = self.inside if self.numbers.statistics_scope == "project" else self.everywhere
        return sum(sum(words.values()) for words in counted) / len(counted)


def rareness(term: str, lessons: Sequence[Words]) -> float:
    holding = sum(term in words for words in lessons)
    return math.log(1 + (len(lessons) - holding + 0.5) / (holding + 0.5))


def cut(tenant: Any, text: str) -> dict[str, int]:
    return dict(
        tenant.rows("SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector('english', %s))", text)
    )


def bm25(asked: Iterable[str], words: Words, statistics: Statistics) -> float:
    n = statistics.numbers
    length = max(sum(words.values()), n.length_pivot) / max(statistics.mean, n.length_pivot)
    norm = n.bm25_k1 * (1 - n.bm25_b + n.bm25_b * length)
    held = [term for term in asked if term in words]
    return sum(statistics.idf(term) * words[term] * (n.bm25_k1 + 1) / (words[term] + norm) for term in held)


def passage_terms(asked: Iterable[str], words: Words, passages: Sequence[Words], s: Statistics) -> float:
    """Return the best passage's score; a lesson without passages counts as one, with half the exponent of the
    length penalty.
    """

    def worth(held: Words, power: float) -> float:
        found = sum(s.idf(term) + s.numbers.passage_term_bonus for term in asked if term in held)
        return found * min(1.0, s.numbers.length_pivot / max(len(held), 1)) ** power

    return max(worth(passage, 1) for passage in passages) if passages else worth(words, 0.5)


def cosines(lesson: Lesson, asked: Any, half: Callable[[Any], Any]) -> dict[str, float | None]:
    """Return the lesson's own cosine, the best passage's, and the mean of the best two; the own one replaces
    both if no passage has a vector.
    """
    own = None if lesson.vector is None else float(half(lesson.vector) @ asked)
    parts = [float(half(row) @ asked) for row in lesson.vectors or () if row is not None]
    best = sorted(parts, reverse=True)[:2] or ([] if own is None else [own])
    return {
        "cosine": own,
        "passage_cosine": best[0] if best else None,
        "pair_cosine": sum(best) / len(best) if best else None,
    }


def temporal(at: datetime | None, span: Span | None) -> float:
    if at is None or span is None:
        return 0.0
    after = max((at - span[1]) / (7 * DAY), 0.1) if at >= span[1] else 0.0
    return float(0.5 ** max(after, (span[0] - at) / (2 * DAY)))


def background(lessons: Iterable[Lesson], half: Callable[[Any], Any]) -> Any:
    """Return the first vector of each of these lessons (at most 16) that has vectors, as an array."""
    each = ([row for row in (one.vector, *(one.vectors or ())) if row is not None] for one in lessons)
    return np.array([half(found[0]) for found in each if found])


def center(rows: Any, asked: Any, lesson: Lesson | None, half: Callable[[Any], Any]) -> float:
    """Return the mean cosine of the rows, less the answer's expected lift of it, plus a part of the shared
    component.
    """
    mean, summed = float(np.mean(rows @ asked)), np.mean(rows, 0).astype(np.float16).astype(float)
    commonness, own = float(np.linalg.norm(summed)), background([lesson] if lesson else [], half)
    hub = commonness * (float(own[0] @ half(summed)) - commonness) if len(own) else 0.0
    return mean - 0.3 * (1 - mean) / len(rows) + 0.3 * hub


def nearness(cosine: float | None, center: float) -> float:
    if cosine is None:
        return 0.0
    return max(cosine - center, 0.01 * (cosine - center)) / (1 - center)


def context(lessons: Mapping[str, Lesson], worth: Mapping[str, float], name: str) -> float:
    at = lessons[name].at
    return max(
        worth[other] for other in worth if other == name or (at is not None and lessons[other].at == at)
    )


def neighbours(
    lessons: Mapping[str, Lesson],
    worth: Mapping[str, float],
    lengths: Mapping[str, int],
    name: str,
    n: Numbers,
) -> float:
    """Return what a lesson gains from lessons up to two positions away, none for an assistant's lesson; an
    assistant's lesson gives nothing to earlier positions.
    """
    lesson = lessons[name]
    if lesson.position is None or lesson.role == "assistant":
        return 0.0
    places = {other.position: key for key, other in lessons.items() if other.position is not None}
    total = 0.0
    for side in (-1, 1):
        share = 1.0
        for step in (side, 2 * side):
            giver = places.get(lesson.position + step)
            if giver is None:
                break
            if side > 0 or lessons[giver].role != "assistant":
                total += share * worth[giver]
            share = 0.5 ** (lengths[giver] / n.neighbours_half_length)
    return total


def graph(
    links: Sequence[tuple[str, str, float]], worth: Mapping[str, float], n: Numbers
) -> dict[str, float]:
    """Return for each lesson the strength of the best path from any seed; 0 without a path."""
    best = dict.fromkeys(worth, 0.0)
    ways = [*links, *((target, source, weight) for source, target, weight in links)]
    seeds = sorted((name for name in worth if worth[name] > 0), key=lambda name: (-worth[name], name))
    for seed in seeds[: n.graph_seeds]:
        reached = {seed: worth[seed]}
        for _ in range(n.graph_depth):
            step: dict[str, float] = {}
            for source, target, weight in ways:
                if source in reached and target != seed:
                    step[target] = max(step.get(target, 0.0), reached[source] * weight / 2)
            reached = step
            best |= {name: max(best[name], strength) for name, strength in reached.items()}
    return best


@dataclass(frozen=True, kw_only=True)
class Formula:
    """The expected answers of recall over the lessons of one project."""

    tenant: Any
    unit: Any
    lessons: Mapping[str, Lesson]
    elsewhere: Sequence[str]  # texts of the tenant's other projects
    links: Sequence[tuple[str, str, float]]
    weights: Mapping[str, float]
    numbers: Numbers

    def half(self, vector: Any) -> Any:
        """Return the unit vector rounded to half precision."""
        return self.unit(*vector).astype(np.float16).astype(np.float64)

    def reach(self, question: str) -> tuple[float, float]:
        """Return the score of a question with all words matched, and a factor for its number of words."""
        inside = [cut(self.tenant, lesson.content) for lesson in self.lessons.values()]
        everywhere = [*inside, *(cut(self.tenant, text) for text in self.elsewhere)]
        counted = Statistics(everywhere=everywhere, inside=inside, numbers=self.numbers)
        words = cut(self.tenant, question)
        bonus = self.numbers.passage_term_bonus
        whole = sum(
            self.weights["bm25"] * counted.idf(word)
            + self.weights["passage_terms"] * (counted.idf(word) + bonus)
            for word in words
        )
        return whole, min(1.0, math.sqrt(12 / max(len(words), 1)))

    def relevance(
        self, rows: Mapping[str, Mapping[str, Any]], question: str, vector: Any, mode: str
    ) -> dict[str, float]:
        """Return each lesson's relevance without context, neighbours, links, recency and importance."""
        reach, brevity = self.reach(question)
        first = background(self.lessons.values(), self.half)
        asked = cut(self.tenant, question).keys() if mode != "vector" else set()
        worth = {}
        for name, row in rows.items():
            words = sum(self.weights[part] * (row[part] or 0.0) for part in ("bm25", "passage_terms"))
            enough = self.numbers.full_coverage * reach
            words *= brevity * (words / enough if words < enough else 1.0)
            lesson = self.lessons[name]
            unrelated = center(first, self.half(vector), lesson if mode != "vector" else None, self.half)
            near = sum(self.weights[part] * nearness(row[part], unrelated) for part in COSINES)
            share = self.numbers.assistant_weight if lesson.role == "assistant" else 1.0
            spoken = lesson.role is not None or lesson.position is not None
            if lesson.content.endswith("?") and (spoken or cut(self.tenant, lesson.content).keys() <= asked):
                share *= self.numbers.question_weight
            timed = 0.5 if mode == "keyword" else 1.0
            worth[name] = share * (words + near + timed * self.weights["temporal"] * row["temporal"])
        return worth

    def answer(
        self, question: str, vector: Any, moment: datetime, mode: str = "hybrid", span: Span | None = None
    ) -> dict[str, dict[str, Any]]:
        rows, lengths = self.own(question, vector, moment, mode, span), self.lengths()
        worth = self.relevance(rows, question, vector, mode)
        linked = graph(self.links, worth, self.numbers)
        for name, row in rows.items():
            row["context"] = context(self.lessons, worth, name)
            row["neighbours"] = neighbours(self.lessons, worth, lengths, name, self.numbers)
            row["graph"] = linked[name]
            rest = (part for part in WEIGHTS if part not in RELEVANCE)
            row["score"] = worth[name] + sum(self.weights[part] * row[part] for part in rest)
        return rows

    def lengths(self) -> dict[str, int]:
        return {name: sum(cut(self.tenant, row.content).values()) for name, row in self.lessons.items()}

    def own(
        self, question: str, vector: Any, moment: datetime, mode: str, span: Span | None
    ) -> dict[str, dict[str, Any]]:
        """Return each lesson's components that do not depend on other candidates."""
        inside = {name: cut(self.tenant, row.content) for name, row in self.lessons.items()}
        other = [cut(self.tenant, text) for text in self.elsewhere]
        counted = Statistics(
            everywhere=[*inside.values(), *other], inside=list(inside.values()), numbers=self.numbers
        )
        asked = [
            term for term in cut(self.tenant, question) if any(term in words for words in inside.values())
        ]
        rows = {}
        for name, lesson in self.lessons.items():
            passages = [cut(self.tenant, text) for text in lesson.passages]
            found: dict[str, Any] = {
                "bm25": None, "passage_terms": None, "temporal": 0.0,
                "cosine": None, "passage_cosine": None, "pair_cosine": None,
                "recency": self.recency(lesson, moment), "importance": (lesson.importance - 3) / 2,
            }  # fmt: skip
            if mode != "vector":
                found["bm25"] = bm25(asked, inside[name], counted)
                found["passage_terms"] = passage_terms(asked, inside[name], passages, counted)
                found["temporal"] = temporal(lesson.at, span)
            if mode != "keyword":
                found |= cosines(lesson, self.half(vector), self.half)
            rows[name] = found
        return rows

    def recency(self, lesson: Lesson, moment: datetime) -> float:
        """Return the recency at `moment`: 1 for a lesson without occurred_at, since tests store it after
        `moment`.
        """
        age = max((moment - (lesson.at or moment)) / DAY, 0.0)
        return float(0.5 ** (age / self.numbers.recency_half_life))
