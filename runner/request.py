"""What a run is asked to do, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.database.releases import DEFAULT_VERSION
from runner.embedders import EMBEDDERS, Embedder, EmbedderOptions
from runner.errors import UsageError
from runner.protocol import EnginePins, Protocol, engine, load_protocol
from runner.records import Corpus, Question
from runner.suites import SUITES
from runner.suites.suite import Suite
from runner.systems import MODES

NO_EMBEDDER = "none"


@dataclass(frozen=True, slots=True)
class Request:
    """One run, with the names of the command line.

    `embedder` None is the suite's canonical one, "none" a keyword-only run; `k` empty is the protocol's
    cutoffs; `types` empty is all. UsageError for anything that no suite, embedder or protocol offers.
    """

    suite: str
    version: str = DEFAULT_VERSION
    data: Path | None = None
    dsn: str | None = None
    embedder: str | None = None
    embedder_options: EmbedderOptions = field(default_factory=EmbedderOptions)
    mode: str | None = None
    granularity: str | None = None
    k: tuple[int, ...] = ()
    limit: int | None = None
    types: tuple[str, ...] = ()
    allow_unregistered_corpus: bool = False
    output: Path | None = None
    resume: Path | None = None
    cache: Path | None = None

    def __post_init__(self) -> None:
        for name in ("data", "output", "resume", "cache"):  # paths may be given as text
            if isinstance(place := getattr(self, name), str):
                object.__setattr__(self, name, Path(place))
        suite, protocol = self.suite_parts, self.protocol
        wrong = [k for k in self.k if not 1 <= k <= protocol.depth]
        if wrong or len(set(self.k)) < len(self.k):
            given = ",".join(map(str, self.k))
            raise UsageError(f"--k takes different whole numbers from 1 to {protocol.depth}, not {given}")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit takes a positive number of questions, not {self.limit}")
        unknown = [name for name in self.types if name not in suite.types]
        if unknown:
            known = ", ".join(suite.types)
            raise UsageError(f"{self.suite} has no question type {unknown[0]!r}; choose from: {known}")
        if self.level not in suite.granularities:
            known = ", ".join(suite.granularities)
            raise UsageError(f"{self.suite} has no granularity {self.level!r}; choose one of: {known}")
        if self.embedder_name != NO_EMBEDDER:
            EMBEDDERS[self.embedder_name]
        if self.recall_mode not in MODES:
            raise UsageError(f"there is no mode {self.mode!r}; choose one of: {', '.join(MODES)}")
        if self.recall_mode != "keyword" and self.embedder_name == NO_EMBEDDER:
            raise UsageError(f"mode {self.recall_mode} needs vectors: name an --embedder other than none")

    @property
    def protocol(self) -> Protocol:
        """The protocol in force."""
        return load_protocol()

    @property
    def suite_parts(self) -> Suite:
        """The suite of that name."""
        return SUITES[self.suite]

    @property
    def level(self) -> str:
        """The granularity asked for, or the canonical one."""
        return self.granularity or self.suite_parts.granularities[0]

    @property
    def number(self) -> str:
        """The version without its leading v, such as 0.2.1."""
        return self.version.removeprefix("v")

    @property
    def engine(self) -> EnginePins:
        """What the version is given, and the components of its score."""
        return engine(self.number)

    @property
    def embedder_name(self) -> str:
        """The embedder asked for, or the suite's canonical one; "none" in keyword mode."""
        if self.embedder is not None:
            return self.embedder
        return NO_EMBEDDER if self.mode == "keyword" else self.protocol.suites[self.suite].embedder

    @property
    def recall_mode(self) -> str:
        """The mode asked for; keyword for a run without vectors, else hybrid."""
        return self.mode or ("keyword" if self.embedder_name == NO_EMBEDDER else "hybrid")

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The k at which recall is counted."""
        return self.k or self.protocol.cutoffs

    def make_embedder(self) -> Embedder | None:
        """The embedder, its model not loaded yet; None for a keyword-only run."""
        if self.embedder_name == NO_EMBEDDER:
            return None
        return EMBEDDERS[self.embedder_name](self.embedder_options)

    def selected(self, corpus: Corpus) -> list[tuple[int, Question]]:
        """The questions to ask, with their positions: the scored ones, of the types, up to the limit."""
        chosen = [
            (position, question)
            for position, question in enumerate(corpus.questions)
            if question.scored and (not self.types or question.type in self.types)
        ]
        if not chosen:
            raise UsageError(f"no question of {corpus.path} is left to ask")
        return chosen[: self.limit]

    def labels(self) -> Iterator[str]:
        """What sets the results folder's name apart from that of a canonical run."""
        if self.level != self.suite_parts.granularities[0]:
            yield self.level
        if self.mode not in (None, "hybrid") and self.embedder_name != NO_EMBEDDER:
            yield self.recall_mode
        if self.types:
            yield "-".join(self.types)
        if self.limit:
            yield f"limit{self.limit}"

    def departures(self) -> dict[str, str]:
        """Options that depart from the protocol and that no gate of their own looks at."""
        return {} if self.recall_mode == "hybrid" else {"mode": self.recall_mode}
