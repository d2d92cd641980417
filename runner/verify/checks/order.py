"""Do legs and controls rank by the components that the system under test shows? (§4.2)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from runner.records import Json
from runner.runs.run import Arm
from runner.suites import SUITES
from runner.verify.check import NotAsked, Wrong
from runner.verify.checks.shown import (
    COSINES,
    HALF,
    OWN,
    SHARE,
    WORDS,
    Parts,
    demand_alike,
    ids,
    lines,
    parts_of,
    place_of,
)
from runner.verify.evidence import Evidence

HALVED = 1e-3  # by which a cosine may be off that the engine takes of vectors in half precision
LACKING = {"vector": ("temporal",)}  # what a mode does not ask for, and says 0 of
CONTROLS = {"bm25": "bm25", "cosine": "cosine"}  # arm → the component that it ranks by


def order(evidence: Evidence) -> str:
    """Controls and legs rank by the components that the system under test shows of the same lessons."""
    run, parts = evidence.run, parts_of(evidence, evidence.run.system)
    if not parts or not run.choice.ours:
        raise NotAsked("the system under test shows no components that another arm could be held against")
    held, shown = 0, _by_question(parts)
    joined = {scope.name for scope in SUITES[run.choice.suite].more_scopes}  # copies are one hit there
    for name, component in CONTROLS.items():
        place = run.arms[0].components.index(component) if component in run.arms[0].components else None
        weight = 1.0 if component in COSINES else float(run.guc_state.get(f"pgmnemo.{component}_weight", 1))
        if place is None or not weight:  # without a weight its ranks follow from nothing that is shown
            continue
        for line in lines(evidence, name):
            known = shown.get((line["scope"], line["question"]), {})
            held += _falling(line, By(component, place, weight), known, whole=line["scope"] not in joined)
    for arm in run.arms[1:]:
        if arm.role == "leg" and arm.components == run.arms[0].components:
            held += _same(evidence, arm, parts)
    if any(arm.name == "cosine" for arm in run.arms):
        held += _nested(evidence)
    return f"{held:,} ranks of legs and controls agree with the components under test"


def _by_question(parts: Parts) -> dict[tuple[str, str], dict[str, tuple[Any, ...]]]:
    """The components by scope and question, then by id."""
    found: dict[tuple[str, str], dict[str, tuple[Any, ...]]] = {}
    for (scope, question, one), values in parts.items():
        found.setdefault((scope, question), {})[one] = values
    return found


@dataclass(frozen=True, slots=True)
class By:
    """The component that an arm ranks by: its place among those under test, and what a unit of it scores."""

    component: str
    place: int
    weight: float

    @property
    def slack(self) -> float:
        """By how much two of its values may differ that are one."""
        return HALVED if self.component in COSINES else 2 * HALF


def _falling(line: Json, by: By, known: Mapping[str, tuple[Any, ...]], *, whole: bool) -> int:
    """What the first ten under test have of a component falls along the arm that ranks by it alone.

    In a `whole` ranking, what stands in none of its ranks has no more of it than what does.
    """
    found, place, slack = [], by.place, by.slack
    for rank in line["ranking"]:
        one, own = (rank[0], rank[1]) if isinstance(rank, list) else (rank, None)
        value = known[one][place] if one in known else None
        if value is None:
            continue
        if own is not None and abs(own - by.weight * value) > by.weight * slack + SHARE * abs(own):
            raise Wrong(f"{place_of(line['arm'], line)}: {one} has {own}, under test {value}")
        found.append((one, value))
    for (_, first), (one, second) in pairwise(found):
        if second > first + slack:
            raise Wrong(f"{place_of(line['arm'], line)}: {one} stands behind what has less of it under test")
    if found and whole:
        ranked = set(ids(line))
        more = (one for one in known if one not in ranked and (known[one][place] or 0) > found[-1][1] + slack)
        if (one := next(more, None)) is not None:
            raise Wrong(f"{place_of(line['arm'], line)}: {one} is missing, and what has less of it is there")
    return len(found)


def _same(evidence: Evidence, arm: Arm, parts: Parts) -> int:
    lacking = {*LACKING.get(arm.name, ()), *LACKING.get(evidence.run.choice.mode, ())}
    names = {*OWN, *WORDS} - lacking
    places = [place for place, name in enumerate(arm.components) if name in names]
    held = 0
    for key, values in parts_of(evidence, arm.name).items():
        if (known := parts.get(key)) is not None:
            held += 1
            demand_alike(arm.components, places, values, known, f"{arm.name}, {key[0]}, {key[1]}: {key[2]}")
    return held


def _nested(evidence: Evidence) -> int:
    """Cosines know no scope: what the pool finds of a conversation is what stands first within it."""
    inner = {line["question"]: ids(line) for line in lines(evidence, "cosine") if not _pooled(evidence, line)}
    held = 0
    for line in lines(evidence, "cosine"):
        if _pooled(evidence, line) and (known := inner.get(line["question"])):
            places = {one: place for place, one in enumerate(known)}
            found = [places[one] for one in ids(line) if one in places]
            held += len(found)
            if found != list(range(len(found))):
                raise Wrong(
                    f"{place_of('cosine', line)}: the lessons of its own project stand in another order"
                )
    return held


def _pooled(evidence: Evidence, line: Json) -> bool:
    return any(scope.pooled for scope in evidence.run.scopes if scope.name == line["scope"])
