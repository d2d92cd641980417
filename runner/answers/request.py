"""What an answer run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.errors import UsageError
from runner.models.at_once import MOST
from runner.models.http import LONGEST

K, FAILURES, AGAIN, WORKERS, TIMEOUT, TOKENS = 10, 10, 50, 4, 120.0, 512


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """The options of the command line, by their names. UsageError for a number that makes no sense."""

    reader_url: Annotated[str, Parameter(help="OpenAI-compatible service of the reader")]
    reader_model: Annotated[str, Parameter(help="name of the reader's model")]
    judge_url: Annotated[str | None, Parameter(help="of the judge (default: the reader's)")] = None
    judge_model: Annotated[str | None, Parameter(help="of the judge (default: the reader's)")] = None
    data: Annotated[Path | None, Parameter(help="the corpus file or its folder, as of a run")] = None
    arm: Annotated[str, Parameter(help="whose ranking is read (default: the system under test)")] = ""
    scope: Annotated[str, Parameter(help="in which scope (default: the run's first)")] = ""
    k: Annotated[int, Parameter(help="how many of the retrieved lessons the reader reads")] = K
    context_chars: Annotated[
        int, Parameter(help="characters of each lesson that the reader reads (0: all of them)")
    ] = 0
    limit: Annotated[int | None, Parameter(help="answer N of the run's questions only, spread evenly")] = None
    judge_prompts: Annotated[
        Path | None, Parameter(help="JSON file with the judge's prompts by rule, in place of ours")
    ] = None
    judge_again: Annotated[
        int, Parameter(help="answers that are judged a second time, for the judge's agreement with itself")
    ] = AGAIN
    key_errors: Annotated[
        Path | None, Parameter(help="file of questions whose key is known to be wrong, one a line")
    ] = None
    price: Annotated[
        list[str],
        Parameter(
            consume_multiple=False,
            help="MODEL=IN,OUT: price of a million tokens read and written; may be repeated",
        ),
    ] = field(default_factory=list)
    max_failures: Annotated[
        int, Parameter(help="questions that reader or judge may fail on before the answer run fails")
    ] = FAILURES
    max_tokens: Annotated[int, Parameter(help="tokens that the reader may write")] = TOKENS
    timeout: Annotated[float, Parameter(help="seconds that one call may take")] = TIMEOUT
    workers: Annotated[int, Parameter(help="questions that are asked at once")] = WORKERS
    output: Annotated[
        Path | None, Parameter(help="folder for answer runs (default: benchmarks/<suite>/answers)")
    ] = None
    resume: Annotated[
        Path | None, Parameter(help="complete the interrupted answer run in this .partial folder")
    ] = None

    def __post_init__(self) -> None:
        for name in ("k", "max_tokens", "limit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"--{name.replace('_', '-')} takes a positive number, not {value}")
        for name in ("context_chars", "judge_again", "max_failures"):
            if (value := getattr(self, name)) < 0:
                raise UsageError(f"--{name.replace('_', '-')} takes 0 or more, not {value}")
        if not 1 <= self.workers <= MOST:
            raise UsageError(f"--workers takes 1 to {MOST} questions at once, not {self.workers}")
        if not 0 < self.timeout <= LONGEST:
            raise UsageError(f"--timeout takes seconds above 0 and up to {LONGEST:,}, not {self.timeout:g}")
        self.prices  # noqa: B018  whose error says what is wrong

    @property
    def prices(self) -> dict[str, tuple[float, float]]:
        """Price of a million tokens read and written, by model."""
        return dict(map(_price, self.price))


def _price(text: str) -> tuple[str, tuple[float, float]]:
    model, _, numbers = text.rpartition("=")
    try:
        read, written = (float(number) for number in numbers.split(","))
        if model and 0 <= read < inf and 0 <= written < inf:
            return model, (read, written)
    except ValueError:
        pass
    raise UsageError(f"--price takes MODEL=IN,OUT, such as my-model=0.15,0.60, not {text!r}")
