"""The contract of every system that ranks: opened in a context, loaded with lessons, asked, closed.

A system sees no id, no gold and no label of a corpus: a lesson has a number, and a match refers to it.
Optional abilities are protocols (`SupportsThreads`, `SupportsAdd`, …).
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Generic, Protocol, TypeVar, overload, runtime_checkable

from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix

NOT_KNOWN = "not known"
RETRIEVER = "leg"  # a client setting that restricts it to one retriever
PEERS = "pip install -c constraints.txt -e 'runner[peers]'"  # installs the requirements of built-in systems
WORKERS = max(1, min(4, os.cpu_count() or 1))  # default number of calls at once
WHOLE, NUMBER = re.compile(r"[0-9]{1,9}"), re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A memory to store. `number` is its neutral id; numbers are in tie order.

    `project` is the unit of search for a question (a conversation, a haystack, a tenant), under a neutral
    name; `external_id` is unique in it. `vector` is a float32 unit row, `passage_vectors` one row for each of
    the `passages`; None in a run without vectors. `role` is its speaker, `position` its place in the order of
    its project's conversation: only neighbours in one session differ by 1. None: not known.
    """

    number: int
    project: str
    external_id: str
    text: str
    vector: Matrix | None = None
    occurred_at: datetime | None = None
    role: str | None = None
    topic: str | None = None
    importance: int = 3
    passages: tuple[str, ...] = ()
    passage_vectors: Matrix | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A typed, weighted, directed edge between two lessons of one project, by their external ids."""

    project: str
    source: str
    target: str
    kind: str
    weight: float
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A question for a system, with the project to search (None: all projects) and "now" for ages.

    `number` is its index among the questions; it has no meaning for the system.
    """

    number: int
    text: str
    vector: Matrix | None
    project: str | None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A lesson that was found. `components` are in the order of `SupportsComponents.components`."""

    number: int
    score: float | None = None
    components: tuple[float | None, ...] = ()


class Lessons(Sequence[Lesson], ABC):
    """The lessons of a corpus in its own order, created on access; a number need not be an index."""

    links: Sequence[Link] = ()
    pooled: bool = True  # whether questions are also asked over all projects

    @property
    @abstractmethod
    def width(self) -> int | None:
        """Return the dimensions of the vectors; None without vectors."""

    @property
    @abstractmethod
    def projects(self) -> Sequence[str]:
        """Return every project, in order of first appearance."""

    @abstractmethod
    def number(self, project: str, external_id: str) -> int:
        """Return the number of a lesson by project and external id; raise KeyError if it does not exist."""

    @abstractmethod
    def lesson(self, position: int) -> Lesson:
        """Return the lesson at an index of the order."""

    @overload
    def __getitem__(self, place: int) -> Lesson: ...
    @overload
    def __getitem__(self, place: slice) -> list[Lesson]: ...
    def __getitem__(self, place: int | slice) -> Lesson | list[Lesson]:
        if isinstance(place, slice):
            return [self.lesson(position) for position in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self.lesson(place % len(self))

    def __iter__(self) -> Iterator[Lesson]:
        return map(self.lesson, range(len(self)))


@dataclass(frozen=True, slots=True)
class SystemContext:
    """The context in which a system works. `folder` is its own, empty at first and deleted afterwards.

    `version` follows the @ of its name, or is --version. `label` names the lessons that the rows in a
    database belong to, so that two runs on the same lessons do not share rows. `durable`: on its own server
    that keeps its data as a service does; `embedded`: on its own server, even if another is given;
    `tenant_per_project`: each project is its own tenant, if there are tenants; `with_components`: matches
    have their components; `jobs`: maximum number of its calls at once; `dry_run`: store nothing, and leave no
    trace.
    """

    folder: Path
    version: str = ""
    label: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    dsn: str | None = None
    sql: Path | None = None
    url: str | None = None
    allow_reset: bool = False
    durable: bool = False
    embedded: bool = False
    tenant_per_project: bool = False
    with_components: bool = True
    jobs: int = WORKERS
    dry_run: bool = False
    progress: Progress = QUIET


class SupportsAsk(Protocol):
    """An object that answers questions: a system or one of its clients."""

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        """Return at most `k` lessons, best first, each once."""
        ...


class System(ABC):
    """An open system. A new system is a subclass that defines `load` and `ask`."""

    @abstractmethod
    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        """Store and index every lesson.

        Returns the seconds of each step, in order (empty: not measured by step).
        """

    @abstractmethod
    def ask(self, query: Query, k: int) -> Sequence[Match]:
        """Return at most `k` lessons, best first, each once."""

    def description(self) -> str:
        """Return a description of its input, if that depends on the version.

        Empty: its SystemSpec describes it.
        """
        return ""

    def facts(self) -> Mapping[str, str]:
        """Return the versions and settings that affect its figures; `version` is its own version."""
        return {}

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk of each part; empty if there are no files or the size is unknown."""
        return {}

    def catalogue(self) -> Mapping[str, int]:
        """Return the number of `relations` in PostgreSQL's pg_class and the catalogue's `bytes`.

        The result is empty for a system without PostgreSQL.
        """
        return {}

    def memory(self) -> int | None:
        """Return the bytes of memory in use now; None if unknown."""
        return None

    def close(self) -> None:  # noqa: B027
        """Release all resources. Called once, after an error too."""


class SystemClient(SupportsAsk, Protocol):
    """A connection for one thread."""

    def close(self) -> None:
        """Release the connection."""
        ...


C = TypeVar("C", bound=SystemClient)


class ClientSystem(System, Generic[C]):
    """A system that owns one client, opened at its first use; closing `stack` releases its resources."""

    def __init__(self, stack: ExitStack | None = None) -> None:
        self._stack = stack or ExitStack()
        self._asking: C | None = None

    @abstractmethod
    def client(self, settings: Mapping[str, str] | None = None) -> C:
        """Open and return another client, with `settings` if given."""

    @property
    def own(self) -> C:
        """The client that the system itself uses."""
        if self._asking is None:
            self._asking = self.client()
            self._stack.callback(self._asking.close)
        return self._asking

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        return self.own.ask(query, k)

    def close(self) -> None:
        self._stack.close()


Retrievers = Mapping[str, tuple[Mapping[str, str], str]]


@runtime_checkable
class SupportsThreads(Protocol):
    """Optional: clients for several threads at once, each with settings that may differ from the system's
    own.
    """

    def client(self, settings: Mapping[str, str] | None = None) -> SystemClient: ...


@runtime_checkable
class SupportsAdd(Protocol):
    """Optional for a client: add one lesson, durable and searchable when the call returns."""

    def add(self, lesson: Lesson) -> None: ...


@runtime_checkable
class SupportsNearest(Protocol):
    """Optional for a client: search only by vectors, with the system's own index."""

    def nearest(self, query: Query, k: int) -> Sequence[Match]: ...


@runtime_checkable
class SupportsExactSearch(Protocol):
    """Optional: settings that make the vector retriever compare every vector, if it is not a plain cosine."""

    @property
    def exact(self) -> Mapping[str, str] | None: ...


@runtime_checkable
class SupportsReset(Protocol):
    """Optional: empty the system for all its users; called only if the context allows it."""

    def reset(self) -> None: ...


@runtime_checkable
class SupportsComponents(Protocol):
    """Optional: the names of the components of each match."""

    @property
    def components(self) -> tuple[str, ...]: ...


@runtime_checkable
class SupportsRetrievers(Protocol):
    """Optional: its retrievers by name, each as client settings and a description."""

    @property
    def retrievers(self) -> Retrievers: ...


@runtime_checkable
class SupportsPlans(Protocol):
    """Optional: query plans as Markdown; empty if there are no plans."""

    def plans(self, queries: Sequence[Query], k: int) -> str: ...


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a system: its default, its meaning, and its allowed values.

    With `choices` the value is one of them; with `low` and `high` a number between the two, an integer if
    `whole`; without both it is any text.
    """

    default: str
    meaning: str
    low: float | None = None
    high: float | None = None
    whole: bool = False
    choices: tuple[str, ...] = ()

    def wrong(self, value: str) -> str:
        """Return a description of the valid values if `value` is invalid; else an empty text."""
        if self.choices:
            return "" if value in self.choices else f"must be one of {', '.join(self.choices)}"
        if self.low is None or self.high is None:
            return ""
        fits = WHOLE if self.whole else NUMBER
        if fits.fullmatch(value) and self.low <= float(value) <= self.high:
            return ""
        return f"must be a {'whole ' if self.whole else ''}number from {self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """The specification of a system: how to open it, and the facts known before.

    `open` returns an open system, which its `close` closes. `description` says what it is, how it is
    configured and which input it gets. `packages` must be installed; `remedy` says how; `missing` names other
    missing requirements (its own environment, a database), in words that follow "it is". `address` raises
    UsageError for a --system-url that is unusable. `vectors`: whether it takes our vectors (False: it has
    no vectors, or with `own_embedder` makes its own), `needs_vectors` whether it cannot work without them;
    `hybrid` is False if `ask` is a single retriever, `approximate` is False if the vector retriever is exact.
    `passages`: whether it can store passages in place of lessons; `separates_projects`: a question never sees
    another project's rows; `versions`: its name may have a version, as `x@1.0`. `tuned_on`: the corpora that
    its defaults were chosen on, according to its makers. `settings`: the settings after the : of its name;
    None if only an open system knows them. `base` returns, for given settings, the name of the system that
    this system is built on.
    """

    title: str
    description: str
    open: Callable[[SystemContext], System]
    packages: tuple[str, ...] = ()
    remedy: str = ""
    missing: Callable[[Mapping[str, str]], str] | None = None
    address: Callable[[str | None], object] | None = None
    tuned_on: str = NOT_KNOWN
    vectors: bool = True
    needs_vectors: bool = False
    own_embedder: bool = False
    hybrid: bool = True
    approximate: bool = True
    passages: bool = False
    separates_projects: bool = False
    versions: bool = False
    postgres: bool = False
    settings: Mapping[str, Setting] | None = field(default_factory=dict)
    base: Callable[[Mapping[str, str]], str] | None = None
