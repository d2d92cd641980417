"""The configuration of a run: each option that affects a ranking is a field of one record.

The plan of a run, its labels, its deviations and its comparability are derived from this record, both in live
runs and when a finished run is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from runner.naming import SystemName
from runner.protocol.editions import Edition

NO_EMBEDDER = "none"
OURS = "pgmnemo"
FULL = "full"  # the protocol's text template for every suite
BY_TURNS = "turns"  # the protocol's passages for every suite
ALL_SCOPES, HEADLINE_SCOPE = "all", "headline"  # the scopes of the baseline systems
SESSION = "session"  # the level of a suite that no edition pins


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """Everything except the bytes of the corpus that decides the rankings of a run.

    `level` is the granularity of a lesson, `template` the template of its text, `system` the system under
    test and `baselines` the others, each as runner/naming.py reads it; `version` is pgmnemo's, without its v,
    and `mode` its retrievers. `settings` are the settings of the system under test that --set changes, and
    `baseline_scopes` the scopes of the baselines: `all`, or only the `headline`'s. `passages` says how a
    lesson is cut: by `turns`, or `SIZE/OVERLAP` in characters; `max_chars` is the number of characters that a
    lesson keeps, `max_tokens` the number of tokens of a text that the embedder reads. Empty or None means for
    `k` the edition's cutoffs, for `types` all, for `split` none, for `scopes` the suite's own, for `limit` no
    limit, for `rerank` no reranker, for `rewrite` no rewriter, for `max_chars` all characters, and for
    `max_tokens` the embedder's own limit.
    """

    suite: str
    level: str
    template: str = FULL
    passages: str = BY_TURNS
    max_chars: int | None = None
    max_tokens: int | None = None
    embedder: str = NO_EMBEDDER
    system: str = OURS
    baselines: tuple[str, ...] = ()
    baseline_scopes: str = ALL_SCOPES
    version: str = ""
    mode: str = "hybrid"
    settings: Mapping[str, str] = field(default_factory=dict)
    k: tuple[int, ...] = ()
    limit: int | None = None
    types: tuple[str, ...] = ()
    split: str = ""
    scopes: tuple[str, ...] = ()
    rerank: str = ""
    rewrite: str = ""
    allow_unregistered_corpus: bool = False

    @property
    def ours(self) -> bool:
        """Return whether pgmnemo is under test, at any version; a wrapper around it is another system."""
        name = SystemName.of(self.system)
        return name.system == OURS and not name.wrappers

    @property
    def changed(self) -> Mapping[str, str]:
        """The settings of the system under test that were changed, in its name or by --set."""
        return {**dict(SystemName.of(self.system).settings), **self.settings}

    @property
    def named(self) -> tuple[str, ...]:
        """The names of all systems of the run, the system under test first."""
        return (self.system, *self.baselines)

    @property
    def written(self) -> tuple[str, ...]:
        """Return a label for each way in which the lessons differ from the protocol's."""
        return (
            *([self.template] if self.template != FULL else []),
            *([f"passages{self.passages}"] if self.passages != BY_TURNS else []),
            *([f"chars{self.max_chars}"] if self.max_chars else []),
        )

    def cutoffs(self, edition: Edition) -> tuple[int, ...]:
        """Return the values of k at which recall is computed."""
        return self.k or edition.metrics.cutoffs

    def labels(self, edition: Edition) -> Iterator[str]:
        """Yield the labels that distinguish the results folder's name from that of a canonical run."""
        pins = edition.suites.get(self.suite)
        if self.level != (pins.granularity if pins else SESSION):
            yield self.level
        yield from self.written
        if self.max_tokens:
            yield f"tokens{self.max_tokens}"
        if self.ours and self.mode != "hybrid" and self.embedder != NO_EMBEDDER:
            yield self.mode
        changed = self.changed if self.ours else self.settings  # another system's name has its settings
        yield from (f"{name}-{value}" for name, value in changed.items())
        if self.types:
            yield "-".join(self.types)
        if self.split:
            yield self.split
        if self.scopes:
            yield "-".join(self.scopes)
        if self.limit:
            yield f"limit{self.limit}"
        if self.rewrite:
            yield f"rewrite-{self.rewrite}"
        if self.rerank:
            yield f"rerank-{self.rerank}"
        if self.baselines:
            yield "side-by-side"

    def departures(self, edition: Edition) -> Iterator[str]:
        """Yield a description of every departure from the protocol that an option causes."""
        if self.limit is not None:
            yield f"only {self.limit:,} questions, spread evenly (--limit)"
        if self.types:
            yield f"only the types {', '.join(self.types)} (--types)"
        if self.split:
            yield f"only the split {self.split} (--split)"
        if self.scopes:
            yield f"scopes {', '.join(self.scopes)} (--scopes)"
        missing = [k for k in edition.metrics.cutoffs if self.k and k not in self.k]
        if missing:
            yield f"no figure at k = {', '.join(map(str, missing))} (--k)"
        if self.ours and self.mode != "hybrid":
            yield f"mode {self.mode}"
        if self.rewrite:
            yield f"every question asked in the words of the rewriter {self.rewrite} (--rewrite)"
        if self.rerank:
            yield f"every system measured behind the reranker {self.rerank}, too (--rerank)"
        if self.template != FULL:
            yield f"template {self.template} (--template)"
        if self.passages != BY_TURNS:
            yield f"passages of {self.passages} characters (--passages)"
        if self.max_chars:
            yield f"at most {self.max_chars:,} characters of a lesson (--max-chars)"
        if self.max_tokens:
            yield f"at most {self.max_tokens:,} tokens of a text (--max-tokens)"
        for name, value in self.changed.items():
            yield f"{name} = {value} ({'--set' if name in self.settings else 'in the name of the system'})"
