"""Checks of the lines of timings, reranks and rewrites against the raw rankings. (§4.12 to §4.14)

The check `record` checks their sums in run.json.
"""

from __future__ import annotations

from runner.bench.workload import spread
from runner.naming import SystemName
from runner.protocol.datasets import SUITES
from runner.runs.timings import RERANKS, REWRITES, SUFFIX, TIMINGS, Rerank, asked_sha256
from runner.stages.rewriters import rule_rewriter
from runner.systems import SYSTEMS, spec_of
from runner.verification.context import CheckFailed, CheckSkipped, RunContext

EACH_ONCE = ("linear",)  # score each candidate once, without a call
ALL_AT_ONCE = ("llm-list", "llm-promote")  # make one call for all candidates, or use its cached reply
ROUNDING = 0.01  # seconds; rounding of time_seconds


def timings(context: RunContext) -> str:
    """Check that each system was timed in each scope with the edition's evenly spread questions."""
    times, run, pins = context.timings, context.run, context.edition.retrieval
    asked = list(dict.fromkeys(line["question"] for line in context.raw))
    every = spread(asked, pins.timed)
    again = spread(every, pins.timed_reranked)
    wanted = [
        (arm.name, scope.name, question)
        for arm in run.systems
        if not arm.failed
        for scope in run.scopes_of(arm)
        for question in (again if arm.name.endswith(SUFFIX) else every)
    ]
    found = [(one.arm, one.scope, one.question) for one in times]
    if sorted(found, key=_pair) != sorted(wanted, key=_pair):
        (arm, scope, _), *_ = ({*found} ^ {*wanted}) or found
        one, other = (sum(_pair(key) == (arm, scope) for key in some) for some in (found, wanted))
        raise CheckFailed(
            f"{TIMINGS} has {one:,} questions of {arm} in {scope}, and not the {other:,} that protocol "
            f"{context.edition.version} spreads over all"
        )
    total = sum(timing.seconds for timing in times if timing.arm == run.system)
    stage = run.resources.time_seconds if run.resources else 0.0
    if total > stage + ROUNDING:
        raise CheckFailed(f"the timings add up to {total:.2f} s, their stage took {stage:.2f} s")
    return f"{len(times):,} timings are of the questions that are spread over all"


def _pair(timed: tuple[str, str, str]) -> tuple[str, str]:
    return timed[:2]


def reranks(context: RunContext) -> str:
    """Check that every reranked answer has a line, the ids of its base, and plausible counts."""
    reranker = context.run.reranker
    if reranker is None:
        raise CheckSkipped("the run had no reranker")
    rows = {(row.question, row.arm, row.scope): [hit.id for hit in row.ranking] for row in context.rows}
    lines = {(one.question, one.arm, one.scope): one for one in context.reranks}
    if odd := {key for key in rows if key[1].endswith(SUFFIX)} ^ {*lines}:
        question, arm, scope = min(odd)
        raise CheckFailed(f"{RERANKS} and the raw rankings do not both have {question} by {arm} in {scope}")
    if reranker.depth > context.edition.retrieval.depth:
        return (
            f"{len(lines):,} reranked answers have their lines; their bases were asked for more than is kept"
        )
    joined = {scope.name for scope in SUITES[context.run.choice.suite].more_scopes}
    for key, one in lines.items():
        question, arm, scope = key
        base = arm.removesuffix(SUFFIX)
        if not _repeats(base):
            continue
        before = rows[question, base, scope]
        # If an id may occur in several projects, its copies are one hit, and all ranks are compared.
        first = 0 if one.failed else len(before) if scope in joined else reranker.depth
        fault = _moved(before, rows[key], first, base)
        if not fault and scope not in joined:
            fault = _miscounted(one, reranker.name, len(before[: reranker.depth]))
        if fault:
            raise CheckFailed(f"{RERANKS}, {arm}, {scope}, {question}: {fault}")
    return f"{len(lines):,} reranked answers have their lines, and the ids of their bases"


def _repeats(name: str) -> bool:
    """Return whether a system gives the same answers again: this project's systems do, a service may not."""
    return SystemName.of(name).system in SYSTEMS and not spec_of(name).own_embedder


def _moved(before: list[str], after: list[str], first: int, base: str) -> str:
    """Return how the first ranks differ in ids, or the later ranks in order; empty if they are equal."""
    if {*after[:first]} == {*before[:first]} and after[first:] == before[first:]:
        return ""
    strange = [one for one in after if one not in before]
    return f"{strange[0]} is none of the ids of {base}" if strange else f"ranks behind {first} have moved"


def _miscounted(one: Rerank, reranker: str, candidates: int) -> str:
    """Return how the counts contradict the number of judged candidates; empty if they agree."""
    found, judged = (one.calls, one.pairs, one.cached), candidates if candidates > 1 else 0
    if one.failed or not judged:
        right = found == (0, 0, 0)
    elif reranker in EACH_ONCE:
        right = found == (0, judged, 0)
    elif reranker in ALL_AT_ONCE:
        right = found in ((1, judged, 0), (0, 0, 1))
    else:  # each distinct text once, several texts per call
        right = one.pairs + one.cached > 0 and bool(one.calls) == bool(one.pairs) and one.calls <= one.pairs
    said = f"{one.calls} calls, {one.pairs} pairs, {one.cached} from the cache"
    return "" if right else f"{said} cannot be of {candidates} candidates"


def rewrites(context: RunContext) -> str:
    """Check that every asked question has a line; with the corpus, also that a rule gives the asked words."""
    identity, lines = context.run.rewriter, context.rewrites
    if identity is None:
        raise CheckSkipped("the run had no rewriter")
    asked = list(dict.fromkeys(line["question"] for line in context.raw))
    if [one.question for one in lines] != asked:
        raise CheckFailed(
            f"{REWRITES} is not of the questions of the raw rankings, each once and in their order"
        )
    said = f"{len(asked):,} questions have their line"
    if context.corpus is None:
        return said
    rule = rule_rewriter(identity)
    if rule is not None and rule.identity != identity:
        raise CheckFailed(
            f"the rewriter {identity.name} of run.json is {identity.revision}, here {rule.identity.revision}"
        )
    texts = {question.key: question.text for question in context.corpus.questions}
    for one in lines:
        text = texts[one.question]
        if one.changed == (one.asked_sha256 == asked_sha256(text)) or (one.changed and one.failed):
            raise CheckFailed(
                f"{REWRITES}, {one.question}: whether its words were changed is not as the line says"
            )
        if rule is not None and asked_sha256(rule.rewrite(text).text) != one.asked_sha256:
            raise CheckFailed(
                f"{REWRITES}, {one.question}: {identity.name} gives other words than were asked"
            )
    return f"{said}; the rewriter gives the words that were asked" if rule else said
