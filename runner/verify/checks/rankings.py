"""Do figures and latencies follow from raw rankings and timings? Do these cover what run.json says?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from runner.bench.spread import spread
from runner.metrics.document import metrics_of
from runner.records import Json
from runner.runs.metrics import METRICS, TABLES, metrics_text
from runner.runs.reranks import SUFFIX
from runner.runs.run import CorpusPins
from runner.runs.timings import TIMINGS, latencies
from runner.suites import SUITES
from runner.verify.check import Wrong
from runner.verify.evidence import Evidence

SHARED = ("question", "type", "project", "size", "gold")  # what every arm must have seen alike in a scope
ROUNDING = 0.01  # seconds, of time_seconds


def raw(evidence: Evidence) -> str:
    """Each arm, scope and question once, with one gold; the first fault, if any."""
    for fault in _faults(evidence):
        raise Wrong(fault)
    pairs, lines = len(evidence.counts), len(evidence.raw)
    return f"{lines:,} lines: {lines // pairs:,} questions in each of {pairs} pairs of arm and scope"


def _faults(evidence: Evidence) -> Iterator[str]:
    run = evidence.run
    scopes = {scope.name: scope.pooled for scope in run.scopes}
    arms = [arm.name for arm in run.arms if not arm.failed]
    wanted = [(arm.name, one.name) for arm in run.arms if not arm.failed for one in run.scopes_of(arm)]
    if list(evidence.counts) != wanted:
        yield f"the arms and scopes are not {', '.join(arms)} in {', '.join(scopes)}, in this order"
        return
    size = len(evidence.raw) // len(wanted)
    if set(evidence.counts.values()) != {size}:
        yield "not every arm has a line for every question in every scope"
        return
    parts = {arm.name: arm.components for arm in run.arms}
    joined = {scope.name for scope in SUITES[run.choice.suite].more_scopes}  # copies are one hit there
    roles = (
        ("leg", "control") if run.choice.ours else ("control",)
    )  # another system may find less than there is
    whole = {arm.name for arm in run.arms if arm.role in roles} | ({arms[0]} if run.choice.ours else set())
    blocks = {pair: evidence.raw[at * size : (at + 1) * size] for at, pair in enumerate(wanted)}
    for (arm, scope), block in blocks.items():
        full = scope not in joined and arm in whole
        where = f"{arm}, {scope}"
        yield from _block(block, blocks[arms[0], scope], arm, scope)
        yield from _rankings(block, evidence.edition.retrieval.depth, full=full, where=where)
        yield from _parts(block, parts[arm], where=where)
    for scope, pooled in scopes.items():
        yield from _sizes(blocks[arms[0], scope], run.corpus, scope, pooled)
    yield from _counts(blocks[wanted[0]], evidence)


def _block(block: list[Json], first: list[Json], arm: str, scope: str) -> Iterator[str]:
    """The lines of one arm in one scope: the questions that the first arm answered, in the same order."""
    if any((line["arm"], line["scope"]) != (arm, scope) for line in block):
        yield f"the lines of {arm} in {scope} do not stand together"
    for line, other in zip(block, first, strict=True):
        if any(line[what] != other[what] for what in SHARED):
            yield f"{arm}, {scope}: {line['question']} is not what the first arm has there"
            return
    keys = Counter(line["question"] for line in block)
    if (twice := keys.most_common(1)[0])[1] > 1:
        yield f"{arm}, {scope}: {twice[0]} stands there twice"


def _rankings(block: list[Json], depth: int, full: bool, where: str) -> Iterator[str]:
    """Each id once, as many as the scope and the depth allow, best first."""
    for line in block:
        ids = [rank if isinstance(rank, str) else rank[0] for rank in line["ranking"]]
        most = min(depth, line["size"])
        if len(set(ids)) < len(ids) or len(ids) > most or (full and len(ids) < most):
            yield f"{where}, {line['question']}: {len(set(ids))} ids in {len(ids)} ranks, not {most}"
        if line["gold"] != sorted(set(line["gold"])):
            yield f"{where}, {line['question']}: the gold is not sorted, each id once"
        scores = [rank[1] for rank in line["ranking"] if isinstance(rank, list)]
        if any(one < other for one, other in pairwise(scores)):
            yield f"{where}, {line['question']}: the scores do not fall with the ranks"


def _parts(block: list[Json], components: tuple[str, ...], where: str) -> Iterator[str]:
    """Where a rank has components, it has those that run.json names."""
    for line in block:
        parts = [rank[2] for rank in line["ranking"] if isinstance(rank, list) and rank[2:]]
        if any(len(scores) != len(components) for scores in parts):
            yield f"{where}, {line['question']}: a rank has not the components that run.json names"
            return


def _sizes(block: list[Json], corpus: CorpusPins, scope: str, pooled: bool) -> Iterator[str]:
    """A pool holds every segment; the projects together hold no more."""
    sizes: dict[str, int] = {}
    for line in block:
        if pooled and line["size"] != corpus.segments:
            yield f"{scope}, {line['question']}: {line['size']} is not the size of the pool"
        if sizes.setdefault(line["project"], line["size"]) != line["size"]:
            yield f"{scope}: the project {line['project']} has two sizes"
    if not pooled and sum(sizes.values()) > corpus.segments:
        yield f"{scope}: the projects have {sum(sizes.values()):,} segments, more than the corpus"


def _counts(block: list[Json], evidence: Evidence) -> Iterator[str]:
    """No more questions of a type than the corpus has, and all of them unless fewer were asked for."""
    shape, choice = evidence.run.corpus.shape, evidence.run.choice
    for kind, number in Counter(line["type"] for line in block).items():
        if number > shape.get(kind, 0):
            yield f"{number:,} questions of the type {kind} are more than the corpus has"
        if choice.types and kind not in choice.types:
            yield f"questions of the type {kind} were not asked for"
    answerable = shape.get("answerable", shape["scored"])
    asked = min(answerable, choice.limit or answerable)
    some = bool(choice.types or choice.split)  # how many have gold, the corpus alone says
    if len(block) != asked and (not some or len(block) > asked):
        yield f"{len(block):,} questions were asked, and not {asked:,}"


def metrics(evidence: Evidence) -> str:
    """Every figure of metrics.json, computed anew by the metric code of the run's edition. (§4)"""
    found, edition = evidence.metrics, evidence.edition
    if (code := found["metric_code"]) != edition.metrics.code:
        raise Wrong(
            f"{METRICS} names metric code {code}; that of protocol {edition.version} is "
            f"{edition.metrics.code}"
        )
    wanted = metrics_of(evidence.run, list(evidence.detailed()))
    if evidence.text(METRICS) != metrics_text(wanted):
        raise Wrong(_difference(found, wanted))
    figures = len(found["results"]) + len(found["differences"])
    return f"{figures:,} figures and their intervals follow from the raw rankings (metric code {code})"


def _difference(found: Json, wanted: Json) -> str:
    """The first thing that is not as computed."""
    for name, value in wanted.items():
        if name in TABLES and (row := _row(found[name], value)):
            return f"{METRICS}, {name}: {row}"
        if found[name] != value:
            return f"{METRICS}: {name} is not what run.json and the metric code say"
    return f"{METRICS} holds what was computed, but in another form"


def _row(found: Sequence[Json], wanted: Sequence[Json]) -> str | None:
    for one, other in zip_longest(found, wanted):
        if one is None or other is None:
            return f"{len(found):,} rows, and not {len(wanted):,}"
        for name, value in other.items():
            if one[name] != value:
                texts = [text for text in other.values() if isinstance(text, str)]
                return f"{', '.join(texts)}: {name} is {one[name]}, the raw rankings give {value}"
    return None


def timings(evidence: Evidence) -> str:
    """Percentiles are computed anew; each system was timed by the questions that the edition spreads."""
    times, run = evidence.timings, evidence.run
    if run.latency != latencies(times, evidence.edition.retrieval.timed_k):
        raise Wrong(f"the latencies of run.json are not the percentiles of {TIMINGS}")
    found: dict[tuple[str, str], list[str]] = {}
    for timing in times:
        found.setdefault((timing.arm, timing.scope), []).append(timing.question)
    wanted = _timed(evidence)
    for arm, scope in dict.fromkeys([*wanted, *found]):
        one, other = found.get((arm, scope), []), wanted.get((arm, scope), [])
        if one != other:
            raise Wrong(
                f"{TIMINGS} has {len(one):,} questions of {arm} in {scope}, and not the {len(other):,} that "
                f"protocol {evidence.edition.version} spreads over all"
            )
    total = sum(timing.seconds for timing in times if timing.arm == run.system)
    stage = run.resources.time_seconds if run.resources else 0.0
    if total > stage + ROUNDING:
        raise Wrong(f"the timings add up to {total:.2f} s, their stage took {stage:.2f} s")
    return f"p50 and p95 follow from {len(times):,} timings"


def _timed(evidence: Evidence) -> dict[tuple[str, str], list[str]]:
    """The questions by which each system that answered is timed in each scope, in their order."""
    run, pins = evidence.run, evidence.edition.retrieval
    asked = [line["question"] for line in evidence.raw[: len(evidence.raw) // max(1, len(evidence.counts))]]
    every = spread(asked, pins.timed)
    again = spread(every, pins.timed_reranked)
    return {
        (arm.name, scope.name): list(again if arm.name.endswith(SUFFIX) else every)
        for arm in run.systems
        if not arm.failed
        for scope in run.scopes_of(arm)
    }
