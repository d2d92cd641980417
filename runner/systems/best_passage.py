"""Passages in place of lessons, for a system that stores texts alone: the best one stands for its lesson."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner.progress import QUIET, Progress
from runner.systems.asking import Judge, components_of
from runner.systems.system import Asking, Client, Concurrent, Kind, Lesson, Lessons, Match, Query, System
from runner.systems.wrappers import Wrapper

AT_FIRST = 4  # times k passages are asked for, and twice as many until k lessons are among them


class Pieces(Lessons):
    """Every passage of some lessons as a lesson of its own; one without passages is its own."""

    def __init__(self, lessons: Lessons) -> None:
        self._lessons, self.pooled = lessons, lessons.pooled
        self._places: list[tuple[int, int]] = []
        self.owners: list[int] = []  # by number of the piece
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
        raise KeyError(external_id)  # only pgmnemo asks, which takes passages with their lessons

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


class _Best:
    """A client whose passages are counted as their lessons."""

    def __init__(self, asking: Asking, owners: Sequence[int], judge: Judge) -> None:
        self._asking, self._owners, self._judge = asking, owners, judge

    def ask(self, query: Query, k: int) -> list[Match]:
        wanted = k * AT_FIRST
        while True:
            found = self._judge.judged(query, wanted, tuple(self._asking.ask(query, wanted)))
            best: dict[int, Match] = {}
            for match in found:
                owner = self._owners[match.number]
                best.setdefault(owner, replace(match, number=owner, components=()))
            if len(best) >= k or len(found) < wanted or wanted >= len(self._owners):
                return list(best.values())[:k]
            wanted *= 2

    def close(self) -> None:
        close = getattr(self._asking, "close", None)
        if close is not None:
            close()


class BestPassage(System):
    """`system`, given passages; `name` is what a fault calls it."""

    def __init__(self, name: str, system: System) -> None:
        self._name, self._system = name, system
        self._owners: Sequence[int] = ()
        self._judge: Judge | None = None

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        pieces = Pieces(lessons)
        self._owners, self._judge = pieces.owners, Judge(self._name, pieces, components_of(self._system))
        return self._system.load(pieces, progress)

    def ask(self, query: Query, k: int) -> list[Match]:
        return self._best(self._system).ask(query, k)

    def _best(self, asking: Asking) -> _Best:
        assert self._judge is not None, "nothing is asked before lessons are loaded"
        return _Best(asking, self._owners, self._judge)

    def facts(self) -> Mapping[str, str]:
        return {**self._system.facts(), "rows": str(len(self._owners))}

    def sizes(self) -> Mapping[str, int]:
        return self._system.sizes()

    def memory(self) -> int | None:
        return self._system.memory()


class ConcurrentBestPassage(BestPassage):
    """The same of a system that has clients for several threads."""

    def client(self, settings: Mapping[str, str] | None = None) -> Client:
        """A client of the system within."""
        assert isinstance(self._system, Concurrent), "made by best_passage"
        return self._best(self._system.client(settings))


def best_passage(name: str, system: System) -> BestPassage:
    """`system`, given passages; asked by several threads only where it has clients for them."""
    return (ConcurrentBestPassage if isinstance(system, Concurrent) else BestPassage)(name, system)


def _refuses(kind: Kind) -> str:
    return "" if kind.passages else "takes no passages in place of lessons"


BEST_PASSAGE = Wrapper("given passages, of which the best stands for its lesson", best_passage, _refuses)
