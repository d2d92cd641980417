"""What the reader said to each question, and the judge of it: answers.jsonl and judgements.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from pgmnemo.errors import OutputError
from runner.records import Json
from runner.runs.canonical import compact
from runner.runs.reading import Results, Unreadable
from runner.runs.storage import LineWriter, decoded, drop_torn_line

ANSWERS, JUDGEMENTS, DOCUMENT = "answers.jsonl", "judgements.jsonl", "answers.json"


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer. `refused`: why the reader declined; `failed`: why there is no answer; empty where there is.

    `retrieved` are the ids of what it read, best first. Tokens are as the service counts them.
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
class Judged:
    """One verdict. `right` is by the official rule; `plain`: whether the judge said yes or no alone.

    `again`: this is a second asking, for the judge's agreement with itself. `failed`: why there is no
    verdict, which counts as wrong.
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


T = TypeVar("T", bound=Answered | Judged)


class Lines(LineWriter, Generic[T]):
    """A file of such lines, which may hold some already; of two about one thing the later counts."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        drop_torn_line(path)
        self._kind = kind
        self.held = list(told(path.read_bytes(), path.name, kind)) if path.exists() else []
        super().__init__(path)

    def write(self, line: T) -> None:
        """One line, seen by the system before the next. Raises OutputError on a full disk."""
        self.append(compact(asdict(line)))
        self.held.append(line)


def told(content: bytes, name: str, kind: type[T]) -> Iterator[T]:
    """The lines of a file of that name, in its order. Raises OutputError that names a malformed one."""
    return decoded(content, name, kind, f"{kind.__name__.lower()} line")


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
        content = self.content(name)
        try:
            return list(told(content, name, kind))
        except OutputError as error:
            raise Unreadable(str(error)) from None


def is_answers(place: Path) -> bool:
    """Whether a folder holds what an answer run leaves."""
    return (place / DOCUMENT).is_file()
