"""Are the rankings those of the system? Some questions are recalled again, and held against the raw file."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from runner.errors import RunnerError
from runner.records import Hit, Retrieval
from runner.rewriters import by_rule
from runner.runs.canonical import compact
from runner.runs.choice import OURS
from runner.runs.raw import RAW, decode, key
from runner.runs.reruns import USUAL
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence

TOLERANCE = 1e-4  # relative; vectors of another processor differ by some 1e-7, and what is made of them more
LEAST = 1e-6  # a score below it is as good as 0
COMPONENT = 1.5e-4  # absolute: the raw file keeps four decimals, and the last may be rounded another way
BOUNDS = {"relative": TOLERANCE, "least": LEAST, "component": COMPONENT}
SERVICES = ("endpoint",)  # embedders that are somebody's service: its address stands in no run


def rerun(evidence: Evidence) -> str:
    """The drawn questions have the ids and the scores again that the raw file gives them."""
    number, run = evidence.rerun, evidence.run
    if number is None:
        raise NotAsked(f"give --rerun N, such as {USUAL}")
    if not run.choice.ours:
        raise NotAsked(f"{run.choice.system} is under test, and {OURS} alone can be recalled again here")
    if run.choice.embedder in SERVICES:
        raise NotAsked(f"the vectors are of a service ({run.choice.embedder}), whose address no run records")
    if run.rewriter is not None and by_rule(run.rewriter) is None:
        raise NotAsked(f"the questions were asked in the words of {run.choice.rewrite}, which no run records")
    from runner.verify.rerunning import recalled  # with all that a run needs, which no other check does

    try:
        again = recalled(evidence, number, evidence.progress)
    except RunnerError as error:
        raise Wrong(f"could not be recalled again: {error}") from None
    recorded = _recorded(evidence, {row.question for row in again.rows})
    for row in again.rows:
        if key(row) not in recorded:
            raise Wrong(f"{row.scope}, {row.question}: the raw file has no answer of {row.arm}")
        for fault in faults(recorded[key(row)].ranking, row.ranking):
            raise Wrong(f"{row.scope}, {row.question}: {fault}")
    scopes = ", ".join(scope.name for scope in run.scopes)
    return (
        f"{again.questions:,} questions, recalled again in {scopes}: the same ids and scores, to a "
        f"relative {TOLERANCE:g}"
    )


def _recorded(evidence: Evidence, questions: set[str]) -> dict[tuple[str, str, str], Retrieval]:
    """The answers of the system under test to the questions, with all scores that the raw file has."""
    arm = evidence.run.system
    lines = (line for line in evidence.raw if line["arm"] == arm and line["question"] in questions)
    rows = (decode(compact(line).encode(), RAW) for line in lines)
    return {key(row): row for row in rows}


def faults(recorded: tuple[Hit, ...], again: tuple[Hit, ...]) -> Iterator[str]:
    """What differs between the two rankings of a question beyond the tolerance.

    Two ids whose scores are equal to the tolerance may stand in either order, and either of them may be the
    last of the ranking.
    """
    if len(recorded) != len(again):
        yield f"{len(recorded)} ranks stand there, and {len(again)} were recalled"
        return
    found = {hit.id: hit for hit in again}
    for rank, (one, other) in enumerate(zip(recorded, again, strict=True), start=1):
        mine = found.get(one.id, Hit(one.id, one.score))
        if one.id != other.id and not _close(mine.score, other.score):
            yield f"rank {rank} is {one.id}, recalled is {other.id}"
        if one.score is not None and not _close(one.score, mine.score):
            yield f"the score of {one.id} is {one.score:g}, recalled is {mine.score}"
        if one.components and mine.components and not _alike(one.components, mine.components):
            yield f"the components of {one.id} are {one.components}, recalled are {mine.components}"


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return False
    return isclose(one, other, rel_tol=TOLERANCE, abs_tol=LEAST)


def _alike(one: tuple[float | None, ...], other: tuple[float | None, ...]) -> bool:
    """Whether components are equal to the tolerance, and absent together."""
    return len(one) == len(other) and all(
        mine == its
        or (mine is not None and its is not None
            and isclose(mine, its, rel_tol=TOLERANCE, abs_tol=COMPONENT))
        for mine, its in zip(one, other, strict=True)
    )  # fmt: skip
