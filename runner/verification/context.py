"""The types of a check, and the context of a results folder: its corpus, HISTORY.md, releases, signers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import zip_longest
from os.path import realpath
from pathlib import Path
from typing import Any, Generic, TypeVar

from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.records import Corpus, Json
from runner.runs.results import Results, Unreadable

# Files that fit their schemas can still contradict each other in ways that no check expects.
HOSTILE = (LookupError, TypeError, ValueError, ArithmeticError)
MOST = 80  # maximum characters of a value in a message

E = TypeVar("E", bound=Results)  # the checked folder


class CheckFailed(Exception):
    """An error: the check found a fault. The message is one sentence that names the place."""


class CheckSkipped(Exception):
    """An error: a check could not run, for example without a corpus. The message says what is missing."""


class CheckStatus(StrEnum):
    """The outcome of a check."""

    HOLDS = "holds"
    WRONG = "wrong"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, in one sentence."""

    check: str
    found: CheckStatus
    sentence: str


@dataclass(frozen=True, slots=True)
class Check(Generic[E]):
    """A named check. `look` returns a sentence on what holds, or raises CheckFailed or CheckSkipped."""

    name: str
    look: Callable[[E], str]

    def __call__(self, evidence: E) -> CheckResult:
        """Run the check; a missing or malformed file counts as wrong."""
        try:
            return CheckResult(self.name, CheckStatus.HOLDS, self.look(evidence))
        except CheckSkipped as end:
            return CheckResult(self.name, CheckStatus.NOT_ASKED, str(end))
        except Unreadable as end:
            return CheckResult(self.name, CheckStatus.WRONG, f"could not be checked: {end}")
        except HOSTILE as end:
            return CheckResult(
                self.name, CheckStatus.WRONG, f"could not be checked: {type(end).__name__}: {end}"
            )
        except (CheckFailed, PgmnemoError) as end:
            return CheckResult(self.name, CheckStatus.WRONG, str(end))


def first_difference(found: Any, wanted: Any, place: str = "") -> str:
    """Return the first difference of two documents, with the found and the wanted value; empty if equal.

    An item of a list is named by its name or its texts, so that a missing item can be named.
    """
    if isinstance(found, dict) and isinstance(wanted, dict):
        inner = place and f"{place}."
        pairs = [(f"{inner}{name}", found.get(name), wanted.get(name)) for name in {**wanted, **found}]
    elif isinstance(found, list) and isinstance(wanted, list) and any(map(_label, (*found, *wanted))):
        pairs = []
        for number, (one, other) in enumerate(zip_longest(found, wanted)):
            if _label(one) != _label(other):
                return f"{place}[{number}] is {_told(_label(one))}, made again {_told(_label(other))}"
            pairs.append((f"{place}[{_label(one)}]", one, other))
    else:
        return "" if found == wanted else f"{place} is {_told(found)}, made again {_told(wanted)}"
    return next((fault for name, one, other in pairs if (fault := first_difference(one, other, name))), "")


def _label(item: Any) -> str:
    """Return the name of a list item for messages; empty if it has neither a name nor a text."""
    if not isinstance(item, dict):
        return ""
    name = item.get("name", item.get("gate"))
    return str(name or ", ".join(text for text in item.values() if isinstance(text, str)))


def _told(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    text = text or "nothing"
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def differing_line(found: str, wanted: str) -> int:
    """Return the number, from 1, of the first line in which two different texts differ."""
    pairs = zip_longest(found.split("\n"), wanted.split("\n"))
    return next(number for number, (one, other) in enumerate(pairs, start=1) if one != other)


class RunContext(Results):
    """A results folder and its surroundings.

    `corpus` is a corpus file or its folder, `history` a HISTORY.md to use instead of the nearest above the
    folder, `sql` the folder with the list of releases, `allowed_signers` the list of accepted signers.
    `rerun`: number of questions to recall again, with `progress`; None: 0. Each property raises Unreadable.
    """

    def __init__(
        self,
        folder: Path,
        corpus: Path | None = None,
        history: Path | None = None,
        sql: Path = SQL_FOLDER,
        rerun: int | None = None,
        progress: Progress = QUIET,
        allowed_signers: Path | None = None,
    ) -> None:
        super().__init__(Path(realpath(folder.expanduser())))  # a link to a run counts as the run
        self.corpus_path, self.history_path, self.sql = corpus, history, sql
        self.allowed_signers, self.rerun, self.progress = allowed_signers, rerun, progress
        self.recalled: tuple[str, ...] = ()  # arms that rank as recorded, filled in by the check `rerun`
        self.lacking = "give --corpus PATH, or --rerun, which looks where a run does"

    @cached_property
    def by_arm(self) -> dict[str, list[Json]]:
        """The raw lines of each arm, in the order of the file."""
        found: dict[str, list[Json]] = {}
        for line in self.raw:
            found.setdefault(line["arm"], []).append(line)
        return found

    @cached_property
    def corpus(self) -> Corpus | None:
        """The corpus, cut and written by the run's configuration; None if it is not available.

        Raises CorpusError if the given corpus cannot be read. Without a given corpus it is looked up only for
        a rerun; `lacking` says why there is no corpus.
        """
        if self.corpus_path is not None:
            return self._read(self.corpus_path, {})
        try:
            return self._found() if self.rerun else None
        except PgmnemoError as error:
            self.lacking = str(error)
            return None

    @property
    def require_corpus(self) -> Corpus:
        """The corpus; raises CheckSkipped if it is not available."""
        if self.corpus is None:
            raise CheckSkipped(self.lacking)
        return self.corpus

    def measured(self) -> Corpus:
        """Return the given corpus, to show its texts; raise UsageError if the run measured another corpus."""
        own, recorded = self.require_corpus, self.run.corpus.sha256
        if own.sha256 != recorded:
            raise UsageError(
                f"--corpus: {own.path} has sha256 {own.sha256[:12]}…, the corpus of the run "
                f"{recorded[:12]}…; name the file that was measured"
            )
        return own

    def _found(self) -> Corpus:
        """Return the corpus that a run would use; raise PgmnemoError if it is missing or differs."""
        if SUITES[self.run.choice.suite].own:
            raise CorpusError("the corpus is its owner's own file: give --corpus PATH")
        own, wanted = self._read(None, os.environ), self.run.corpus.sha256
        if own.sha256 != wanted:
            raise CorpusError(
                f"{own.path} has sha256 {own.sha256[:12]}…, the corpus of the run {wanted[:12]}…; name that "
                "one with --corpus"
            )
        return own

    def _read(self, place: Path | None, environ: Mapping[str, str]) -> Corpus:
        suite = SUITES[self.run.choice.suite]
        return suite.chosen(suite.locate(place, environ), self.run.choice, self.edition)
