"""What an answer run reads: a finished run, held against its manifest, and the corpus that it searched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runner.answers.keys import Key, read_keys
from runner.answers.prompts import READER
from runner.errors import RefusedError, UsageError
from runner.records import Corpus, Question, Retrieval
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW
from runner.runs.reading import Results, read_results
from runner.runs.run import RUN
from runner.suites import SUITES


@dataclass(frozen=True)
class Material:
    """A run's answers of one arm in one scope, the lessons that they name, and the keys of the corpus.

    `manifest` is the SHA-256 of the manifest that was read.
    """

    results: Results
    manifest: str
    arm: str
    scope: str
    corpus: Corpus
    questions: Mapping[str, Question]
    retrieved: Mapping[str, Retrieval]
    keys: Mapping[str, Key]

    def prompt(self, key: str, k: int, characters: int) -> tuple[str, tuple[str, ...]]:
        """What the reader is asked, and the ids of what it reads, best first."""
        question, ids = self.questions[key], tuple(hit.id for hit in self.retrieved[key].ranking[:k])
        texts = [self._text(question.project, one)[: characters or None] for one in ids]
        context = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))
        day = f"Today is {asked}. " if (asked := self.keys[key].asked_on) else ""
        return READER.format(context=context or "(nothing)", day=day, question=question.text), ids

    @cached_property
    def _texts(self) -> Mapping[tuple[str, str], str]:
        """Text by project and id, and by id alone for what a question found in another project."""
        segments = self.corpus.segments
        alone = {("", one.id): one.text for one in segments}
        return alone | {(one.project, one.id): one.text for one in segments}

    def _text(self, project: str, segment: str) -> str:
        return self._texts.get((project, segment)) or self._texts["", segment]

    def unchanged(self) -> None:
        """RefusedError where the run's manifest is another than at the start."""
        if Results(self.results.folder).digest(MANIFEST) != self.manifest:
            raise RefusedError(
                f"{self.results.folder} was changed while answers were made: its {MANIFEST} is another; "
                "take the folder from its commit and begin anew"
            )


def read_material(
    folder: Path,
    data: Path | None,
    arm: str = "",
    scope: str = "",
    environ: Mapping[str, str] = os.environ,
) -> Material:
    """The run in `folder` and its corpus.

    RefusedError where a file of the run is not the one that its manifest lists, UsageError for an arm or
    scope that it does not have, or a suite without answers.
    """
    results: Results = read_results(folder, files=(RUN, RAW, "metrics.json"))
    run, choice = results.run, results.run.choice
    arms = [one.name for one in run.arms if not one.failed]
    scopes = [one.name for one in run.scopes]
    for what, wanted, known in (("arm", arm, arms), ("scope", scope, scopes)):
        if wanted and wanted not in known:
            raise UsageError(f"{folder} has no {what} {wanted!r}; choose one of: {', '.join(known)}")
    arm, scope = arm or run.system, scope or scopes[0]
    suite = SUITES[choice.suite]
    path = suite.locate(data, environ)
    keys = read_keys(choice.suite, path, run.corpus.sha256)
    corpus = suite.chosen(path, choice, run.edition)
    rows = {row.question: row for row in results.rows if (row.arm, row.scope) == (arm, scope)}
    if not rows:
        raise UsageError(f"{folder}: {arm} answered no question in {scope}; name another --arm or --scope")
    questions = {question.key: question for question in corpus.questions}
    return Material(results, results.digest(MANIFEST), arm, scope, corpus, questions, rows, keys)
