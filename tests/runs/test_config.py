"""What a run chose decides its folder's labels, its departures and its cutoffs, live or from disk."""

from __future__ import annotations

from typing import Any

import pytest

from runner.protocol.editions import current
from runner.runs.config import RunConfig

EDITION = current()


def choice(**changes: Any) -> RunConfig:
    """A canonical choice with some changes."""
    return RunConfig(**{"suite": "locomo", "level": "session", "embedder": "dragon-plus", **changes})


CASES: list[tuple[dict[str, Any], list[str], list[str]]] = [  # changes, labels, departures
    ({}, [], []),
    ({"level": "turn"}, ["turn"], []),  # a gate of its own judges it
    ({"suite": "pages", "level": "page"}, ["page"], []),
    (
        {"template": "dated-without-captions"},
        ["dated-without-captions"],
        ["template dated-without-captions (--template)"],
    ),
    ({"mode": "vector"}, ["vector"], ["mode vector"]),
    ({"mode": "keyword", "embedder": "none"}, [], ["mode keyword"]),  # the embedder's name says it
    ({"system": "pgmnemo@0.2.1", "mode": "keyword"}, ["keyword"], ["mode keyword"]),
    ({"system": "chroma", "mode": ""}, [], []),
    (
        {"settings": {"bm25_b": "0.4", "k1": "1"}},
        ["bm25_b-0.4", "k1-1"],
        ["bm25_b = 0.4 (--set)", "k1 = 1 (--set)"],
    ),
    (
        {"system": "pgmnemo@0.3.1:bm25_b=0.4", "settings": {"bm25_k1": "1"}},
        ["bm25_b-0.4", "bm25_k1-1"],
        ["bm25_b = 0.4 (in the name of the system)", "bm25_k1 = 1 (--set)"],
    ),
    (
        {"system": "convex:weight=0.3", "mode": ""},  # whose folder begins with the whole name
        [],
        ["weight = 0.3 (in the name of the system)"],
    ),
    ({"limit": 2000}, ["limit2000"], ["only 2,000 questions, spread evenly (--limit)"]),
    ({"passages": "1200/200"}, ["passages1200/200"], ["passages of 1200/200 characters (--passages)"]),
    ({"max_chars": 4000}, ["chars4000"], ["at most 4,000 characters of a lesson (--max-chars)"]),
    ({"max_tokens": 128}, ["tokens128"], ["at most 128 tokens of a text (--max-tokens)"]),
    (
        {"suite": "longmemeval", "embedder": "bge-m3", "split": "held-out", "scopes": ("haystack", "pool")},
        ["held-out", "haystack-pool"],
        ["only the split held-out (--split)", "scopes haystack, pool (--scopes)"],
    ),
    ({"k": (1, 5, 10)}, [], ["no figure at k = 20, 50 (--k)"]),
    ({"k": (1, 3, 5, 10, 20, 50)}, [], []),
    ({"baselines": ("chroma", "sqlite-fts5")}, ["side-by-side"], []),
    ({"allow_unregistered_corpus": True}, [], []),
    (
        {"level": "turn", "template": "dated-without-captions", "limit": 3, "baselines": ("chroma",)},
        ["turn", "dated-without-captions", "limit3", "side-by-side"],
        ["only 3 questions, spread evenly (--limit)", "template dated-without-captions (--template)"],
    ),
]


@pytest.mark.parametrize(("changes", "labels", "departures"), CASES)
def test_labels_and_departures_follow_from_the_choice(
    changes: dict[str, Any], labels: list[str], departures: list[str]
) -> None:
    assert list(choice(**changes).labels(EDITION)) == labels
    assert list(choice(**changes).departures(EDITION)) == departures


def test_the_cutoffs_are_the_editions_unless_chosen() -> None:
    assert choice().cutoffs(EDITION) == EDITION.metrics.cutoffs
    assert choice(k=(3,)).cutoffs(EDITION) == (3,)


@pytest.mark.parametrize(
    ("system", "ours"),
    [("pgmnemo", True), ("pgmnemo@0.3.0", True), ("pgmnemo+keyword", False), ("chroma", False)],
)  # fmt: skip
def test_pgmnemo_is_ours_at_whichever_version(system: str, ours: bool) -> None:
    assert choice(system=system).ours is ours


def test_the_system_under_test_is_named_first() -> None:
    assert choice(baselines=("chroma", "gin-hnsw")).named == ("pgmnemo", "chroma", "gin-hnsw")
