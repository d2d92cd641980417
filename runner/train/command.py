"""`python -m runner train`: the weights of the reranker `linear`, from raw corpora."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from runner.options import Quiet
from runner.train.request import TrainOptions, TrainRequest

if TYPE_CHECKING:
    from runner.train.judging import Judged


def train_command(
    *,
    options: Annotated[TrainOptions, Parameter(name="*")] = TrainOptions(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Train the reranker linear on development items, each conversation judged by weights without it."""
    from runner.progress import Progress
    from runner.train.training import train

    made = train(TrainRequest(**vars(options)), progress=Progress(quiet=quiet))
    for one in made.left_out:
        print(*lines(one), sep="\n")
    print(f"written: {made.path}")
    return 0


def lines(one: Judged) -> Iterator[str]:
    """The figures of one task, for people."""
    yield f"{one.task}, n = {one.n:,}, each question by weights that were fitted without it"
    for name in one.own:
        size = 1 if name.startswith("MRR") else 100
        own, new, apart = (_told(row, name, size) for row in (one.own, one.reranked, one.difference))
        yield f"  {name:14} {own}  reranked {new}  difference {apart}"


def _told(row: Mapping[str, tuple[float, float, float]], name: str, size: int) -> str:
    digits = 3 if size == 1 else 1
    mean, low, high = (f"{size * value:.{digits}f}" for value in row[name])
    return f"{mean} [{low}, {high}]"
