"""A comparison and a gate as Markdown: on the terminal, in a log and as GitHub Actions shows it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pgmnemo import escaping
from pgmnemo.errors import os_errors
from runner.commands.compare.comparison import Comparison
from runner.commands.compare.gating import Checked, Gated
from runner.commands.compare.rows import LEVEL, Finding, Member, Row
from runner.commands.compare.side import Side
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
from runner.verification import Found

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
MARKS = {
    Finding.IMPROVED: "✅",
    Finding.EQUIVALENT: "✅",
    Finding.REGRESSED: "❌",
    Finding.INCONCLUSIVE: "❔",
}
KEYS_SHOWN = 12  # of the questions won or lost
HEADS = ("metric", "before", "after", "difference", "won", "lost", "McNemar p", "Holm p", "finding")


def comparison_text(comparison: Comparison) -> str:
    """The whole comparison, the verdict last."""
    parts = [
        f"- baseline: {_side(comparison.baseline)}\n- candidate: {_side(comparison.candidate)}",
        *(f"**DESPITE {mismatch}**" for mismatch in comparison.despite),
        *(f"## {title}\n\n{text}" for title, text in _sections(comparison)),
        "\n".join(f"- {reason}" for reason in comparison.reasons),
        f"verdict: {comparison.label}",
    ]
    return escaping.markdown("\n\n".join(parts)) + "\n"


def gate_text(gated: Gated) -> str:
    """What both runs were found to be, the verdict, and the rest of the comparison folded away."""
    parts = [f"## Recall gate: {gated.word}", *map(_verification, gated.checked)]
    if gated.comparison is None:
        parts.append("The runs were not compared: an artefact that does not verify proves nothing.")
    else:
        parts += _decision(gated.comparison)
        parts += (_folded(title, text) for title, text in _sections(gated.comparison))
    if gated.legs is not None:
        mark = MARKS[Finding.REGRESSED if gated.legs.falls else Finding.EQUIVALENT]
        parts.append(f"legs: {mark} {gated.legs}")
    return "\n\n".join(parts) + "\n"


def append_summary(text: str, environ: Mapping[str, str] = os.environ) -> None:
    """Append `text` to the file that GITHUB_STEP_SUMMARY names, if it names one."""
    if not (place := environ.get(STEP_SUMMARY)):
        return
    told = f"{STEP_SUMMARY} names {place}, which cannot be written ({{why}}); name another file"
    with os_errors(told), Path(place).open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def _side(side: Side) -> str:
    labels = "; ".join(side.run.deviations)
    verdict = side.run.verdict + (f": {shorten(labels)}" if labels else "")
    return f"{side.name}, {side.run.title}, {side.run.embedder_name} ({verdict})"


def _verification(checked: Checked) -> str:
    found = checked.verification
    asked = [answer for answer in found.answers if answer.found is not Found.NOT_ASKED]
    head = f"**{checked.role}** `{found.folder.name}`, {found.verdict}: "
    if found.intact:
        return escaping.markdown(head) + f"intact, {len(asked)} checks hold"
    faults = "\n".join(f"- `{answer.check}`: {answer.sentence}" for answer in found.faults)
    return escaping.markdown(
        f"{head}**{len(found.faults)} of {len(asked)} checks found a fault**\n\n{faults}"
    )


def _decision(comparison: Comparison) -> Iterator[str]:
    """The verdict in one line, the hypotheses that it rests on, and why."""
    before, after = comparison.baseline.run, comparison.candidate.run
    yield escaping.markdown(
        f"{before.corpus.title}{_of(comparison)}, {before.title} → {after.title}, protocol "
        f"v{before.protocol.version}: {MARKS[comparison.finding]} **{comparison.label}**"
    )
    if not before.corpus.citable:
        yield "The figures of this suite prove an installation and are no evidence of recall."
    rows = [(member.row.scope, *_cells(member.row, member)) for member in comparison.family]
    yield escaping.markdown(table(("scope", *HEADS), rows, "llrrrrrrrl"))
    yield escaping.markdown("\n".join(f"- {reason}" for reason in comparison.reasons))


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{escaping.markdown(content)}\n\n</details>"


def _of(comparison: Comparison) -> str:
    return "" if comparison.view == ALL else f", {questions_of(comparison.view)}"


def _sections(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Title and text: what else differs, every metric and every type by scope, the questions, the method."""
    if comparison.changes:
        rows = [(one.what, shorten(one.baseline), shorten(one.candidate)) for one in comparison.changes]
        yield "What else differs", table(("what", "baseline", "candidate"), rows, "lll")
    members = {id(member.row): member for member in comparison.family}
    for scope in dict.fromkeys(row.scope for row in comparison.rows):
        whole = [row for row in comparison.whole if row.scope == scope]
        cells = [_cells(row, members.get(id(row))) for row in whole]
        yield f"{scope}{_of(comparison)}, n = {count(whole[0].n)}", table(HEADS, cells, "lrrrrrrrl")
        yield f"{scope}, by type and view", _types(comparison, scope)
    if listed := [f"- {line}" for line in _questions(comparison)]:
        yield "Questions won and lost", "\n".join(listed)
    yield "Method", "\n".join(f"- {note}" for note in _notes(comparison))


def _cells(row: Row, member: Member | None) -> tuple[str, ...]:
    """A metric in a line; Holm's p and the finding of a member of the tested family."""
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


def _difference(row: Row) -> str:
    return difference(row.metric, row.difference, row.ci95_low, row.ci95_high)


def _types(comparison: Comparison, scope: str) -> str:
    """The difference in the headline metrics for each question type and each other view."""
    known = {row.metric for row in comparison.rows}
    headline = [name for name in comparison.baseline.run.headline if name in known]
    others = (row for row in comparison.rows if row.scope == scope and not row.of(comparison.view))
    rows = [
        (label, count(next(iter(by.values())).n),
         *(_difference(by[name]) if name in by else MISSING for name in headline))
        for label, by in _parts(others).items()
    ]  # fmt: skip
    return table(("questions", "n", *headline), rows)


def _parts(rows: Iterable[Row]) -> dict[str, dict[str, Row]]:
    """By metric: the types of the first view, then every other view as a whole."""
    parts: dict[str, dict[str, Row]] = {}
    for row in rows:
        if ALL in (row.view, row.type):
            parts.setdefault(row.type if row.view == ALL else row.view, {})[row.metric] = row
    return parts


def _questions(comparison: Comparison) -> Iterator[str]:
    """Keys of the questions won and lost in each headline metric, the first few."""
    for moved in comparison.moved:
        for word, keys in (("won", moved.won), ("lost", moved.lost)):
            if keys:
                more = f" … and {count(len(keys) - KEYS_SHOWN)} more" if len(keys) > KEYS_SHOWN else ""
                listed = ", ".join(f"`{key}`" for key in keys[:KEYS_SHOWN])
                yield f"{moved.scope}, {moved.metric}, {word} ({count(len(keys))}): {listed}{more}"


def _notes(comparison: Comparison) -> Iterator[str]:
    """How the figures were made."""
    yield f"Values: from both runs' raw rankings, under metric code {comparison.metric_code}."
    yield f"95 % intervals: {comparison.interval_method}."
    yield f"McNemar's test: {comparison.mcnemar_method}."
    tested = [f"{member.row.metric} ({member.row.scope})" for member in comparison.family]
    yield f"Holm's correction at {LEVEL:.0%} over {len(tested)} hypotheses: {', '.join(tested) or 'none'}."
    if any(row.trivial for row in comparison.rows):
        yield f"{DAGGER} trivial for some questions: the scope holds no more than k segments."
