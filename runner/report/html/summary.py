"""The top of the page: verdict, headline with its interval, its definition in words, and deviations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from runner.report.formats import (
    Figures,
    Row,
    change,
    change_interval,
    count,
    figure,
    in_percent,
    interval,
    questions_of,
    scope_words,
    shorten,
    trivial,
)
from runner.report.html import svg
from runner.report.html.plots import CEILING, RANDOM, arm_class
from runner.runs.run import Run

Facts = Mapping[str, Any]
UNIT = "\u00a0%"
BRIEF = 110  # characters of a gate's expectation or finding
VERDICTS = {
    "verified": "Every gate of protocol {protocol} passed; nothing deviates.",
    "deviation": "Intact, and departs from protocol {protocol} in what is listed here.",
    "unverified": "Not to be cited: protocol {protocol} does not know what was measured.",
}


def verdict_sentence(run: Run) -> str:
    """Return the meaning of the run's verdict."""
    return VERDICTS[run.verdict].format(protocol=run.protocol.version)


def departures(run: Run) -> list[tuple[str, str]]:
    """Return each deviation and each gate that passed with a deviation, once, with its expectation."""
    gates = {gate.gate: gate for gate in run.gates}
    listed = [(label, gates.pop(label.partition(":")[0], None)) for label in run.deviations]
    listed += [
        (f"{gate.gate}: {gate.found}", gate)
        for gate in gates.values()
        if gate.status in ("deviation", "unverified")
    ]
    return [(_brief(label), _brief(gate.expected)) if gate else (label, "") for label, gate in listed]


def _brief(words: str) -> str:
    """Return the first part of a gate's text; the table of gates shows all of it."""
    text = shorten(words)
    return text if len(text) <= BRIEF else f"{text[: BRIEF - 1]}…"


def headline(figures: Figures, run: Run) -> list[Row]:
    """Return the headline metrics of the system in the first scope, except trivial metrics."""
    return [row for row in figures.headline(run) if not trivial(row)]


def scale(figures: Figures, row: Row) -> Markup:
    """Draw the value between 0 and 1 with its interval, and the values of the other arms."""
    parts = [svg.line(0, 12, 1, 12, "grid")]
    for arm in figures.arms[1:]:
        other = figures.row(arm, row["scope"], row["metric"])
        if other is not None:
            title = f"{arm}: {figure(row['metric'], other['value'])}"
            parts.append(svg.stroke(other["value"], 12, 7, f"mark {arm_class(arm, figures.arms)}", title))
    parts.append(svg.line(row["ci95_low"], 12, row["ci95_high"], 12, "whisker arm-0"))
    parts.append(svg.dot(row["value"], 12, 5, "point arm-0", f"{row['arm']}: {_value(row)}"))
    label = f"{row['metric']} {_value(row)} on a scale from 0 to {figure(row['metric'], 1)}"
    return svg.plot(24, *parts, label=label, class_="scale")


def _value(row: Row) -> str:
    return f"{figure(row['metric'], row['value'])} {interval(row)}"


def title(figures: Figures, run: Run) -> str:
    """Return the main result in one sentence."""
    rows = {row["metric"]: row for row in headline(figures, run) if in_percent(row["metric"])}
    if not rows:
        return "The search scope is so small that no recall is a headline"
    row = next(iter(rows.values()))
    k, asked = row["metric"].partition("@")[2], questions_of(figures.view)
    what, first = run.choice.level, "ranks first" if k == "1" else f"is among the first {k}"
    return (
        f"A {what} with the evidence {first} for {figure(row['metric'], row['value'])}{UNIT} of the {asked}"
    )


def standfirst(metrics: Facts, figures: Figures, run: Run) -> Iterator[str]:
    """Yield sentences that explain the title: the scope, the embedder, and the best of the other systems."""
    place, corpus = run.scopes[0], run.corpus
    embedder = run.embedder.name if run.embedder else "no embedder"
    words = f", asked in the words of the rewriter {run.rewriter.name}" if run.rewriter else ""
    asked = f"{count(figures.n(run.system, place.name))} {questions_of(figures.view)}"
    yield (
        f"{corpus.title}, {asked}, each searched "
        f"{scope_words(place, corpus.segments)}, by {run.title} "
        f"with {embedder}{words}."
    )
    row = next(iter(headline(figures, run)), None)
    if row is not None:
        yield from _against_best(metrics, figures, run, row)


def _against_best(metrics: Facts, figures: Figures, run: Run, row: Row) -> Iterator[str]:
    """Yield a sentence on the best retriever or control, and one on the best other system, with
    differences.
    """
    arms = [arm for arm in figures.arms[1:] if arm not in (CEILING, RANDOM)]
    retrievers = [arm for arm in arms if arm in run.edition.arms]
    beside = [arm for arm in arms if arm not in retrievers]
    yield from _best("The best single leg, {} alone,", retrievers, metrics, figures, row)
    yield from _best("The best of what was measured beside it, {},", beside, metrics, figures, row)


def _best(words: str, arms: list[str], metrics: Facts, figures: Figures, row: Row) -> Iterator[str]:
    """Yield a sentence on the best of the arms, which says whether its difference exceeds noise."""
    others = [other for arm in arms if (other := figures.row(arm, row["scope"], row["metric"]))]
    if not others:
        return
    best = max(others, key=lambda other: other["value"])
    moved = next(
        (d for d in metrics["differences"]
         if (d["scope"], d["view"], d["baseline"], d["metric"])
         == (row["scope"], row["view"], best["arm"], row["metric"])),
        None,
    )  # fmt: skip
    if moved is None:
        return
    noise = moved["ci95_low"] <= 0 <= moved["ci95_high"]
    yield (
        f"{words.format(best['arm'])} reaches {figure(row['metric'], best['value'])}{UNIT}: "
        f"a difference of {change(row['metric'], moved['value'])} points {change_interval(moved)}, "
        f"{'which is within the noise' if noise else 'more than noise'}."
    )
