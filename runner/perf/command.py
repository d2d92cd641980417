"""`python -m runner perf`: speed and scale beside the peers; `perf plot` joins several runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from runner.errors import UsageError
from runner.options import SHARED, Quiet
from runner.perf.request import PerfOptions, PerfRequest

if TYPE_CHECKING:
    from runner.records import Json

WIDTH = 150  # of the tables where nobody looks at a terminal

perf = App(
    name="perf",
    help="Measure speed, size and recall of the vector leg beside peers, on a generated natural corpus.",
    default_parameter=SHARED,
)


@perf.default
def measure(
    *,
    options: Annotated[PerfOptions, Parameter(name="*")] = PerfOptions(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Measure, print the tables, and say where the results stand."""
    from runner.perf.document import load
    from runner.perf.measuring import measure
    from runner.progress import Progress

    folder = measure(PerfRequest.of(options), progress=Progress(quiet=quiet))
    _show(load(folder))
    print(f"results: {folder}")
    return 0


@perf.command
def plot(
    *folders: Annotated[Path, Parameter(help="folders that perf wrote")],
    output: Annotated[
        Path | None, Parameter(help="folder for growth.md and plots (default: the first run's parent)")
    ] = None,
) -> int:
    """Draw latency, load time and size over the number of memories from several runs."""
    from runner.perf.joining import join

    if not folders:
        raise UsageError("perf plot takes folders that perf wrote; see `python -m runner perf plot --help`")
    print(join(folders, output or folders[0].resolve().parent))
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
