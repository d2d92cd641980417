"""What a training is asked to do, checked before anything is opened: as a tuning, but for what it writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.tune.request import TuneOptions, TuneRequest, repeated

TRAINED_ON = ("locomo", "longmemeval")  # BEAM and REALTALK show how it does on what it was not trained on


@dataclass(frozen=True)
class TrainOptions(TuneOptions):
    """The options of `python -m runner train`: those of `tune`, but for what is trained on and written."""

    suite: Annotated[list[str], repeated("train on this suite; may be repeated")] = field(
        default_factory=lambda: list(TRAINED_ON)
    )
    output: Annotated[Path, Parameter(help="file for the weights")] = Path("weights.json")


@dataclass(frozen=True)
class TrainRequest(TrainOptions, TuneRequest):
    """What a training is asked to do; UsageError for what cannot be."""
