"""Figures of an answer run: the share judged right, LoCoMo's F1, refusals, agreement, cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from runner.protocol.statistics import mean_interval
from runner.records import ALL, Json
from runner.runs.canonical import METRIC_DIGITS, significant
from runner.stages.answers.judge import ADVERSARIAL, locomo_f1
from runner.stages.answers.lines import AnswerLine, Judgement
from runner.stages.answers.source_run import SourceRun

JUDGED, F1 = "judge", "F1"


@dataclass(frozen=True, slots=True)
class FigureInputs:
    """The input of the figures besides the lines: rule, project and key of each question.

    `clustered`: the questions of one project are one cluster. `keys` None: no F1.
    """

    suite: str
    clustered: bool
    rules: Mapping[str, str]
    projects: Mapping[str, str]
    keys: Mapping[str, str] | None = None

    @classmethod
    def of(cls, source: SourceRun) -> FigureInputs:
        """Return the inputs for a run and its corpus."""
        return cls(
            source.results.run.choice.suite,
            source.corpus.clustered,
            {name: key.rule for name, key in source.keys.items()},
            {name: question.project for name, question in source.questions.items()},
            {name: key.answer for name, key in source.keys.items()},
        )


def figures(
    basis: FigureInputs,
    answers: Mapping[str, AnswerLine],
    verdicts: Mapping[str, Judgement],
    wrong: Collection[str],
) -> list[Json]:
    """Return the figures of an answer run: rows of {metric, type, key, value, ci95_low, ci95_high, n}.

    Every answer counts, even a failed one. `type` is a rule, or `all`; for LoCoMo also `categories 1-4`.
    `key` is `as published`, or `without known errors` if the questions of `wrong` are left out.
    """
    scores: dict[str, Callable[[str], float]] = {JUDGED: lambda name: float(verdicts[name].right)}
    if basis.suite == "locomo" and basis.keys is not None:
        told = basis.keys
        scores[F1] = lambda name: _f1(basis.rules[name], told[name], answers[name])
    keys: dict[str, Collection[str]] = {"as published": ()} | (
        {"without known errors": wrong} if wrong else {}
    )
    rows = []
    for key, left_out in keys.items():
        asked = [name for name in answers if name not in left_out]
        for kind, names in _groups(basis.rules, asked):
            for metric, score in scores.items():
                rows.append(_row(metric, kind, key, names, score, basis))
    return rows


def _f1(rule: str, key: str, said: AnswerLine) -> float:
    return locomo_f1(rule, said.answer, key) if not (said.failed or said.refused) else 0.0


def _groups(rules: Mapping[str, str], names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield groups of questions: all, LoCoMo's categories 1 to 4 if there are others, then each rule."""
    yield ALL, list(names)
    if ADVERSARIAL in {rules[name] for name in names}:
        yield "categories 1-4", [name for name in names if rules[name] != ADVERSARIAL]
    for rule in dict.fromkeys(rules[name] for name in names):
        yield rule, [name for name in names if rules[name] == rule]


def _row(
    metric: str, kind: str, key: str, names: Sequence[str], score: Callable[[str], float], basis: FigureInputs
) -> Json:
    values = np.array([[score(name)] for name in names], dtype=np.float64).reshape(-1, 1)
    row: Json = {"metric": metric, "type": kind, "key": key}
    if not names:
        return row | {"value": None, "ci95_low": None, "ci95_high": None, "n": 0}
    projects = [basis.projects[name] for name in names] if basis.clustered else None
    interval = mean_interval(values, projects)
    ends = {"value": values.mean(), "ci95_low": interval.low[0], "ci95_high": interval.high[0]}
    rounded = {
        name: significant(float(end), METRIC_DIGITS, f"{metric} of {kind}") for name, end in ends.items()
    }
    return row | rounded | {"n": len(names)}


def answer_counts(
    said: Mapping[str, AnswerLine], verdicts: Mapping[str, Judgement], again: Sequence[Judgement]
) -> dict[str, Any]:
    """Return questions, refusals, failures, verdicts in prose, and the judge's agreement with itself."""
    return {
        "questions": len(said),
        "refusals": sum(bool(one.refused) for one in said.values()),
        "reader_failures": sum(bool(one.failed) for one in said.values()),
        "judge_failures": sum(bool(one.failed) for one in verdicts.values()),
        "prose": sum(not one.plain and not one.failed for one in verdicts.values()),
        "agreement": judge_agreement(verdicts, again),
    }


def judge_agreement(verdicts: Mapping[str, Judgement], again: Sequence[Judgement]) -> Json:
    """Return the number of answers judged twice, the share of equal verdicts, and their Cohen's kappa."""
    pairs = [
        (verdicts[one.question].right, one.right)
        for one in again
        if not (one.failed or verdicts[one.question].failed)
    ]
    if not pairs:
        return {"n": 0, "same": None, "kappa": None}
    first, second = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    same = sum(one == other for one, other in pairs) / len(pairs)
    chance = first * second + (1 - first) * (1 - second)
    kappa = None if chance == 1 else round((same - chance) / (1 - chance), 4)
    return {"n": len(pairs), "same": round(same, 4), "kappa": kappa}


def token_usage(
    lines: Sequence[AnswerLine | Judgement], model: str, prices: Mapping[str, tuple[float, float]]
) -> Json:
    """Return the model, the tokens that it read and wrote, and their cost; None for an unknown price."""
    read, written = sum(one.prompt_tokens for one in lines), sum(one.completion_tokens for one in lines)
    price = prices.get(model)
    cost = None if price is None else round((read * price[0] + written * price[1]) / 1e6, 6)
    return {"model": model, "prompt_tokens": read, "completion_tokens": written, "cost": cost}
