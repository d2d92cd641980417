"""`python -m runner tune`: where the default weights come from, and what each component adds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from runner.database.releases import DEFAULT_VERSION
from runner.options import Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.records import Json


def tune_command(
    *,
    suite: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=False, help="tune by this suite; may be repeated (default: locomo, longmemeval)"
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=False,
            help="[SUITE=]PATH: a suite's file or folder, or without a name that of all; may be repeated",
        ),
    ] = None,
    version: Annotated[str, Parameter(help="version of pgmnemo")] = DEFAULT_VERSION,
    dsn: Annotated[str | None, Parameter(help="PostgreSQL to use (default: as for a run)")] = None,
    embedder: Annotated[str, Parameter(help="embedder")] = "minilm",
    output: Annotated[Path, Parameter(help="folder for tuning.json and TUNING.md")] = Path("tuning"),
    cache: Annotated[
        Path | None, Parameter(help="folder of the embedding cache; that of components lies beside it")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Tune the weights of the score by folds, and measure what each component adds."""
    from runner.progress import Progress
    from runner.tune.request import SUITES_TUNED, TuneRequest
    from runner.tune.tuning import tune

    request = TuneRequest(
        suites=tuple(suite or SUITES_TUNED), version=version, data=_places(data or ()), dsn=dsn,
        embedder=embedder, output=output, cache=cache,
    )  # fmt: skip
    made = tune(request, progress=Progress(quiet=quiet))
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


def _places(given: Sequence[str]) -> dict[str, Path]:
    """Paths by suite; under "" that of the suites that are not named."""
    from runner.suites import SUITES

    places = {}
    for text in given:
        suite, sign, path = text.partition("=")
        named = bool(sign) and suite in SUITES
        places[suite if named else ""] = Path(path if named else text)
    return places
