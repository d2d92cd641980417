"""What a results folder is held against: its corpus, its HISTORY.md, the releases, a list of signers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

from runner.database.releases import SQL_FOLDER
from runner.errors import CorpusError, RunnerError
from runner.progress import QUIET, Progress
from runner.records import Corpus, Json
from runner.runs.reading import Results
from runner.suites import SUITES

if TYPE_CHECKING:
    from runner.verify.remade import Remade


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
        except RunnerError as error:
            self.lacking = str(error)
            return None

    def _found(self) -> Corpus:
        """The corpus that lies where a run looks for it; RunnerError where none does, or another."""
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

    @cached_property
    def remade(self) -> Remade | None:
        """The drawn questions, recalled again; None where nobody asked.

        Wrong where they rank otherwise, RunnerError where they cannot be recalled here.
        """
        # With all that a run needs, which no check of files does:
        from runner.verify.remade import remade

        return remade(self, self.rerun) if self.rerun else None
