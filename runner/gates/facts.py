"""What the gates look at: everything about a run that decides whether its numbers may be cited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.protocol import Protocol, SuitePins
from runner.records import Corpus, DatabaseFacts, EmbedderIdentity


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run, as far as it has come; None means "not known yet" and makes a gate say NOT_YET.

    `settings` and `defaults` map a setting (with or without `pgmnemo.`) to its value as text;
    `departures` maps an option to a non-canonical value (`{"mode": "keyword"}`);
    `retrievals` counts the raw lines of each (arm, scope); `asked` is the number of questions that the
    run selected; `artefacts` maps file names to whether they are (or will be, by the writer) there.
    """

    protocol: Protocol
    corpus: Corpus
    requested_version: str  # with or without a leading "v"
    embedder: str  # its name in the registry; "none" for a run without vectors
    hash_seed: str | None  # PYTHONHASHSEED
    seed: int
    allow_unregistered: bool = False
    identity: EmbedderIdentity | None = None
    database: DatabaseFacts | None = None
    fingerprint: str | None = None  # of the requested release; None: there is no such release
    ours: bool | None = None  # whether the installed extension is of this family, patched or not
    settings: Mapping[str, str] | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)
    cutoffs: tuple[int, ...] = ()  # empty: the protocol's
    limit: int | None = None
    types: tuple[str, ...] = ()
    departures: Mapping[str, str] = field(default_factory=dict)
    commit: str | None = None
    dirty: bool | None = None
    retrievals: Mapping[tuple[str, str], int] | None = None
    asked: int | None = None
    artefacts: Mapping[str, bool] | None = None
    history: str = "HISTORY.md"
    history_ready: bool | None = None  # whether an entry can be appended to `history`

    @property
    def pins(self) -> SuitePins | None:
        """The protocol's pins for the corpus's suite; None for a suite that the protocol does not know."""
        return self.protocol.suites.get(self.corpus.suite)

    @property
    def registered(self) -> bool:
        """Whether the corpus is the registered file, byte for byte."""
        return self.pins is not None and self.pins.sha256 == self.corpus.sha256

    @property
    def let_through(self) -> bool:
        """Whether an unregistered corpus was let through by the flag."""
        return self.allow_unregistered and not self.registered

    @property
    def canonical_granularity(self) -> bool:
        """Whether the corpus was cut as the protocol demands."""
        return self.pins is not None and self.pins.granularity == self.corpus.granularity
