"""Runs to render: a committed one, and one of 2,000 questions whose names are as awkward as names can be."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from runner.claims.recompute import METRIC_CODES
from runner.claims.verify.evidence import Evidence
from runner.claims.verify.rendering import detailed
from runner.metrics import METRIC_VERSION
from runner.protocol import load_protocol
from runner.records import Hit, Retrieval
from runner.report.html import render_page

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "benchmarks"
AWKWARD = "</script><script>alert('1')</script>\"&amp; 🧭 ünï\u2028"
COMPONENTS = {
    "cosine": "active", "bm25": "active", "passage_terms": "active", "passage_cosine": "active",
    "pair_cosine": "active", "temporal": "active", "context": "active", "recency": "active",
    "importance": "inactive: every importance is the same", "graph": "inactive: the corpus has no edges",
}  # fmt: skip
ARMS = ("pgmnemo", "bm25", "random")


@dataclass(frozen=True)
class Run:
    """What a page is rendered from."""

    metrics: dict[str, Any]
    run: dict[str, Any]
    rows: list[Retrieval]
    timings: list[tuple[str, str, float]]

    def page(self, **more: Any) -> str:
        return render_page(self.metrics, self.run, self.rows, self.timings, **more)


def committed(suite: str) -> Path:
    """The first committed results of a suite."""
    return sorted((RESULTS / suite / "results").iterdir())[0]


def read(folder: Path) -> Run:
    evidence = Evidence(folder)
    timings = [(one.arm, one.scope, one.seconds) for one in evidence.timings]
    return Run(evidence.metrics, evidence.run, list(detailed(evidence)), timings)


@pytest.fixture(scope="session")
def sample_folder() -> Path:
    return committed("sample")


@pytest.fixture(scope="session")
def sample(sample_folder: Path) -> Run:
    return read(sample_folder)


@pytest.fixture(scope="session")
def locomo() -> Run:
    return read(committed("locomo"))


@pytest.fixture(scope="session")
def large(sample: Run) -> Run:
    """2,000 questions, two scopes, an engine of ten components, names with quotes, markup and emoji."""
    return make(sample, 2000)


def make(sample: Run, questions: int) -> Run:
    chance = random.Random(42)
    run = json.loads(json.dumps(sample.run))
    run["components"] = COMPONENTS
    weights = {f"pgmnemo.{name}_weight": "1" for name in COMPONENTS}
    run["guc_state"] = {**run["guc_state"], **weights, "pgmnemo.passage_cosine_weight": "18"}
    run["arms"] = [{"name": arm, "words": f"the arm {arm} & <more>"} for arm in ARMS]
    run["scopes"] = [{"name": "conversation", "pooled": False}, {"name": "pool", "pooled": True}]
    run["deviations"] = [f"named {AWKWARD}"]
    run["latency"] = [{"arm": "pgmnemo", "scope": "pool", "k": 10, "n": 200, "p50_ms": 2.0, "p95_ms": 5.0}]
    rows = list(_rows(chance, questions))
    metrics = METRIC_CODES[METRIC_VERSION](run, rows, load_protocol().cutoffs)
    timings = [("pgmnemo", "pool", chance.lognormvariate(-6, 0.4)) for _ in range(200)]
    return Run(metrics, run, rows, timings)


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


def _ranking(chance: random.Random, ids: list[str], gold: tuple[str, ...], detailed: bool) -> tuple[Hit, ...]:
    order = sorted(ids, key=lambda one: chance.random() - 0.7 * (one in gold))[:50]
    if not detailed:
        return tuple(map(Hit, order))
    scores = sorted((round(40 * chance.random(), 3) for _ in order), reverse=True)
    hits = [Hit(one, score) for one, score in zip(order, scores, strict=True)]
    return tuple(replace(hit, components=_parts(chance)) if at < 10 else hit for at, hit in enumerate(hits))


def _parts(chance: random.Random) -> tuple[float | None, ...]:
    values = [round(chance.random() * (40 if name in ("bm25", "passage_terms", "context") else 1), 4)
              for name in COMPONENTS]  # fmt: skip
    return (*values[:5], None if chance.random() < 0.3 else values[5], *values[6:8], 0.0, 0.0)
