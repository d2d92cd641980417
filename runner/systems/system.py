"""What every system is: something that ranks the segments of a scope for a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from runner.records import Corpus, Hit, Question, SearchScope, Vectors


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


class System(Protocol):
    """One arm of a run. `words` says in the report what it is."""

    name: str
    words: str
    detailed: bool  # whether scores and components are kept in the raw file

    def answers(self, asked: Sequence[Asked], scope: SearchScope) -> Iterator[Answer]:
        """One answer a question, in the order asked, each of at most `Inputs.depth` hits."""
        ...
