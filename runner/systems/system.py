"""What every system is: something that ranks the segments of a scope for a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from psycopg import Connection

from runner.records import Corpus, DatabaseFacts, Hit, Question, SearchScope, Vectors


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a system works on. `depth` ranks are kept; `seed` decides all that is random."""

    corpus: Corpus
    vectors: Vectors | None
    depth: int
    seed: int


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and its position in `Corpus.questions`, where its vector stands too."""

    position: int
    question: Question


@dataclass(frozen=True, slots=True)
class Answer:
    """Best first, and the seconds that the client waited."""

    ranking: tuple[Hit, ...]
    seconds: float


class Database(Protocol):
    """What a system needs of the database stage: who it is, and connections as either of two roles."""

    @property
    def facts(self) -> DatabaseFacts: ...

    def connect(self) -> Connection[Any]:
        """As the ordinary role that the policies bind."""
        ...

    def admin(self) -> Connection[Any]:
        """As the role that owns the extension."""
        ...


class System(Protocol):
    """One arm of a run. `words` says in the report what it is."""

    name: str
    words: str
    detailed: bool  # whether scores and components are kept in the raw file

    def answers(self, asked: Sequence[Asked], scope: SearchScope) -> Iterator[Answer]:
        """One answer a question, in the order asked, each of at most `Inputs.depth` hits."""
        ...


@runtime_checkable
class TimedSystem(System, Protocol):
    """A system whose recall can be timed."""

    def timed(self, asked: Sequence[Asked], scope: SearchScope, k: int) -> Iterator[Answer]:
        """One client, one question after the other, `k` hits each; `Answer.seconds` is what is wanted."""
        ...
