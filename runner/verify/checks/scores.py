"""Do the rankings agree with themselves: scores with components, arms and scopes with one another? (§4.2)

What an honest run shows of one question in several places it shows alike: a component of a lesson belongs to
the question and the lesson, whoever ranks. A forger who moves an id has to move all of this with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from runner.database.releases import setting_defaults
from runner.naming import Name
from runner.records import Json
from runner.runs.choice import OURS
from runner.runs.raw import DETAILED_RANKS
from runner.runs.run import Arm
from runner.suites import SUITES
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence

HALF = 5.1e-5  # by which a component may be off that is kept with four decimals
HALVED = 1e-3  # by which a cosine may be off that the engine takes of vectors in half precision
SHARE = 1e-5  # of a score that is kept with six digits
COSINES = ("cosine", "passage_cosine", "pair_cosine")  # negative ones count as none
RELEVANT = ("bm25", "passage_terms", *COSINES, "temporal")
OWN = (*COSINES, "temporal", "recency", "importance")  # of question and lesson alone, in every scope and arm
WORDS = ("bm25", "passage_terms")  # of the scope besides, from 0.4.0 on
LACKING = {"vector": ("temporal",)}  # what a mode does not ask for, and says 0 of
CONTROLS = {"bm25": "bm25", "cosine": "cosine"}  # arm → the component that it ranks by
Weights = Mapping[str, float]
Parts = dict[tuple[str, str, str], tuple[Any, ...]]  # by scope, question, id


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
        for line in _lines(evidence, one.arm.name):
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
            f"{_where(one.arm.name, line)}: the score of {rank[0]} is {rank[1]}, its components give "
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


def order(evidence: Evidence) -> str:
    """Controls and legs rank by the components that the system under test shows of the same lessons."""
    run, parts = evidence.run, _parts(evidence, evidence.run.system)
    if not parts or not run.choice.ours:
        raise NotAsked("the system under test shows no components that another arm could be held against")
    held, shown = 0, _by_question(parts)
    joined = {scope.name for scope in SUITES[run.choice.suite].more_scopes}  # copies are one hit there
    for name, component in CONTROLS.items():
        place = run.arms[0].components.index(component) if component in run.arms[0].components else None
        if place is None:
            continue
        for line in _lines(evidence, name):
            known = shown.get((line["scope"], line["question"]), {})
            slack = HALVED if component in COSINES else 2 * HALF
            held += _falling(line, place, known, slack, whole=line["scope"] not in joined)
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


def _falling(
    line: Json, place: int, known: Mapping[str, tuple[Any, ...]], slack: float, *, whole: bool
) -> int:
    """What the first ten under test have of a component falls along the arm that ranks by it alone.

    In a `whole` ranking, what stands in none of its ranks has no more of it than what does.
    """
    found = []
    for rank in line["ranking"]:
        one, own = (rank[0], rank[1]) if isinstance(rank, list) else (rank, None)
        value = known[one][place] if one in known else None
        if value is None:
            continue
        if own is not None and abs(own - value) > slack + SHARE * abs(own):
            raise Wrong(f"{_where(line['arm'], line)}: {one} has {own}, under test {value}")
        found.append((one, value))
    for (_, first), (one, second) in pairwise(found):
        if second > first + slack:
            raise Wrong(f"{_where(line['arm'], line)}: {one} stands behind what has less of it under test")
    if found and whole:
        ranked = set(_ids(line))
        more = (one for one in known if one not in ranked and (known[one][place] or 0) > found[-1][1] + slack)
        if (one := next(more, None)) is not None:
            raise Wrong(f"{_where(line['arm'], line)}: {one} is missing, and what has less of it is there")
    return len(found)


def _same(evidence: Evidence, arm: Arm, parts: Parts) -> int:
    names = {*OWN, *WORDS} - {*LACKING.get(arm.name, ())}
    places = [place for place, name in enumerate(arm.components) if name in names]
    held = 0
    for key, values in _parts(evidence, arm.name).items():
        if (known := parts.get(key)) is not None:
            held += 1
            _alike(arm.components, places, values, known, f"{arm.name}, {key[0]}, {key[1]}: {key[2]}")
    return held


def _alike(names: tuple[str, ...], places: Iterable[int], one: Any, other: Any, where: str) -> None:
    for place in places:
        first, second = one[place], other[place]
        if first is not None and second is not None and abs(first - second) > 2 * HALF:
            raise Wrong(f"{where} has {names[place]} {first} there and {second} elsewhere")


def _nested(evidence: Evidence) -> int:
    """Cosines know no scope: of one conversation the pool ranks as the conversation does."""
    inner = {
        line["question"]: _ids(line) for line in _lines(evidence, "cosine") if not _pooled(evidence, line)
    }
    held = 0
    for line in _lines(evidence, "cosine"):
        if _pooled(evidence, line) and (known := inner.get(line["question"])):
            places = {one: place for place, one in enumerate(known)}
            found = [places[one] for one in _ids(line) if one in places]
            held += len(found)
            if found != sorted(found):
                raise Wrong(
                    f"{_where('cosine', line)}: the lessons of its own project stand in another order"
                )
    return held


def agree(evidence: Evidence) -> str:
    """A component of a question and a lesson is equal in both scopes, and the first ten have all of them."""
    run, held = evidence.run, 0
    kept = evidence.edition.schemas.raw not in ("pgmnemo/raw/1", "pgmnemo/raw/2")
    for arm in run.arms:
        if not arm.components:
            continue
        for line in _lines(evidence, arm.name):
            full = [len(rank) == 3 for rank in line["ranking"][:DETAILED_RANKS] if isinstance(rank, list)]
            if not all(full) or len(full) < min(DETAILED_RANKS, len(line["ranking"])):
                raise Wrong(f"{_where(arm.name, line)}: not each of the first ten has all components")
        held += _scopes(evidence, arm)
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
    for (scope, question, one), values in _parts(evidence, arm.name).items():
        other = seen.setdefault((question, one), values)
        if other is not values:
            held += 1
            _alike(arm.components, places, values, other, f"{arm.name}, {scope}, {question}: {one}")
    return held


def _scores_kept(evidence: Evidence) -> int:
    """From raw/3 on the first ten of each leg and of the cosine arm have a score."""
    held = 0
    for arm in evidence.run.arms:
        if arm.name == "cosine" or arm.role == "leg":
            for line in _lines(evidence, arm.name):
                first = line["ranking"][:DETAILED_RANKS]
                held += len(first)
                if not all(isinstance(rank, list) for rank in first):
                    raise Wrong(f"{_where(arm.name, line)}: not each of the first ten has a score")
    return held


def _lines(evidence: Evidence, arm: str) -> list[Json]:
    return evidence.by_arm.get(arm, [])


def _parts(evidence: Evidence, arm: str) -> Parts:
    """The components of an arm's first ten."""
    return {
        (line["scope"], line["question"], rank[0]): tuple(rank[2])
        for line in _lines(evidence, arm)
        for rank in line["ranking"][:DETAILED_RANKS]
        if isinstance(rank, list) and len(rank) == 3
    }


def _ids(line: Json) -> list[str]:
    return [rank[0] if isinstance(rank, list) else rank for rank in line["ranking"]]


def _pooled(evidence: Evidence, line: Json) -> bool:
    return any(scope.pooled for scope in evidence.run.scopes if scope.name == line["scope"])


def _where(arm: str, line: Json) -> str:
    return f"{arm}, {line['scope']}, {line['question']}"
