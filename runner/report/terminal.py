"""What the command line shows: the gates of a dry run, and the figures at the end of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from runner.records import ALL, GateResult, Status
from runner.report.figures import Figures
from runner.report.formats import count, questions_of, shorten
from runner.runs.run import Run

COLOURS = {
    Status.PASSED: "green",
    Status.DEVIATION: "yellow",
    Status.UNVERIFIED: "magenta",
    Status.FAILED: "bold red",
    Status.NOT_YET: "dim",
}


def summary_table(metrics: Mapping[str, Any], run: Run) -> Table:
    """Every arm against the headline metrics, scope by scope, under the verdict; 80 columns wide.

    With other systems beside the one under test, whose names are long, intervals are left to the report.
    """
    figures, names, many = Figures(metrics, run.headline_view), run.headline, len(run.systems) > 1
    shown = figures.value if many else figures.with_interval
    corpus = run.corpus
    of = "" if figures.view == ALL else f", {questions_of(figures.view)}"
    title = f"{corpus.title}{of}, {run.title}: {run.verdict}"
    table = Table(title=title, box=box.SIMPLE_HEAD, collapse_padding=True, show_edge=False, pad_edge=False)
    intervals = "intervals, times and sizes stand in report.md" if many else "each with its 95 % interval"
    table.caption = f"recalls in percent, MRR from 0 to 1, {intervals}; n questions"
    table.add_column("arm", no_wrap=many)
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("n", justify="right")
    for scope in run.scopes:
        table.add_row(Text(scope.name, style="bold"))
        for arm in figures.arms_in(scope.name):
            cells = (shown(arm, scope.name, metric) for metric in names)
            table.add_row(*map(Text, (f" {arm}", *cells, count(figures.n(arm, scope.name)))))
        table.add_section()
    return table


def gate_table(results: Iterable[GateResult]) -> Table:
    """One row a gate; its name and its status are never broken."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("gate", "status"):
        table.add_column(name, no_wrap=True)
    for name in ("expected", "found"):
        table.add_column(name, overflow="fold")
    for result in results:
        status = Text(result.status.value, style=COLOURS[result.status])
        texts = (Text(shorten(text)) for text in (result.expected, result.found))
        table.add_row(Text(result.gate), status, *texts)
    return table


def to_do(results: Iterable[GateResult]) -> list[str]:
    """One line for each gate that did not pass: how to mend it."""
    settled = (Status.PASSED, Status.NOT_YET)
    return [f"{r.gate}: {r.resolve}" for r in results if r.status not in settled and r.resolve]
