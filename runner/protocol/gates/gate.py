"""The definition of a gate, a named pure function from the facts of a run to a result; the overall verdict.

(§5)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass

from runner.protocol.editions import Edition, SuitePins
from runner.records import Corpus, GateResult, Status, Verdict
from runner.runs.run import Run

WORST_FIRST = (
    (Status.FAILED, Verdict.BLOCKED),
    (Status.UNVERIFIED, Verdict.UNVERIFIED),
    (Status.DEVIATION, Verdict.DEVIATION),
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of a run, as far as known; None, or an empty field of `run`, means not known yet.

    `fingerprint` is that of the requested release (None: no release), `recognised` whether the installed
    extension is of this family, patched or not; `changed` says what is wrong with the checkout's script that
    installed the extension (None: nothing, or it was installed from elsewhere). `asked` is the number of
    questions that the run selected, `retrievals` counts the raw rows of each (arm, scope), `artefacts` maps
    file names to whether they exist (or will be written); `history_ready`: an entry can be appended to
    `history`.
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
        """The edition of the protocol that the run names."""
        return self.run.edition

    @property
    def pins(self) -> SuitePins | None:
        """The edition's pins for the corpus's suite; None for a suite that the edition does not register."""
        return self.edition.suites.get(self.corpus.suite)

    @property
    def registered(self) -> bool:
        """Return whether the corpus has the registered hash."""
        return self.pins is not None and self.pins.sha256 == self.corpus.sha256

    @property
    def let_through(self) -> bool:
        """Return whether the flag lets an unregistered corpus through."""
        return self.run.choice.allow_unregistered_corpus and not self.registered

    @property
    def canonical_granularity(self) -> bool:
        """Return whether the corpus has the edition's granularity.

        True for a suite that is not registered.
        """
        return self.pins is None or self.pins.granularity == self.corpus.granularity


@dataclass(frozen=True, slots=True)
class GateFinding:
    """The result of a gate without the gate's name; the texts are sentences or values for a reader."""

    status: Status
    expected: str
    found: str
    where: str = ""
    resolve: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A named check that uses only the facts; it returns NOT_YET if they are not known yet.

    `of_corpus`: only the corpus decides it, so that it is checked once, before the run. `needs_text`: it
    needs the texts of the corpus, so that a finished run can be checked again only with the corpus at hand.
    """

    name: str
    check: Callable[[RunFacts], GateFinding]
    of_corpus: bool = False
    needs_text: bool = False

    @property
    def words(self) -> str:
        """The demand of the gate, in one sentence."""
        return (self.check.__doc__ or "").partition("\n")[0]

    def __call__(self, facts: RunFacts) -> GateResult:
        """Check `facts`."""
        return GateResult(self.name, **asdict(self.check(facts)))


def not_yet(expected: str) -> GateFinding:
    """Return the finding of a gate before its facts are known."""
    return GateFinding(Status.NOT_YET, expected, "not known before the run")


def overall_verdict(results: Iterable[GateResult]) -> Verdict:
    """Return the verdict of the worst result; NOT_YET does not count (`check_all` leaves none)."""
    found = {result.status for result in results}
    return next((verdict for status, verdict in WORST_FIRST if status in found), Verdict.VERIFIED)


def deviations(results: Iterable[GateResult]) -> tuple[str, ...]:
    """Return `gate: finding` for every deviation and unverified result, for the report and HISTORY.md."""
    labelled = (Status.DEVIATION, Status.UNVERIFIED)
    return tuple(f"{result.gate}: {result.found}" for result in results if result.status in labelled)
