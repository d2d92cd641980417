"""`python -m runner rescore DIR`: new metrics and a new report from the raw rankings, and the changes.

The artefacts are not changed. The output is a draft: unlike a run, it has no manifest and no entry in
HISTORY.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pgmnemo.errors import OutputError, UsageError
from pgmnemo.terminal import say
from runner.options import Run
from runner.protocol.metrics import DIFFERENCES
from runner.protocol.metrics.document import metrics_of
from runner.records import Json
from runner.report import render
from runner.runs.canonical import pretty
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW
from runner.runs.results import REPORT, Results, Unreadable, collector_paused, is_run, read_results
from runner.runs.run import RUN, write_metrics
from runner.runs.storage import output_errors, write_file

SCHEMA, SUMMARY = "pgmnemo/rescored/1", "rescored.json"
FIGURES = ("value", "ci95_low", "ci95_high", "n", "trivial")
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangedFigure:
    """A figure that changed; a value of None means that the figure is missing in that document."""

    row: str  # arm, scope, view, type and metric
    figure: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Rescored:
    """The new figures of a run, and the changes. `why` lists every difference in how they were computed."""

    source: str
    before: str  # metric code
    after: str
    metrics: Json
    report: str
    moves: tuple[ChangedFigure, ...]
    why: tuple[str, ...]

    def document(self, manifest_sha256: str | None = None) -> Json:
        """Return the summary as JSON."""
        return {
            "schema": SCHEMA,
            "source": self.source,
            "source_manifest_sha256": manifest_sha256,
            "metric_code": {"before": self.before, "after": self.after},
            "why": list(self.why),
            "moved": [asdict(move) for move in self.moves],
        }


def rescore_command(folder: Run, /, *, metric_code: str | None = None, output: Path | None = None) -> int:
    """Compute metrics and report of a run again from its raw rankings, and print the changes.

    Args:
        metric_code: version of the metric code (default: that of the run's edition)
        output: new folder for metrics.json and report.md
    """
    say(*summary_lines(rescore(folder, metric_code=metric_code, output=output)))
    return 0


@collector_paused()
def rescore(
    folder: Path | str, *, metric_code: str | None = None, output: Path | str | None = None
) -> Rescored:
    """Return the figures of `folder` by `metric_code` (None: that of the run's edition).

    With `output` they are written to a new folder. Raises UsageError for an unknown metric code, a missing
    folder, and an `output` that exists; what `read_results` raises for a record or raw rankings that differ
    from the manifest; OutputError for artefacts that cannot be read.
    """
    if metric_code is not None:
        DIFFERENCES[metric_code]
    if not Path(folder).expanduser().is_dir():
        raise UsageError(f"there is no results folder {folder}: name one that a run has written")
    results = read_results(folder, Results, (RUN, RAW))  # metrics.json may have any figures
    try:
        run, former = results.run, results.metrics
        metrics = metrics_of(run, list(results.detailed()), metric_code)
    except Unreadable as error:
        raise OutputError(f"{folder} cannot be scored anew: {error}; verify says more") from None
    done = Rescored(
        source=run.name,
        before=former["metric_code"],
        after=metrics["metric_code"],
        metrics=metrics,
        report=render(metrics, run),
        moves=tuple(_moves(former, metrics)),
        why=tuple(_why(former, metrics)),
    )
    if output is not None:
        _write(done, Path(output), results)
    return done


def _write(done: Rescored, output: Path, results: Results) -> None:
    output = output.expanduser()
    if output.resolve().is_relative_to(results.folder.resolve()):
        raise UsageError(f"{output} lies in the results folder itself: name a new folder elsewhere")
    if (other := next((place for place in output.resolve().parents if is_run(place)), None)) is not None:
        raise UsageError(f"{output} lies in the results folder {other}: name a new folder elsewhere")
    with output_errors(output):
        try:
            output.mkdir(parents=True)
        except FileExistsError:
            raise UsageError(f"{output} exists, and nothing is overwritten: name a new folder") from None
    write_metrics(output, done.metrics)
    write_file(output / REPORT, done.report)
    write_file(output / SUMMARY, pretty(done.document(results.digest(MANIFEST))))


def _rows(metrics: Mapping[str, Any]) -> dict[Key, Mapping[str, Any]]:
    """Return every row of both tables, with its texts as the key."""
    rows = [row for table in ("results", "differences") for row in metrics[table]]
    return {_key(row): row for row in rows}


def _key(row: Mapping[str, Any]) -> Key:
    texts = {name: text for name, text in row.items() if name not in FIGURES}
    return tuple(f"minus {text}" if name == "baseline" else text for name, text in texts.items())


def _moves(former: Mapping[str, Any], metrics: Mapping[str, Any]) -> Iterator[ChangedFigure]:
    before, after = _rows(former), _rows(metrics)
    for key in dict.fromkeys([*before, *after]):
        one, other = before.get(key, {}), after.get(key, {})
        for figure in FIGURES:
            if one.get(figure) != other.get(figure):
                yield ChangedFigure(", ".join(key), figure, one.get(figure), other.get(figure))


def _why(former: Mapping[str, Any], metrics: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences between the two documents that are not figures."""
    if former["metric_code"] != metrics["metric_code"]:
        yield f"metric code {metrics['metric_code']} instead of {former['metric_code']}"
    for what in ("definitions", "intervals"):
        for name in dict.fromkeys([*former[what], *metrics[what]]):
            one, other = former[what].get(name), metrics[what].get(name)
            if one != other:
                yield f"{what}, {name}: {other or 'none'} (before: {one or 'none'})"


def summary_lines(done: Rescored, most: int = 40) -> Iterator[str]:
    """Yield at most `most` changed figures, the reasons, and a summary, one on each line."""
    for move in done.moves[:most]:
        yield f"{move.row}: {move.figure} {_number(move.before)} → {_number(move.after)}"
    if len(done.moves) > most:
        yield f"… and {len(done.moves) - most:,} more"
    for reason in done.why:
        yield f"why: {reason}"
    if done.moves and not done.why:
        yield "why: metrics.json did not follow from the raw rankings; see what `verify` says"
    rows = len(done.metrics["results"]) + len(done.metrics["differences"])
    code = f"metric code {done.before} → {done.after}"
    yield f"{done.source}: {len(done.moves):,} figures in {rows:,} rows moved, {code}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"
