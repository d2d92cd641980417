"""What two runs must share before their figures may stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pgmnemo.records import DatabaseFacts, EmbedderIdentity
from runner.records import RewriterIdentity, SearchScope, View
from runner.runs.comparability import CONDITIONS, describe_condition, differences
from runner.runs.environment import Machine
from runner.runs.run import Run

MINILM = EmbedderIdentity("minilm", "all-MiniLM-L6-v2", "53aa51", 384, 256, 8)


@pytest.fixture
def first(run: Run) -> Run:
    return replace(run, embedder=MINILM, choice=replace(run.choice, embedder="minilm"))


def chosen(**changes: Any) -> Callable[[Run], Run]:
    return lambda run: replace(run, choice=replace(run.choice, **changes))


def changed(**changes: Any) -> Callable[[Run], Run]:
    return lambda run: replace(run, **changes)


def of_corpus(**changes: Any) -> Callable[[Run], Run]:
    return lambda run: replace(run, corpus=replace(run.corpus, **changes))


def other_embedder(**changes: Any) -> Callable[[Run], Run]:
    return changed(embedder=replace(MINILM, **changes))


WORDS = RewriterIdentity("words", "", "sha256:00")
POOL = (SearchScope("conversation"), SearchScope("pool", pooled=True))
CASES: list[tuple[str, Callable[[Run], Run], str]] = [
    ("suite", chosen(suite="locomo"), "sample against locomo"),
    ("corpus", of_corpus(sha256="ef" * 32), f"{'cd' * 32} against {'ef' * 32}"),
    ("granularity", chosen(level="turn"), "session against turn"),
    ("template", chosen(template="dated-without-captions"), "full against dated-without-captions"),
    ("passages", chosen(passages="1200/200"), "turns against 1200/200"),
    ("characters of a lesson", chosen(max_chars=4000), "all against 4000"),
    ("scopes", changed(scopes=POOL), "conversation against conversation, pool"),
    ("embedder", changed(embedder=None), "minilm against none"),
    ("embedder", other_embedder(revision="0"), "revision 53aa51 against 0"),
    (
        "embedder",
        other_embedder(max_tokens=9, batch_size=1),
        "max_tokens 256 against 9; batch_size 8 against 1",
    ),
    ("rewriting", changed(rewriter=WORDS), "none against words"),
    ("mode", chosen(mode="keyword"), "hybrid against keyword"),
    ("settings", chosen(settings={"bm25_b": "0.4"}), "defaults against bm25_b = 0.4"),
    ("views", changed(views=(View("all", ("adversarial",)),)), "all against all without adversarial"),
    ("questions asked", chosen(limit=2000), "all against 2,000, spread evenly"),
    ("questions asked", chosen(split="held-out"), "all against all of the split held-out"),
    ("questions asked", chosen(types=("graph", "recency")), "all against all of graph, recency"),
]


@pytest.mark.parametrize(("name", "change", "apart"), CASES)
def test_a_condition_that_differs_is_named_with_both_sides(
    first: Run, name: str, change: Callable[[Run], Run], apart: str
) -> None:
    assert list(differences(first, change(first))) == [(name, apart)]
    assert list(differences(first, change(first), [one for one in CONDITIONS if one != name])) == []


def test_the_protocol_is_a_condition(first: Run) -> None:
    former = replace(first, protocol=replace(first.protocol, version="1.2.0"))
    assert list(differences(former, first)) == [("protocol", f"1.2.0 against {first.protocol.version}")]


def test_every_condition_has_a_case() -> None:
    assert {name for name, *_ in CASES} | {"protocol"} == set(CONDITIONS)


def test_version_database_machine_and_neighbours_may_differ(first: Run) -> None:
    other = replace(
        first, choice=replace(first.choice, version="9.9", baselines=("chroma",), k=(1, 5)),
        database=DatabaseFacts("--dsn", "bench", "18.4", "0.8.5", "9.9", "ef" * 32, "runner"),
        machine=Machine("another processor", 64, 512.0, "Linux x86_64"), python="3.12.1",
    )  # fmt: skip
    assert list(differences(first, other)) == []


def test_another_system_is_taken_whole(first: Run) -> None:
    other = replace(first, choice=replace(first.choice, system="chroma", mode=""))
    assert list(differences(first, other)) == []
    assert describe_condition(other, "mode") == "hybrid"
