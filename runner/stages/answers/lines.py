"""The replies of reader and judge to each question: the lines of answers.jsonl and judgements.jsonl."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pgmnemo.errors import OutputError
from runner.records import Json
from runner.runs.record_files import decode_lines
from runner.runs.results import Results, Unreadable

ANSWERS, JUDGEMENTS, DOCUMENT = "answers.jsonl", "judgements.jsonl", "answers.json"


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """An answer. `refused`: why the reader declined; `failed`: why it is missing; both empty otherwise.

    `retrieved` are the ids of the lessons in the reader's prompt, best first. Token counts are the service's.
    """

    question: str
    type: str
    answer: str
    retrieved: tuple[str, ...] = ()
    refused: str = ""
    failed: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict. `right` is by the official rule; `plain`: whether the judge said only yes or no.

    `again`: this is a second judgement, for the judge's agreement with itself. `failed`: why there is no
    verdict, which counts as wrong; empty otherwise.
    """

    question: str
    rule: str
    reply: str
    right: bool
    plain: bool
    again: bool = False
    failed: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


T = TypeVar("T", bound=AnswerLine | Judgement)


def line_of(kind: type[T]) -> str:
    """Return the noun for a line of this kind, for messages."""
    return f"{kind.__name__.lower()} line"


class AnswerResults(Results):
    """The reader of a folder of `answer`.

    Every property raises Unreadable if its file is missing or malformed.
    """

    @cached_property
    def document(self) -> Json:
        """The content of answers.json."""
        return self._document(DOCUMENT, "answers")

    @cached_property
    def answers(self) -> list[AnswerLine]:
        """The lines of answers.jsonl."""
        return self._told(ANSWERS, AnswerLine)

    @cached_property
    def judgements(self) -> list[Judgement]:
        """The lines of judgements.jsonl."""
        return self._told(JUDGEMENTS, Judgement)

    @property
    def said(self) -> dict[str, AnswerLine]:
        """The answer to each question, from the last line on it."""
        return {line.question: line for line in self.answers}

    def verdicts(self, *, again: bool = False) -> dict[str, Judgement]:
        """Return the first or, with `again`, the second verdict on each answer, from the last line on it."""
        return {line.question: line for line in self.judgements if line.again is again}

    def _told(self, name: str, kind: type[T]) -> list[T]:
        content = self.content(name)
        try:
            return list(decode_lines(content, name, kind, line_of(kind)))
        except OutputError as error:
            raise Unreadable(str(error)) from None


def is_answer_run(place: Path) -> bool:
    """Return whether a folder was written by `answer`."""
    return (place / DOCUMENT).is_file()
