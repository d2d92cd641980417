"""The section on time: a histogram for each timed arm and scope, with the run's own percentiles."""

from __future__ import annotations

from collections.abc import Iterable

from runner.report.formats import count
from runner.report.html.panels import Panel
from runner.report.html.plots.latency import latency, span
from runner.runs.run import Run
from runner.runs.timings import Latency

Timed = tuple[str, str, float]  # arm, scope, seconds


def latency_panels(run: Run, timings: Iterable[Timed]) -> list[Panel]:
    """One panel for each arm and scope of run.json's latency that was timed."""
    groups: dict[tuple[str, str], list[float]] = {}
    for arm, scope, seconds in timings:
        groups.setdefault((arm, scope), []).append(1000 * seconds)
    listed = [(row, groups[row.arm, row.scope]) for row in run.latency
              if (row.arm, row.scope) in groups]  # fmt: skip
    if not listed:
        return []
    end = span([group for _, group in listed])
    return [_panel(row, group, end) for row, group in listed]


def _panel(row: Latency, milliseconds: list[float], end: float) -> Panel:
    beyond = sum(ms > end for ms in milliseconds)
    words = f"{row.arm}, the first {row.k}, {count(row.n)} recalls"
    if beyond:
        words += f"; {count(beyond)} slower than the plot is wide, up to {max(milliseconds):.1f} ms"
    marks = [("p50", row.p50_ms), ("p95", row.p95_ms)]
    told = ", ".join(f"{name} {value:.1f} ms" for name, value in marks)
    plot = latency(milliseconds, end, marks, f"latency in scope {row.scope}: {told}")
    return Panel(row.scope, words, plot)
