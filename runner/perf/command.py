"""`python -m runner perf`: speed and scale beside the peers; `perf plot` joins several runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.database.releases import DEFAULT_VERSION

if TYPE_CHECKING:
    from runner.records import Json

NAME = "perf"
WIDTH = 150  # of the tables where nobody looks at a terminal


def add_parser(commands: Any) -> None:
    """The command, its options, and `plot` beneath it."""
    words = "measure speed, size and recall of the vector leg beside peers, on a generated natural corpus"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    _add_options(parser)
    below = parser.add_subparsers(dest="plot", metavar="plot", help="join runs: `perf plot --help`")
    words = "draw latency, load time and size over the number of memories from several runs"
    plot = below.add_parser("plot", help=words, description=f"{words[0].upper()}{words[1:]}.")
    plot.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="folders that perf wrote")
    plot.add_argument(
        "--output", type=Path, metavar="DIR", default=argparse.SUPPRESS,  # or it would undo one before `plot`
        help="folder for growth.md and plots (default: the first run's parent)",
    )  # fmt: skip
    plot.set_defaults(command=NAME, handler=handle_plot)
    parser.set_defaults(command=NAME, handler=handle)


def _add_options(parser: argparse.ArgumentParser) -> None:
    path = {"type": Path, "metavar": "DIR"}
    for name, settings in {
        "--memories": {"type": int, "metavar": "N", "help": "memories of the tenant that holds everything"},
        "--tenants": {"type": int, "default": 100, "metavar": "T",
                      "help": "the small tenant holds N/T memories, interleaved (default: 100)"},
        "--version": {"default": DEFAULT_VERSION, "metavar": "VERSION",
                      "help": f"version of the extension (default: {DEFAULT_VERSION})"},
        "--dimensions": {"type": int, "default": 384, "metavar": "D",
                         "help": "width of the vectors: 384, or 1024 by an orthonormal map (default: 384)"},
        "--corpus": {"default": "sample", "metavar": "SUITE",
                     "help": "suite whose turns and questions are used (default: sample)"},
        "--data": {"type": Path, "metavar": "PATH", "help": "the suite's file or its folder"},
        "--embedder": {"default": "minilm", "metavar": "NAME",
                       "help": "embedder of 384 dimensions (default: minilm; hash for tests)"},
        "--systems": {"type": _names, "default": (), "metavar": "S,S,…",
                      "help": "measure these systems only (default: all that are installed)"},
        "--questions": {"type": int, "default": 400, "metavar": "N", "help": "ask at most N (default: 400)"},
        "--k": {"type": int, "default": 10, "metavar": "K", "help": "rows asked for (default: 10)"},
        "--clients": {"type": int, "default": 8, "metavar": "N",
                      "help": "clients of the concurrent reads (default: 8; 1: none)"},
        "--seconds": {"type": float, "default": 8.0, "metavar": "S",
                      "help": "longest time for one kind of reads (default: 8)"},
        "--seed": {"type": int, "default": 42, "metavar": "N", "help": "decides the corpus (default: 42)"},
        "--name": {"metavar": "NAME", "help": "name of the results folder"},
        "--output": {**path, "help": "folder for results folders (default: benchmarks/performance)"},
        "--scratch": {**path, "help": "folder for the corpus and the peers' files (default: TMPDIR)"},
        "--cache": {**path, "help": "folder of the embedding cache (default: the user's own)"},
        "--quiet": {"action": "store_true", "help": "say nothing but the result"},
    }.items():  # fmt: skip
        parser.add_argument(name, **settings)  # type: ignore[arg-type]


def handle(options: argparse.Namespace) -> int:
    """Measure, print the tables, and say where the results stand."""
    from runner.errors import UsageError
    from runner.perf.document import load  # the parser alone loads no stage
    from runner.perf.measuring import measure
    from runner.perf.request import PerfRequest
    from runner.progress import Progress

    if options.memories is None:
        raise UsageError("perf needs --memories N, or plot; see `python -m runner perf --help`")
    request = PerfRequest(
        memories=options.memories, tenants=options.tenants, version=options.version,
        dimensions=options.dimensions, corpus=options.corpus, data=options.data, embedder=options.embedder,
        systems=options.systems, questions=options.questions, k=options.k, clients=options.clients,
        seconds=options.seconds, seed=options.seed, name=options.name, output=options.output,
        scratch=options.scratch, cache=options.cache,
    )  # fmt: skip
    folder = measure(request, progress=Progress(quiet=options.quiet))
    _show(load(folder))
    print(f"results: {folder}")
    return 0


def handle_plot(options: argparse.Namespace) -> int:
    """Join the runs and say where the plots stand."""
    from runner.errors import UsageError
    from runner.perf.joining import join

    if options.memories is not None:
        raise UsageError("perf plot joins runs and measures nothing; leave --memories out")
    print(join(options.folders, options.output or options.folders[0].resolve().parent))
    return 0


def _show(document: Json) -> None:
    from rich.table import Table as Grid

    from runner.perf.table import tables
    from runner.terminal import console

    out = console(WIDTH)
    for table in tables(document):
        grid = Grid(title=table.title, title_justify="left")
        for number, head in enumerate(table.heads):
            grid.add_column(head, justify="left" if number == 0 else "right")
        for row in table.rows:
            grid.add_row(*row)
        out.print(grid)


def _names(text: str) -> tuple[str, ...]:
    """The names in the list; an empty one is a name that no system has."""
    return tuple(part.strip() for part in text.split(","))
