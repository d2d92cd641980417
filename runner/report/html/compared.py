"""The section on a comparison, from the document that `compare --json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.naming import Name
from runner.records import ALL
from runner.report.formats import count, figure, is_recall, shorten
from runner.report.html.panels import Panel, difference_axis, signed_interval
from runner.report.html.plots.intervals import Row, intervals
from runner.runs.choice import OURS

Document = Mapping[str, Any]
WORD_CLASS = {"improved": "better", "regressed": "worse", "equivalent": "same", "inconclusive": "open"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word for a comparison and what it rests on."""

    word: str
    class_: str
    baseline: str
    candidate: str
    despite: tuple[str, ...]
    reasons: tuple[str, ...]
    changes: tuple[tuple[str, str, str], ...]


def verdict(document: Document) -> Verdict:
    """The first screen's part of a comparison."""
    return Verdict(
        word=document["verdict"],
        class_=WORD_CLASS.get(document["verdict"], "open"),
        baseline=_side(document["baseline"]),
        candidate=_side(document["candidate"]),
        despite=tuple(f"{one['condition']} ({one['words']})" for one in document["despite"]),
        reasons=tuple(document["reasons"]),
        changes=tuple(
            (one["what"], shorten(one["baseline"]), shorten(one["candidate"])) for one in document["changes"]
        ),
    )


def _side(side: Document) -> str:
    ours = "pgmnemo " if Name.of(side["arm"]).system == OURS else ""  # another system names itself
    return f"{ours}{side['pgmnemo_version']}, {side['embedder']} ({side['name']}: {side['verdict']})"


def forest(document: Document, headline: Sequence[str], scope: str) -> list[Panel]:
    """Candidate minus baseline in each headline metric: all questions, each type, each other view."""
    members = {(one["scope"], one["metric"]): one for one in document["family"]["members"]}
    panels = []
    for metric in headline:
        rows = [row for row in document["rows"] if (row["scope"], row["metric"]) == (scope, metric)]
        listed = [_row(row) for row in rows if ALL in (row["view"], row["type"])]
        if not listed:
            continue
        member = members.get((scope, metric))
        label = f"differences in {metric}: " + "; ".join(f"{r.label}: {r.words}" for r in listed)
        plot = intervals(listed, difference_axis(listed, _scale(metric), member and member["band"]), label)
        view = document["family"].get("view", ALL)
        whole = next(row for row in rows if (row["view"], row["type"]) == (view, ALL))
        panels.append(Panel(metric, _words(whole, member), plot))
    return panels


def _scale(metric: str) -> float:
    return 100 if is_recall(metric) else 1


def _row(row: Document) -> Row:
    name = (
        "all questions"
        if (row["view"], row["type"]) == (ALL, ALL)
        else (row["type"] if row["view"] == ALL else row["view"])
    )
    clear = "better" if row["ci95_low"] > 0 else "worse" if row["ci95_high"] < 0 else "open"
    figures = {**row, "value": row["difference"]}
    label = f"{name} · {count(row['n'])}"
    return Row(label, signed_interval(row["metric"], figures), row["difference"], row["ci95_low"],
               row["ci95_high"], clear)  # fmt: skip


def _words(whole: Document, member: Document | None) -> str:
    """Both values, the questions won and lost, and what was decided on the metric."""
    metric = whole["metric"]
    told = (
        f"{figure(metric, whole['baseline'])} → {figure(metric, whole['candidate'])}; "
        f"{count(whole['won'])} questions won, {count(whole['lost'])} lost"
    )
    if member is None:
        return f"{told}; no member of the tested family"
    band = figure(metric, member["band"])
    return f"{told}; {member['finding']} (Holm p {_p(member['p_holm'])}, band ± {band})"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"
