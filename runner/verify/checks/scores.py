"""Is the score of each rank the weighted sum of its components? (§4.2)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runner.database.releases import setting_defaults
from runner.naming import Name
from runner.records import Json
from runner.runs.choice import OURS
from runner.runs.raw import DETAILED_RANKS
from runner.runs.run import Arm
from runner.verify.check import NotAsked, Wrong
from runner.verify.checks.shown import COSINES, HALF, SHARE, lines, place_of
from runner.verify.evidence import Evidence

RELEVANT = ("bm25", "passage_terms", *COSINES, "temporal")
Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """An arm of pgmnemo whose ranks have the components of its engine, and the weights in force."""

    arm: Arm
    weights: Weights
    share: float  # what counts of a lesson that an assistant said; 1: nothing else


def score(evidence: Evidence) -> str:
    """The score of each rank is the weighted sum of its components."""
    scored = list(_scored(evidence))
    if not scored:
        raise NotAsked("no arm has the components of an engine that is known here")
    number = 0
    for one in scored:
        for line in lines(evidence, one.arm.name):
            for rank in line["ranking"][:DETAILED_RANKS]:
                if isinstance(rank, list) and len(rank) == 3:
                    number += 1
                    _sum(one, line, rank)
    return f"{number:,} scores are the weighted sums of their components"


def _sum(one: Scored, line: Json, rank: list[Any]) -> None:
    relevance = rest = slack = 0.0
    for name, value in zip(one.arm.components, rank[2], strict=True):
        weight = one.weights[name]
        worth = value or 0.0
        slack += abs(weight) * HALF
        if name in COSINES:
            worth = max(worth, 0.0)
        if name in RELEVANT:
            relevance += weight * worth
        else:
            rest += weight * worth
    slack += SHARE * abs(rank[1])
    if all(abs(share * relevance + rest - rank[1]) > slack for share in {1.0, one.share}):
        raise Wrong(
            f"{place_of(one.arm.name, line)}: the score of {rank[0]} is {rank[1]}, its components give "
            f"{relevance + rest:.4f}"
        )


def _scored(evidence: Evidence) -> Iterator[Scored]:
    """The arms that are pgmnemo by itself, plain or as a leg, with the settings under which they answer."""
    run, edition = evidence.run, evidence.edition
    for arm in run.arms:
        name = Name.of(arm.name)
        leg = arm.role == "leg" and run.choice.ours
        if not arm.components or not (leg or (name.system == OURS and not name.wrappers)):
            continue
        version = run.choice.version if leg or arm.name == run.system else name.version or arm.version
        engine = edition.engine(version)
        settings = _settings(evidence, version, dict(name.settings), own=leg or arm.name == run.system)
        if engine.components != arm.components or settings is None:
            continue
        weights = {part: float(settings[f"{part}_weight"]) for part in arm.components}
        yield Scored(arm, weights, float(settings.get("assistant_weight", 1)))


def _settings(evidence: Evidence, version: str, named: Weights | Mapping[str, str], own: bool) -> Any:
    """The settings in force: those that run.json records, beside it those of the release; None: not known."""
    if own:
        state = evidence.run.guc_state
        return {name.removeprefix("pgmnemo."): value for name, value in state.items()}
    defaults = setting_defaults(evidence.sql, version)
    return {**defaults, **evidence.edition.settings, **named} if defaults else None
