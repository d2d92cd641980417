"""How a run ends: with artefacts and an entry in HISTORY.md, or with BLOCKED.md."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from runner.artefacts import (
    RAW,
    TIMINGS,
    RunFolder,
    latencies,
    metrics_document,
    read_raw,
    read_timings,
    write_blocked,
    write_file,
    write_metrics,
    write_run,
)
from runner.errors import GateError
from runner.heading import heading
from runner.metrics import METRIC_VERSION, Scores, metrics_for
from runner.protocol.history import append_entry, entry_text
from runner.records import Json, Status
from runner.report import render
from runner.report.html import PAGE, render_page
from runner.state import ROOT, RunState


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run: its folder, and the two documents that its report is made from."""

    folder: Path
    metrics: Json
    run: Json


def refuse(state: RunState, folder: RunFolder | None = None) -> None:
    """If a gate failed, write BLOCKED.md into `folder`, or into one made for it, and raise GateError."""
    failed = [f"{gate.gate}: {gate.found}" for gate in state.gates if gate.status is Status.FAILED]
    if not failed:
        return
    with folder or RunFolder.start(state.base, state.name) as blocked:
        write_blocked(blocked.path, heading(state, blocked.name))
        place = blocked.finish()
    count = "1 gate failed" if len(failed) == 1 else f"{len(failed)} gates failed"
    raise GateError(f"{count} ({'; '.join(failed)}); {place / 'BLOCKED.md'} says how to resolve it")


def publish(state: RunState, folder: RunFolder, scores: Scores) -> Outcome:
    """Write header, figures and report, and give the folder its name. OutputError when that fails."""
    request = state.request
    latency = latencies(list(read_timings(folder.path / TIMINGS)), request.protocol.timed_k)
    header = write_run(folder.path, heading(state, folder.name, latency))
    metrics = metrics_document(
        header,
        scores.results,
        scores.differences,
        metric_code=METRIC_VERSION,
        definitions={name: metric.definition for name, metric in metrics_for(request.cutoffs).items()},
        intervals=scores.methods,
    )
    write_metrics(folder.path, metrics)
    write_file(folder.path / "report.md", render(metrics, header))
    write_file(folder.path / PAGE, _page(folder, metrics, header))
    return Outcome(folder.finish(), metrics, header)


def _page(folder: RunFolder, metrics: Json, header: Json) -> str:
    """The text of report.html, from what now stands in the folder."""
    timings = ((one.arm, one.scope, one.seconds) for one in read_timings(folder.path / TIMINGS))
    return render_page(metrics, header, read_raw(folder.path / RAW), timings)


def log(state: RunState, outcome: Outcome) -> None:
    """Append the run's entry, with the hash of its manifest, to HISTORY.md. OutputError when that fails."""
    place, header = outcome.folder, heading(state, outcome.folder.name)
    results = place.relative_to(ROOT) if place.is_relative_to(ROOT) else Path(place.name)
    digest = sha256((place / "manifest.json").read_bytes()).hexdigest()
    entry = entry_text(
        state.started.date(), state.request.suite, results.as_posix(), header.verdict, digest,
        header.deviations,
    )  # fmt: skip
    append_entry(state.history, entry)
