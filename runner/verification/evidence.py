"""What a results folder is held against: its corpus, its HISTORY.md, the releases, a list of signers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from os.path import realpath
from pathlib import Path

from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.places import SQL_FOLDER
from pgmnemo.progress import QUIET, Progress
from runner.errors import CorpusError
from runner.protocol.suites import SUITES
from runner.records import Corpus, Json
from runner.runs.reading import Results
from runner.verification.check import NotAsked


class Evidence(Results):
    """One results folder, and what lies beside it.

    `corpus` is a corpus file or its folder, `history` a HISTORY.md to use instead of the nearest one above
    the folder, `sql` the folder with the list of releases, `allowed_signers` the list of whose signatures
    count. `rerun`: how many questions to recall again, of which `progress` tells; None: none. Every property
    raises Unreadable.
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
        super().__init__(Path(realpath(folder.expanduser())))  # a link to a run is the run
        self.corpus_path, self.history_path, self.sql = corpus, history, sql
        self.allowed_signers, self.rerun, self.progress = allowed_signers, rerun, progress
        self.recalled: tuple[str, ...] = ()  # arms that rank as recorded, once the check `rerun` has looked
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
        """The corpus, as the run cut and wrote it; CorpusError when the one that was given cannot be read.

        Where none was given and questions are recalled again, it is the one that a run finds; `lacking` says
        why there is none.
        """
        if self.corpus_path is not None:
            return self._read(self.corpus_path, {})
        try:
            return self._found() if self.rerun else None
        except PgmnemoError as error:
            self.lacking = str(error)
            return None

    @property
    def given(self) -> Corpus:
        """The corpus; NotAsked where none is at hand."""
        if self.corpus is None:
            raise NotAsked(self.lacking)
        return self.corpus

    def measured(self) -> Corpus:
        """The corpus that was given for its texts; UsageError where it is none of the run."""
        own, recorded = self.given, self.run.corpus.sha256
        if own.sha256 != recorded:
            raise UsageError(
                f"--corpus: {own.path} has sha256 {own.sha256[:12]}…, the corpus of the run "
                f"{recorded[:12]}…; name the file that was measured"
            )
        return own

    def _found(self) -> Corpus:
        """The corpus that lies where a run looks for it; PgmnemoError where none does, or another."""
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
