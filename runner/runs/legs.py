"""Which arms of a run are the legs of a system: of the one under test, and of the strategies beside it."""

from __future__ import annotations

from collections.abc import Iterator

from runner.runs.run import Arm, Run

LEGS = ("keyword", "vector")
OVER = "over"  # the fact of a strategy that names the system whose legs it fuses
COSINE, ITSELF = "cosine", "itself"  # a leg that is the control of that name, or the whole of that system


def legs_of(run: Run, arm: Arm) -> dict[str, str]:
    """The arm that is each of LEGS alone; one that the run did not ask is left out."""
    answered = {one.name: one for one in run.arms if not one.failed}
    if arm.name == run.system:
        return {leg: leg for leg in LEGS if leg in answered and answered[leg].role == "leg"}
    named = {leg: _arm(run, arm, arm.facts.get(f"{leg} leg", "")) for leg in LEGS}
    return {leg: name for leg, name in named.items() if name in answered}


def strategies_beside(run: Run) -> list[Arm]:
    """The strategies beside the system under test that have a ranking."""
    return [arm for arm in run.systems if arm.name != run.system and OVER in arm.facts and not arm.failed]


def pairs(run: Run) -> Iterator[tuple[str, str]]:
    """Each strategy beside with each of its legs: differences besides those of the first arm."""
    for arm in strategies_beside(run):
        for leg in legs_of(run, arm).values():
            yield arm.name, leg


def _arm(run: Run, arm: Arm, leg: str) -> str:
    over = arm.facts.get(OVER, "")
    if leg == COSINE:
        return COSINE
    if leg == ITSELF:
        return over
    same = run.choice.system == over and arm.version == run.version and not run.choice.settings
    return leg if same else ""
