"""Any system with its candidates in the order of a reranker: a wrapper over the contract of systems.

Where a rerank fails, the system's own order stands and the failure is counted; beyond a limit the run fails.
"""

from __future__ import annotations

import copy
import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from struct import Struct
from typing import Self

from pgmnemo.errors import ModelError
from pgmnemo.models.at_once import Failures
from pgmnemo.models.runtime import first_line
from pgmnemo.models.store import Store, key_of, store_path
from pgmnemo.progress import QUIET, Progress
from runner.stages.rerankers import (
    Candidate,
    Pool,
    Reordered,
    Reranker,
    RerankOptions,
    Shelf,
    by_score,
    checked,
)
from runner.systems.asking import Judge, components_of
from runner.systems.system import Asking, Client, Concurrent, Explained, Lessons, Match, Query, System

NOT_OF_A_PAIR = ("depth", "characters", "note")  # the text is cut before it becomes a key
SCORE = Struct("<d")


class Keeper(Reranker):
    """A reranker whose answers are kept on disk: by question and passage, or by question and candidates."""

    def __init__(self, options: RerankOptions) -> None:
        self._options, self._caching = options, True
        self._said = Store(self._path, "rerank cache")

    def without_cache(self) -> Self:
        other = copy.copy(self)
        other._caching = False
        return other

    def close(self) -> None:
        self._said.close()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is kept under those keys."""
        return self._said.read(keys) if self._caching else {}

    def write(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Keep one value for each key."""
        if self._caching:
            self._said.write(keys, values)

    def _path(self) -> Path:
        """Known once the identity is, which a local model has when it is loaded."""
        settings = {k: v for k, v in asdict(self.identity).items() if k not in NOT_OF_A_PAIR}
        return store_path(self._options.cache(), self.identity.name, settings)


class Scoring(Keeper):
    """`scores` is all that a kind of model adds. What was scored before is read from the cache.

    `alone`: one call at a time, as a model in this process wants it.
    """

    alone = True

    def __init__(self, options: RerankOptions) -> None:
        super().__init__(options)
        self._calling = threading.Lock()

    @abstractmethod
    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """A score for each text, higher for a better one; at most a batch of them."""

    def rerank(self, pool: Pool) -> Reordered:
        question, most = pool.query.text, self.identity.characters
        texts = [[text[:most] for text in one.texts] for one in pool.candidates]
        keys = {text: key_of(question, [text]) for some in texts for text in some}
        kept = self.read([*keys.values()])
        known = {text: float(SCORE.unpack(kept[key])[0]) for text, key in keys.items() if key in kept}
        lacking, size = [text for text in keys if text not in known], self._options.rerank_batch
        batches = [lacking[start : start + size] for start in range(0, len(lacking), size)]
        for batch in batches:
            made = self._made(question, batch)
            self.write([keys[text] for text in batch], [SCORE.pack(score) for score in made])
            known.update(zip(batch, made, strict=True))
        order, scores = by_score([max(known[text] for text in some) for some in texts])
        return Reordered(order, scores, len(batches), len(lacking), len(keys) - len(lacking))

    def _made(self, question: str, texts: Sequence[str]) -> list[float]:
        name = self.identity.name
        try:
            with self._calling if self.alone else nullcontext():
                made = self.scores(question, texts)
        except ModelError:
            raise
        except Exception as error:  # whatever a model library throws
            raise ModelError(
                f"{name} failed on {len(texts)} texts ({type(error).__name__}: {first_line(error)}); try a "
                "smaller --rerank-batch"
            ) from error
        if len(made) != len(texts) or not all(map(isfinite, made)):
            raise ModelError(
                f"{name} gave {len(made)} scores for {len(texts)} texts, or one that is no number; take "
                "another model"
            )
        return made


@dataclass(frozen=True, slots=True)
class Told:
    """What the rerank of one question cost; `failed` says why it kept the system's order."""

    calls: int = 0
    pairs: int = 0
    cached: int = 0
    failed: str = ""


class _Reordering:
    """A client whose answers are reordered. What each cost stands in `told`, by its question's number."""

    def __init__(self, wrapped: Reranked, asking: Asking) -> None:
        self._wrapped, self._asking = wrapped, asking

    def ask(self, query: Query, k: int) -> list[Match]:
        own, depth = self._wrapped, self._wrapped.reranker.identity.depth
        wanted = max(k, depth)
        found = own.judge.judged(query, wanted, tuple(self._asking.ask(query, wanted)))
        head, tail = found[:depth], found[depth:]
        new, told = own.reorder(query, head)
        own.told[query.number] = told
        return [*new, *(replace(match, score=None, components=()) for match in tail)][:k]

    def close(self) -> None:
        close = getattr(self._asking, "close", None)
        if close is not None:
            close()


class Reranked(System):
    """`system` behind `reranker`; `name` is what a fault calls it, `lessons` what it was loaded with.

    Not loaded and not closed here: it is the very system whose own order stands beside.
    """

    def __init__(
        self, name: str, system: System, lessons: Lessons, reranker: Reranker, failures: Failures
    ) -> None:
        self._system, self.reranker, self._failures = system, reranker, failures
        self.judge = Judge(name, lessons, components_of(system))
        self.told: dict[int, Told] = {}
        self._shelf = Shelf(lessons)
        self._components = system.components if isinstance(system, Explained) else ()

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        """Nothing: the system within is loaded."""
        return {}

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        return _Reordering(self, self._system).ask(query, k)

    def within(self, settings: Mapping[str, str] | None = None) -> Client:
        """A client of the system within, reordered."""
        assert isinstance(self._system, Concurrent), "made by reranked"
        return _Reordering(self, self._system.client(settings))

    def reorder(self, query: Query, head: Sequence[Match]) -> tuple[list[Match], Told]:
        """The candidates in the new order with the reranker's scores; as they were where it failed."""
        bare = [replace(match, score=None, components=()) for match in head]
        if len(head) < 2:
            return bare, Told()
        candidates = tuple(
            Candidate(self._shelf.lesson(match.number), rank, match.score, match.components)
            for rank, match in enumerate(head, start=1)
        )
        pool = Pool(query, candidates, self._shelf, self._components)
        try:
            new = checked(self.reranker.rerank(pool), pool)
        except ModelError as error:
            self._failures.count(str(error))
            return bare, Told(failed=str(error))
        return _ordered(bare, new), Told(new.calls, new.pairs, new.cached)


class ConcurrentReranked(Reranked):
    """The same of a system that has clients for several threads."""

    def client(self, settings: Mapping[str, str] | None = None) -> Client:
        return self.within(settings)


def reranked(name: str, system: System, lessons: Lessons, reranker: Reranker, failures: Failures) -> Reranked:
    """`system` behind `reranker`; asked by several threads only where it has clients for them."""
    kind = ConcurrentReranked if isinstance(system, Concurrent) else Reranked
    return kind(name, system, lessons, reranker, failures)


def _ordered(bare: Sequence[Match], new: Reordered) -> list[Match]:
    scores = new.scores or (None,) * len(new.order)
    first = [replace(bare[place], score=score) for place, score in zip(new.order, scores, strict=True)]
    named = set(new.order)
    return [*first, *(match for place, match in enumerate(bare) if place not in named)]
