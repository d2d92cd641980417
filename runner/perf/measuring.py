"""The straight line of a performance run: choose, estimate, read, generate, measure each system, write."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from runner.database.releases import SQL_FOLDER
from runner.database.server_files import check_release
from runner.errors import UsageError, os_errors
from runner.perf.document import document, load, write
from runner.perf.estimate import check, estimate, scratch_folder
from runner.perf.exact import nearest
from runner.perf.generating import generate
from runner.perf.markdown import NAME as MARKDOWN
from runner.perf.markdown import markdown
from runner.perf.measurement import JUDGED, measure_system
from runner.perf.plots import REMEDY, recall_over_latency
from runner.perf.request import PerfRequest
from runner.perf.results import Result
from runner.perf.source import read_source
from runner.perf.subjects import Subject, subjects
from runner.perf.workload import Tenant, Workload
from runner.places import ROOT
from runner.progress import QUIET, Progress
from runner.records import Json
from runner.systems import Place
from runner.systems.asking import faults
from runner.systems.pgmnemo.explained import NAME as PLANS

CUT_SHORT = "not measured: the run ended before it was done; measure it with --systems"
RESULTS = ROOT / "benchmarks" / "performance"


def measure(
    request: PerfRequest, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Path:  # fmt: skip
    """Measure what is asked and write the results' folder, which is returned.

    Before anything is made it raises UsageError for what cannot be asked, and OutputError where disk or
    memory would not suffice.
    """
    chosen, absent = _chosen(request)
    check_release(sql, request.number)
    folder = _results_folder(request)
    needed = estimate(request, chosen)
    progress.say(needed.sentence())
    check(request, needed)
    _try(folder)
    began, clock = datetime.now(UTC), time.perf_counter()
    source = read_source(
        request.corpus, request.data, request.embedder, seed=request.seed, questions=request.questions,
        cache=request.cache, environ=environ, progress=progress,
    )  # fmt: skip
    with _scratch(request) as scratch:
        workload = generate(
            source, scratch, memories=request.memories, tenants=request.tenants,
            dimensions=request.dimensions, seed=request.seed, progress=progress,
        )  # fmt: skip

        def save(results: Sequence[Result]) -> Path:
            taken = time.perf_counter() - clock
            made = document(request, workload, results, absent, needed, began, taken)
            size = f"{request.memories:,} memories, {request.dimensions} dimensions"
            plans = [f"# {result.title}: {size}\n{result.plans}" for result in results if result.plans]
            return publish(folder, made, progress, plans)

        return _saved(chosen, _measured(chosen, request, workload, scratch, sql, progress), absent, save)


def _saved(
    chosen: Sequence[Subject], measured: Iterator[Result], absent: dict[str, str],
    save: Callable[[Sequence[Result]], Path],
) -> Path:  # fmt: skip
    """The folder with all results; where the run ends early, what was measured so far is saved, too."""
    results: list[Result] = []
    try:
        for result in measured:
            results.append(result)
    except BaseException as error:
        if results:
            absent.update({subject.title: CUT_SHORT for subject in chosen[len(results) :]})
            error.add_note(f"what was measured stands in {save(results)}")
        raise
    return save(results)


def _chosen(request: PerfRequest) -> tuple[list[Subject], dict[str, str]]:
    """Systems to measure, and titles with what is missing of those that cannot be."""
    named = subjects(request.systems)
    absent = {one.title: sentence for one in named if (sentence := one.missing(request.number))}
    here = [one for one in named if one.title not in absent]
    if not here:
        raise UsageError(f"none of the systems can be measured: {'; '.join(absent.values())}")
    return here, absent


def _results_folder(request: PerfRequest) -> Path:
    """Where the results go: a folder that is not there yet, so that no result is overwritten."""
    base = request.output or RESULTS
    day = datetime.now(UTC).strftime("%Y%m%d")
    name = request.name or f"v{request.number}_{day}_{request.memories}_{request.dimensions}d"
    if (base / name).exists():
        raise UsageError(f"{base / name} is already there; give another --name, or move it away")
    return base / name


def _try(folder: Path) -> None:
    """Make the folder and take it away: what cannot be written should not be measured first."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    with os_errors(f"{folder} cannot be made: {{why}}; name another folder with --output"):
        folder.mkdir(parents=True)
        for path in new:
            path.rmdir()


@contextmanager
def _scratch(request: PerfRequest) -> Iterator[Path]:
    """A folder of our own, gone at the end."""
    base = scratch_folder(request)
    with os_errors(f"no folder can be made in {base}: {{why}}; name another with --scratch"):
        folder = Path(tempfile.mkdtemp(prefix="pgmnemo-perf-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(
    chosen: Sequence[Subject], request: PerfRequest, workload: Workload, scratch: Path, sql: Path,
    progress: Progress,
) -> Iterator[Result]:  # fmt: skip
    """One system after the other, each alone on the machine and gone before the next."""
    judged = min(JUDGED, request.questions, len(workload.questions))
    truths = cache(lambda tenant: nearest(workload, judged, tenant, request.k))
    for tenant in (None, *Tenant):
        truths(tenant)
    for subject in chosen:
        with faults(subject.name), subject.open(Place(scratch, sql=sql), request.number) as system:
            result = measure_system(subject, system, workload, truths, request, progress)
        yield result


def publish(folder: Path, made: Json, progress: Progress, plans: Sequence[str] = ()) -> Path:
    """Write JSON, plots and Markdown into `folder`, which is new; `plans` into a file of their own."""
    with os_errors(f"{folder} cannot be written: {{why}}; name another folder with --output"):
        folder.mkdir(parents=True)
        write(folder, made)
        plots = [recall_over_latency(made, folder)] if find_spec("matplotlib") else []
        if not plots:
            progress.say(REMEDY)
        (folder / MARKDOWN).write_text(markdown(load(folder), plots), encoding="utf-8")
        if plans:
            (folder / PLANS).write_text("\n".join(plans), encoding="utf-8")
    return folder
