"""`python -m runner train`: the weights of the reranker `linear`, from raw corpora."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.commands.tune.request import TuneOptions, repeated
from runner.options import Quiet
from runner.records import Json

TRAINED_ON = ("locomo", "longmemeval")  # BEAM and REALTALK show how it does on what it was not trained on


@dataclass(frozen=True)
class TrainOptions(TuneOptions):
    """The options of `python -m runner train`: those of `tune`, but for what is trained on and written."""

    suite: Annotated[list[str], repeated("train on this suite; may be repeated")] = field(
        default_factory=lambda: list(TRAINED_ON)
    )
    output: Annotated[Path, Parameter(help="file for the weights")] = Path("weights.json")


def train_command(
    *,
    options: Annotated[TrainOptions, Parameter(name="*")] = TrainOptions(),
    quiet: Quiet = False,
) -> int:
    """Train the reranker linear on development items, each conversation judged by weights without it."""
    from pgmnemo.progress import Progress
    from runner.commands.train.training import train

    made = train(options, progress=Progress(quiet=quiet))
    for one in made["left_out"]:
        print(*lines(one), sep="\n")
    print(f"written: {options.output}")
    return 0


def lines(one: Json) -> Iterator[str]:
    """The figures of one task, for people."""
    yield f"{one['task']}, n = {one['n']:,}, each question by weights that were fitted without it"
    for name in one["own"]:
        scale, digits = (1, 3) if name.startswith("MRR") else (100, 1)
        own, new, apart = (
            "{} [{}, {}]".format(*(f"{scale * value:.{digits}f}" for value in one[row][name]))
            for row in ("own", "reranked", "difference")
        )
        yield f"  {name:14} {own}  reranked {new}  difference {apart}"
