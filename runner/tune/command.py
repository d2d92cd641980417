"""`python -m runner tune`: where the default weights come from, and what each component adds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.database.releases import DEFAULT_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.records import Json

NAME = "tune"


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "tune the weights of the score by folds, and measure what each component adds"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    path = {"type": Path, "metavar": "DIR"}
    for name, settings in {
        "--suite": {"action": "append", "metavar": "SUITE",
                    "help": "tune by this suite; may be repeated (default: locomo and longmemeval)"},
        "--data": {"action": "append", "default": [], "metavar": "[SUITE=]PATH",
                   "help": "a suite's file or folder, or without a name that of all; may be repeated"},
        "--version": {"default": DEFAULT_VERSION, "metavar": "VERSION",
                      "help": f"version of the extension (default: {DEFAULT_VERSION})"},
        "--dsn": {"metavar": "DSN", "help": "PostgreSQL to use (default: as for a run)"},
        "--embedder": {"default": "minilm", "metavar": "NAME", "help": "embedder (default: minilm)"},
        "--output": {**path, "default": Path("tuning"),
                     "help": "folder for tuning.json and TUNING.md (default: tuning)"},
        "--cache": {**path, "help": "folder of the embedding cache; that of components lies beside it"},
        "--quiet": {"action": "store_true", "help": "say nothing but the result"},
    }.items():  # fmt: skip
        parser.add_argument(name, **settings)  # type: ignore[arg-type]
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """Tune, print the figures, and say where everything stands."""
    from runner.progress import Progress
    from runner.tune.request import SUITES_TUNED, TuneRequest
    from runner.tune.tuning import tune  # the parser alone loads no stage

    request = TuneRequest(
        suites=tuple(options.suite or SUITES_TUNED), version=options.version, data=_places(options.data),
        dsn=options.dsn, embedder=options.embedder, output=options.output, cache=options.cache,
    )  # fmt: skip
    made = tune(request, progress=Progress(quiet=options.quiet))
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
