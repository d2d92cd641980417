"""The shared immutable records that every stage reads and writes.

Times are timezone-aware UTC. Ids are strings. Imports nothing of the project but the base.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

from pgmnemo.records import EmbedderIdentity, Matrix, Passage


@dataclass(frozen=True, slots=True)
class Segment:
    """A text that is stored as one lesson: a dialog session, or a turn at turn granularity.

    `id` is the corpus's own id (unique within `project`); it is written to artefacts and never indexed.
    `passages` are additional input for an engine that takes passages (PROTOCOL.md §2.6). If a lesson is one
    turn, `role` is its speaker and `position` its place in the order of its project's conversation (§2.9):
    consecutive turns of one session differ by 1, those of two sessions by at least 2.
    """

    project: str
    id: str
    text: str
    occurred_at: datetime | None = None
    role: str | None = None
    topic: str | None = None
    importance: int = 3
    passages: tuple[Passage, ...] = ()
    position: int | None = None

    @property
    def external_id(self) -> str:
        """The key in the database and the tie-breaker: 16 hex digits that reveal nothing of the id.

        LongMemEval's gold ids begin with `answer_`, so breaking ties by the id itself would leak the label.
        """
        return opaque(self.id)


class StoredSegments(Sequence[Segment], ABC):
    """Segments that are not in memory: each is read when it is accessed."""

    @abstractmethod
    def heads(self) -> Iterator[Segment]:
        """Yield every segment without its text and passages, which is faster."""


def opaque(identifier: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of an id in UTF-8."""
    return sha256(identifier.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed, weighted, directed link between two segments of one project (`weight` in (0, 1])."""

    project: str
    source: str
    target: str
    kind: str
    weight: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """An evidence id as the corpus cites it, and its segment; None if no segment has the id."""

    cited: str
    segment: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `key` is unique in the corpus; `project` is its haystack or conversation."""

    key: str
    project: str
    text: str
    type: str
    evidence: tuple[Evidence, ...] = ()
    as_of: datetime | None = None

    @property
    def gold(self) -> tuple[str, ...]:
        """The ids of the segments that answer the question, sorted and distinct."""
        return tuple(sorted({e.segment for e in self.evidence if e.segment is not None}))

    @property
    def scored(self) -> bool:
        """Return whether the corpus cites any evidence; only such a question has a recall."""
        return bool(self.evidence)


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The lessons that a question searches: its project, or the whole corpus if `pooled`."""

    name: str
    pooled: bool = False


ALL = "all"  # the view of all questions, and the row of all types


@dataclass(frozen=True, slots=True)
class View:
    """A named subset of the questions: all of them, except the questions named here."""

    name: str
    without_types: tuple[str, ...] = ()
    without_key: str = ""  # part of a question's key; empty: no key is left out

    def __call__(self, key: str, type: str) -> bool:
        """Return whether the question with this key and type belongs to the view."""
        return type not in self.without_types and not (self.without_key and self.without_key in key)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A loaded corpus. `sha256` is of the unpacked bytes of `path`; for a folder, of the list of its files.

    A gate checks the counts in `shape`. Use `heads` if neither text nor passages of the segments are needed.
    """

    suite: str
    path: str
    sha256: str
    granularity: str
    segments: Sequence[Segment]
    questions: tuple[Question, ...]
    scopes: tuple[SearchScope, ...]
    edges: tuple[Edge, ...] = ()
    clustered: bool = False  # questions of one project are one cluster in every interval
    shape: Mapping[str, int] = field(default_factory=dict)
    labels: tuple[str, ...] = ()  # patterns that would give an answer away, besides ids; no text may match
    files: Mapping[str, str] = field(default_factory=dict)  # of a folder: SHA-256 of each file, by its name
    title: str = ""  # its own name, if it differs from its suite's

    @property
    def heads(self) -> Iterable[Segment]:
        """The segments, perhaps without their texts and passages."""
        return self.segments.heads() if isinstance(self.segments, StoredSegments) else self.segments

    def project_sizes(self) -> dict[str, int]:
        """Return the number of segments in each project, in corpus order."""
        sizes: dict[str, int] = {}
        for segment in self.heads:
            sizes[segment.project] = sizes.get(segment.project, 0) + 1
        return sizes


@dataclass(frozen=True, slots=True)
class RerankerIdentity:
    """Everything besides question and candidates that affects a new order; in the cache key and in artefacts.

    `depth` candidates of a system are reordered, and the first `characters` of each text are read (0: all).
    `revision` is a hub commit, a sha256 of the model's files, or says that it is unknown; `prompt_sha256` is
    of the prompt of a language model.
    """

    name: str
    model: str
    revision: str
    depth: int
    characters: int
    max_tokens: int = 0
    prompt_sha256: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RewriterIdentity:
    """Everything besides the question that affects its rewrite; in the cache key and in artefacts.

    `revision` is that of the rule, or says that a service's weights are unknown; `prompt_sha256` is of the
    prompt of a language model.
    """

    name: str
    model: str
    revision: str
    prompt_sha256: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class CorpusVectors:
    """Unit-length rows at native width, aligned with `Corpus.segments` and `Corpus.questions`.

    `passages` has one row for each distinct text; `places` maps the store's key of a text to its row, so that
    the texts need not be in memory.
    """

    identity: EmbedderIdentity
    segments: Matrix
    questions: Matrix
    cached: int  # texts found in the cache
    embedded: int  # texts embedded now
    passages: Matrix | None = None  # None: not embedded, because the engine takes none
    places: Mapping[bytes, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankedSegment:
    """A ranked segment. `components` are in the order in which run.json names them; they may be empty."""

    id: str
    score: float | None = None
    components: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer of one arm to one question in one scope, best first.

    `tokens` has the length of each ranked segment's text and `gold_tokens` that of each gold segment's, in
    the order of `ranking` and `gold`; both are empty where lengths are not counted. The raw file does not
    hold `seconds`.
    """

    question: str
    type: str
    arm: str
    scope: str
    project: str
    size: int
    gold: tuple[str, ...]
    ranking: tuple[RankedSegment, ...]
    seconds: float | None = None
    gold_tokens: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """A row of `metrics.json["results"]`."""

    arm: str
    scope: str
    view: str
    type: str
    metric: str
    value: float
    ci95_low: float
    ci95_high: float
    n: int
    trivial: int = 0  # questions with at most k segments in scope


@dataclass(frozen=True, slots=True)
class Difference:
    """A row of `metrics.json["differences"]`: arm minus baseline, paired by question."""

    arm: str
    baseline: str
    scope: str
    view: str
    metric: str
    value: float
    ci95_low: float
    ci95_high: float
    n: int


class Status(StrEnum):
    """The result of one gate."""

    PASSED = "passed"
    DEVIATION = "deviation"  # intact, but a labelled departure from the protocol
    UNVERIFIED = "unverified"  # let through only by an explicit flag
    FAILED = "failed"  # blocks the run
    NOT_YET = "not yet"  # can only be checked after the run


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of one gate: its expectation, its finding with its place, and the remedy."""

    gate: str
    status: Status
    expected: str
    found: str
    where: str = ""
    resolve: str = ""


class Verdict(StrEnum):
    """The verdict on a run."""

    VERIFIED = "verified"
    DEVIATION = "deviation"
    UNVERIFIED = "unverified"
    BLOCKED = "blocked"


Json = dict[str, Any]
