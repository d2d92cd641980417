"""The end of a run: artefacts and an entry in HISTORY.md, or BLOCKED.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from runner.bench.run_record import resources
from runner.bench.run_state import RunState
from runner.errors import GateError
from runner.paths import ROOT
from runner.records import Json, Retrieval, Status
from runner.report import render
from runner.report.html import PAGE, render_page
from runner.runs.folder import RunFolder, is_local, move_to_kept
from runner.runs.history import append_entry, entry_text
from runner.runs.manifest import MANIFEST
from runner.runs.record_files import read_lines
from runner.runs.run import Run, write_blocked, write_metrics, write_run
from runner.runs.storage import write_file
from runner.runs.timings import (
    RERANKS,
    REWRITES,
    TIMINGS,
    Rerank,
    Rewrite,
    Timing,
    latencies,
    rerank_counts,
    rewrite_counts,
)


@dataclass(frozen=True, slots=True)
class RunResult:
    """A finished run: its folder, its record, and the metrics in its report."""

    folder: Path
    run: Run
    metrics: Json


def raise_if_blocked(state: RunState, folder: RunFolder | None = None) -> None:
    """Raise GateError if a gate failed, after writing BLOCKED.md into `folder`.

    None for `folder` makes a new folder.
    """
    failed = [f"{gate.gate}: {gate.found}" for gate in state.run.gates if gate.status is Status.FAILED]
    if not failed:
        return
    schemas = state.run.edition.schemas
    with folder or RunFolder.start(state.base, state.name) as blocked:
        state.update(
            name=blocked.name, finished=datetime.now(UTC), resources=resources(state.watch, state.vectors)
        )
        write_blocked(blocked.path, state.run)
        place = blocked.finish(schemas)
    count = "1 gate failed" if len(failed) == 1 else f"{len(failed)} gates failed"
    raise GateError(f"{count} ({'; '.join(failed)}); {place / 'BLOCKED.md'} says how to resolve it")


def write_artefacts(
    state: RunState, folder: RunFolder, metrics: Json, rows: Sequence[Retrieval]
) -> RunResult:
    """Write the record, the metrics and the reports, and give the folder its final name.

    `rows` are the rows of the raw file. Raises OutputError if a file cannot be written.
    """
    timings = list(read_lines(folder.path / TIMINGS, Timing))
    if state.reranker is not None:
        state.update(reranks=rerank_counts(read_lines(folder.path / RERANKS, Rerank), rows, timings))
    if state.rewriter is not None:
        lines = list(read_lines(folder.path / REWRITES, Rewrite))
        state.update(rewrites=rewrite_counts(lines, {row.question: row.type for row in rows}))
    state.update(
        latency=latencies(timings, state.run.edition.retrieval.timed_k),
        resources=resources(state.watch, state.vectors),
        finished=datetime.now(UTC),
    )
    write_run(folder.path, state.run)
    metrics = {**metrics, "verdict": state.run.verdict.value}
    write_metrics(folder.path, metrics)
    write_file(folder.path / "report.md", render(metrics, state.run))
    seconds = ((one.arm, one.scope, one.seconds) for one in timings)
    write_file(folder.path / PAGE, render_page(metrics, state.run, rows, seconds))
    return RunResult(folder.finish(state.run.edition.schemas), state.run, metrics)


def append_history(state: RunState, outcome: RunResult) -> RunResult:
    """Append the entry of a kept run, with the hash of its manifest, to HISTORY.md.

    Returns the outcome, with the new folder if the run was moved to the kept runs. A run that is not kept
    gets no entry. Raises OutputError if the entry cannot be written or the folder cannot be moved.
    """
    if is_local(outcome.folder):
        if not state.request.keep:
            return outcome
        outcome = replace(outcome, folder=move_to_kept(outcome.folder))
    place, run = outcome.folder, outcome.run
    results = place.relative_to(ROOT) if place.is_relative_to(ROOT) else Path(place.name)
    digest = sha256((place / MANIFEST).read_bytes()).hexdigest()
    entry = entry_text(
        run.started.date(), run.choice.suite, results.as_posix(), run.verdict, digest, run.deviations
    )
    append_entry(state.history, entry)
    return outcome
