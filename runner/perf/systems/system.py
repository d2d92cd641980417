"""What every measured system is: something that loads the corpus and answers questions from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runner.perf.workload import Asked, Lesson, Tenant, Workload
from runner.progress import Progress

POOL = 50  # candidates of each leg of a fused search, as pgmnemo's own default
EF_SEARCH = 100  # of every HNSW index, unless a sweep says otherwise


class Client(Protocol):
    """One connection, used by one thread. Numbers are the lessons' own, best first."""

    def query(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        """The system's whole search over what `tenant` holds."""
        ...

    def nearest(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        """Its vector leg alone."""
        ...

    def add(self, lesson: Lesson) -> None:
        """Store one lesson, durable and searchable when it returns."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...


class System(Protocol):
    """A loaded system."""

    def load(self, workload: Workload, progress: Progress) -> Mapping[str, float]:
        """Store and index every loaded row; seconds of each step, in order."""
        ...

    def client(self, ef_search: int | None = None) -> Client:
        """A new connection, with `ef_search` where its index has one (None: EF_SEARCH or its default)."""
        ...

    def exact(self) -> Client | None:
        """A client whose `nearest` is exact, for a system that orders by more than one cosine; else None."""
        ...

    def searched(self, tenant: Tenant) -> Tenant | None:
        """Whose rows a question for `tenant` is answered from; None: everybody's."""
        ...

    def sizes(self) -> Mapping[str, int]:
        """Bytes on disk of each part; their sum is the size."""
        ...

    def memory(self) -> int | None:
        """Bytes of memory that it holds now (runner/perf/memory.py); None where that cannot be told."""
        ...

    def plans(self, asked: Sequence[Asked], k: int) -> str:
        """How its whole search is carried out, as Markdown; empty where there is nothing to tell."""
        ...

    def facts(self) -> Mapping[str, str]:
        """Versions and settings that decide its figures."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a system may work: a folder of its own, and which version of the extension from which files."""

    folder: Path
    version: str
    sql: Path


@dataclass(frozen=True, slots=True)
class Kind:
    """A system that can be measured. `packages` must be installed; `words` say what it is, set up how.

    `hybrid` is False where `query` is the vector leg alone; `approximate` False where that leg is exact.
    """

    title: str
    words: str
    open: Callable[[Place], AbstractContextManager[System]]
    packages: tuple[str, ...] = ()
    hybrid: bool = True
    approximate: bool = True
    postgres: bool = False
    since: tuple[int, ...] = ()  # the first version of the extension that can do it
