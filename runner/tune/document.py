"""All that a tuning found, as JSON: every table is made from it alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from runner.editions import current
from runner.metrics import DIFFERENCES, interval_methods
from runner.records import Json
from runner.runs.canonical import significant
from runner.statistics import Interval, mean_interval
from runner.tune.ablation import ablations
from runner.tune.ascent import Rows
from runner.tune.folds import Outcome
from runner.tune.layout import Floats
from runner.tune.scoring import Judge
from runner.tune.tasks import FIGURES
from runner.tune.weights import GRID, Weights

SCHEMA = "pgmnemo/tuning/2"
DIGITS = 8
DEFAULT, IN_SAMPLE = "default", "in-sample"
WHOLE, RUN = "whole scope", "as a run recalls"
OTHERS = "the other types of question"


def tasks(judges: Sequence[Judge]) -> list[Json]:
    """Each corpus with its hash and counts, and what its intervals are called."""
    return [
        {
            "task": judge.task.name,
            "file": current().known_files.get(judge.task.corpus.sha256, "no registered file"),
            "corpus_sha256": judge.task.corpus.sha256,
            "view": judge.task.view.name,
            "questions": int(judge.task.counted.sum()),
            "other questions": int((~judge.task.counted).sum()),
            "lessons": len(judge.task.corpus.segments),
            "clusters": len(judge.layout.projects) if judge.task.corpus.clustered else None,
            "intervals": interval_methods(judge.task.corpus.clustered, current().metrics.code),
            "aims": [FIGURES[place] for place in judge.task.aims],
        }
        for judge in judges
    ]


def figures(
    judges: Sequence[Judge], default: Weights, optima: Mapping[str, Weights], outcomes: Iterable[Outcome]
) -> Iterator[Json]:
    """Values with intervals: of the default, of an ascent over everything, of what was held out."""
    for judge in judges:
        yield _valued(judge, DEFAULT, IN_SAMPLE, WHOLE, judge.figures(default))
        pool = judge.figures_of(judge.values["pool"])
        yield _valued(judge, DEFAULT, IN_SAMPLE, RUN, pool)
        if not judge.task.counted.all():
            others = ~judge.task.counted
            for depth, values in ((WHOLE, judge.figures(default)), (RUN, pool)):
                yield _valued(judge, f"{DEFAULT}, {OTHERS}", IN_SAMPLE, depth, values, others)
        for start, weights in optima.items():
            yield _valued(judge, f"optimum from {start}", IN_SAMPLE, WHOLE, judge.figures(weights))
    for outcome in outcomes:
        for judge in judges:
            if judge.task.name in outcome.figures:
                values = outcome.figures[judge.task.name]
                yield _valued(judge, f"chosen from {outcome.start}", outcome.protocol, WHOLE, values)


def types(judges: Sequence[Judge], default: Weights) -> Iterator[Json]:
    """The default's values by type of question."""
    for judge in judges:
        kinds = np.array([question.type for _, question in judge.task.questions])
        values = judge.figures(default)
        for kind in sorted(set(kinds.tolist())):
            chosen = kinds == kind
            inside = judge.task.clusters(chosen)
            yield {
                "task": judge.task.name, "type": kind, "n": int(chosen.sum()),
                **_intervals(mean_interval(values[chosen], inside)),
            }  # fmt: skip


def chosen(optima: Mapping[str, Weights], outcomes: Iterable[Outcome]) -> Iterator[Json]:
    """The weights of every ascent."""
    for start, weights in optima.items():
        yield {"protocol": IN_SAMPLE, "start": start, "held out": "", "weights": tuned(weights)}
    for outcome in outcomes:
        for fold, weights in outcome.weights.items():
            yield {
                "protocol": outcome.protocol, "start": outcome.start, "held out": fold,
                "weights": tuned(weights),
            }  # fmt: skip


def slopes(judges: Sequence[Judge], default: Weights) -> Iterator[Json]:
    """The default with one weight moved along its grid, in-sample: how flat it lies."""
    for judge in judges:
        for name, values in GRID.items():
            for value in values:
                means = judge.figures({**default, name: value})[judge.task.counted].mean(axis=0)
                yield {
                    "task": judge.task.name, "weight": name, "value": value,
                    "default": value == default[name],
                    **{figure: _number(mean) for figure, mean in zip(FIGURES, means, strict=True)},
                }  # fmt: skip


def ablation(judges: Sequence[Judge], default: Weights) -> Iterator[Json]:
    """Paired differences to the default with their intervals."""
    method = DIFFERENCES[current().metrics.code]
    for judge in judges:
        for name, differences in ablations(judge, default):
            counted = judge.task.counted
            interval = method.interval(differences[counted], judge.task.clusters(counted))
            yield {"task": judge.task.name, "off": name, "n": int(counted.sum()), **_intervals(interval)}


def tuned(weights: Weights) -> dict[str, float]:
    """Those of the grid alone."""
    return {name: weights[name] for name in GRID}


def _valued(
    judge: Judge, weights: str, sample: str, depth: str, values: Floats, rows: Rows | None = None
) -> Json:
    chosen = judge.task.counted if rows is None else rows
    interval = mean_interval(values[chosen], judge.task.clusters(chosen))
    return {
        "task": judge.task.name, "weights": weights, "sample": sample, "depth": depth, "n": int(chosen.sum()),
        **_intervals(interval),
    }  # fmt: skip


def _intervals(interval: Interval) -> Json:
    """Value and the ends of the 95 % interval, by figure."""
    ends = zip(FIGURES, interval.value, interval.low, interval.high, strict=True)
    return {name: [_number(one) for one in numbers] for name, *numbers in ends}


def _number(value: float) -> float:
    return significant(float(value), DIGITS)
