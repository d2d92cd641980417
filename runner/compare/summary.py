"""The gate's summary in Markdown, as GitHub Actions shows it and as the log has it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from runner import escaping
from runner.compare.comparison import Comparison
from runner.compare.gating import Checked, Gated
from runner.compare.rows import Row
from runner.compare.terminal import notes, p_text, questions
from runner.compare.verdict import Finding, Member
from runner.errors import os_errors
from runner.markdown import table
from runner.records import ALL
from runner.report.figures import DAGGER
from runner.report.formats import change, change_interval, count, figure, questions_of, shorten
from runner.verify import Found

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
MARKS = {
    Finding.IMPROVED: "✅",
    Finding.EQUIVALENT: "✅",
    Finding.REGRESSED: "❌",
    Finding.INCONCLUSIVE: "❔",
}
KEYS_SHOWN = 20


def markdown(gated: Gated) -> str:
    """The whole summary."""
    parts = [f"## Recall gate: {gated.word}"]
    parts += [_verification(checked) for checked in gated.checked]
    if gated.comparison is None:
        parts.append("The runs were not compared: an artefact that does not verify proves nothing.")
    else:
        parts += _comparison(gated.comparison)
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


def _verification(checked: Checked) -> str:
    found = checked.verification
    asked = [answer for answer in found.answers if answer.found is not Found.NOT_ASKED]
    head = f"**{checked.role}** `{found.folder.name}`, {found.verdict}: "
    head = escaping.markdown(head)
    if found.intact:
        return head + f"intact, {len(asked)} checks hold"
    faults = "\n".join(f"- `{answer.check}`: {answer.sentence}" for answer in found.faults)
    faults = escaping.markdown(faults)
    return head + f"**{len(found.faults)} of {len(asked)} checks found a fault**\n\n{faults}"


def _comparison(comparison: Comparison) -> Iterator[str]:
    before, after = comparison.baseline, comparison.candidate
    corpus = comparison.baseline.run.corpus
    of = "" if comparison.view == ALL else f", {questions_of(comparison.view)}"
    yield escaping.markdown(
        f"{corpus.title}{of}, {before.run.title} → {after.run.title}, protocol "
        f"v{before.run.protocol.version}: {MARKS[comparison.finding]} **{comparison.label}**"
    )
    if not corpus.citable:
        yield "The figures of this suite prove an installation and are no evidence of recall."
    yield escaping.markdown(_family(comparison.family))
    yield escaping.markdown("\n".join(f"- {reason}" for reason in comparison.reasons))
    if comparison.changes:
        rows = [(c.what, shorten(c.baseline), shorten(c.candidate)) for c in comparison.changes]
        yield _folded("What else differs", table(("what", "baseline", "candidate"), rows, "lll"))
    everything = [_line(row) for row in comparison.whole]
    names = ("scope", "metric", "baseline", "candidate", "difference", "95 % interval", "won", "lost",
             "McNemar p")  # fmt: skip
    yield _folded("Every metric", table(names, everything, "llrrrrrrr"))
    if listed := [f"- {line}" for line in questions(comparison, KEYS_SHOWN, "`")]:
        yield _folded("Questions won and lost", "\n".join(listed))
    yield _folded("Method", "\n".join(f"- {note}" for note in notes(comparison)))


def _family(members: tuple[Member, ...]) -> str:
    rows = [
        (*_line(m.row)[:6], f"± {figure(m.row.metric, m.band)}", p_text(m.p_holm), str(m.finding))
        for m in members
    ]
    names = ("scope", "metric", "baseline", "candidate", "difference", "95 % interval", "band", "Holm p",
             "finding")  # fmt: skip
    return table(names, rows, "llrrrrrrl")


def _line(row: Row) -> tuple[str, ...]:
    ends = {"metric": row.metric, "ci95_low": row.ci95_low, "ci95_high": row.ci95_high}
    return (
        row.scope,
        row.metric + (DAGGER if row.trivial else ""),
        figure(row.metric, row.baseline),
        figure(row.metric, row.candidate),
        change(row.metric, row.difference),
        change_interval(ends),
        count(row.won),
        count(row.lost),
        "" if row.mcnemar_p is None else p_text(row.mcnemar_p),
    )


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{escaping.markdown(content)}\n\n</details>"
