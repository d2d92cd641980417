"""`python -m runner verify DIR…`: check whether a results folder is unchanged since its run.

The folder is compared with itself, HISTORY.md, its commit and, if given, the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from pgmnemo.terminal import say
from runner.errors import UnusableRunError
from runner.protocol.editions import OlderEdition
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.history import HISTORY
from runner.runs.results import Unreadable, collector_paused, is_run
from runner.runs.storage import read_regular
from runner.stages.answers.lines import is_answer_run
from runner.verification.answer_checks import ANSWER_CHECKS, AnswerRunContext
from runner.verification.checks import CHECKS
from runner.verification.context import CheckResult, CheckStatus, RunContext
from runner.verification.sign.keygen import ALLOWED

SCHEMA = "pgmnemo/verification/1"
SELF = "self-run"
OF_CORPUS = "its questions and gold were not held against the corpus"
HEADLINE = {
    "corpus": OF_CORPUS,
    "questions": OF_CORPUS,
    "rerun": "its rankings were not recalled again",
    "run": "the run that it read was not looked at",
}  # checks that a headline needs besides the file checks, and the sentence if one was skipped
LIST = 1 << 20  # maximum bytes of a list of signers


class VerificationOutcome(StrEnum):
    """The outcome of a verification."""

    HELD = "held"  # no fault, and every check that the headline needs was made
    FAULT = "fault"
    UNASKED = "not asked"  # no fault, but a check that the headline needs was skipped
    FILES = "files alone"  # no fault, and only the files were to be checked

    @property
    def code(self) -> int:
        """The exit code of the command."""
        return {VerificationOutcome.FAULT: 1, VerificationOutcome.UNASKED: 4}.get(self, 0)


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of all checks. `verdict` is the run's own; None if run.json cannot be read.

    `files`: only the files were to be checked. `arms` are the arms that were recalled again and rank as
    recorded.
    """

    folder: Path
    verdict: str | None
    answers: tuple[CheckResult, ...]
    files: bool = False
    arms: tuple[str, ...] = ()

    @property
    def intact(self) -> bool:
        """Return whether no check found a fault."""
        return not self.faults

    @property
    def complete(self) -> bool:
        """Return whether no check found a fault and every check that the headline needs was made."""
        return self.intact and not self.unasked

    @property
    def unasked(self) -> tuple[CheckResult, ...]:
        """Return the skipped checks that the headline needs."""
        return tuple(
            one for one in self.answers if one.found is CheckStatus.NOT_ASKED and one.check in HEADLINE
        )

    @property
    def outcome(self) -> VerificationOutcome:
        """The outcome; a fault takes precedence over a skipped check."""
        if self.faults:
            return VerificationOutcome.FAULT
        if not self.unasked:
            return VerificationOutcome.HELD
        return VerificationOutcome.FILES if self.files else VerificationOutcome.UNASKED

    @property
    def attested(self) -> str:
        """Return `signed by …` if a signer of the list signed, else `self-run`."""
        found = (one for one in self.answers if (one.check, one.found) == ("signature", CheckStatus.HOLDS))
        return next((one.sentence.partition(";")[0] for one in found), SELF)

    @property
    def faults(self) -> tuple[CheckResult, ...]:
        """The checks that found a fault."""
        return tuple(answer for answer in self.answers if answer.found is CheckStatus.WRONG)

    def demand_intact(self, folder: Path | str) -> None:
        """Raise UnusableRunError with the first fault, if any."""
        for first in self.faults:
            raise UnusableRunError(
                f"{folder} is not intact: {first.check}: {first.sentence}; `python -m runner verify` says all"
            )

    def document(self) -> Json:
        """Return the verification as JSON."""
        return {
            "folder": self.folder.name,
            "intact": self.intact,
            "outcome": self.outcome.value,
            "unasked": [answer.check for answer in self.unasked],
            "arms_recalled": list(self.arms),
            "verdict": self.verdict,
            "attested": self.attested,
            "checks": [asdict(answer) for answer in self.answers],
        }


def verify_command(
    *folders: Path,
    corpus: Path | None = None,
    history: Path | None = None,
    allowed_signers: Path | None = None,
    rerun: int | None = None,
    run: Path | None = None,
    json: bool = False,
) -> int:
    """Check results folders against themselves, HISTORY.md and, if given, the corpus.

    Exits with 0 if no fault was found and every check that the headline needs was made, or if --rerun 0
    requested only the files; with 1 for a fault; with 4 if a check that the headline needs was skipped.

    Args:
        folders: results folder of a run
        corpus: the corpus file or its folder
        history: HISTORY.md (default: the nearest above the folder)
        allowed_signers: list of accepted signers (default: benchmarks/allowed_signers, if it exists)
        rerun: recall N questions again (25 without a number) in embedded databases, and find the corpus for it; 0: check only the files
        run: for a folder of `answer`, the run that it read (default: next to that folder)
        json: print JSON instead of lines
    """  # noqa: E501
    if not folders:
        raise UsageError("verify takes one results folder or more; see `python -m runner verify --help`")
    folders = tuple(one for one in folders if one.name != HISTORY) or folders  # OUT/* also matches HISTORY.md
    for folder in folders:
        _demand_folder(folder.expanduser(), folder)
    done, others = [], []
    for folder in folders:
        try:
            found = verify(
                folder,
                corpus=corpus,
                history=history,
                allowed_signers=allowed_signers,
                rerun=rerun,
                run=run,
                progress=Progress(),
            )
        except OlderEdition as older:
            if len(folders) == 1:
                raise
            say(older, error=True)
            others.append(older.code)
            continue
        done.append(found)
        if not json:
            say(*([f"{folder}:"] if len(folders) > 1 else []), *summary_lines(done[-1]))
    if json:
        say(pretty({"schema": SCHEMA, "runs": [one.document() for one in done]}), end="")
    codes = [*(one.outcome.code for one in done), *others]
    return 1 if 1 in codes else max(codes)


def verify(
    folder: Path | str,
    *,
    corpus: Path | str | None = None,
    history: Path | str | None = None,
    sql: Path = SQL_FOLDER,
    allowed_signers: Path | str | None = None,
    rerun: int | None = None,
    run: Path | str | None = None,
    progress: Progress = QUIET,
) -> Verification:
    """Check a results folder without changing it; only a rerun needs a database, a model or the network.

    `corpus` is the corpus file or its folder, `history` the HISTORY.md to use instead of the nearest one
    above the folder, `allowed_signers` the list of signers whose signatures count (None: the repository's, if
    it has one). `rerun` is the number of questions to recall again, in embedded databases; the corpus that a
    run would find is then checked too; 0 checks only the files. A folder of `answer` is checked against
    itself, the corpus and its source `run` (None: the run next to it). A fault is a result, never an
    exception. Raises UsageError for a missing folder or path, an invalid list, or a negative number of
    questions.
    """
    if rerun is not None and rerun < 0:
        raise UsageError(f"--rerun takes a number of questions, 0 for the files alone, not {rerun}")
    signers = signers_list(allowed_signers)
    place = Path(folder).expanduser()
    if is_answer_run(place):
        return _of_answers(place, _path(run), _path(corpus), files=rerun == 0)
    context = RunContext(place, _path(corpus), _path(history), sql, rerun, progress, signers)
    _demand(context, folder)
    with collector_paused():
        answers = tuple(check(context) for check in CHECKS.values())
    verdict = _verdict(lambda: context.run.verdict.value)
    return Verification(context.folder, verdict, answers, rerun == 0, context.recalled)


def _of_answers(place: Path, run: Path | None, corpus: Path | None, files: bool) -> Verification:
    """Return the checks of an answer run; raise UsageError if the given run or corpus does not exist."""
    _demand_there({"--run": run, "--corpus": corpus})
    evidence = AnswerRunContext(place, run, corpus)
    answers = tuple(check(evidence) for check in ANSWER_CHECKS.values())
    verdict = _verdict(lambda: evidence.document["run"]["verdict"])
    return Verification(evidence.folder, verdict, answers, files)


def _demand_folder(place: Path, named: Path | str) -> None:
    """Raise UsageError, with its name as given, for a results folder that does not exist."""
    if not place.is_dir():
        raise UsageError(f"there is no results folder {named}: name one that a run has written")


def _demand(context: RunContext, folder: Path | str) -> None:
    """Raise UsageError if the run, or the given corpus or history, is missing."""
    _demand_folder(context.folder, folder)
    if not is_run(context.folder):
        runs = sum(is_run(child) for child in context.folder.iterdir())
        instead = f"it holds {runs}: name them, as {folder}/*" if runs else "name one that a run has written"
        raise UsageError(f"{folder} is no results folder; {instead}")
    context.demand_known_edition()
    _demand_there({"--corpus": context.corpus_path, "--history": context.history_path})


def _demand_there(named: Mapping[str, Path | None]) -> None:
    for option, place in named.items():
        if place is not None and not place.exists():
            raise UsageError(f"{option} names {place}, which does not exist")


def signers_list(named: Path | str | None) -> Path | None:
    """Return the given allowed-signers file, or else the repository's; None if there is none.

    Raises UsageError if the given file cannot be read.
    """
    if named is None:
        return ALLOWED if ALLOWED.exists() else None
    path = Path(named).expanduser()
    try:
        read_regular(path, LIST, UsageError)
    except UsageError as error:
        raise UsageError(
            f"--allowed-signers: {error}; name a list as `man ssh-keygen` describes it"
        ) from None
    return path.absolute()


def _path(place: Path | str | None) -> Path | None:
    return None if place is None else Path(place)


def _verdict(recorded: Callable[[], object]) -> str | None:
    """Return the recorded verdict; None if it cannot be read."""
    try:
        return str(recorded())
    except Unreadable:
        return None


def summary_lines(verification: Verification) -> Iterator[str]:
    """Yield one line for each check, one for all of them, and one for skipped checks."""
    for answer in verification.answers:
        yield f"{answer.found:<10} {answer.check:<10} {answer.sentence}"
    asked = [answer for answer in verification.answers if answer.found is not CheckStatus.NOT_ASKED]
    if verification.intact:
        yield f"intact: {len(asked)} checks hold; the run's verdict is {verification.verdict}"
    else:
        yield f"not intact: {len(verification.faults)} of {len(asked)} checks found a fault"
    if verification.outcome is VerificationOutcome.FILES:
        yield "the files alone were held, as --rerun 0 asks"
    elif verification.outcome is VerificationOutcome.UNASKED:
        lacking = (f"{HEADLINE[one.check]} ({one.sentence})" for one in verification.unasked)
        yield f"consistent, and no more: {'; '.join(dict.fromkeys(lacking))}"
