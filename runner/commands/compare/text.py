"""A comparison or a gate as Markdown, for the terminal, a log, and GitHub Actions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pgmnemo import escaping
from pgmnemo.errors import os_errors
from runner.commands.compare.compared_run import ComparedRun
from runner.commands.compare.comparison import Comparison
from runner.commands.compare.release_gate import CheckedRun, GateOutcome
from runner.commands.compare.rows import LEVEL, ComparisonFinding, DifferenceRow, Hypothesis
from runner.markdown import table
from runner.records import ALL
from runner.report.formats import (
    DAGGER,
    MISSING,
    count,
    difference,
    figure,
    p_text,
    questions_of,
    shorten,
)
from runner.report.render import template
from runner.verification import CheckStatus

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
MARKS = {
    ComparisonFinding.IMPROVED: "✅",
    ComparisonFinding.EQUIVALENT: "✅",
    ComparisonFinding.REGRESSED: "❌",
    ComparisonFinding.INCONCLUSIVE: "❔",
}
TEMPLATE = Path(__file__).with_name("compare.md.j2")
KEYS_SHOWN = 12  # maximum number of keys of questions won or lost
HEADS = ("metric", "before", "after", "difference", "won", "lost", "McNemar p", "Holm p", "finding")


def comparison_text(comparison: Comparison) -> str:
    """Return the whole comparison as Markdown, the verdict last."""
    return _rendered(comparison)


def gate_text(gated: GateOutcome) -> str:
    """Return the verification of both runs and the verdict as Markdown, with the comparison folded."""
    return _rendered(gated.comparison, gated)


def _rendered(found: Comparison | None, gated: GateOutcome | None = None) -> str:
    return template(TEMPLATE).render(
        found=found, gated=gated, of="" if found is None else _of(found), marks=MARKS, count=count,
        escaped=escaping.escape_markdown, side=_side, verified=_verification, changes=_changes,
        scopes=_scopes, metrics=_metrics, types=_types, family=_family, keys=_questions, notes=_notes,
    )  # fmt: skip


def append_summary(text: str, environ: Mapping[str, str] = os.environ) -> None:
    """Append `text` to the file that GITHUB_STEP_SUMMARY names, if it names one."""
    if not (place := environ.get(STEP_SUMMARY)):
        return
    told = f"{STEP_SUMMARY} names {place}, which cannot be written ({{why}}); name another file"
    with os_errors(told), Path(place).open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def _side(side: ComparedRun) -> str:
    labels = "; ".join(side.run.deviations)
    verdict = side.run.verdict + (f": {shorten(labels)}" if labels else "")
    return f"{side.name}, {side.run.title}, {side.run.embedder_name} ({verdict})"


def _verification(checked: CheckedRun) -> str:
    found = checked.verification
    asked = [answer for answer in found.answers if answer.found is not CheckStatus.NOT_ASKED]
    head = f"**{checked.role}** `{found.folder.name}`, {found.verdict}: "
    if found.intact:
        return escaping.escape_markdown(head) + f"intact, {len(asked)} checks hold"
    faults = "\n".join(f"- `{answer.check}`: {answer.sentence}" for answer in found.faults)
    return escaping.escape_markdown(
        f"{head}**{len(found.faults)} of {len(asked)} checks found a fault**\n\n{faults}"
    )


def _family(comparison: Comparison) -> str:
    """Return the table of the hypotheses that decide the verdict."""
    rows = [(member.row.scope, *_cells(member.row, member)) for member in comparison.family]
    return table(("scope", *HEADS), rows, "llrrrrrrrl")


def _of(comparison: Comparison) -> str:
    return "" if comparison.view == ALL else f", {questions_of(comparison.view)}"


def _changes(comparison: Comparison) -> str:
    rows = [(one.what, shorten(one.baseline), shorten(one.candidate)) for one in comparison.changes]
    return table(("what", "baseline", "candidate"), rows, "lll")


def _scopes(comparison: Comparison) -> dict[str, list[DifferenceRow]]:
    """Return the rows over all types, by scope."""
    scopes = dict.fromkeys(row.scope for row in comparison.rows)
    return {scope: [row for row in comparison.whole if row.scope == scope] for scope in scopes}


def _metrics(comparison: Comparison, whole: Iterable[DifferenceRow]) -> str:
    members = {id(member.row): member for member in comparison.family}
    return table(HEADS, [_cells(row, members.get(id(row))) for row in whole], "lrrrrrrrl")


def _cells(row: DifferenceRow, member: Hypothesis | None) -> tuple[str, ...]:
    """Return the cells of a metric's row; Holm's p and the finding are given only for a tested hypothesis."""
    return (
        row.metric + (DAGGER if row.trivial else ""),
        figure(row.metric, row.baseline),
        figure(row.metric, row.candidate),
        _difference(row),
        count(row.won),
        count(row.lost),
        "" if row.mcnemar_p is None else p_text(row.mcnemar_p),
        "" if member is None else p_text(member.p_holm),
        "" if member is None else member.finding.value,
    )


def _difference(row: DifferenceRow) -> str:
    return difference(row.metric, row.difference, row.ci95_low, row.ci95_high)


def _types(comparison: Comparison, scope: str) -> str:
    """Return a table of the differences in the headline metrics, by question type and by view."""
    known = {row.metric for row in comparison.rows}
    headline = [name for name in comparison.baseline.run.headline if name in known]
    others = (row for row in comparison.rows if row.scope == scope and not row.of(comparison.view))
    rows = [
        (label, count(next(iter(by.values())).n),
         *(_difference(by[name]) if name in by else MISSING for name in headline))
        for label, by in _parts(others).items()
    ]  # fmt: skip
    return table(("questions", "n", *headline), rows)


def _parts(rows: Iterable[DifferenceRow]) -> dict[str, dict[str, DifferenceRow]]:
    """Return rows by part of the questions, then by metric.

    A part is a question type of the view `all`, or another view as a whole.
    """
    parts: dict[str, dict[str, DifferenceRow]] = {}
    for row in rows:
        if ALL in (row.view, row.type):
            parts.setdefault(row.type if row.view == ALL else row.view, {})[row.metric] = row
    return parts


def _questions(comparison: Comparison) -> Iterator[str]:
    """Yield a line for each headline metric, with the first keys of the questions that were won and lost."""
    for moved in comparison.moved:
        for word, keys in (("won", moved.won), ("lost", moved.lost)):
            if keys:
                more = f" … and {count(len(keys) - KEYS_SHOWN)} more" if len(keys) > KEYS_SHOWN else ""
                listed = ", ".join(f"`{key}`" for key in keys[:KEYS_SHOWN])
                yield f"{moved.scope}, {moved.metric}, {word} ({count(len(keys))}): {listed}{more}"


def _notes(comparison: Comparison) -> Iterator[str]:
    """Yield sentences on the methods behind the figures."""
    yield f"Values: from both runs' raw rankings, under metric code {comparison.metric_code}."
    yield f"95 % intervals: {comparison.interval_method}."
    yield f"McNemar's test: {comparison.mcnemar_method}."
    tested = [f"{member.row.metric} ({member.row.scope})" for member in comparison.family]
    yield f"Holm's correction at {LEVEL:.0%} over {len(tested)} hypotheses: {', '.join(tested) or 'none'}."
    if any(row.trivial for row in comparison.rows):
        yield f"{DAGGER} trivial for some questions: the scope holds no more than k segments."
