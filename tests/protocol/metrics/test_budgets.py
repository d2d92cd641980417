"""Metrics within a budget of tokens: a second reading of the definition, by hand and by chance."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pgmnemo.errors import UsageError
from runner.protocol.editions import current
from runner.protocol.lengths import TextLengths
from runner.protocol.metrics import CEILING, score
from runner.protocol.metrics.families.budgets import budget_any
from runner.records import Corpus, RankedSegment, Retrieval, Score, Segment

BUDGETS = (500, 1000, 2000, 4000)
VIEWS = {"all": lambda key, type_: True}


def row(question: str, lengths: dict[str, int], gold: tuple[str, ...], scope: str = "own") -> Retrieval:
    """A ranking of the segments of `lengths`, in their order."""
    ranking = tuple(RankedSegment(name) for name in lengths)
    known = {**dict.fromkeys(gold, 300), **lengths}
    counted = scope == "own"
    return Retrieval(
        question, "t", "pgmnemo", scope, "p", 99, gold, ranking,
        gold_tokens=tuple(known[one] for one in gold) if counted else (),
        tokens=tuple(lengths.values()) if counted else (),
    )  # fmt: skip


def values(rows: list[Retrieval], arm: str = "pgmnemo") -> dict[str, float]:
    found: list[Score] = score(rows, current(), views=VIEWS, clustered=False).results
    return {one.metric: one.value for one in found if one.arm == arm and one.type == "all"}


def test_a_lesson_that_does_not_fit_is_left_out_and_the_next_is_tried() -> None:
    found = values([row("q", {"a": 400, "gold": 200, "b": 100, "other": 600}, ("gold", "other"))])
    assert [found[f"budget_any@{k}"] for k in BUDGETS] == [0, 1, 1, 1]
    assert [found[f"budget_all@{k}"] for k in BUDGETS] == [0, 0, 1, 1]
    assert [found[f"budget_precision@{k}"] for k in BUDGETS] == pytest.approx(
        [0, 200 / 700, 800 / 1300, 800 / 1300]
    )


def test_the_ceiling_reads_the_gold_alone_the_shortest_first() -> None:
    best = values([row("q", {"gold": 450, "a": 1}, ("gold", "lost"))], CEILING)
    assert [best[f"budget_any@{k}"] for k in BUDGETS] == [1, 1, 1, 1]
    assert [best[f"budget_all@{k}"] for k in BUDGETS] == [0, 1, 1, 1]
    assert [best[f"budget_precision@{k}"] for k in BUDGETS] == [1, 1, 1, 1]


def test_agrees_with_a_second_implementation() -> None:
    chance = random.Random(42)
    rows, wanted = [], {f"budget_{what}@{k}": 0.0 for k in BUDGETS for what in ("any", "all", "precision")}
    for number in range(40):
        lengths = {
            f"s{place}": chance.choice((0, 30, 400, 900, 5000)) for place in range(chance.randrange(12))
        }
        gold = tuple(sorted({f"s{chance.randrange(14)}" for _ in range(3)}))
        rows.append(row(f"q{number:02}", lengths, gold))
        for k in BUDGETS:
            left, read = k, []
            for name, length in lengths.items():
                if length <= left:
                    left -= length
                    read.append(name)
            used = sum(lengths[name] for name in read)
            wanted[f"budget_any@{k}"] += any(name in gold for name in read) / 40
            wanted[f"budget_all@{k}"] += all(name in read for name in gold) / 40
            if used:
                golden = sum(lengths[name] for name in read if name in gold)
                wanted[f"budget_precision@{k}"] += golden / used / 40
    found = values(rows)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)


def test_a_scope_without_lengths_has_no_such_figure_and_every_other() -> None:
    rows = [row("q", {"gold": 3}, ("gold",)), row("q", {"gold": 3}, ("gold",), "pool")]
    found = score(rows, current(), views=VIEWS, clustered=False).results
    in_pool = {one.metric for one in found if one.scope == "pool"}
    assert "recall_any@1" in in_pool
    assert not [name for name in in_pool if name.startswith("budget_")]
    with pytest.raises(UsageError):
        budget_any(500).value(frozenset({"a"}), ["a"])


def test_a_length_too_few_is_told() -> None:
    whole = row("q", {"a": 3, "gold": 4}, ("gold",))
    for changed in (replace(whole, tokens=(3,)), replace(whole, gold_tokens=()), replace(whole, tokens=())):
        with pytest.raises(UsageError, match="one length for each id"):
            values([changed])


def test_the_lengths_are_those_of_the_texts_of_a_project() -> None:
    segments = (Segment("p", "a", "one two three"), Segment("o", "a", "one"), Segment("p", "b", ""))
    corpus = Corpus("file", "f", "", "lesson", segments, (), ())
    lengths = TextLengths(corpus)
    assert lengths.of("p", ["a", "b"]) == (4, 0)
    assert lengths.of("o", ["a"]) == (2,)
    row = Retrieval("q", "t", "pgmnemo", "own", "p", 2, ("a",), (RankedSegment("b"),))
    assert (lengths.counted(row).gold_tokens, lengths.counted(row).tokens) == ((4,), (0,))
