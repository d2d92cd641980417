"""What a run chose: one record, from which plan, labels, departures and comparability are derived.

An axis of choice is one field here. Everything that depends on it asks this record, live or from disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from runner.editions import Edition

NO_EMBEDDER = "none"
OURS = "pgmnemo"
FULL = "full"  # the text that every suite has by the protocol
ALL_SCOPES, HEADLINE_SCOPE = "all", "headline"  # where the systems beside the one under test answer
SESSION = "session"  # the level of a suite that no edition pins


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Everything that decides the rankings of a run but the bytes of its corpus.

    `level` is what a lesson is, `text` how it is written, `system` the one under test and `systems` those
    beside it; `version` is pgmnemo's, without its v, and `mode` its legs. `settings` are the system's own
    that differ from its defaults, and `beside` says in which scopes the systems beside it answer: `all`, or
    the `headline`'s. Empty: `k` the edition's cutoffs, `types` all, `limit` none.
    """

    suite: str
    level: str
    text: str = FULL
    embedder: str = NO_EMBEDDER
    system: str = OURS
    systems: tuple[str, ...] = ()
    beside: str = ALL_SCOPES
    version: str = ""
    mode: str = "hybrid"
    settings: Mapping[str, str] = field(default_factory=dict)
    k: tuple[int, ...] = ()
    limit: int | None = None
    types: tuple[str, ...] = ()
    allow_unregistered_corpus: bool = False

    @property
    def ours(self) -> bool:
        """Whether pgmnemo is under test, at whichever version."""
        return self.system.partition("@")[0] == OURS

    @property
    def named(self) -> tuple[str, ...]:
        """Every system of the run, the one under test first."""
        return (self.system, *self.systems)

    def cutoffs(self, edition: Edition) -> tuple[int, ...]:
        """The k at which recall is counted."""
        return self.k or edition.metrics.cutoffs

    def labels(self, edition: Edition) -> Iterator[str]:
        """What sets the results folder's name apart from that of a canonical run."""
        pins = edition.suites.get(self.suite)
        if self.level != (pins.granularity if pins else SESSION):
            yield self.level
        if self.text != FULL:
            yield self.text
        if self.ours and self.mode != "hybrid" and self.embedder != NO_EMBEDDER:
            yield self.mode
        yield from (f"{name}-{value}" for name, value in self.settings.items())
        if self.types:
            yield "-".join(self.types)
        if self.limit:
            yield f"limit{self.limit}"
        if self.systems:
            yield "side-by-side"

    def departures(self, edition: Edition) -> Iterator[str]:
        """Every departure from the protocol that is one of options, in words."""
        if self.limit is not None:
            yield f"only the first {self.limit:,} questions (--limit)"
        if self.types:
            yield f"only the types {', '.join(self.types)} (--types)"
        missing = [k for k in edition.metrics.cutoffs if self.k and k not in self.k]
        if missing:
            yield f"no figure at k = {', '.join(map(str, missing))} (--k)"
        if self.ours and self.mode != "hybrid":
            yield f"mode {self.mode}"
        if self.text != FULL:
            yield f"text {self.text}"
        yield from (f"{name} = {value} (--set)" for name, value in self.settings.items())
