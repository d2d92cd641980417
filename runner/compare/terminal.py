"""A comparison on the terminal: every metric, every type, the questions that moved, and the verdict last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.compare.comparison import Comparison
from runner.compare.rows import Row
from runner.compare.side import Side
from runner.compare.verdict import LEVEL, Finding
from runner.records import ALL
from runner.report.figures import DAGGER
from runner.report.formats import MISSING, change, change_interval, count, figure, questions_of, shorten
from runner.terminal import grid

COLOURS = {
    Finding.IMPROVED: "green",
    Finding.EQUIVALENT: "cyan",
    Finding.REGRESSED: "bold red",
    Finding.INCONCLUSIVE: "yellow",
}
KEYS_SHOWN = 12


def show(comparison: Comparison, out: Console) -> None:
    """Print the whole comparison."""
    for line in head(comparison):
        out.print(line, markup=False)
    for scope in dict.fromkeys(row.scope for row in comparison.rows):
        out.print(metrics_table(comparison, scope))
        out.print(types_table(comparison, scope))
    for line in (*questions(comparison), "", *notes(comparison)):
        out.print(line, markup=False)
    for reason in comparison.reasons:
        out.print(f"- {reason}", markup=False)
    out.print(Text("verdict: ").append(comparison.label, style=COLOURS[comparison.finding]))


def head(comparison: Comparison) -> Iterator[str]:
    """The two runs, and what sets them apart."""
    yield f"baseline:  {_side(comparison.baseline)}"
    yield f"candidate: {_side(comparison.candidate)}"
    for mismatch in comparison.despite:
        yield f"DESPITE {mismatch}"
    for changed in comparison.changes:
        yield f"changed: {changed.what} {shorten(changed.baseline)} → {shorten(changed.candidate)}"


def _side(side: Side) -> str:
    labels = "; ".join(side.run.deviations)
    verdict = side.run.verdict + (f": {shorten(labels)}" if labels else "")
    return f"{side.name}, {side.run.title}, {side.run.embedder_name} ({verdict})"


def metrics_table(comparison: Comparison, scope: str) -> Table:
    """Metrics in the headline's view and a scope; the family's members with Holm's p and their finding."""
    rows = [row for row in comparison.whole if row.scope == scope]
    of = "" if comparison.view == ALL else f", {questions_of(comparison.view)}"
    table = grid(f"{scope}{of}, n = {count(rows[0].n)}")
    table.add_column("metric", no_wrap=True)
    for name in ("before", "after", "difference", "won", "lost", "McNemar p", "Holm p"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("finding", no_wrap=True)
    members = {id(member.row): member for member in comparison.family}
    for row in rows:
        member = members.get(id(row))
        p, word = ("", Text()) if member is None else (p_text(member.p_holm), _word(member.finding))
        table.add_row(*map(Text, (*_values(row), _with_interval(row), count(row.won), count(row.lost),
                      "" if row.mcnemar_p is None else p_text(row.mcnemar_p), p)), word)  # fmt: skip
    return table


def types_table(comparison: Comparison, scope: str) -> Table:
    """The difference in the headline metrics for each question type and each other view."""
    headline = [name for name in comparison.baseline.run.headline if name in _names(comparison)]
    table = grid(f"{scope}, by type and view")
    table.add_column("questions", no_wrap=True)
    table.add_column("n", justify="right")
    for name in headline:
        table.add_column(name, justify="right", no_wrap=True)
    others = (row for row in comparison.rows if row.scope == scope and not row.of(comparison.view))
    for label, rows in _parts(others):
        cells = (_with_interval(rows[name]) if name in rows else MISSING for name in headline)
        table.add_row(*map(Text, (label, count(next(iter(rows.values())).n), *cells)))
    return table


def _parts(rows: Iterable[Row]) -> Iterator[tuple[str, dict[str, Row]]]:
    """The types of the first view, then every other view as a whole."""
    parts: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.view == "all" or row.type == "all":
            parts.setdefault(row.type if row.view == "all" else row.view, {})[row.metric] = row
    yield from parts.items()


def questions(comparison: Comparison, shown: int = KEYS_SHOWN, mark: str = "") -> Iterator[str]:
    """Keys of the questions won and lost in each headline metric, the first few, with a mark around each."""
    for moved in comparison.moved:
        for word, keys in (("won", moved.won), ("lost", moved.lost)):
            if keys:
                more = f" … and {count(len(keys) - shown)} more" if len(keys) > shown else ""
                listed = ", ".join(f"{mark}{key}{mark}" for key in keys[:shown])
                yield f"{moved.scope}, {moved.metric}, {word} ({count(len(keys))}): {listed}{more}"


def notes(comparison: Comparison) -> Iterator[str]:
    """How the figures were made."""
    yield f"Values: from both runs' raw rankings, under metric code {comparison.metric_code}."
    yield f"95 % intervals: {comparison.interval_method}."
    yield f"McNemar's test: {comparison.mcnemar_method}."
    tested = [f"{member.row.metric} ({member.row.scope})" for member in comparison.family]
    yield f"Holm's correction at {LEVEL:.0%} over {len(tested)} hypotheses: {', '.join(tested) or 'none'}."
    if any(row.trivial for row in comparison.rows):
        yield f"{DAGGER} trivial for some questions: the scope holds no more than k segments."


def p_text(p: float) -> str:
    """`0.012`, or `< 0.001`."""
    return "< 0.001" if p < 0.0005 else f"{p:.3f}"


def _word(finding: Finding) -> Text:
    return Text(finding.value, style=COLOURS[finding])


def _names(comparison: Comparison) -> set[str]:
    return {row.metric for row in comparison.rows}


def _values(row: Row) -> tuple[str, str, str]:
    name = row.metric + (DAGGER if row.trivial else "")
    return name, figure(row.metric, row.baseline), figure(row.metric, row.candidate)


def _with_interval(row: Row) -> str:
    figures = {"metric": row.metric, "ci95_low": row.ci95_low, "ci95_high": row.ci95_high}
    return f"{change(row.metric, row.difference)} {change_interval(figures)}"
