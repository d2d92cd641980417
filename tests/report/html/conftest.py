"""Runs to render: a committed one, and one of 2,000 questions whose names are as awkward as names can be."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from runner.protocol.metrics.document import metrics_of
from runner.records import Json, RankedSegment, Retrieval, SearchScope
from runner.report.html import render_page
from runner.report.html.plots import CEILING
from runner.runs.results import Results
from runner.runs.run import Arm, Run
from runner.runs.timings import Latency
from tests.helping import kept_run

AWKWARD = "</script><script>alert('1')</script>\"&amp; 🧭 ünï\u2028"
COMPONENTS = {
    "cosine": "active", "bm25": "active", "passage_terms": "active", "passage_cosine": "active",
    "pair_cosine": "active", "temporal": "active", "context": "active", "recency": "active",
    "importance": "inactive: every importance is the same", "graph": "inactive: the corpus has no edges",
}  # fmt: skip
ROLES = {"pgmnemo": "system", "bm25": "leg", "random": "control"}
ARMS = tuple(ROLES)


@dataclass(frozen=True)
class Shown:
    """What a page is rendered from."""

    metrics: Json
    run: Run
    rows: list[Retrieval]
    timings: list[tuple[str, str, float]]

    def page(self, **more: Any) -> str:
        return render_page(self.metrics, self.run, self.rows, self.timings, **more)


def read(folder: Path) -> Shown:
    left = Results(folder)
    timings = [(one.arm, one.scope, one.seconds) for one in left.timings]
    return Shown(left.metrics, left.run, list(left.detailed()), timings)


@pytest.fixture(scope="session")
def sample_folder() -> Path:
    return kept_run("sample", "0.2.1")


@pytest.fixture(scope="session")
def sample(sample_folder: Path) -> Shown:
    return read(sample_folder)


@pytest.fixture(scope="session")
def locomo() -> Shown:
    """The run of LoCoMo, without the systems that were measured beside it."""
    run = read(kept_run("locomo"))
    arms = tuple(arm for arm in run.run.arms if arm.role != "system" or arm.name == run.run.system)
    names = {CEILING, *(arm.name for arm in arms)}
    own = {part: [row for row in run.metrics[part] if {row["arm"], row.get("baseline", CEILING)} <= names]
           for part in ("results", "differences", "readings")}  # fmt: skip
    return Shown(
        {**run.metrics, **own}, replace(run.run, arms=arms), [row for row in run.rows if row.arm in names],
        [timing for timing in run.timings if timing[0] in names],
    )  # fmt: skip


@pytest.fixture(scope="session")
def large(sample: Shown) -> Shown:
    """2,000 questions, two scopes, an engine of ten components, names with quotes, markup and emoji."""
    return make(sample, 2000)


def make(sample: Shown, questions: int) -> Shown:
    chance = random.Random(42)
    weights = {f"pgmnemo.{name}_weight": "1" for name in COMPONENTS}
    run = replace(
        sample.run, components=COMPONENTS,
        guc_state={**sample.run.guc_state, **weights, "pgmnemo.passage_cosine_weight": "18"},
        arms=tuple(Arm(arm, f"the arm {arm} & <more>", ROLES[arm]) for arm in ARMS),
        scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
        deviations=(f"named {AWKWARD}",), latency=(Latency("pgmnemo", "pool", 10, 200, 2.0, 5.0),),
    )  # fmt: skip
    rows = list(_rows(chance, questions))
    timings = [("pgmnemo", "pool", chance.lognormvariate(-6, 0.4)) for _ in range(200)]
    return Shown(metrics_of(run, rows), run, rows, timings)


def _rows(chance: random.Random, questions: int) -> Iterator[Retrieval]:
    projects = {f"p{number}": [f"p{number}/D{i} {AWKWARD}" for i in range(27)] for number in range(10)}
    pool = [one for ids in projects.values() for one in ids]
    kinds = ["multi-hop", "temporal", f"odd {AWKWARD}"]
    listed = [(f"q{i} {AWKWARD}", kinds[i % 3], f"p{i % 10}") for i in range(questions)]
    golds = {key: tuple(sorted(chance.sample(projects[project], 1 + i % 3)))
             for i, (key, _, project) in enumerate(listed)}  # fmt: skip
    for arm in ARMS:
        for scope, ids in (("conversation", None), ("pool", pool)):
            for key, kind, project in listed:
                own = ids or projects[project]
                ranking = _ranking(chance, own, golds[key], arm == "pgmnemo")
                yield Retrieval(key, kind, arm, scope, project, len(own), golds[key], ranking)


def _ranking(
    chance: random.Random, ids: list[str], gold: tuple[str, ...], detailed: bool
) -> tuple[RankedSegment, ...]:
    order = sorted(ids, key=lambda one: chance.random() - 0.7 * (one in gold))[:50]
    if not detailed:
        return tuple(map(RankedSegment, order))
    scores = sorted((round(40 * chance.random(), 3) for _ in order), reverse=True)
    hits = [RankedSegment(one, score) for one, score in zip(order, scores, strict=True)]
    return tuple(replace(hit, components=_parts(chance)) if at < 10 else hit for at, hit in enumerate(hits))


def _parts(chance: random.Random) -> tuple[float | None, ...]:
    values = [round(chance.random() * (40 if name in ("bm25", "passage_terms", "context") else 1), 4)
              for name in COMPONENTS]  # fmt: skip
    return (*values[:5], None if chance.random() < 0.3 else values[5], *values[6:8], 0.0, 0.0)
