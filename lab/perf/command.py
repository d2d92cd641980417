"""`python -m lab perf`: measure speed and scale of pgmnemo and its peers; `perf plot` joins several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from lab.perf.request import PerfRequest
from pgmnemo.errors import UsageError
from runner.options import SHARED, Quiet

perf = App(
    name="perf",
    help="Measure speed, size and recall of the vector leg beside peers, on a generated natural corpus.",
    default_parameter=SHARED,
)


@perf.default
def measure(
    *,
    options: Annotated[PerfRequest, Parameter(name="*")] = PerfRequest(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Measure, print the tables, and print where the results are stored."""
    from lab.perf.document import load, markdown
    from lab.perf.measuring import measure
    from pgmnemo.progress import Progress

    folder = measure(options, progress=Progress(quiet=quiet))
    print(markdown(load(folder)))
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
    from lab.perf.plots import join

    if not folders:
        raise UsageError("perf plot takes folders that perf wrote; see `python -m lab perf plot --help`")
    print(join(folders, output or folders[0].resolve().parent))
    return 0
