"""The content that the program writes into a mark. The mark's first word chooses its kind.

A figure has none. Every figure comes from metrics.json and run.json; only a difference of two runs needs
their raw rankings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.escaping import escape_markdown
from runner.commands.cite.citation import paragraph
from runner.commands.cite.run_cache import COUNTED, RunCache, check_known, row_of, view_and_type
from runner.commands.cite.systems_table import corpus_title, plot, questions, systems_table, tuned_on_it
from runner.commands.compare import Comparison, compare
from runner.commands.compare.compared_run import ComparedRun
from runner.markdown import table
from runner.records import ALL, Verdict
from runner.report.formats import (
    DAGGER,
    Row,
    count,
    difference,
    figure,
    in_percent,
    interval,
    questions_of,
    trivial,
)


@dataclass(frozen=True, slots=True)
class MarkContent:
    """The content of a mark.

    `of` are the runs that the figures come from, `named` the runs that the text names to a reader.
    `drawn` is the file and the content of a plot that belongs to the mark; None without a plot.
    """

    text: str
    of: tuple[ComparedRun, ...] = ()
    named: tuple[ComparedRun, ...] = ()
    drawn: tuple[Path, str] | None = None


@dataclass(frozen=True, slots=True)
class MarkKind:
    """A kind of mark. `write` gets the run cache, the document's folder and the words after the kind's name.

    `least` and `most` bound the number of these words; None for `most` means no upper bound.
    """

    form: str
    least: int
    write: Callable[[RunCache, Path, Sequence[str]], MarkContent]
    most: int | None = None


def mark_content(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return the content of the mark with these words; raise a PgmnemoError if the mark has a fault."""
    kind = KINDS.get(words[0] if words else "", PLAIN)
    rest = words if kind is PLAIN else words[1:]
    if not kind.least <= len(rest) <= (kind.most or len(rest)):
        others = ", ".join([*KINDS, FROM])
        raise UsageError(f"a mark is <!-- cite: {kind.form} -->; others begin with {others}")
    answer = kind.write(shelf, beside, rest)
    return replace(answer, text=escape_markdown(answer.text))  # text from a run cannot form a mark


def _figure(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return a figure, such as `95.5 % [93.8, 96.7] (deviation)`; for `n`, the number of questions."""
    cited, arm, scope, metric, part = shelf.run(words[0], beside), *words[1:4], " ".join(words[4:])
    if metric == COUNTED:
        return MarkContent(count(int(row_of(cited, arm, scope, metric, part)["n"])))
    return MarkContent(_text(cited, arm, scope, metric, part), (cited,))


def _text(cited: ComparedRun, arm: str, scope: str, metric: str, part: str = "") -> str:
    row = row_of(cited, arm, scope, metric, part)
    label = _label([cited], arm, first=_view(row["view"], part))
    return f"{_value(row, ' %' if in_percent(metric) else '')}{label}"


def _value(row: Row, unit: str = "") -> str:
    """Return a value with its unit and interval."""
    sure = "" if row["arm"] == "ceiling" else f" {interval(row)}"
    return f"{figure(row['metric'], row['value'])}{unit}{DAGGER if trivial(row) else ''}{sure}"


def _against(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return the lead of an arm over another arm of its run, such as `+4.0 [+1.4, +6.6] (deviation)`."""
    cited, arm, other, scope, metric = shelf.run(words[0], beside), *words[1:5]
    part = " ".join(words[5:])
    view = part or cited.figures.view
    found = {(row["arm"], row["baseline"], row["scope"], row["metric"], row["view"]): row
             for row in cited.metrics["differences"]}  # fmt: skip
    row = found.get((arm, other, scope, metric, view))
    if row is None:
        pairs = dict.fromkeys(f"{one} {two}" for one, two, *rest in found if rest == [scope, metric, view])
        listed = ", ".join(pairs) or "none"
        told = f"{metric}, scope {scope}, view {view}"
        raise UsageError(
            f"{cited.run.name} has no difference of {arm} and {other} in {told}: it has {listed}"
        )
    told = _label([cited], arm, other, first=_view(view, part))
    text = difference(metric, row["value"], row["ci95_low"], row["ci95_high"])
    return MarkContent(f"{text}{told}", (cited,))


def _diff(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return the second run minus the first, such as `+0.5 [-0.2, +0.9] (equivalent, deviation)`."""
    runs = [shelf.run(one, beside) for one in words[:2]]
    (arm, scope, metric), part = words[2:5], " ".join(words[5:])
    for cited in runs:
        check_known("system under test", arm, [cited.run.system], cited)
    row_of(runs[0], arm, scope, metric, part)
    view, kind = view_and_type(runs[0].figures, part, runs[0])
    found = _compared(runs[0].folder, runs[1].folder)
    wanted = (scope, view or (found.view if kind == ALL else ALL), kind, metric)
    [row] = [one for one in found.rows if (one.scope, one.view, one.type, one.metric) == wanted]
    decided = [str(member.finding) for member in found.family if member.row is row]
    told = _label(runs, arm, first=[*_view(row.view, part), *decided])
    text = difference(metric, row.difference, row.ci95_low, row.ci95_high)
    return MarkContent(f"{text}{told}", tuple(runs))


@lru_cache(4)
def _compared(before: Path, after: Path) -> Comparison:
    return compare(before, after)


def _table(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return a table of some arms in the first scope of some runs, with the metrics as columns.

    The labels of an arm's figures stand beside its name.
    """
    arms, metrics = (listed.split(",") for listed in words[:2])
    runs = tuple(shelf.run(one, beside) for one in words[2:])
    rows = []
    for cited in runs:
        scope = cited.run.scopes[0].name
        asked = row_of(cited, arms[0], scope, COUNTED)
        head = f"{corpus_title(cited.run)}, {questions(int(asked['n']), asked['view'])}"
        for arm in arms:
            cells = (_value(row_of(cited, arm, scope, metric)) for metric in metrics)
            rows.append([head, f"{arm}{_label([cited], arm)}", *cells])
    heads = [f"{metric}, %" if in_percent(metric) else metric for metric in metrics]
    text = table(["corpus", "system", *heads], rows, "ll" + "r" * len(metrics))
    return MarkContent(f"\n\n{text}\n\n", runs)


def _count(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return a count from the run's corpus, such as `272`."""
    cited = shelf.run(words[0], beside)
    corpus, name = cited.run.corpus, " ".join(words[1:])
    found = {**corpus.shape, "lessons": corpus.segments, "questions": corpus.questions}
    check_known("count", name, found, cited)
    return MarkContent(count(found[name]))


def _source(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return the sources of figures: the folder, protocol, verdict and deviations of each run.

    For an unverified run only the names of the deviations are given; its report and HISTORY.md have the
    whole text.
    """
    runs = tuple(shelf.run(word, beside) for word in words)
    parts = []
    for run in (one.as_reported for one in runs):
        if run.verdict == Verdict.UNVERIFIED:
            why = ", ".join(label.split(":")[0] for label in run.deviations)
        else:
            why = "; ".join(label.rstrip(".") for label in run.deviations)
        told = f"{run.verdict}: {why}" if why else run.verdict
        parts.append(f"`{run.path}` (protocol {run.protocol.version}, {told})")
    return MarkContent(";\n".join(parts), named=runs)


def _paragraph(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return the paragraph of protocol §8, with the previous run's value if a second run is named."""
    runs = tuple(shelf.run(word, beside) for word in words)
    return MarkContent(f"\n\n{paragraph(*runs)}\n\n", runs, runs)


def _systems(shelf: RunCache, beside: Path, words: Sequence[str]) -> MarkContent:
    """Return the table of systems over several runs and its plot, for all systems or only the named ones."""
    place, *rest = words
    only = rest.pop(0).split(",") if "," in rest[0] else ()
    if not rest:
        raise UsageError(f"the mark names no run: <!-- cite: {KINDS['systems'].form} -->")
    runs = tuple(shelf.run(one, beside) for one in rest)
    text = systems_table(runs, place, only)
    return MarkContent(f"\n\n{text}\n\n", runs, runs, (beside / place, plot(runs, only)))


def _view(view: str, part: str) -> list[str]:
    """Return the name of the view; an empty list if it is all questions or the mark already names it."""
    return [] if view in (ALL, part) else [questions_of(view)]


def _label(runs: Sequence[ComparedRun], *arms: str, first: Sequence[str] = ()) -> str:
    """Return the labels of a figure in brackets: verdicts other than verified, and `in-sample`."""
    verdicts = [str(one.as_reported.verdict) for one in runs if one.as_reported.verdict != "verified"]
    tuned = ["in-sample" for one in runs if any(tuned_on_it(one.run, arm) for arm in arms)]
    words = dict.fromkeys([*first, *verdicts, *tuned])
    return f" ({', '.join(words)})" if words else ""


FROM = "from"  # a figure of another author: the other words are its source, and its body is never written
PLAIN = MarkKind("RUN ARM SCOPE METRIC [TYPE or VIEW]", 4, _figure)
KINDS = {
    "against": MarkKind("against RUN ARM BASELINE SCOPE METRIC [VIEW]", 5, _against),
    "diff": MarkKind("diff RUN_A RUN_B ARM SCOPE METRIC [TYPE or VIEW]", 5, _diff),
    "count": MarkKind("count RUN NAME", 2, _count),
    "source": MarkKind("source RUN…", 1, _source),
    "paragraph": MarkKind("paragraph RUN [PREVIOUS]", 1, _paragraph, 2),
    "table": MarkKind("table ARM,… METRIC,… RUN…", 3, _table),
    "systems": MarkKind("systems PLOT.svg [ARM,…] RUN…", 2, _systems),
}
