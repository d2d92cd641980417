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
    """The options of the command line, by their names. UsageError for a number that makes no sense.

    Args:
        reader_url: OpenAI-compatible service of the reader
        reader_model: name of the reader's model
        judge_url: of the judge (default: the reader's)
        judge_model: of the judge (default: the reader's)
        data: the corpus file or its folder, as of a run
        arm: whose ranking is read (default: the system under test)
        scope: in which scope (default: the run's first)
        k: how many of the retrieved lessons the reader reads
        context_chars: characters of each lesson that the reader reads (0: all of them)
        limit: answer N of the run's questions only, spread evenly
        judge_prompts: JSON file with the judge's prompts by rule, in place of ours
        judge_again: answers that are judged a second time, for the judge's agreement with itself
        key_errors: file of questions whose key is known to be wrong, one a line
        price: MODEL=IN,OUT, the price of a million tokens read and written; may be repeated
        max_failures: questions that reader or judge may fail on before the answer run fails
        max_tokens: tokens that the reader may write
        timeout: seconds that one call may take
        workers: questions that are asked at once
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
