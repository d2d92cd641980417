"""answers.jsonl and judgements.jsonl: what the reader said to each question, and the judge of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, TypeVar

from runner.runs.canonical import compact
from runner.runs.lines import decoded
from runner.runs.storage import LineWriter, drop_torn_line

ANSWERS, JUDGEMENTS = "answers.jsonl", "judgements.jsonl"


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
