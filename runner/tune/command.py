"""`python -m runner tune`: where the default weights come from; `tune sweep` scores a grid of strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from runner.options import SHARED, Quiet
from runner.tune.request import TuneOptions, TuneRequest
from runner.tune.sweep_request import SweepOptions, SweepRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.records import Json


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
    from runner.progress import Progress
    from runner.tune.tuning import tune

    made = tune(TuneRequest(**vars(options)), progress=Progress(quiet=quiet))
    print(*lines(made.document), sep="\n")
    print(f"written: {made.json} and {made.markdown}")
    return 0


@tune_app.command(name="sweep")
def sweep_command(
    *,
    options: Annotated[SweepOptions, Parameter(name="*")] = SweepOptions(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Score a grid of strategies from components that are collected once; its best point is no result."""
    from runner.progress import Progress
    from runner.tune.sweep import sweep
    from runner.tune.sweep_document import markdown

    made = sweep(SweepRequest(**vars(options)), progress=Progress(quiet=quiet))
    print(markdown(made.document))
    print(f"written: {' and '.join(map(str, made.files))}")
    return 0


def lines(document: Json) -> list[str]:
    """The figures, one line each, for people."""
    from runner.tune.tasks import FIGURES

    rows = [("corpus", "weights", "over", "n", *FIGURES)]
    for row in document["figures"]:
        sample = row["sample"] if row["depth"] == "whole scope" else f"{row['sample']}, {row['depth']}"
        values = (f"{100 * row[figure][0]:.2f}" for figure in FIGURES)
        rows.append((row["task"], row["weights"], sample, str(row["n"]), *values))
    return list(_aligned(rows))


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{'<' if at < 3 else '>'}{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
