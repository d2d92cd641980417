"""`python -m runner tune`: where the default weights come from, and what each component adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from runner.options import Quiet
from runner.tune.request import TuneOptions, TuneRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.records import Json


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
