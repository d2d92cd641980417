"""Inputs and results of a memory: immutable records, times with their zone, projects as uuids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime, tzinfo
from math import isclose
from typing import Any
from uuid import UUID

CAUSE_OF = {
    "bm25": "words",
    "passage_terms": "words",
    "passage_cosine": "meaning",
    "pair_cosine": "meaning",
    "cosine": "meaning",
    "temporal": "time",
    "context": "moment",
    "neighbours": "neighbours",
    "recency": "recency",
    "importance": "importance",
    "graph": "links",
}
"""Components of a score, as recall returns them, each with the cause that it belongs to."""
CAUSES = {
    "words": "words of the question",
    "meaning": "meaning",
    "time": "the time that the question names",
    "moment": "a better lesson of the same moment",
    "neighbours": "what was said before and after",
    "recency": "recency",
    "importance": "importance",
    "links": "links",
}
"""Causes of a score, with what each means."""
RELEVANCE = ("bm25", "passage_terms", "passage_cosine", "pair_cosine", "cosine", "temporal")
SIGNED = ("passage_cosine", "pair_cosine", "cosine")  # below 0 they count as 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation: `role`, such as `user` or `assistant`, or the speaker's `name`; `at` its
    time.
    """

    text: str
    role: str | None = None
    at: datetime | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A lesson to add: its text, or the turns of a conversation, and its fields.

    `key` is unique in the project; without a key the memory makes one. `vector` and `passage_vectors` come
    from the caller's own model, for a memory without an embedder.
    """

    text: str | Sequence[Turn]
    key: str | None = None
    role: str | None = None
    topic: str | None = None
    importance: int | None = None
    metadata: Mapping[str, Any] | None = None
    at: datetime | None = None
    expires_at: datetime | None = None
    commit_sha: str | None = None
    artifact_hash: str | None = None
    verified_at: datetime | None = None
    position: int | None = None
    passages: Sequence[str] | None = None
    vector: Sequence[float] | None = None
    passage_vectors: Sequence[Sequence[float]] | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class SimilarLesson:
    """A lesson that says nearly the same as another or shares its subject; `fit` is as in Hit."""

    key: str
    text: str
    at: datetime | None
    fit: float | None


@dataclass(frozen=True, slots=True)
class AddResult:
    """The result of an add.

    `outcome` is inserted, unchanged, updated, restored or unembedded, or `echo` for a text that this memory
    has handed out as context and does not store again; `key` is then the key of the repeated lesson.
    `similar` lists the lessons that the argument `similar` of `add` asks for.
    """

    key: str
    outcome: str
    position: int | None = None
    similar: tuple[SimilarLesson, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A stored lesson. `active` is False for a forgotten lesson; `superseded_at` is the time from which
    another lesson replaces it.
    """

    key: str
    text: str
    project: UUID
    role: str | None
    topic: str | None
    importance: int
    metadata: Mapping[str, Any]
    at: datetime | None
    stored_at: datetime
    expires_at: datetime | None
    commit_sha: str | None
    artifact_hash: str | None
    verified_at: datetime | None
    position: int | None
    active: bool
    superseded_at: datetime | None
    language: str
    id: int

    def is_current(self) -> bool:
        """Return whether a recall could answer with it now: not forgotten, superseded or expired."""
        now, ends = datetime.now(UTC), (self.superseded_at, self.expires_at)
        return self.active and all(end is None or end > now for end in ends)


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of a recall. `fit` is the score on the question's own scale, 0 to 1; `passage` the best passage,
    if the lesson has passages; `components` the parts of the score, None for a leg that the recall did not
    use. `equal_lessons` is the number of other lessons with the same text, all older than this hit;
    `repeats_question` is True for a lesson that is the question itself, which ranks last. `lifted_by` is the
    key of a better hit of the same moment, whose relevance also counts for this hit. `tenant` is the name of
    the lesson's tenant if the recall spans several (`with_`). `near_copies` is the number of other hits
    that a context leaves out because they say nearly the same.
    """

    key: str
    text: str
    score: float
    fit: float | None
    project: UUID
    role: str | None
    topic: str | None
    metadata: Mapping[str, Any]
    at: datetime | None
    passage: str | None
    components: Mapping[str, float | None]
    hidden: int
    id: int
    weights: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)
    equal_lessons: int = 0
    repeats_question: bool = False
    contributions: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)
    lifted_by: str | None = None
    tenant: str | None = None
    near_copies: int = 0

    def relevance(self) -> float:
        """Return the relevance of the lesson itself: its words, its meaning and its time."""
        return sum(self._contributions().get(name, 0.0) for name in RELEVANCE)

    def is_lifted(self) -> bool:
        """Return whether another lesson of the same moment adds to this hit's score."""
        best = self.components.get("context")
        return best is not None and not isclose(best, self.relevance(), rel_tol=1e-6, abs_tol=1e-6)

    def shares(self) -> dict[str, float]:
        """Return the share of each cause in the score, the greatest first; their sum is the score.

        A score also contains the relevance of the best lesson of the same moment. If this hit is that lesson,
        the addition is divided among its words, its meaning and its time.
        """
        added, relevance = self._contributions(), self.relevance()
        own = relevance > 0 and not self.is_lifted()
        factor = 1 + added.get("context", 0.0) / relevance if own else 1.0
        made: dict[str, float] = {}
        for name, value in added.items():
            if not (own and name == "context"):
                share = value * factor if name in RELEVANCE else value
                made[CAUSE_OF[name]] = made.get(CAUSE_OF[name], 0.0) + share
        return dict(sorted(made.items(), key=lambda one: -abs(one[1])))

    def why(self) -> str:
        """Return one sentence: the lesson's fit, and the share of each cause, the greatest first."""
        told = [
            f"{self._cause_text(name)} {value:+.2f}"
            for name, value in self.shares().items()
            if value >= 0.005 or value <= -0.05
        ]
        if not told:
            return "nothing of the question is in it: it fills the answer up"
        fit = "" if self.fit is None else f"fit {self.fit:.2f}: "
        last = "; it only repeats the question, so it ranks last" if self.repeats_question else ""
        return f"{fit}{', '.join(told)} = {self.score:.2f}{last}"

    def _cause_text(self, name: str) -> str:
        if name == "moment" and self.lifted_by is not None:
            return f"{self.lifted_by!r} of the same moment"
        return CAUSES[name]

    def _contributions(self) -> Mapping[str, float]:
        """Return the contribution of each component, computed from the weights for an extension older than
        1.0.0.
        """
        if self.contributions:
            return self.contributions
        share = self.weights.get("assistant_weight", 1.0) if self.role == "assistant" else 1.0
        return {
            name: (max(value, 0.0) if name in SIGNED else value)
            * self.weights.get(f"{name}_weight", 1.0)
            * (share if name in RELEVANCE else 1.0)
            for name, value in self.components.items()
            if value
        }


@dataclass(frozen=True, slots=True)
class Context:
    """The hits that fit a token budget, as a prompt: `text` of at most `tokens`, its hits, and the number
    left out.
    """

    text: str
    hits: tuple[Hit, ...]
    tokens: int
    left_out: int

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a timeline: a lesson, its period of validity, and the reason for its end."""

    key: str
    text: str
    project: UUID
    active: bool
    valid_from: datetime | None
    valid_to: datetime | None
    reason: str | None
    stored_at: datetime
    recorded_at: datetime | None


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact and its period of validity."""

    subject: str
    relation: str
    object: str
    text: str
    key: str
    project: UUID
    valid_from: datetime | None
    valid_to: datetime | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class FactResult:
    """The result of stating a fact: its key, its outcome as in AddResult, and the number of
    superseded facts.
    """

    key: str
    outcome: str
    superseded: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """The feedback on a lesson: how often it was used and was wrong, and its importance after that."""

    key: str
    importance: int
    used: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two lessons that say nearly the same, by the cosine of their vectors or the words they share."""

    first: str
    second: str
    cosine: float | None
    words: float | None


@dataclass(frozen=True, slots=True)
class Reason:
    """A line of an explanation; see the extension's `explain`."""

    section: str
    item: str
    value: str | None
    weight: float | None
    contribution: float | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Count:
    """The number of lessons that a recall could return, and the number that the gate hides."""

    lessons: int
    hidden: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Facts and counts of a memory. `embedder` is the tenant's remembered embedder, with its width."""

    tenant: UUID
    project: UUID | None
    lessons: int
    hidden: int
    everything: int
    embedder: str | None
    dimensions: int | None
    extension: str
    postgresql: str
    pgvector: str
    place: str


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The number of lessons of an import by outcome: `inserted`, `unchanged`, ...; in a `dry_run`, the
    expected numbers.
    """

    outcomes: Mapping[str, int]
    links: int = 0
    dry_run: bool = False

    @property
    def lessons(self) -> int:
        """Return the number of all lessons."""
        return sum(self.outcomes.values())


def to_builtins(answer: Any) -> Any:
    """Return records as mappings of their fields, without the fields excluded from comparison."""
    if answer is None or isinstance(answer, str | float | int):
        return answer
    if is_dataclass(answer):
        told = {one.name: getattr(answer, one.name) for one in fields(answer) if one.compare}
        return {name: value if name == "metadata" else to_builtins(value) for name, value in told.items()}
    if isinstance(answer, Mapping):
        return {name: to_builtins(value) for name, value in answer.items()}
    return [to_builtins(one) for one in answer] if isinstance(answer, list | tuple) else answer


def in_zone(at: datetime, zone: tzinfo) -> datetime:
    """Return a time in a zone, or unchanged if datetime cannot hold it there."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError):
        return at
