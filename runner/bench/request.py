"""The request for a run: its options, checked before a database or a model is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

from pgmnemo.embedders import EMBEDDERS, PACKAGED, Embedder, EmbedderOptions
from pgmnemo.errors import ModelError, UsageError
from pgmnemo.models.concurrent_calls import MOST
from pgmnemo.postgres.releases import version_number
from runner.bench.options import RunOptions
from runner.bench.workload import IndexedQuestion, evenly
from runner.naming import SystemName, parse_settings
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.suite import LessonConstruction, Suite
from runner.protocol.editions import Edition, EnginePins, current
from runner.protocol.templates.embedding import make_embedder
from runner.records import Corpus
from runner.runs.config import ALL_SCOPES, HEADLINE_SCOPE, NO_EMBEDDER, OURS, RunConfig
from runner.stages.rerankers import RERANKERS, Reranker
from runner.stages.rewriters import REWRITERS, Rewriter
from runner.systems import MODES, base_of, spec_of
from runner.systems.wrappers import PASSAGES

LONGEST = 86_400  # seconds of --time-limit


@dataclass(frozen=True, kw_only=True)
class Request(RunOptions):
    """The request for a run; its field names are those of the command line.

    `embedder` None means the suite's canonical embedder, "none" a keyword-only run; an empty `k` means
    the protocol's cutoffs; empty `types` mean all types. Raises UsageError for an unknown suite,
    embedder, system or edition.
    """

    suite: str = field(kw_only=False)

    @classmethod
    def of(cls, suite: str, options: RunOptions) -> Request:
        """Build a request for `suite` from the fields of `options`."""
        return cls(suite, **{one.name: getattr(options, one.name) for one in fields(options)})

    def __post_init__(self) -> None:
        for name in ("data", "output", "resume", "cache"):  # paths may be given as text
            if isinstance(place := getattr(self, name), str):
                object.__setattr__(self, name, Path(place))
        if self.keep and self.output is not None:
            raise UsageError("--keep writes to benchmarks/<suite>/results, --output elsewhere: leave one out")
        self._check_asked()
        self._check_systems()
        if self.rerank is not None and self.rerank not in RERANKERS:
            RERANKERS[self.rerank]  # raises an error that lists them
        if self.rewrite is not None and self.rewrite not in REWRITERS:
            REWRITERS[self.rewrite]
        if self.embedder_name not in (*EMBEDDERS, NO_EMBEDDER):
            known = ", ".join((*EMBEDDERS, NO_EMBEDDER))
            raise UsageError(f"there is no embedder named {self.embedder!r}; choose one of: {known}")
        if self.recall_mode not in MODES:
            raise UsageError(f"there is no mode {self.mode!r}; choose one of: {', '.join(MODES)}")
        if self.recall_mode != "keyword" and self.embedder_name == NO_EMBEDDER:
            raise UsageError(f"mode {self.recall_mode} needs vectors: name an --embedder other than none")

    def _check_asked(self) -> None:
        suite, depth = self.suite_parts, self.edition.retrieval.depth
        wrong = [k for k in self.k if not 1 <= k <= depth]
        if wrong or len(set(self.k)) < len(self.k):
            given = ",".join(map(str, self.k))
            raise UsageError(f"--k takes different whole numbers from 1 to {depth}, not {given}")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit takes a positive number of questions, not {self.limit}")
        if not suite.own:
            _check_types(self.suite, self.types, suite.types)
        if self.level not in suite.levels:
            known = ", ".join(suite.levels)
            raise UsageError(f"{self.suite} has no granularity {self.level!r}; choose one of: {known}")
        LessonConstruction(self.template, self.passages, self.max_chars).check()
        if self.split and not suite.own:
            suite.split(self.split)

    def _check_systems(self) -> None:
        named = (self.tested, *self.baselines)
        for name in named:
            kind = spec_of(str(name))
            if kind.needs_vectors and self.embedder_name == NO_EMBEDDER:
                raise UsageError(f"{name} needs vectors: name an --embedder other than none")
            if kind.address is not None:
                kind.address(self.system_url)
        if len({self._whole(str(name)) for name in named}) < len(named):
            raise UsageError(f"a system stands twice in {', '.join(map(str, named))}; name each once")
        if len(set(self.named)) < len(self.named):  # an arm is named without its --set values
            raise UsageError(
                f"a system stands twice in {', '.join(self.named)}; name each once, and in place of --set "
                f"write {self.tested}"
            )
        if self.baseline_scopes not in (ALL_SCOPES, HEADLINE_SCOPE):
            raise UsageError(
                f"--baseline-scopes takes {ALL_SCOPES} or {HEADLINE_SCOPE}, not {self.baseline_scopes!r}"
            )
        if "mode" in dict(self.tested.settings) and self.ours:
            raise UsageError("mode is no setting of the system under test; name it with --mode")
        if self.mode is not None and not self.ours:
            raise UsageError(f"--mode is of pgmnemo, and {self.system} is under test; leave it out")
        if not 1 <= self.jobs <= MOST:
            raise UsageError(f"--jobs takes 1 to {MOST} calls at once, not {self.jobs}")
        if not 0 < self.time_limit <= LONGEST:
            raise UsageError(
                f"--time-limit takes seconds above 0 and up to {LONGEST:,}, not {self.time_limit:g}"
            )

    @property
    def edition(self) -> Edition:
        """The edition of the protocol that the run follows."""
        return current()

    @property
    def suite_parts(self) -> Suite:
        """The request's suite."""
        return SUITES[self.suite]

    @property
    def named(self) -> tuple[str, ...]:
        """The names of all systems of the run, the system under test first."""
        return (self.system, *self.baselines)

    @cached_property
    def tested(self) -> SystemName:
        """The system under test with its settings, including those of --set."""
        return SystemName.of(self.system).with_settings(self.settings)

    @property
    def settings(self) -> dict[str, str]:
        """Return the settings of --set; raise UsageError if a value is not NAME=VALUE."""
        return parse_settings(self.set, " ".join(f"--set {one}" for one in self.set))

    @property
    def ours(self) -> bool:
        """Return whether pgmnemo without wrappers is under test."""
        return self.tested.system == OURS and not self.tested.wrappers

    @property
    def level(self) -> str:
        """The requested granularity, or the canonical one."""
        return self.granularity or self.suite_parts.levels[0]

    @property
    def number(self) -> str:
        """The version of pgmnemo, such as 0.2.1: from the system's name after @, or from --version."""
        return (self.tested.version if self.ours else "") or version_number(self.version)

    @property
    def engine(self) -> EnginePins:
        """Return the edition's pins of the engine at this version."""
        return self.edition.engine(self.number)

    @property
    def versions(self) -> tuple[str, ...]:
        """Return every version of pgmnemo in the run, measured directly or as the base of another system."""
        searching = (base_of(str(name)) for name in (self.tested, *self.baselines))
        return tuple(
            name.version or version_number(self.version) for name in searching if name.system == OURS
        )

    @property
    def takes_passages(self) -> bool:
        """Return whether a system of the run takes passages with vectors."""
        ours = any(self.edition.engine(version).passages for version in self.versions)
        baselines = any(spec_of(name).passages and spec_of(name).vectors for name in self.baselines)
        return ours or baselines or PASSAGES in self.tested.wrappers

    @property
    def embedder_name(self) -> str:
        """The requested embedder, or the suite's canonical embedder.

        "none" if no system of the run takes vectors.
        """
        if self.embedder is not None:
            return self.embedder
        if self.mode == "keyword" or not any(spec_of(name).vectors for name in self.named):
            return NO_EMBEDDER
        pins = self.edition.suites.get(self.suite)
        return pins.embedder if pins else self.suite_parts.embedder

    @property
    def other_embedder(self) -> str:
        """Return the packaged embedder if it works on this machine without other packages, else "none"."""
        try:
            EMBEDDERS[PACKAGED](EmbedderOptions()).to_download()
        except ModelError:
            return NO_EMBEDDER
        return PACKAGED

    @property
    def recall_mode(self) -> str:
        """The requested mode; by default keyword for a run without vectors, else hybrid."""
        return self.mode or ("keyword" if self.embedder_name == NO_EMBEDDER else "hybrid")

    @cached_property
    def choice(self) -> RunConfig:
        """Return the configuration of the run, as run.json records it."""
        same = {one.name: getattr(self, one.name) for one in fields(RunConfig) if hasattr(self, one.name)}
        resolved = {
            "max_tokens": self.embedder_options.max_tokens,
            "embedder": self.embedder_name,
            "version": self.number,
            "mode": self.recall_mode if self.ours else "",
            "rerank": self.rerank or "",
            "rewrite": self.rewrite or "",
            "allow_unregistered_corpus": self.allow_unregistered_corpus or self.suite_parts.own,
        }
        return RunConfig(**{**same, **resolved})

    def _whole(self, name: str) -> SystemName:
        """Return a system name with its defaults filled in, so that two spellings of one system are equal."""
        parts = SystemName.of(name)
        version = parts.version or (version_number(self.version) if spec_of(name).versions else "")
        return replace(parts, version=version, settings=tuple(sorted(parts.settings)))

    def make_embedder(self) -> Embedder | None:
        """Return the embedder, its model not loaded yet; None for a run without vectors."""
        if self.embedder_name == NO_EMBEDDER:
            return None
        return make_embedder(self.embedder_name, self.embedder_options, self.edition)

    def make_rewriter(self) -> Rewriter | None:
        """Return the rewriter; None for a run that asks each question unchanged."""
        return REWRITERS[self.rewrite](self.rewrite_options) if self.rewrite else None

    def make_reranker(self) -> Reranker | None:
        """Return the reranker, its model not loaded yet; None for a run without one."""
        return RERANKERS[self.rerank](self.rerank_options) if self.rerank else None


def _check_types(suite: str, types: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in types if name not in known]
    if unknown:
        raise UsageError(f"{suite} has no question type {unknown[0]!r}; choose from: {', '.join(known)}")


def selected(config: RunConfig, corpus: Corpus, edition: Edition) -> tuple[IndexedQuestion, ...]:
    """Return the questions to ask, with their positions in the corpus.

    They have gold, are of the configured types and split, and are at most `limit`. The result is empty if
    the corpus holds none of the cited lessons; the gate `coverage` reports that case. Raises UsageError
    if no question of the types cites a lesson, or if the file has no question of the split.
    """
    if SUITES[config.suite].own:
        _check_types(corpus.path, config.types, list(dict.fromkeys(one.type for one in corpus.questions)))
    suite = SUITES[config.suite]
    inside = suite.split(config.split) if config.split and not suite.own else None
    scored = [
        IndexedQuestion(position, question)
        for position, question in enumerate(corpus.questions)
        if question.scored
        and (not config.types or question.type in config.types)
        and (inside is None or inside(question.key))
    ]
    if inside and not any(inside(question.key) for question in corpus.questions):
        raise UsageError(
            f"{corpus.path} has no question of the split {config.split}, which needs the whole file; name "
            f"{edition.suite(config.suite).file} by --data, or leave --split out"
        )
    if not scored:
        raise UsageError(f"no question of {corpus.path} is left to ask")
    askable = [one for one in scored if one.question.gold]
    return tuple(askable if config.limit is None else evenly(askable, config.limit))
