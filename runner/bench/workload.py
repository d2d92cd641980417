"""A corpus as systems see it: lessons and questions under neutral numbers, and the mapping back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import TypeVar
from uuid import UUID, uuid5

import numpy as np

from pgmnemo.records import EmbedderIdentity
from runner.protocol.lengths import TextLengths
from runner.protocol.templates.embedding import rows_of
from runner.records import Corpus, CorpusVectors, Question, RankedSegment, SearchScope, opaque
from runner.systems.system import Lesson, Lessons, Link, Match, Query


@dataclass(frozen=True, slots=True)
class IndexedQuestion:
    """A question and its position in `Corpus.questions`, which is also the position of its vector."""

    position: int
    question: Question


NAMESPACE = UUID("6f0f4f39-2f0b-5c0e-9d53-0b1f6f6a1c42")


def lessons_label(sha256: str, level: str, written: Sequence[str], identity: EmbedderIdentity | None) -> str:
    """Return the label of a set of lessons: the corpus, its granularity, `written`, and the embedder's
    identity.
    """
    return " ".join((sha256, level, *written, repr(identity) if identity else "none"))


class CorpusLessons(Lessons):
    """Every segment of a corpus as a lesson. Numbers follow the order of ties: external id, then project.

    The neutral name of a project is a UUID, derived from its own name and the label of the lessons.
    """

    def __init__(self, corpus: Corpus, vectors: CorpusVectors | None, label: str = "") -> None:
        self._corpus, self._vectors = corpus, vectors
        heads = [(one.external_id, one.project) for one in corpus.heads]
        self.pooled = any(scope.pooled for scope in corpus.scopes)
        order = sorted(range(len(heads)), key=heads.__getitem__)
        self._numbers = np.empty(len(heads), dtype=np.int64)
        self._numbers[order] = np.arange(len(heads))
        basis = uuid5(NAMESPACE, label)
        self._names = {name: str(uuid5(basis, name)) for name in dict.fromkeys(p for _, p in heads)}
        ids = [one.id for one in corpus.heads]
        self.ids = [ids[position] for position in order]  # lesson number → id
        self.links = [
            Link(self._names[edge.project], opaque(edge.source), opaque(edge.target), edge.kind, edge.weight,
                 edge.valid_from, edge.valid_to)
            for edge in corpus.edges
        ]  # fmt: skip

    def __len__(self) -> int:
        return len(self._corpus.segments)

    @property
    def width(self) -> int | None:
        return None if self._vectors is None else int(self._vectors.segments.shape[1])

    @property
    def projects(self) -> Sequence[str]:
        return list(self._names.values())

    @cached_property
    def _by_names(self) -> dict[tuple[str, str], int]:
        names = ((self._names[s.project], s.external_id) for s in self._corpus.heads)
        return {name: int(number) for name, number in zip(names, self._numbers, strict=True)}

    def number(self, project: str, external_id: str) -> int:
        return self._by_names[project, external_id]

    def name(self, project: str) -> str:
        """Return the neutral name of a project."""
        return self._names[project]

    def lesson(self, position: int) -> Lesson:
        segment, vectors = self._corpus.segments[position], self._vectors
        return Lesson(
            number=int(self._numbers[position]),
            project=self._names[segment.project],
            external_id=segment.external_id,
            text=segment.text,
            vector=None if vectors is None else vectors.segments[position],
            occurred_at=segment.occurred_at,
            role=segment.role,
            topic=segment.topic,
            importance=segment.importance,
            passages=tuple(passage.text for passage in segment.passages),
            passage_vectors=None if vectors is None else rows_of(vectors, segment.passages),
            position=segment.position,
        )


@dataclass(frozen=True)
class Workload:
    """The input of all arms of a run: the same lessons, the same vectors, the same questions."""

    corpus: Corpus
    vectors: CorpusVectors | None
    asked: tuple[IndexedQuestion, ...]
    lessons: CorpusLessons

    @cached_property
    def lengths(self) -> TextLengths:
        """The lengths of the corpus's texts."""
        return TextLengths(self.corpus)

    @property
    def joined(self) -> tuple[str, ...]:
        """The pooled scopes, if an id can occur in several projects; else empty."""
        several = len(set(self.lessons.ids)) < len(self.lessons.ids)
        return tuple(scope.name for scope in self.corpus.scopes if scope.pooled and several)

    def queries(self, asked: Sequence[IndexedQuestion], scope: SearchScope) -> list[Query]:
        """Return the questions of a scope as queries for a system."""
        return [self._query(one, scope) for one in asked]

    def _query(self, one: IndexedQuestion, scope: SearchScope) -> Query:
        question, vectors = one.question, self.vectors
        return Query(
            number=one.position,
            text=question.text,
            vector=None if vectors is None else vectors.questions[one.position],
            project=None if scope.pooled else self.lessons.name(question.project),
            as_of=question.as_of,
        )

    def drawn_by(self, query: Query) -> str:
        """Return the text that seeds a question's random order: its scope and its key."""
        scope = next(scope for scope in self.corpus.scopes if scope.pooled == (query.project is None))
        return f"{scope.name} {self.corpus.questions[query.number].key}"

    def hits(self, matches: Sequence[Match]) -> Iterator[RankedSegment]:
        """Yield the matched segments with the corpus's own ids.

        In a pooled scope an id can occur in several projects: its copies are one hit, at the rank of the
        first.
        """
        seen: set[str] = set()
        for match in matches:
            if (identifier := self.lessons.ids[match.number]) not in seen:
                seen.add(identifier)
                yield RankedSegment(identifier, match.score, match.components)


T = TypeVar("T")


def evenly(asked: Sequence[IndexedQuestion], most: int) -> list[IndexedQuestion]:
    """Return at most `most` questions, in their order, spread evenly over types and projects.

    The next question comes from the type with the fewest chosen questions, and there from the project
    with the fewest chosen questions; ties go to the first type and project in the order. A smaller sample
    is therefore a subset of a larger one.
    """
    left = _Left(asked)
    taken = [left.take() for _ in range(min(most, len(asked)))]
    return sorted(taken, key=lambda one: one.position)


def spread(asked: Sequence[T], most: int) -> Sequence[T]:
    """Return at most `most` questions, at even distances in their order."""
    return asked[:: max(1, len(asked) // most)][:most]


class _Left:
    """The questions that are not chosen yet, by type and project."""

    def __init__(self, asked: Sequence[IndexedQuestion]) -> None:
        self._queues: dict[str, dict[str, list[IndexedQuestion]]] = {}
        for one in reversed(asked):
            self._queues.setdefault(one.question.type, {}).setdefault(one.question.project, []).append(one)
        order = {one.question.project: place for place, one in reversed(list(enumerate(asked)))}
        self._types = Counter(dict.fromkeys(dict.fromkeys(one.question.type for one in asked), 0))
        self._projects: Counter[str] = Counter()
        self._heaps = {
            type_: [(0, order[project], project) for project in queues]
            for type_, queues in self._queues.items()
        }
        for heap in self._heaps.values():
            heapify(heap)

    def take(self) -> IndexedQuestion:
        """Remove and return the next question."""
        type_ = min((name for name in self._types if self._heaps[name]), key=self._types.__getitem__)
        heap = self._heaps[type_]
        while (entry := heappop(heap))[0] != self._projects[entry[2]]:  # the count is stale
            heappush(heap, (self._projects[entry[2]], *entry[1:]))
        _, place, project = entry
        one = self._queues[type_][project].pop()
        self._types[type_] += 1
        self._projects[project] += 1
        if self._queues[type_][project]:
            heappush(heap, (self._projects[project], place, project))
        return one
