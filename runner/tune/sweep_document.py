"""What a sweep found, as JSON and as Markdown: a table of every point, one confirmation, and the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from runner.editions import current
from runner.markdown import table
from runner.metrics import DIFFERENCES, interval_methods
from runner.records import Json
from runner.runs.canonical import significant
from runner.statistics import Interval, mean_interval
from runner.systems.fusing import Floats
from runner.tune.collected_legs import Legs
from runner.tune.sweep_folds import Fold, Rows
from runner.tune.sweep_request import SweepRequest
from runner.tune.tasks import FIGURES, Task

SCHEMA = "pgmnemo/sweep/1"
DOCUMENT, MARKDOWN = "sweep.json", "SWEEP.md"
ABSTENTION = "_abs"  # in the key of a LongMemEval question whose haystack does not hold its answer
THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(21))
DIGITS = 8
NO_RESULT = (
    "This is a sweep and no result: its best point is the best of many looks at the same questions, and the "
    "more of them, the better it seems. No figure here may be cited, HISTORY.md and the leaderboard take "
    "none, and what may be said of the choice is the confirmation alone."
)


def document(
    request: SweepRequest, task: Task, legs: Legs, names: Sequence[str], figures: Sequence[Floats],
    folds: Sequence[Fold],
) -> Json:  # fmt: skip
    """All that was found; `figures` of each point, (questions, figures)."""
    shown = _shown(task, folds)
    aims = [list(names).index(name) for name in names if name in task_aims(task)]
    return {
        "schema": SCHEMA,
        "no result": NO_RESULT,
        "suite": request.suite, "granularity": request.level, "corpus_sha256": task.corpus.sha256,
        "strategy": request.strategy, "k": request.k, "embedder": request.make_embedder().identity.model,
        "protocol": current().version, "facts": dict(legs.facts),
        "axes": {name: list(values) for name, values in request.axes.items()},
        "command": _command(request),
        "figures": list(names), "n": int(shown.sum()),
        "shown": "all questions, in-sample" if len(folds) > 1 else "the half that is tuned on",
        "intervals": interval_methods(task.corpus.clustered, current().metrics.code)["value"],
        "points": [
            {"point": dict(point.given),
             **_intervals(names, mean_interval(found[shown], task.clusters(shown))),
             "types": list(_types(task, names, found, shown))}
            for point, found in zip(request.points, figures, strict=True)
        ],
        "confirmation": _confirmed(request, task, names, aims, figures, folds),
        "gate": _gate(task, legs, folds),
        "anchored": [task.questions[row][1].key for row in legs.anchored],
    }  # fmt: skip


def task_aims(task: Task) -> tuple[str, ...]:
    """The figures whose sum a choice makes as large as it can."""
    return tuple(FIGURES[place] for place in task.aims)


def _shown(task: Task, folds: Sequence[Fold]) -> Rows:
    """The questions of the table: those that may be looked at."""
    return folds[0].tuned if len(folds) == 1 else task.counted


def _types(task: Task, names: Sequence[str], found: Floats, shown: Rows) -> Iterator[Json]:
    kinds = np.array([question.type for _, question in task.questions])
    for kind in sorted(set(kinds[shown].tolist())):
        rows = shown & (kinds == kind)
        means = found[rows].mean(axis=0)
        yield {"type": kind, "n": int(rows.sum()), **dict(zip(names, map(_number, means), strict=True))}


def _confirmed(
    request: SweepRequest, task: Task, names: Sequence[str], aims: Sequence[int], figures: Sequence[Floats],
    folds: Sequence[Fold],
) -> Json:  # fmt: skip
    """The point that each fold's other questions choose, judged by its own; and minus the first point."""
    held = np.full(figures[0].shape, np.nan)
    chosen = {}
    for fold in folds:
        best = int(np.argmax([found[fold.tuned][:, list(aims)].mean(axis=0).sum() for found in figures]))
        held[fold.held] = figures[best][fold.held]
        chosen[fold.name] = dict(request.points[best].given)
    rows = ~np.isnan(held[:, 0])
    method = DIFFERENCES[current().metrics.code]
    apart = method.interval((held - figures[0])[rows], task.clusters(rows))
    return {
        "held out": "one conversation at a time" if len(folds) > 1 else "the other half, once",
        "chosen": chosen, "n": int(rows.sum()), "first point": dict(request.points[0].given),
        "values": _intervals(names, mean_interval(held[rows], task.clusters(rows))),
        "minus the first point": _intervals(names, apart),
    }  # fmt: skip


def _gate(task: Task, legs: Legs, folds: Sequence[Fold]) -> Json:
    """At which cosine of the nearest lesson to return nothing, and what that costs."""
    absent = np.array([ABSTENTION in question.key for _, question in task.questions])
    wanted = task.counted & ~absent
    scores = {"abstention": legs.near[task.counted & absent], "elsewhere": legs.elsewhere[wanted]}
    negatives = {name: values for name, values in scores.items() if len(values)}
    shown = _shown(task, folds)
    rows = [
        {
            "threshold": threshold,
            "false negatives": _number(float((legs.near[wanted & shown] < threshold).mean())),
            **{f"false positives, {name}": _number(float((values >= threshold).mean()))
               for name, values in negatives.items()},
        }
        for threshold in THRESHOLDS
    ]  # fmt: skip
    misses, alarms = np.zeros(len(wanted)), np.zeros(len(wanted))
    for fold in folds:
        tuned, held = wanted & fold.tuned, wanted & fold.held
        cost = [(legs.near[tuned] < t).mean() + (legs.elsewhere[tuned] >= t).mean() for t in THRESHOLDS]
        threshold = THRESHOLDS[int(np.argmin(cost))]
        misses[held], alarms[held] = legs.near[held] < threshold, legs.elsewhere[held] >= threshold
    judged = np.logical_or.reduce([fold.held for fold in folds]) & wanted
    pair = np.column_stack([misses, alarms])[judged]
    return {
        "score": "exact cosine of the question with the nearest lesson of the scope, 0 to 1",
        "counts": {"wanted": int((wanted & shown).sum()), **{name: len(v) for name, v in negatives.items()}},
        "rows": rows,
        "confirmation": {
            "n": int(judged.sum()),
            **_intervals(("false negatives", "false positives, elsewhere"),
                         mean_interval(pair, task.clusters(judged))),
        },
    }  # fmt: skip


def _intervals(names: Sequence[str], interval: Interval) -> Json:
    """Value and the ends of the 95 % interval, by figure."""
    ends = zip(names, interval.value, interval.low, interval.high, strict=True)
    return {name: [_number(one) for one in numbers] for name, *numbers in ends}


def _number(value: float) -> float:
    return significant(float(value), DIGITS)


def _command(request: SweepRequest) -> str:
    words = ["python -m runner tune sweep", f"--suite {request.suite}", f"--granularity {request.level}"]
    words += [f"--strategy {request.strategy}", *(f"--grid {one}" for one in request.grid)]
    return " ".join([*words, f"--k {request.k}", f"--embedder {request.embedder}"])


def markdown(made: Json) -> str:
    """The document as people read it."""
    names = made["figures"]
    heads = (*made["axes"], *names)
    rows = [(*one["point"].values(), *(_cell(name, one[name]) for name in names)) for one in made["points"]]
    parts = [
        f"# A sweep of {made['strategy']} on {made['suite']}, by {made['granularity']}",
        made["no result"],
        f"```bash\n{made['command']}\n```",
        f"Recalls in percent, MRR from 0 to 1, with 95 % intervals ({made['intervals']}); n = {made['n']:,}, "
        f"{made['shown']}; {made['embedder']}.",
        table(heads, rows, "l" * len(made["axes"]) + "r" * len(names)),
        *_by_type(made), *_confirmation(made), *_gated(made["gate"]), *_anchored(made),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _by_type(made: Json) -> Iterator[str]:
    kinds = [(one["type"], one["n"]) for one in made["points"][0]["types"]]
    if len(kinds) < 2:
        return
    yield "## By type of question: recall_any@1 / MRR@50"
    heads = (*made["axes"], *(f"{kind} (n {n:,})" for kind, n in kinds))
    rows = [
        (
            *one["point"].values(),
            *(f"{100 * t['recall_any@1']:.1f} / {t['MRR@50']:.3f}" for t in one["types"]),
        )
        for one in made["points"]
    ]  # fmt: skip
    yield table(heads, rows, "l" * len(made["axes"]) + "r" * len(kinds))


def _confirmation(made: Json) -> Iterator[str]:
    found = made["confirmation"]
    yield f"## Confirmation: {found['held out']}"
    words = ", ".join(f"{name} {value}" for name, value in found["first point"].items())
    yield (
        "Each choice was made by the sum of the suite's aims on the questions that are not held out, and "
        f"judged by those that are (n = {found['n']:,}). Differences are paired, to the first point "
        f"({words})."
    )
    names, first = made["figures"], "minus the first point"
    rows = [
        ("chosen", *(_cell(name, found["values"][name]) for name in names)),
        (first, *(_cell(name, found[first][name], signed=True) for name in names)),
    ]
    yield table(("", *names), rows, "l" + "r" * len(names))
    chosen = [
        f"{fold}: " + ", ".join(f"{n} {v}" for n, v in given.items())
        for fold, given in found["chosen"].items()
    ]
    yield "Chosen, by what was held out: " + "; ".join(chosen) + "."


def _gated(gate: Json) -> Iterator[str]:
    counts = gate["counts"]
    yield "## Where to return nothing"
    yield (
        f"The score is the {gate['score']}; below the threshold nothing is returned. A false negative is a "
        f"question with evidence here (n = {counts['wanted']:,}) that gets nothing. A false positive is one "
        "that gets something although nothing here answers it: *elsewhere* is the same question asked in the "
        "next scope of the corpus, which holds another user's sessions; *abstention* is an item whose "
        "haystack was made not to hold the answer, though it holds its subject. LoCoMo's adversarial "
        "questions cite evidence and count as questions with it: they are no negatives."
    )
    heads = list(gate["rows"][0])
    yield table(heads, [
        (f"{row['threshold']:.2f}", *(f"{100 * row[head]:.1f}" for head in heads[1:])) for row in gate["rows"]
    ], "r" * len(heads))  # fmt: skip
    held = gate["confirmation"]
    yield (
        "The threshold with the least sum of both rates (*elsewhere*), chosen without the questions that "
        f"judge it, n = {held['n']:,}: false negatives {_cell('recall_', held['false negatives'])}, false "
        f"positives {_cell('recall_', held['false positives, elsewhere'])}."
    )


def _anchored(made: Json) -> Iterator[str]:
    if made["anchored"]:
        yield f"## Questions in which the anchor read a time: {len(made['anchored']):,}"
        yield ", ".join(made["anchored"])


def _cell(name: str, numbers: Sequence[float], signed: bool = False) -> str:
    """A value with its interval."""
    scale, digits = (100, 1) if name.startswith("recall_") else (1, 3)
    sign = "+" if signed else ""
    value, low, high = (f"{scale * one:{sign}.{digits}f}".replace("-", "\N{MINUS SIGN}") for one in numbers)
    return f"{value} [{low}, {high}]"
