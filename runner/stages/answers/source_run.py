"""The input of an answer run: a finished run, its corpus, and the corpus's answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.registry import Registry
from runner.errors import UnusableRunError
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.corpus_file import CorpusFile, check_list, take
from runner.protocol.datasets.locomo import CATEGORIES
from runner.protocol.datasets.longmemeval import is_abstention
from runner.records import Corpus, Json, Question, Retrieval
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW
from runner.runs.results import Results, read_results
from runner.runs.run import RUN
from runner.runs.storage import DOCUMENT, read_regular

READER = """\
Below are parts of past conversations, each with its date where it is known. Answer the question from them
alone, in a few words. If they do not hold the answer, say: not mentioned.

{context}

{day}Question: {question}
Answer:"""


class CorpusMoved(PgmnemoError):
    """An error: the corpus found here is not the corpus that the run searched."""

    code = 3


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """An answer of the corpus, the rule that judges it, and the day of the question (empty: not given)."""

    answer: str
    rule: str
    asked_on: str = ""


ABSTENTION = "abstention"


def _locomo(source: CorpusFile) -> dict[str, AnswerKey]:
    """Return LoCoMo's answers by question key, `conv-26/q0`; the rule is the category.

    An adversarial question has an empty answer.
    """
    keys: dict[str, AnswerKey] = {}
    for item in source.items():
        project = take(item, "sample_id", str, f"an item of {source.path}")
        for at, entry in enumerate(check_list(item, "qa", dict, project)):
            keys[f"{project}/q{at}"] = _of_locomo(entry)
    return keys


def _of_locomo(entry: Json) -> AnswerKey:
    category = entry.get("category")
    rule = CATEGORIES.get(category, "") if isinstance(category, int) else ""
    answer = "" if rule == "adversarial" else str(entry.get("answer", ""))
    return AnswerKey(answer.split(";")[0].strip() if rule == "open-domain" else answer, rule)


def _longmemeval(source: CorpusFile) -> dict[str, AnswerKey]:
    """Return LongMemEval's answers by question id; the rule is the question's type, or abstention."""
    keys: dict[str, AnswerKey] = {}
    for item in source.items():
        name = take(item, "question_id", str, f"an item of {source.path}")
        rule = ABSTENTION if is_abstention(name) else take(item, "question_type", str, name)
        keys[name] = AnswerKey(str(item.get("answer", "")), rule, str(item.get("question_date", "")))
    return keys


KEYS: Registry[Callable[[CorpusFile], dict[str, AnswerKey]]] = Registry(
    "key of answers for the suite", {"locomo": _locomo, "longmemeval": _longmemeval}
)


def read_keys(suite: str, path: Path, sha256: str) -> Mapping[str, AnswerKey]:
    """Return the answers of a suite's corpus by question key.

    Raises UsageError if the suite has no answers, CorpusMoved for another file than the run's.
    """
    source = CorpusFile(path)
    keys = KEYS[suite](source)
    if (found := source.sha256()) != sha256:
        raise CorpusMoved(
            f"{path} is not the corpus of the run: its sha256 is {found[:12]}…, the run searched "
            f"{sha256[:12]}…; name that file with --data"
        )
    return keys


def read_errors(path: Path | None, keys: Mapping[str, AnswerKey]) -> frozenset[str]:
    """Return the keys of questions with a wrong published answer, one on each line of a file.

    None gives no keys. Raises UsageError for an invalid file.
    """
    if path is None:
        return frozenset()
    try:
        text = read_regular(path, DOCUMENT, UsageError).decode()
    except (UsageError, UnicodeDecodeError) as error:
        raise UsageError(f"--key-errors: {error}; name a text file") from None
    named = map(str.strip, text.splitlines())
    listed = frozenset(line for line in named if line and not line.startswith("#"))
    if unknown := sorted(listed - set(keys)):
        raise UsageError(
            f"--key-errors: {unknown[0]!r} is no question of the corpus; write one key a line, such as "
            f"{next(iter(keys), 'conv-26/q0')}"
        )
    return listed


@dataclass(frozen=True)
class SourceRun:
    """The retrievals of one arm in one scope of a run, with the corpus and its answers.

    `manifest` is the SHA-256 of the run's manifest at the start.
    """

    results: Results
    manifest: str
    arm: str
    scope: str
    corpus: Corpus
    questions: Mapping[str, Question]
    retrieved: Mapping[str, Retrieval]
    keys: Mapping[str, AnswerKey]

    def prompt(self, key: str, k: int, characters: int) -> tuple[str, tuple[str, ...]]:
        """Return the reader's prompt, and the ids of the lessons in it, best first."""
        question, ids = self.questions[key], tuple(hit.id for hit in self.retrieved[key].ranking[:k])
        texts = [self._text(question.project, one)[: characters or None] for one in ids]
        context = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))
        day = f"Today is {asked}. " if (asked := self.keys[key].asked_on) else ""
        return READER.format(context=context or "(nothing)", day=day, question=question.text), ids

    @cached_property
    def _texts(self) -> Mapping[tuple[str, str], str]:
        """Return the lesson texts by (project, id), and by ("", id) for ids found in another project."""
        segments = self.corpus.segments
        alone = {("", one.id): one.text for one in segments}
        return alone | {(one.project, one.id): one.text for one in segments}

    def _text(self, project: str, segment: str) -> str:
        return self._texts.get((project, segment)) or self._texts["", segment]

    def unchanged(self) -> None:
        """Raise UnusableRunError if the run's manifest has changed since it was read."""
        if Results(self.results.folder).digest(MANIFEST) != self.manifest:
            raise UnusableRunError(
                f"{self.results.folder} was changed while answers were made: its {MANIFEST} is another; "
                "take the folder from its commit and begin anew"
            )


def read_material(
    folder: Path, data: Path | None, arm: str = "", scope: str = "", environ: Mapping[str, str] = os.environ
) -> SourceRun:
    """Return the run in `folder` and its corpus.

    Raise UnusableRunError if a file of the run differs from its manifest, UsageError for an unknown arm or
    scope, or a suite without answers.
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
    return SourceRun(results, results.digest(MANIFEST), arm, scope, corpus, questions, rows, keys)
