"""Wrappers: names after the + of a system's name that change how that system is asked.

Each is one line here; several are applied from left to right. `+passages` gives a system that stores only
texts passages in place of lessons: a lesson is ranked by its best passage.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pgmnemo.progress import QUIET, Progress
from pgmnemo.registry import Parts
from runner.systems.query_runner import AnswerValidator, components_of
from runner.systems.system import (
    Lesson,
    Lessons,
    Match,
    Query,
    SupportsAsk,
    SupportsThreads,
    System,
    SystemClient,
    SystemSpec,
)

AT_FIRST = 4  # times k passages are requested first, then twice as many until they cover k lessons


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A wrapper of systems. `wrap` takes the full name and the inner system; `words` describe the change.

    `refuses` says why a system cannot be wrapped, in words that follow its name; empty if it can.
    """

    words: str
    wrap: Callable[[str, System], System]
    refuses: Callable[[SystemSpec], str] = lambda kind: ""


class Wrapped(System):
    """A system that asks the inner `system` in another way; `name` is the full name.

    It has clients for several threads if the inner system has.
    """

    client: Callable[..., SystemClient]

    def __init__(self, name: str, system: System) -> None:
        self.name, self.system = name, system
        if isinstance(system, SupportsThreads):
            self.client = self._client

    @abstractmethod
    def asked(self, asking: SupportsAsk, query: Query, k: int) -> Sequence[Match]:
        """Return the answer, using the inner system or one of its clients."""

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        return self.system.load(lessons, progress)

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        return self.asked(self.system, query, k)

    def _client(self, settings: Mapping[str, str] | None = None) -> SystemClient:
        assert isinstance(self.system, SupportsThreads), "only then is it a part"
        return _WrappedClient(self, self.system.client(settings))

    def description(self) -> str:
        return self.system.description()

    def facts(self) -> Mapping[str, str]:
        return self.system.facts()

    def sizes(self) -> Mapping[str, int]:
        return self.system.sizes()

    def memory(self) -> int | None:
        return self.system.memory()


class _WrappedClient:
    def __init__(self, wrapped: Wrapped, client: SystemClient) -> None:
        self._wrapped, self._client = wrapped, client

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        return self._wrapped.asked(self._client, query, k)

    def close(self) -> None:
        self._client.close()


class PassageLessons(Lessons):
    """A view of lessons in which each passage is a lesson; a lesson without passages is unchanged."""

    def __init__(self, lessons: Lessons) -> None:
        self._lessons, self.pooled = lessons, lessons.pooled
        self._places: list[tuple[int, int]] = []
        self.owners: list[int] = []  # lesson number by passage number
        for at, lesson in enumerate(lessons):
            parts = range(max(1, len(lesson.passages)))
            self._places += [(at, part) for part in parts]
            self.owners += [lesson.number] * len(parts)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def width(self) -> int | None:
        return self._lessons.width

    @property
    def projects(self) -> Sequence[str]:
        return self._lessons.projects

    def number(self, project: str, external_id: str) -> int:
        raise KeyError(external_id)  # only pgmnemo calls this, and it takes passages with their lessons

    def lesson(self, position: int) -> Lesson:
        at, part = self._places[position]
        whole = self._lessons[at]
        if not whole.passages:
            return replace(whole, number=position, external_id=f"{whole.external_id}.0")
        vectors = whole.passage_vectors
        return replace(
            whole,
            number=position,
            external_id=f"{whole.external_id}.{part}",
            text=whole.passages[part],
            vector=None if vectors is None else vectors[part],
            passages=(),
            passage_vectors=None,
        )


class BestPassage(Wrapped):
    """A system that stores passages; a matched passage counts as its lesson."""

    def __init__(self, name: str, system: System) -> None:
        super().__init__(name, system)
        self._owners: Sequence[int] = ()
        self._judge: AnswerValidator | None = None

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        pieces = PassageLessons(lessons)
        self._owners, self._judge = (
            pieces.owners,
            AnswerValidator(self.name, pieces, components_of(self.system)),
        )
        return self.system.load(pieces, progress)

    def asked(self, asking: SupportsAsk, query: Query, k: int) -> list[Match]:
        assert self._judge is not None, "nothing is asked before lessons are loaded"
        wanted = k * AT_FIRST
        while True:
            found = self._judge.validate(query, wanted, tuple(asking.ask(query, wanted)))
            best: dict[int, Match] = {}
            for match in found:
                owner = self._owners[match.number]
                best.setdefault(owner, replace(match, number=owner, components=()))
            if len(best) >= k or len(found) < wanted or wanted >= len(self._owners):
                return list(best.values())[:k]
            wanted *= 2

    def facts(self) -> Mapping[str, str]:
        return {**self.system.facts(), "rows": str(len(self._owners))}


def _refuses(spec: SystemSpec) -> str:
    return "" if spec.passages else "takes no passages in place of lessons"


BEST_PASSAGE = Wrapper("given passages, of which the best stands for its lesson", BestPassage, _refuses)
PASSAGES = "passages"
WRAPPERS: Parts[Wrapper] = Parts(
    "wrapper",
    {
        PASSAGES: "runner.systems.wrappers:BEST_PASSAGE",
        "keyword": "runner.systems.boosts:KEYWORD",
        "names": "runner.systems.boosts:NAMES",
        "quoted": "runner.systems.boosts:QUOTED_PHRASES",
        "preference": "runner.systems.boosts:PREFERENCE",
    },
)
