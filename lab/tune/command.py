"""`python -m lab tune`: the source of the default weights; `tune sweep` scores a grid of strategies."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from lab.tune.request import SweepOptions, TuneOptions
from lab.tune.sweep import sweep
from lab.tune.sweep_report import markdown as sweep_page
from lab.tune.tuning import markdown as tuning_page
from lab.tune.tuning import tune
from pgmnemo.progress import Progress
from runner.options import SHARED, Quiet

tune_app = App(
    name="tune",
    help="Tune the weights of the score by folds, and measure what each component adds.",
    default_parameter=SHARED,
)


@tune_app.default
def tune_command(
    *,
    options: Annotated[TuneOptions, Parameter(name="*")] = TuneOptions(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Tune the weights of the score by folds, and measure what each component adds."""
    made = tune(options, progress=Progress(quiet=quiet))
    print(tuning_page(made.document))
    print(f"written: {made.json} and {made.markdown}")
    return 0


@tune_app.command(name="sweep")
def sweep_command(
    *,
    options: Annotated[SweepOptions, Parameter(name="*")] = SweepOptions(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Score a grid of strategies from components that are collected once; its best point is no result."""
    made = sweep(options, progress=Progress(quiet=quiet))
    print(sweep_page(made.document))
    print(f"written: {' and '.join(map(str, made.files))}")
    return 0
