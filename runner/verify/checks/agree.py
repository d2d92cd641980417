"""Does each value stand alike wherever it stands, and are the first ten whole? (§4.2)"""

from __future__ import annotations

from typing import Any

from runner.naming import Name
from runner.runs.choice import OURS
from runner.runs.raw import DETAILED_RANKS
from runner.runs.run import Arm
from runner.suites import SUITES
from runner.verify.check import Wrong
from runner.verify.checks.shown import OWN, WORDS, demand_alike, lines, parts_of, place_of
from runner.verify.evidence import Evidence

STATISTICS = "pgmnemo.statistics_scope"
LARGER = 1.5  # times a scope: in one as large, words are rarer or more common
CHANCE = 0.005  # of the lessons in both, that may be alike by chance


def agree(evidence: Evidence) -> str:
    """A component of a question and a lesson is equal in both scopes, and the first ten have all of them."""
    run, held = evidence.run, 0
    kept = evidence.edition.schemas.raw not in ("pgmnemo/raw/1", "pgmnemo/raw/2")
    for arm in run.arms:
        if not arm.components:
            continue
        for line in lines(evidence, arm.name):
            full = [len(rank) == 3 for rank in line["ranking"][:DETAILED_RANKS] if isinstance(rank, list)]
            if not all(full) or len(full) < min(DETAILED_RANKS, len(line["ranking"])):
                raise Wrong(f"{place_of(arm.name, line)}: not each of the first ten has all components")
        held += _scopes(evidence, arm)
        _of_its_scope(evidence, arm)
    if kept:
        held += _scores_kept(evidence)
    return f"{held:,} values stand alike wherever they stand, and the first ten are whole"


def _scopes(evidence: Evidence, arm: Arm) -> int:
    if Name.of(arm.name).system != OURS and arm.role != "leg":
        return 0
    names = OWN if "neighbours" in arm.components else (*OWN, *WORDS)
    places = [place for place, name in enumerate(arm.components) if name in names]
    seen: dict[tuple[str, str], Any] = {}
    held = 0
    for (scope, question, one), values in parts_of(evidence, arm.name).items():
        other = seen.setdefault((question, one), values)
        if other is not values:
            held += 1
            demand_alike(arm.components, places, values, other, f"{arm.name}, {scope}, {question}: {one}")
    return held


def _of_its_scope(evidence: Evidence, arm: Arm) -> None:
    """From 0.4.0 on a word is worth what it is in the scope, so a pool has other values than a part of it.

    Few are equal by chance: none of 71,362 in the committed runs of 0.4.1.
    """
    run = evidence.run
    own = arm.name == run.system or arm.role == "leg"
    if not own or "neighbours" not in arm.components or run.guc_state.get(STATISTICS) == "tenant":
        return
    place = arm.components.index("bm25")
    sizes = {(line["scope"], line["question"]): line["size"] for line in lines(evidence, arm.name)}
    joined = {scope.name for scope in SUITES[run.choice.suite].more_scopes}  # copies are one hit there
    seen: dict[tuple[str, str], tuple[int, float]] = {}
    both, same = 0, []
    for (scope, question, one), values in parts_of(evidence, arm.name).items():
        size, worth = sizes[scope, question], values[place] or 0.0
        other, before = seen.setdefault((question, one), (size, worth))
        if worth > 0 and scope not in joined and max(size, other) >= LARGER * min(size, other):
            both += 1
            same += [f"{question}: {one}"] if worth == before else []
    if len(same) > max(2, CHANCE * both):
        raise Wrong(
            f"{arm.name}: words are worth the same in the pool as in a part of it, where they are rarer or "
            f"more common, of {len(same):,} in {both:,} lessons that both show, such as {same[0]}"
        )


def _scores_kept(evidence: Evidence) -> int:
    """From raw/3 on the first ten of each leg and of the cosine arm have a score."""
    held = 0
    for arm in evidence.run.arms:
        if arm.name == "cosine" or arm.role == "leg":
            for line in lines(evidence, arm.name):
                first = line["ranking"][:DETAILED_RANKS]
                held += len(first)
                if not all(isinstance(rank, list) for rank in first):
                    raise Wrong(f"{place_of(arm.name, line)}: not each of the first ten has a score")
    return held
