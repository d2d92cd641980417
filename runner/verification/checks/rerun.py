"""The check that the systems rank as recorded: some questions are recalled again and compared with the raw
file.

The result names the arms that were not compared and why: a system may not open here, or may legitimately rank
differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgmnemo.errors import PgmnemoError
from runner.records import Retrieval
from runner.runs.canonical import compact
from runner.runs.comparability import postgres_major
from runner.runs.config import OURS
from runner.runs.manifest import USUAL
from runner.runs.raw import RAW, Key, decode, key
from runner.runs.run import Arm, Run
from runner.runs.timings import SUFFIX
from runner.stages.rewriters import rule_rewriter
from runner.systems import base_of, spec_of
from runner.verification.context import CheckFailed, CheckSkipped, RunContext
from runner.verification.ranking_equality import SWAY, Ranking, ranking_faults

if TYPE_CHECKING:
    from runner.verification.rerun import RerunRows

SERVICES = ("endpoint",)  # embedders behind a service; a run does not record its URL
MANY, FEW = 4, 2  # near ties may explain one in MANY of an arm's answers, or FEW answers
# Number of lessons above which pgmnemo searches an index; the second setting is of versions before 1.0.0.
LIMITS, USUAL_LIMIT = ("pgmnemo.hnsw_min_vectors", "pgmnemo.exact_scan_limit"), 10_000


@dataclass(frozen=True, slots=True)
class RerunFinding:
    """The result of a rerun: `arms` answered `questions` as recorded; `left` maps each other arm to a reason.

    Of all `answers`, `ties` differ only as honest machines may differ if scores nearly tie.
    """

    questions: int
    arms: tuple[str, ...]
    left: Mapping[str, str]
    answers: int
    ties: int


def rerun(context: RunContext) -> str:
    """Check that the drawn questions get the recorded ids and scores again, in every comparable arm."""
    run = context.run
    if not context.rerun:
        raise CheckSkipped(f"give --rerun, or --rerun N for other than {USUAL} questions")
    if run.choice.embedder in SERVICES:
        raise CheckSkipped(
            f"the vectors are of a service ({run.choice.embedder}), whose address no run records: nothing "
            "here can prove them"
        )
    if run.rewriter is not None and rule_rewriter(run.rewriter) is None:
        raise CheckSkipped(
            f"the questions were asked in the words of {run.choice.rewrite}, which no run records"
        )
    try:
        made = compare_rerun(context, context.rerun)
    except PgmnemoError as error:
        raise CheckSkipped(f"could not be recalled again here: {error}") from None
    if run.system in made.left:
        raise CheckSkipped(f"{run.system} is not held: {made.left[run.system]}")
    context.recalled = made.arms
    scopes = ", ".join(scope.name for scope in run.scopes)
    others = ", ".join(f"{name} ({why})" for name, why in made.left.items())
    return "; ".join((
        f"{made.questions:,} questions, recalled again in {scopes} by {len(made.arms)} of "
        f"{len(made.arms) + len(made.left)} arms: the same ids and scores, to {SWAY:g} of the best",
        *([f"{made.ties:,} of {made.answers:,} answers differ as near ties do"] if made.ties else []),
        *([f"not held: {others}"] if others else []),
    ))  # fmt: skip


def compare_rerun(context: RunContext, number: int) -> RerunFinding:
    """Recall `number` questions again and compare them with the raw file.

    Raises CheckFailed for a fault, and PgmnemoError if the questions cannot be recalled here.
    """
    # Imported here, because the checks of files do not need these modules:
    from runner.verification.rerun import rerun_questions

    again = rerun_questions(context, number, context.progress)
    recorded = _recorded(context, {row.question for row in again.rows})
    rows = {key(row): row for row in again.rows if row.arm in context.by_arm}
    for row in rows.values():
        if key(row) not in recorded:
            raise CheckFailed(f"{row.arm}, {row.scope}, {row.question}: the raw file has no answer")
    odd = _odd(context, recorded, {name: [row.ranking] for name, row in rows.items()})
    explained = _near(context, again, odd, rows)
    still = {name: why for name, why in odd.items() if name not in explained}
    still |= _odd(context, recorded, {name: [rows[name].ranking, *some] for name, some in explained.items()})
    left = _left(context.run, again, rows, still)
    arms = tuple(dict.fromkeys(arm for _, arm, _ in rows if arm not in left))
    return RerunFinding(again.questions, arms, left, len(rows), len(odd) - len(still))


def _recorded(context: RunContext, questions: Collection[str]) -> dict[Key, Retrieval]:
    """Return the recorded answers to the questions, with the raw file's scores."""
    lines = (line for line in context.raw if line["question"] in questions)
    rows = (decode(compact(line).encode(), RAW) for line in lines)
    return {key(row): row for row in rows}


def _odd(
    context: RunContext, recorded: Mapping[Key, Retrieval], answers: Mapping[Key, Sequence[Ranking]]
) -> dict[Key, str]:
    """Return the first fault of each recorded answer that equals none of the new answers."""
    depth = context.edition.retrieval.depth
    found = {}
    for name, some in answers.items():
        row = recorded[name]
        if fault := next(ranking_faults(row.ranking, some, cut=row.size > depth), ""):
            found[name] = fault
    return found


def _near(
    context: RunContext, again: RerunRows, odd: Collection[Key], rows: Collection[Key]
) -> dict[Key, list[Ranking]]:
    """Return alternative answers to the questions with faults, for arms that have few of them."""
    number, of = (Counter(arm for _, arm, _ in some) for some in (odd, rows))
    few = [name for name in odd if number[name[1]] <= max(FEW, of[name[1]] // MANY)]
    if few:
        context.progress.say(f"{len(few):,} answers differ by more than the tolerance, and are asked again")
    moved = again.moved(few) if few else {}
    return {name: [row.ranking for row in some] for name, some in moved.items()}


def _left(
    run: Run, again: RerunRows, rows: Mapping[Key, Retrieval], odd: Mapping[Key, str]
) -> dict[str, str]:
    """Return the arms that were not compared, with reasons; raise CheckFailed if a reason is missing."""
    made, left = {arm for _, arm, _ in rows}, {}
    arms = {arm.name: arm for arm in run.arms if not arm.failed}
    for name in arms.keys() - made:
        base = name.removesuffix(SUFFIX)
        left[name] = again.left.get(name) or again.left.get(base) or "this checkout makes no such arm"
    of, number = (Counter(arm for _, arm, _ in some) for some in (rows, odd))
    for (question, arm, scope), fault in odd.items():
        why = _excuse(run, arms[arm], rows[question, arm, scope], again)
        if not why:
            raise CheckFailed(f"{arm}, {scope}, {question}: {fault}")
        left[arm] = f"{why}: {number[arm]:,} of {of[arm]:,} answers differ"
    return {name: left[name] for name in arms if name in left}


def _excuse(run: Run, arm: Arm, row: Retrieval, again: RerunRows) -> str:
    """Return a valid reason why an arm ranks differently here; empty if no reason is known."""
    if arm.role == "control":
        return ""
    here = again.versions.get(arm.name, "")
    if here != arm.version:
        return f"version {here} is here, the run's was {arm.version}"
    name = run.system if arm.role == "leg" else arm.name.removesuffix(SUFFIX)
    if base_of(name).system == OURS:
        there = postgres_major(run)
        if again.postgres and there and again.postgres != there:
            return f"PostgreSQL {again.postgres} is here, the run's was {there}"
        limit = next((run.guc_state[name] for name in LIMITS if name in run.guc_state), USUAL_LIMIT)
        by_index = row.size > int(limit)
    else:
        kind = spec_of(name)
        by_index = kind.approximate and (kind.vectors or kind.own_embedder)
    return "its index is approximate and built anew" if by_index else ""
