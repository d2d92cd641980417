"""What the gates look at: the record of a run and its corpus, whether it is being made or lies on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.editions import Edition, SuitePins
from runner.records import Corpus
from runner.runs.run import Run


@dataclass(frozen=True, slots=True)
class Facts:
    """One run, as far as it has come; None, or an empty field of `run`, is not known yet.

    `fingerprint` is that of the release that was asked for (None: no release), `recognised` whether the
    installed extension is of this family, patched or not; `changed` says what is wrong with a script of this
    checkout that it was installed by (None: nothing, or it came from elsewhere). `asked` is the number of
    questions that the run selected, `retrievals` counts the raw lines of each (arm, scope), `artefacts` maps
    file names to whether they are (or will be, by the writer) there; `history_ready`: an entry can be
    appended to `history`.
    """

    run: Run
    corpus: Corpus
    fingerprint: str | None = None
    recognised: bool | None = None
    changed: str | None = None
    asked: int | None = None
    retrievals: Mapping[tuple[str, str], int] | None = None
    artefacts: Mapping[str, bool] | None = None
    history: str = "HISTORY.md"
    history_ready: bool | None = None

    @property
    def edition(self) -> Edition:
        """The edition of the protocol under which the run counts."""
        return self.run.edition

    @property
    def pins(self) -> SuitePins | None:
        """The edition's pins for the corpus's suite; None for a suite that it does not know."""
        return self.edition.suites.get(self.corpus.suite)

    @property
    def registered(self) -> bool:
        """Whether the corpus is the registered one, byte for byte."""
        return self.pins is not None and self.pins.sha256 == self.corpus.sha256

    @property
    def let_through(self) -> bool:
        """Whether an unregistered corpus was let through by the flag."""
        return self.run.choice.allow_unregistered_corpus and not self.registered

    @property
    def canonical_granularity(self) -> bool:
        """Whether the corpus was cut as the edition demands; of a suite that it does not know, as it is."""
        return self.pins is None or self.pins.granularity == self.corpus.granularity
