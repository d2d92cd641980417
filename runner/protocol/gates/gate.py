"""What a gate is, a name and a pure function from the facts of a run to a result; the verdict of all. (§5)"""

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
        """Return whether the corpus is the registered one, byte for byte."""
        return self.pins is not None and self.pins.sha256 == self.corpus.sha256

    @property
    def let_through(self) -> bool:
        """Return whether an unregistered corpus was let through by the flag."""
        return self.run.choice.allow_unregistered_corpus and not self.registered

    @property
    def canonical_granularity(self) -> bool:
        """Return whether the corpus was cut as the edition demands; of a suite that it does not know, as it
        is.
        """
        return self.pins is None or self.pins.granularity == self.corpus.granularity


@dataclass(frozen=True, slots=True)
class GateFinding:
    """A gate's answer without the gate's name; the texts are sentences or values for a reader."""

    status: Status
    expected: str
    found: str
    where: str = ""
    resolve: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A named check. It reads nothing but the facts; facts not known yet make it say NOT_YET.

    `of_corpus`: the corpus alone decides it, so that it is asked once, before the run. `needs_text`: counts
    do not suffice for that, so that a finished run can be asked again only with the corpus at hand.
    """

    name: str
    check: Callable[[RunFacts], GateFinding]
    of_corpus: bool = False
    needs_text: bool = False

    @property
    def words(self) -> str:
        """What it demands, in a sentence."""
        return (self.check.__doc__ or "").partition("\n")[0]

    def __call__(self, facts: RunFacts) -> GateResult:
        """Check `facts`."""
        return GateResult(self.name, **asdict(self.check(facts)))


def not_yet(expected: str) -> GateFinding:
    """Return the finding of a gate whose facts are not known yet."""
    return GateFinding(Status.NOT_YET, expected, "not known before the run")


def overall_verdict(results: Iterable[GateResult]) -> Verdict:
    """Return the worst answer decides; a gate that is NOT_YET checked does not count (`check_all` leaves
    none).
    """
    found = {result.status for result in results}
    return next((verdict for status, verdict in WORST_FIRST if status in found), Verdict.VERIFIED)


def deviations(results: Iterable[GateResult]) -> tuple[str, ...]:
    """Return every labelled departure as `gate: what was found`, for report and HISTORY.md."""
    labelled = (Status.DEVIATION, Status.UNVERIFIED)
    return tuple(f"{result.gate}: {result.found}" for result in results if result.status in labelled)
