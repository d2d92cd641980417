"""The options of an answer run."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.errors import UsageError
from pgmnemo.models import check_numbers
from pgmnemo.models.concurrent_calls import MOST
from pgmnemo.models.http import TIMEOUT


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """The options of an answer run, by their names on the command line; UsageError for a bad number.

    Args:
        reader_url: OpenAI-compatible service of the reader
        reader_model: name of the reader's model
        judge_url: service of the judge (default: the reader's)
        judge_model: name of the judge's model (default: the reader's)
        data: the corpus file or its folder, as of a run
        arm: arm with the ranking to read (default: the system under test)
        scope: scope of the ranking to read (default: the run's first)
        k: number of retrieved lessons that the reader gets
        context_chars: characters of each lesson that the reader reads (0: all of them)
        limit: answer only N of the run's questions, spread evenly
        judge_prompts: JSON file with the judge's prompts by rule, in place of ours
        judge_again: number of answers to judge twice, for the judge's agreement with itself
        key_errors: file of questions with a wrong published answer, one on each line
        price: MODEL=IN,OUT, the price of a million tokens read and written; may be repeated
        max_failures: maximum number of questions on which reader or judge may fail
        max_tokens: maximum number of tokens of an answer
        timeout: maximum seconds of one call
        workers: number of questions asked at once
        output: folder for answer runs (default: benchmarks/<suite>/answers)
        resume: complete the interrupted answer run in this .partial folder
    """

    reader_url: str
    reader_model: str
    judge_url: str | None = None
    judge_model: str | None = None
    data: Path | None = None
    arm: str = ""
    scope: str = ""
    k: int = 10
    context_chars: int = 0
    limit: int | None = None
    judge_prompts: Path | None = None
    judge_again: int = 50
    key_errors: Path | None = None
    price: Annotated[list[str], Parameter(consume_multiple=False)] = field(default_factory=list)
    max_failures: int = 10
    max_tokens: int = 512
    timeout: float = TIMEOUT
    workers: int = 4
    output: Path | None = None
    resume: Path | None = None

    def __post_init__(self) -> None:
        check_numbers(
            self,
            positive=("k", "max_tokens", "limit"),
            natural=("context_chars", "judge_again", "max_failures"),
            seconds=("timeout",),
        )
        if not 1 <= self.workers <= MOST:
            raise UsageError(f"--workers takes 1 to {MOST} questions at once, not {self.workers}")
        self.prices  # noqa: B018  whose error says what is wrong

    @property
    def prices(self) -> dict[str, tuple[float, float]]:
        """The prices of a million tokens read and written, by model."""
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
