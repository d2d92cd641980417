"""What a results folder is held against: its corpus, its HISTORY.md, the releases, a list of signers."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from runner.database.releases import SQL_FOLDER
from runner.progress import QUIET, Progress
from runner.records import Corpus, Json
from runner.runs.reading import Results
from runner.suites import SUITES


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
        super().__init__(folder)
        self.corpus_path, self.history_path, self.sql = corpus, history, sql
        self.allowed_signers, self.rerun, self.progress = allowed_signers, rerun, progress

    @cached_property
    def by_arm(self) -> dict[str, list[Json]]:
        """The raw lines of each arm, in the order of the file."""
        found: dict[str, list[Json]] = {}
        for line in self.raw:
            found.setdefault(line["arm"], []).append(line)
        return found

    @cached_property
    def corpus(self) -> Corpus | None:
        """The corpus that was given, as the run cut and wrote it; CorpusError when it cannot be read."""
        if self.corpus_path is None:
            return None
        suite = SUITES[self.run.choice.suite]
        return suite.chosen(suite.locate(self.corpus_path, {}), self.run.choice, self.edition)
