"""The pipeline of a performance run: choose, estimate, read, generate, measure each system, write."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.perf.document import MARKDOWN, document, load, markdown, write
from lab.perf.generating import generate, read_source
from lab.perf.measurement import JUDGED, measure_system
from lab.perf.plots import REMEDY, recall_over_latency
from lab.perf.request import USUAL, PerfRequest, Subject, check, estimate, scratch_folder, subject
from lab.perf.workload import PerfWorkload, TenantSize, nearest
from pgmnemo.errors import UsageError, os_errors
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.server_files import check_release
from pgmnemo.progress import QUIET, Progress
from runner.paths import ROOT
from runner.records import Json
from runner.systems import SystemContext
from runner.systems.pgmnemo.plans import NAME as PLANS
from runner.systems.query_runner import wrap_errors

CUT_SHORT = "not measured: the run ended before it was done; measure it with --systems"
RESULTS = ROOT / "benchmarks" / "performance"


def measure(
    request: PerfRequest, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Path:  # fmt: skip
    """Measure the requested systems, and write the results folder; return its path.

    Before anything is created, raises UsageError for impossible options, and OutputError if disk or memory do
    not suffice.
    """
    request.check()
    chosen, absent = _chosen(request)
    check_release(sql, request.number)
    folder = _results_folder(request)
    needed = estimate(request, chosen)
    progress.say(needed.sentence())
    check(request, needed)
    _try(folder)
    began, clock = datetime.now(UTC), time.perf_counter()
    source = read_source(request, environ, progress)
    with _scratch(request) as name:
        scratch = Path(name)
        workload = generate(source, scratch, request, progress)
        measured: list[tuple[Json, str]] = []

        def save() -> Path:
            systems, taken = [system for system, _ in measured], time.perf_counter() - clock
            made = document(request, workload, systems, absent, needed.seconds, began, taken)
            size = f"{request.memories:,} memories, {request.dimensions} dimensions"
            told = [f"# {system['title']}: {size}\n{plans}" for system, plans in measured if plans]
            return publish(folder, made, progress, told)

        try:
            for result in _measured(chosen, request, workload, scratch, sql, progress):
                measured.append(result)
        except BaseException as error:  # the finished measurements are also saved
            if measured:
                absent.update({one.title: CUT_SHORT for one in chosen[len(measured) :]})
                error.add_note(f"what was measured stands in {save()}")
            raise
        return save()


def _chosen(request: PerfRequest) -> tuple[list[Subject], dict[str, str]]:
    """Return the systems to measure, and for each other system, by title, its missing requirements."""
    named = [subject(name) for name in dict.fromkeys(request.systems or USUAL)]
    absent = {one.title: sentence for one in named if (sentence := one.missing(request.number))}
    here = [one for one in named if one.title not in absent]
    if not here:
        raise UsageError(f"none of the systems can be measured: {'; '.join(absent.values())}")
    return here, absent


def _results_folder(request: PerfRequest) -> Path:
    """Return the path of the results folder, which must not exist, so that no result is overwritten."""
    base = request.output or RESULTS
    day = datetime.now(UTC).strftime("%Y%m%d")
    name = request.name or f"v{request.number}_{day}_{request.memories}_{request.dimensions}d"
    if (base / name).exists():
        raise UsageError(f"{base / name} is already there; give another --name, or move it away")
    return base / name


def _try(folder: Path) -> None:
    """Create the folder and remove it again, so that a folder that cannot be written is reported early."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    with os_errors(f"{folder} cannot be made: {{why}}; name another folder with --output"):
        folder.mkdir(parents=True)
        for path in new:
            path.rmdir()


def _scratch(request: PerfRequest) -> TemporaryDirectory[str]:
    """Return a new temporary folder, which is removed at the end."""
    base = scratch_folder(request)
    with os_errors(f"no folder can be made in {base}: {{why}}; name another with --scratch"):
        return TemporaryDirectory(prefix="pgmnemo-perf-", dir=base, ignore_cleanup_errors=True)


def _measured(
    chosen: Sequence[Subject], request: PerfRequest, workload: PerfWorkload, scratch: Path, sql: Path,
    progress: Progress,
) -> Iterator[tuple[Json, str]]:  # fmt: skip
    """Yield the measurement of each system; only one system is open on the machine at a time."""
    judged = min(JUDGED, request.questions, len(workload.questions))
    truths = cache(lambda tenant: nearest(workload, judged, tenant, request.k))
    for tenant in (None, *TenantSize):
        truths(tenant)
    for one in chosen:
        with wrap_errors(one.name), one.open(SystemContext(scratch, sql=sql), request.number) as system:
            result = measure_system(one, system, workload, truths, request, progress)
        yield result


def publish(folder: Path, made: Json, progress: Progress, plans: Sequence[str] = ()) -> Path:
    """Write JSON, plots and Markdown into the new folder `folder`, and `plans` into a separate file."""
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
