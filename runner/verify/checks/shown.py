"""What several places of the raw file show of one question and one lesson, for the checks that compare them.

A component of a lesson belongs to the question and the lesson, whoever ranks: an honest run shows it alike in
several places, and a forger who moves an id has to move all of this with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runner.records import Json
from runner.runs.raw import DETAILED_RANKS
from runner.verify.check import Wrong
from runner.verify.evidence import Evidence

HALF = 5.1e-5  # by which a component may be off that is kept with four decimals
SHARE = 1e-5  # of a score that is kept with six digits
COSINES = ("cosine", "passage_cosine", "pair_cosine")  # negative ones count as none
OWN = (*COSINES, "temporal", "recency", "importance")  # of question and lesson alone, in every scope and arm
WORDS = ("bm25", "passage_terms")  # of the scope besides, from 0.4.0 on
Parts = dict[tuple[str, str, str], tuple[Any, ...]]  # by scope, question, id


def lines(evidence: Evidence, arm: str) -> list[Json]:
    """The lines of an arm, in the order of the file."""
    return evidence.by_arm.get(arm, [])


def parts_of(evidence: Evidence, arm: str) -> Parts:
    """The components of an arm's first ten."""
    return {
        (line["scope"], line["question"], rank[0]): tuple(rank[2])
        for line in lines(evidence, arm)
        for rank in line["ranking"][:DETAILED_RANKS]
        if isinstance(rank, list) and len(rank) == 3
    }


def ids(line: Json) -> list[str]:
    """What a line ranks, in its order."""
    return [rank[0] if isinstance(rank, list) else rank for rank in line["ranking"]]


def place_of(arm: str, line: Json) -> str:
    """Where a line stands, in words."""
    return f"{arm}, {line['scope']}, {line['question']}"


def demand_alike(names: tuple[str, ...], places: Iterable[int], one: Any, other: Any, where: str) -> None:
    """Wrong where two values of one component differ by more than rounding."""
    for place in places:
        first, second = one[place], other[place]
        if first is not None and second is not None and abs(first - second) > 2 * HALF:
            raise Wrong(f"{where} has {names[place]} {first} there and {second} elsewhere")
