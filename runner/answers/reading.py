"""A finished answer run as everybody reads it: its document, and of each question the last of its lines."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from runner.answers.document import DOCUMENT
from runner.answers.lines import ANSWERS, JUDGEMENTS, Answered, Judged, T, told
from runner.errors import OutputError
from runner.records import Json
from runner.runs.reading import Results, Unreadable


class AnswerResults(Results):
    """One folder of `answer`. Every property raises Unreadable where its file is missing or malformed."""

    @cached_property
    def document(self) -> Json:
        """answers.json."""
        return self._document(DOCUMENT, "answers")

    @cached_property
    def answers(self) -> list[Answered]:
        """The lines of answers.jsonl."""
        return self._told(ANSWERS, Answered)

    @cached_property
    def judgements(self) -> list[Judged]:
        """The lines of judgements.jsonl."""
        return self._told(JUDGEMENTS, Judged)

    @property
    def said(self) -> dict[str, Answered]:
        """The answer to each question: the last line about it."""
        return {line.question: line for line in self.answers}

    def verdicts(self, *, again: bool = False) -> dict[str, Judged]:
        """The verdict on each answer, or the second one; the last line about it."""
        return {line.question: line for line in self.judgements if line.again is again}

    def _told(self, name: str, kind: type[T]) -> list[T]:
        try:
            return list(told(self.content(name), name, kind))
        except Unreadable:
            raise
        except OutputError as error:
            raise Unreadable(str(error)) from None


def is_answers(place: Path) -> bool:
    """Whether a folder holds what an answer run leaves."""
    return (place / DOCUMENT).is_file()
