"""Checks of the scores in the first ten ranks: every number follows, and agrees wherever it appears (§4.2).

A component belongs to a question and a lesson, in every arm and scope that shows it, and a score is the
weighted sum of its components. So a forger who moves an id has to change all of these numbers too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pgmnemo.paths import release_numbers
from pgmnemo.postgres.releases import setting_defaults
from runner.naming import SystemName
from runner.protocol.datasets import SUITES
from runner.records import Json
from runner.runs.config import OURS
from runner.runs.raw import DETAILED_RANKS
from runner.runs.run import Arm
from runner.verification.context import CheckFailed, CheckSkipped, RunContext

HALF = 5.1e-5  # largest error of a component that is kept with four decimals
SHARE = 1e-5  # largest relative error of a score that is kept with six digits
HALVED = 1e-3  # largest error of a cosine of vectors in half precision
COSINES = ("cosine", "passage_cosine", "pair_cosine")  # negative cosines count as 0
OWN = (*COSINES, "temporal", "recency", "importance")  # equal in every scope and arm
WORDS = ("bm25", "passage_terms")  # depend on the scope too, in an engine that knows neighbours
RELEVANT = (*WORDS, *COSINES, "temporal")
LINEAR_BEFORE = "1.0.0"  # later, words count by coverage, which no component of protocol 2.0.0 shows
LEAST_CENTER = -0.5  # no embedder gives unrelated texts a lower cosine
CONTROLS = ("bm25", "cosine")  # arms that rank by the component of their name
STATISTICS = "pgmnemo.statistics_scope"
LARGER = 1.5  # a scope this many times as large has words of another rarity
CHANCE = 0.005  # share of the lessons in both that may be equal by chance

Parts = Mapping[str, Sequence[float | None]]  # components by id


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """The weights of a pgmnemo arm; `share` is the part that counts of a lesson by an assistant.

    `linear`: the score is the weighted sum of its components. Otherwise the sum is an upper bound: words
    count by their coverage, cosines by how far they stand out.
    """

    weights: Mapping[str, float]
    share: float
    linear: bool

    def demand(self, line: Json, one: str, score: float, parts: Sequence[float | None]) -> None:
        """Raise CheckFailed unless the components give the score, within rounding."""
        relevance = rest = 0.0
        for (name, weight), value in zip(self.weights.items(), parts, strict=True):
            worth = weight * (self._cosine(value or 0.0) if name in COSINES else value or 0.0)
            relevance, rest = (relevance + worth, rest) if name in RELEVANT else (relevance, rest + worth)
        slack = HALF * sum(map(abs, self.weights.values())) + SHARE * abs(score)
        if self.linear:
            wrong = all(abs(part * relevance + rest - score) > slack for part in (1.0, self.share))
        else:
            wrong = score - rest > relevance + slack
        if wrong:
            given = f"its components give {'' if self.linear else 'at most '}{relevance + rest:.4f}"
            raise CheckFailed(f"{_place(line)}: the score of {one} is {score}, {given}")

    def _cosine(self, value: float) -> float:
        """Return the maximum contribution of a cosine: its part above LEAST_CENTER; if linear, above 0."""
        least = 0.0 if self.linear else LEAST_CENTER
        return max(value - least, 0.0) / (1 - least)


@dataclass(slots=True)
class ComponentTable:
    """The components in the first ten ranks, by key.

    For the system under test and its retrievers also by answer.
    """

    evidence: RunContext
    seen: dict[tuple[str, ...], float] = field(default_factory=dict)
    own: dict[tuple[str, str, str], Parts] = field(default_factory=dict)  # by arm, scope, question
    held: int = 0

    @property
    def joined(self) -> set[str]:
        """The scopes in which copies of a lesson are one hit, so that a ranking may be incomplete."""
        return {scope.name for scope in SUITES[self.evidence.run.choice.suite].more_scopes}

    def enter(self, arm: Arm, line: Json, weighing: ScoreWeights) -> None:
        """Add an answer of pgmnemo, and check its sums and that its values agree with earlier answers."""
        run = self.evidence.run
        whose = arm.name if arm.role == "system" and arm.name != run.system else ""
        lacking = {"temporal"} if "vector" in (arm.name, run.choice.mode) else set()
        scope = line["scope"] if "neighbours" in arm.components else ""
        for one, score, parts in _detailed(line):
            weighing.demand(line, one, score, parts)
            for name, value in zip(arm.components, parts, strict=True):
                if value is not None and name in (*OWN, *WORDS) and name not in lacking:
                    place = scope if name in WORDS else ""
                    known = self.seen.setdefault((whose, name, place, line["question"], one), value)
                    self.held += 1
                    if abs(known - value) > 2 * HALF:
                        raise CheckFailed(
                            f"{_place(line)}: {one} has {name} {value} there and {known} elsewhere"
                        )
        if not whose:
            key = arm.name, line["scope"], line["question"]
            self.own[key] = {one: parts for one, _, parts in _detailed(line)}


def scores(context: RunContext) -> str:
    """Check that scores follow from components, that components agree, and that controls rank by them."""
    run, table = context.run, ComponentTable(context)
    for arm in run.arms:
        lines, weighing = context.by_arm.get(arm.name, []), _weighing(context, arm)
        for line in lines:
            _demand_whole(arm, line)
            if weighing is not None:
                table.enter(arm, line, weighing)
    _demand_nested(context)
    if not table.held:
        raise CheckSkipped("no arm has the components of an engine that is known here")
    if run.choice.ours:
        for name in CONTROLS:
            if name in run.arms[0].components and name in context.by_arm:
                _demand_falling(table, name)
        _demand_rarer(table)
    if _is_linear(run.choice.version):
        given = "and give the scores and ranks that stand there"
    else:
        given = "give the ranks of controls, and no score is above what they can give"
    return f"{table.held:,} values agree in all arms and scopes, {given}"


def shown_values(context: RunContext) -> dict[str, set[float]]:
    """Return the values of each component of the system under test in the first ten ranks, without None."""
    arm = context.run.arms[0]
    found: dict[str, set[float]] = {name: set() for name in arm.components}
    for line in context.by_arm.get(arm.name, []):
        for _, _, parts in _detailed(line):
            for name, value in zip(arm.components, parts, strict=True):
                if value is not None:
                    found[name].add(value)
    return found


def ids(line: Json) -> list[str]:
    """Return the ids that a line ranks, in order."""
    return [rank[0] if isinstance(rank, list) else rank for rank in line["ranking"]]


def _detailed(line: Json) -> Iterator[tuple[str, float, Sequence[float | None]]]:
    """Yield (id, score, components) of the first ten ranks that have all three."""
    for rank in line["ranking"][:DETAILED_RANKS]:
        if isinstance(rank, list) and len(rank) == 3:
            yield rank[0], rank[1], rank[2]


def _place(line: Json) -> str:
    return f"{line['arm']}, {line['scope']}, {line['question']}"


def _demand_whole(arm: Arm, line: Json) -> None:
    """Raise CheckFailed unless the first ten ranks have the score and components that the arm must have."""
    wanted = 3 if arm.components else 2 if arm.role == "leg" or arm.name == "cosine" else 0
    first = line["ranking"][:DETAILED_RANKS]
    if wanted and not all(isinstance(rank, list) and len(rank) == wanted for rank in first):
        lacking = "all components" if arm.components else "a score"
        raise CheckFailed(f"{_place(line)}: not each of the first ten has {lacking}")


def _weighing(context: RunContext, arm: Arm) -> ScoreWeights | None:
    """Return the weights of a pgmnemo arm without wrappers, or of its retriever; None for another arm."""
    run, name = context.run, SystemName.of(arm.name)
    own = run.choice.ours and (arm.role == "leg" or arm.name == run.system)
    if not arm.components or not (own or (name.system == OURS and not name.wrappers)):
        return None
    version = run.choice.version if own else name.version or arm.version
    settings = {one.removeprefix("pgmnemo."): value for one, value in run.guc_state.items()}
    if not own:
        defaults = setting_defaults(context.sql, version)
        changed = {**context.edition.settings, **dict(name.settings)}
        settings = {**defaults, **{one: str(value) for one, value in changed.items()}} if defaults else {}
    if not settings or context.edition.engine(version).components != arm.components:
        return None
    weights = {part: float(settings[f"{part}_weight"]) for part in arm.components}
    return ScoreWeights(weights, float(settings.get("assistant_weight", 1)), _is_linear(version))


def _is_linear(version: str) -> bool:
    return release_numbers(version) < release_numbers(LINEAR_BEFORE)


def _demand_falling(table: ComponentTable, name: str) -> None:
    """Check that the component falls along the arm that ranks by it, and gives the arm's scores.

    In a complete ranking, an unranked lesson does not have more of it than a ranked lesson.
    """
    run = table.evidence.run
    place, slack = run.arms[0].components.index(name), HALVED if name in COSINES else 2 * HALF
    weight = 1.0 if name in COSINES else float(run.guc_state.get(f"pgmnemo.{name}_weight", 1))
    linear = name in COSINES or _is_linear(run.choice.version)
    if not weight:  # then no shown value decides its ranks
        return
    for line in table.evidence.by_arm[name]:
        known = table.own.get((run.system, line["scope"], line["question"]), {})
        worth = {one: value for one, parts in known.items() if (value := parts[place]) is not None}
        own = {rank[0]: rank[1] for rank in line["ranking"] if isinstance(rank, list)}
        ranked = ids(line)
        found = [one for one in ranked if one in worth]
        table.held += len(found)
        for one in found:
            score = own.get(one, weight * worth[one])
            if linear and abs(score - weight * worth[one]) > weight * slack + SHARE * abs(score):
                raise CheckFailed(f"{_place(line)}: {one} has {score}, under test {worth[one]}")
        for first, second in pairwise(found):
            if worth[second] > worth[first] + slack:
                raise CheckFailed(f"{_place(line)}: {second} stands behind what has less of it under test")
        more = worth.keys() - {*ranked} if found and line["scope"] not in table.joined else ()
        if missing := [one for one in more if worth[one] > worth[found[-1]] + slack]:
            raise CheckFailed(f"{_place(line)}: {missing[0]} is missing, and what has less of it is there")


def _demand_rarer(table: ComponentTable) -> None:
    """Check that a word's value differs between a project and a larger pool.

    The engine must know neighbours. Few values are equal by chance: 0 of 71,362 in the committed runs of
    0.4.1.
    """
    run = table.evidence.run
    if "neighbours" not in run.arms[0].components or run.guc_state.get(STATISTICS) == "tenant":
        return
    place = run.arms[0].components.index("bm25")
    sizes = {(line["scope"], line["question"]): line["size"] for line in table.evidence.by_arm[run.system]}
    worth: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for (arm, scope, question), known in table.own.items():
        for one, parts in known.items() if scope not in table.joined else ():
            worth.setdefault((arm, question, one), []).append((sizes[scope, question], parts[place] or 0.0))
    both, same = 0, []
    for key, some in worth.items():
        (small, before), (large, after) = min(some), max(some)
        if large >= LARGER * small and after > 0:
            both += 1
            same += [key] if before == after else []
    if len(same) > max(2, CHANCE * both):
        arm, question, one = same[0]
        raise CheckFailed(
            f"{arm}: words are worth the same in the pool as in a part of it, where they are rarer or more "
            f"common, of {len(same):,} in {both:,} lessons that both show, such as {question}: {one}"
        )


def _demand_nested(context: RunContext) -> None:
    """Check that cosines ignore the scope: a project's lessons have the same order in the pool."""
    pooled = {scope.name: scope.pooled for scope in context.run.scopes}
    lines = context.by_arm.get("cosine", [])
    inner = {line["question"]: ids(line) for line in lines if not pooled[line["scope"]]}
    for line in lines:
        known = inner.get(line["question"], []) if pooled[line["scope"]] else []
        found = {*known} & {*ids(line)}
        if [one for one in ids(line) if one in found] != known[: len(found)]:
            raise CheckFailed(f"{_place(line)}: the lessons of its own project stand in another order")
