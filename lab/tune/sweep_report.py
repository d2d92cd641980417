"""The result of a sweep as JSON, Markdown and plot: every point, one confirmation, and the gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from lab.tune.folds import Fold
from lab.tune.request import SweepOptions
from lab.tune.tasks import FIGURES, HEADLINE, Floats, Rows, Task, number, told
from pgmnemo.embedders import Embedder
from pgmnemo.progress import Progress
from runner.markdown import align_tables
from runner.protocol.editions import current
from runner.protocol.metrics import DIFFERENCES, interval_methods
from runner.protocol.statistics import mean_interval
from runner.records import Json
from runner.report.render import template

SCHEMA = "pgmnemo/sweep/1"
DOCUMENT, MARKDOWN, PLOT = "sweep.json", "SWEEP.md", "sweep.svg"
TEMPLATE = Path(__file__).with_name("sweep.md.j2")
SHOWN = ("recall_any@1", *FIGURES)
AIMED = slice(1, None)  # the figures of SHOWN that a task may aim at
ABSTENTION = "_abs"  # marks the key of a LongMemEval question without an answer in its haystack
THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(21))
RATES = ("false negatives", "false positives, elsewhere")
LINES = 8  # maximum lines of the plot
TITLE = "A sweep, no result: "
NO_RESULT = (
    "This is a sweep and no result: its best point is the best of many looks at the same questions, and the "
    "more of them, the better it seems. No figure here may be cited, HISTORY.md and the leaderboard take "
    "none, and what may be said of the choice is the confirmation alone."
)


@dataclass(frozen=True, slots=True)
class Legs:
    """The answers of both legs of a strategy to every question.

    Arrays (questions, columns): the scores of each leg, -inf if it found nothing; recency and fit, 0-1.
    `near` and `elsewhere` (questions): the best exact cosine in the question's own scope and in another
    scope, which has no answer to it. `facts`: the base system's facts about itself.
    """

    vector: Floats
    keyword: Floats
    recency: Floats
    fit: Floats
    near: Floats
    elsewhere: Floats
    facts: Mapping[str, str]


def document(
    request: SweepOptions, embedder: Embedder, task: Task, legs: Legs, figures: Sequence[Floats],
    folds: Sequence[Fold],
) -> Json:  # fmt: skip
    """Return the document of the result; `figures` has an array (questions, SHOWN) for each point.

    If only one half is tuned on, the table covers only that half.
    """
    shown = folds[0].trained[task.name] if len(folds) == 1 else task.counted
    words = ["python -m lab tune sweep", f"--suite {request.suite}", f"--granularity {request.level}"]
    words += [f"--strategy {request.strategy}", *(f"--grid {one}" for one in request.grid)]
    words += [f"--k {request.k}", f"--embedder {request.embedder}"]
    return {
        "schema": SCHEMA,
        "no result": NO_RESULT,
        "suite": request.suite, "granularity": request.level, "corpus_sha256": task.corpus.sha256,
        "strategy": request.strategy, "k": request.k, "embedder": embedder.identity.model,
        "protocol": current().version, "facts": dict(legs.facts),
        "axes": {name: list(values) for name, values in request.axes.items()},
        "command": " ".join(words),
        "figures": list(SHOWN), "n": int(shown.sum()),
        "shown": "all questions, in-sample" if len(folds) > 1 else "the half that is tuned on",
        "intervals": interval_methods(task.corpus.clustered, current().metrics.code)["value"],
        "points": [
            {"point": dict(point.given), **told(SHOWN, mean_interval(found[shown], task.clusters(shown))),
             "types": list(_types(task, found, shown))}
            for point, found in zip(request.points, figures, strict=True)
        ],
        "confirmation": _confirmed(request, task, figures, folds),
        "gate": _gate(task, legs, folds, shown),
        "anchored": [task.questions[row][1].key for row in np.flatnonzero(legs.fit.max(axis=1, initial=0))],
    }  # fmt: skip


def _types(task: Task, found: Floats, shown: Rows) -> Iterator[Json]:
    for kind in sorted(set(task.types[shown].tolist())):
        rows = shown & (task.types == kind)
        means = map(number, found[rows].mean(axis=0))
        yield {"type": kind, "n": int(rows.sum()), **dict(zip(SHOWN, means, strict=True))}


def _confirmed(request: SweepOptions, task: Task, figures: Sequence[Floats], folds: Sequence[Fold]) -> Json:
    """Return the figures of the points that each fold's training questions choose, on its held-out questions.

    Also returns their difference to the first point.
    """
    held, chosen = np.full(figures[0].shape, np.nan), {}
    for fold in folds:
        trained, judged = fold.trained[task.name], fold.held[task.name]
        aims = [found[trained][:, AIMED][:, task.aims].mean(axis=0).sum() for found in figures]
        best = int(np.argmax(aims))
        held[judged] = figures[best][judged]
        chosen[fold.name] = dict(request.points[best].given)
    rows = task.counted & ~np.isnan(held[:, 0])
    apart = DIFFERENCES[current().metrics.code].interval((held - figures[0])[rows], task.clusters(rows))
    return {
        "held out": "one conversation at a time" if len(folds) > 1 else "the other half, once",
        "chosen": chosen, "n": int(rows.sum()), "first point": dict(request.points[0].given),
        "values": told(SHOWN, mean_interval(held[rows], task.clusters(rows))),
        "minus the first point": told(SHOWN, apart),
    }  # fmt: skip


def _gate(task: Task, legs: Legs, folds: Sequence[Fold], shown: Rows) -> Json:
    """Return the errors of a gate that returns nothing below a cosine threshold, for each threshold."""
    absent = np.array([ABSTENTION in question.key for _, question in task.questions])
    wanted = task.counted & ~absent
    scores = {"abstention": legs.near[task.counted & absent], "elsewhere": legs.elsewhere[wanted]}
    negatives = {name: values for name, values in scores.items() if len(values)}
    rates = np.full((len(wanted), 2), np.nan)
    for fold in folds:
        tuned, held = wanted & fold.trained[task.name], wanted & fold.held[task.name]
        cost = [(legs.near[tuned] < t).mean() + (legs.elsewhere[tuned] >= t).mean() for t in THRESHOLDS]
        threshold = THRESHOLDS[int(np.argmin(cost))]
        rates[held] = np.column_stack([legs.near[held] < threshold, legs.elsewhere[held] >= threshold])
    judged = ~np.isnan(rates[:, 0])
    return {
        "score": "exact cosine of the question with the nearest lesson of the scope, 0 to 1",
        "counts": {"wanted": int((wanted & shown).sum()), **{name: len(v) for name, v in negatives.items()}},
        "rows": [
            {
                "threshold": threshold,
                "false negatives": number((legs.near[wanted & shown] < threshold).mean()),
                **{f"false positives, {name}": number((values >= threshold).mean())
                   for name, values in negatives.items()},
            }
            for threshold in THRESHOLDS
        ],
        "confirmation": {
            "n": int(judged.sum()), **told(RATES, mean_interval(rates[judged], task.clusters(judged))),
        },
    }  # fmt: skip


def markdown(made: Json) -> str:
    """Render the JSON document of a sweep as Markdown."""
    return align_tables(template(TEMPLATE).render(made=made, cell=_cell, rates=RATES))


def _cell(name: str, numbers: Sequence[float], sign: str = "") -> str:
    """Return a value with its interval: rates in per cent, MRR as a fraction."""
    scale, digits = (1, 3) if name.startswith("MRR") else (100, 1)
    value, low, high = (f"{scale * one:{sign}.{digits}f}".replace("-", "\N{MINUS SIGN}") for one in numbers)
    return f"{value} [{low}, {high}]"


def plot(made: Json, folder: Path, progress: Progress) -> tuple[Path, ...]:
    """Draw each headline figure over the axis with the most values, with a line for each other choice.

    Returns the files; empty, with a message, if matplotlib is missing.
    """
    if find_spec("matplotlib") is None:
        progress.say("no plot: matplotlib is missing; pip install -c constraints.txt -e 'runner[perf]'")
        return ()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    axis = max(made["axes"], key=lambda name: len(made["axes"][name]))
    values = made["axes"][axis]
    lines: dict[str, list[Json]] = {}
    for one in made["points"]:
        others = ", ".join(f"{name} {value}" for name, value in one["point"].items() if name != axis)
        lines.setdefault(others, []).append(one)
    with rc_context({"svg.hashsalt": "pgmnemo", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(11, 3.4), layout="tight")
        panels = figure.subplots(1, len(HEADLINE))
        for panel, name in zip(panels, HEADLINE, strict=True):
            for label, members in list(lines.items())[:LINES]:
                middle, low, high = zip(*(one[name] for one in members), strict=True)
                [drawn] = panel.plot(range(len(members)), middle, marker="o", label=label or None)
                panel.fill_between(
                    range(len(members)), low, high, alpha=0.12, color=drawn.get_color(), linewidth=0
                )
            panel.set_xticks(range(len(values)), values, rotation=45 if len(values) > 8 else 0)
            panel.set(xlabel=axis, title=name)
        if len(lines) > 1:
            panels[0].legend(fontsize=7)
        figure.suptitle(f"{TITLE}{made['strategy']}, {made['suite']}, n = {made['n']:,}")
        figure.savefig(folder / PLOT, metadata={"Date": None})
    return (folder / PLOT,)
