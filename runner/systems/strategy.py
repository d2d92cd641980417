"""Strategies: two retrievers of another system, fused as the name says.

An example is `convex:weight=0.3,over=sqlite-hybrid`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import numpy as np

from pgmnemo.errors import UsageError
from pgmnemo.progress import QUIET, Progress
from runner.errors import SystemFault
from runner.systems import open_system, spec_of
from runner.systems.anchors import ANCHORS, NONE, Anchors, ModelAnchors, Span, anchors_of, fits
from runner.systems.controls import ExactCosine
from runner.systems.fusion import CONVEX, PARTS, RRF, SETTINGS, Floats, Fusion, recency_of_ages
from runner.systems.system import (
    RETRIEVER,
    ClientSystem,
    Lessons,
    Match,
    Query,
    Retrievers,
    Setting,
    SupportsAsk,
    SupportsRetrievers,
    SupportsThreads,
    System,
    SystemClient,
    SystemContext,
    SystemSpec,
)

MODE = "mode"  # a run's mode; not passed on, because one mode does not have both retrievers
OVER, USUAL = "over", "auto"
WORDS, NEAR = ("bm25", "keyword"), ("vector",)  # the default retrievers
ITSELF, COSINE = "itself", "cosine"
DAY = 86_400.0
SHARED: Mapping[str, Setting] = {
    OVER: Setting("pgmnemo", "the system whose legs are fused"),
    "keyword": Setting(USUAL, "its leg of words: bm25, else keyword"),
    "vector": Setting(USUAL, f"its leg of vectors: vector; or {COSINE}, exact and without it"),
    "anchor": Setting(NONE, "who reads the time that a question names", choices=ANCHORS),
}
OWN = {CONVEX: "weight", RRF: "k"}


def settings_of(method: str) -> dict[str, Setting]:
    """Return the settings of a strategy, which follow the : of its name."""
    others = {name: one for name, one in SETTINGS.items() if name not in OWN.values()}
    return {OWN[method]: SETTINGS[OWN[method]], **SHARED, **others}


class _StrategyClient:
    """A connection to each of the two retrievers; `retriever` restricts the answers to one of them."""

    def __init__(self, strategy: Strategy, retriever: str) -> None:
        self._strategy, self._retriever = strategy, retriever
        self._near: SupportsAsk = strategy.retriever("vector")
        self._words: SupportsAsk = strategy.retriever("keyword")

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        if self._retriever == "vector":
            return without_components(self._near.ask(query, k))
        if self._retriever == "keyword":
            return without_components(with_question_words(self._words.ask(query, k)))
        pool = self._strategy.fusion.pool(k)
        return self._strategy.fused(
            query, k, self._near.ask(query, pool), with_question_words(self._words.ask(query, pool))
        )

    def close(self) -> None:
        for asking in (self._near, self._words):
            close = getattr(asking, "close", None)
            if close is not None and not isinstance(asking, System):
                close()


class Strategy(ClientSystem[_StrategyClient]):
    """A base system with two retrievers that are fused."""

    components = PARTS

    def __init__(self, context: SystemContext, method: str) -> None:
        super().__init__(ExitStack())
        known = settings_of(method)
        own = {name: context.settings.get(name, one.default) for name, one in known.items()}
        rest = {name: value for name, value in context.settings.items() if name not in (*known, MODE)}
        self.fusion = Fusion.of(method, own)
        self._own, self._over = own, own[OVER]
        self._environ, self._progress = context.environ, context.progress
        self._times: Floats = np.empty(0)
        self._anchors: Anchors | None = None
        try:
            self._system = self._stack.enter_context(open_system(own[OVER], replace(context, settings=rest)))
            self._exact = ExactCosine() if own["vector"] == COSINE else None
            self._retrievers = {
                "keyword": self._named("keyword", WORDS),
                "vector": self._named("vector", NEAR),
            }
        except BaseException:
            self._stack.close()
            raise

    def _named(self, what: str, usual: Sequence[str]) -> str:
        """Return the retriever that a setting names; raise UsageError if the system lacks it."""
        wanted = self._own[what]
        if wanted == COSINE and what == "vector":
            return COSINE
        retrievers = list(self._system.retrievers) if isinstance(self._system, SupportsRetrievers) else []
        if not retrievers and not spec_of(self._over).vectors and what == "keyword":
            retrievers = [ITSELF]
        found = next(
            (one for one in ((*usual, ITSELF) if wanted == USUAL else (wanted,)) if one in retrievers), None
        )
        if found is None or not isinstance(self._system, SupportsThreads):
            there = (
                f"choose one of: {', '.join(retrievers)}" if retrievers else "name another system with over="
            )
            raise UsageError(f"{self._over} has no leg for {what}={wanted}; {there}")
        return found

    @property
    def retrievers(self) -> Retrievers:
        return {
            what: ({RETRIEVER: what}, f"the leg {name} of {self._over} alone" if name != COSINE else
                   "exact cosine of the same vectors alone")
            for what, name in self._retrievers.items()
        }  # fmt: skip

    def retriever(self, what: str) -> SupportsAsk:
        """Return a client of one retriever."""
        name = self._retrievers[what]
        if name == COSINE:
            assert self._exact is not None, "made where it is named"
            return self._exact
        assert isinstance(self._system, SupportsThreads), "looked at when the leg was named"
        settings = self._system.retrievers[name][0] if isinstance(self._system, SupportsRetrievers) else {}
        client: SystemClient = self._system.client(settings)
        return client

    def description(self) -> str:
        fusion, retrievers = self.fusion, " and ".join(self._retrievers.values())
        how = (
            f"min-max convex fusion, {fusion.weight:g} of the vector leg" if fusion.method == CONVEX
            else f"reciprocal rank fusion, k {fusion.k}"
        )  # fmt: skip
        more = [f"recency {fusion.recency:g}"] if fusion.recency else []
        more += (
            [f"anchor {self._own['anchor']} at {fusion.temporal:g}"] if self._own["anchor"] != NONE else []
        )
        return "; ".join((
            f"{how}, of {retrievers} of {self._over}, max({fusion.factor}k, {fusion.floor}) of each leg, "
            f"candidates {fusion.candidates}", *more,
        ))  # fmt: skip

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        seconds = self._system.load(lessons, progress)
        if self._exact is not None:
            self._exact.load(lessons, progress)
        self._times = np.full(1 + max((lesson.number for lesson in lessons), default=0), np.nan)
        for lesson in lessons:
            if lesson.occurred_at is not None:
                self._times[lesson.number] = lesson.occurred_at.timestamp()
        self._anchors = anchors_of(self._own["anchor"], self._system, self._environ, self._stack)
        return seconds

    def client(self, settings: Mapping[str, str] | None = None) -> _StrategyClient:
        """Return a new connection to each retriever; `leg` in the settings restricts it to one retriever."""
        return _StrategyClient(self, (settings or {}).get(RETRIEVER, ""))

    def fused(self, query: Query, k: int, near: Sequence[Match], words: Sequence[Match]) -> list[Match]:
        """Return the `k` best of both pools, with the parts of their scores."""
        numbers = sorted({match.number for match in (*near, *words)})
        if not numbers:
            return []
        places = {number: place for place, number in enumerate(numbers)}
        times = self._times[numbers]
        now = query.as_of.timestamp() if query.as_of else np.nan
        parts = self.fusion.parts(
            self._row(near, places), self._row(words, places), recency_of_ages((now - times) / DAY)[None, :],
            fits(times, self.spans(query))[None, :],
        )[:, 0]  # fmt: skip
        scores = parts.sum(axis=0)
        best = [place for place in np.argsort(-scores, kind="stable")[:k] if np.isfinite(scores[place])]
        return [
            Match(numbers[place], float(scores[place]), tuple(map(float, parts[:, place]))) for place in best
        ]

    def spans(self, query: Query) -> Sequence[Span]:
        """Return the intervals that the strategy's anchor reads in a question."""
        assert self._anchors is not None, "nothing is asked before lessons are loaded"
        return self._anchors.spans(query)

    def _row(self, found: Sequence[Match], places: Mapping[int, int]) -> Floats:
        row = np.full((1, len(places)), -np.inf)
        for match in found:
            if match.score is None:
                raise SystemFault(f"{self._over} gives no scores, so its legs cannot be fused")
            row[0, places[match.number]] = match.score
        return row

    def facts(self) -> Mapping[str, str]:
        inner = dict(self._system.facts())
        version = {"version": inner.pop("version")} if "version" in inner else {}
        retrievers = {f"{what} leg": name for what, name in self._retrievers.items()}
        return {**version, **inner, OVER: self._over, **retrievers}

    def sizes(self) -> Mapping[str, int]:
        return self._system.sizes()

    def memory(self) -> int | None:
        return self._system.memory()

    def close(self) -> None:
        if isinstance(self._anchors, ModelAnchors) and self._anchors.unread:
            self._progress.say(f"the anchor's model gave {self._anchors.unread:,} answers that name no days")
        super().close()


def with_question_words(found: Sequence[Match]) -> list[Match]:
    """Return the matches whose score is above 0 or missing; the others share no word with the question."""
    return [match for match in found if match.score is None or match.score > 0]


def without_components(found: Sequence[Match]) -> list[Match]:
    """Return the matches without their components, which describe the base system and not the strategy."""
    return [replace(match, components=()) for match in found]


def _kind(method: str, title: str, words: str) -> SystemSpec:
    return SystemSpec(
        title,
        words,
        partial(Strategy, method=method),
        needs_vectors=True,
        approximate=False,
        settings=settings_of(method),
        base=lambda settings: settings.get(OVER, SHARED[OVER].default),
    )


CONVEX_KIND = _kind(CONVEX, "convex fusion", "two legs of another system, fused by min-max and a weight")
RRF_KIND = _kind(RRF, "reciprocal rank fusion", "two legs of another system, fused by their ranks")
