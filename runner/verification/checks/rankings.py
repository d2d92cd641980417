"""Checks of the raw rows: each is of a planned question, and the figures follow from them.

Everything in a row besides its ranking is derived again, from the first arm or from the corpus, and compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from runner.bench.request import selected
from runner.bench.workload import CorpusLessons, IndexedQuestion, Workload
from runner.protocol.datasets import SUITES
from runner.protocol.lengths import TextLengths
from runner.protocol.metrics.document import metrics_of
from runner.records import Json
from runner.runs.run import METRICS, metrics_text
from runner.systems.controls import CONTROLS, controls_among, new_control
from runner.verification.checks.scores import ids
from runner.verification.context import CheckFailed, CheckSkipped, RunContext, first_difference

SHARED = ("question", "type", "project", "size", "gold")  # fields that are equal for every arm in a scope
AGAIN = controls_among(CONTROLS, vectors=False)
Blocks = Mapping[tuple[str, str], Sequence[Json]]  # lines by arm and scope


def raw(context: RunContext) -> str:
    """Check that each arm answered the first arm's questions in every scope, once, in order, with a valid
    ranking.
    """
    blocks = _blocks(context)
    for fault in _faults(context, blocks):
        raise CheckFailed(fault)
    lines = len(context.raw)
    return (
        f"{lines:,} lines: {lines // len(blocks):,} questions in each of {len(blocks)} pairs of arm and scope"
    )


def _blocks(context: RunContext) -> Blocks:
    pair = lambda line: (line["arm"], line["scope"])  # noqa: E731  a key, in one place
    return {key: list(lines) for key, lines in groupby(context.raw, key=pair)}


def _faults(context: RunContext, blocks: Blocks) -> Iterator[str]:
    run = context.run
    arms = [arm for arm in run.arms if not arm.failed]
    wanted = [(arm.name, scope.name) for arm in arms for scope in run.scopes_of(arm)]
    if list(blocks) != wanted or sum(map(len, blocks.values())) != len(context.raw):
        names, scopes = (", ".join(one.name for one in some) for some in (arms, run.scopes))
        yield f"the arms and scopes are not {names} in {scopes}, in this order"
        return
    first = {scope: lines for (arm, scope), lines in blocks.items() if arm == arms[0].name}
    yield from _unlike(blocks, first, "the first arm has")
    joined = {
        scope.name for scope in SUITES[run.choice.suite].more_scopes
    }  # there, copies of a lesson are one hit
    for arm in arms:
        # a system other than pgmnemo may find fewer lessons than exist
        full = arm.role == "control" or (run.choice.ours and (arm.role == "leg" or arm is arms[0]))
        for scope in run.scopes_of(arm):
            counted = bool(run.edition.metrics.budgets) and arm.role == "system" and not scope.pooled
            for line in blocks[arm.name, scope.name]:
                fault = _ranking(line, context, full and scope.name not in joined, len(arm.components))
                if fault := fault or _lengths(line, counted):
                    yield f"{arm.name}, {scope.name}, {line['question']}: {fault}"
    for scope in run.scopes:
        yield from _sizes(first[scope.name], run.corpus.segments, scope.name, scope.pooled)
    yield from _counts(first[run.scopes[0].name], context)


def _unlike(blocks: Blocks, wanted: Mapping[str, Sequence[Json]], whose: str) -> Iterator[str]:
    """Yield how the rows of a block differ from the expected rows of its scope, rankings aside."""
    for (arm, scope), lines in blocks.items():
        found, known = ([line["question"] for line in some] for some in (lines, wanted[scope]))
        missing, strange = {*known} - {*found}, {*found} - {*known}
        if missing:
            yield f"{arm}, {scope}: {len(missing):,} questions are missing, among them {min(missing)}"
        elif strange:
            yield f"{arm}, {scope}: {min(strange)} is no question that was to be asked"
        elif found != known or len({*found}) < len(found):
            yield f"{arm}, {scope}: a question stands there twice, or out of order"
        else:
            for line, other in zip(lines, wanted[scope], strict=True):
                for what in SHARED:
                    if line[what] != other[what]:
                        place = f"{arm}, {scope}, {line['question']}"
                        yield f"{place}: {what} is {_words(line[what])}, {whose} {_words(other[what])}"


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _ranking(line: Json, context: RunContext, full: bool, parts: int) -> str:
    """Return the fault of a ranking; empty if each id occurs once, best first, as many as possible."""
    ranked, most = ids(line), min(context.edition.retrieval.depth, line["size"])
    if len({*ranked}) < len(ranked) or len(ranked) > most or (full and len(ranked) < most):
        return f"{len({*ranked})} ids in {len(ranked)} ranks, not {most}"
    if line["gold"] != sorted({*line["gold"]}):
        return "the gold is not sorted, each id once"
    ranks = [rank for rank in line["ranking"] if isinstance(rank, list)]
    if any(one[1] < other[1] for one, other in pairwise(ranks)):
        return "the scores do not fall with the ranks"
    if any(len(rank[2]) != parts for rank in ranks if rank[2:]):
        return "a rank has not the components that run.json names"
    return ""


def _lengths(line: Json, counted: bool) -> str:
    """Return the fault of a line's lengths; empty if there is one for each id, or none where none is due."""
    for what, ranked in (("gold_tokens", line["gold"]), ("tokens", line["ranking"])):
        if (what in line) != counted:
            return f"{what} is {'missing' if counted else 'there, and nothing is counted in this row'}"
        if counted and len(line[what]) != len(ranked):
            return f"{what} has {len(line[what])} lengths for {len(ranked)} ids"
    return ""


def _sizes(block: Sequence[Json], segments: int, scope: str, pooled: bool) -> Iterator[str]:
    """Yield the faults of a scope's sizes: a pool has every segment, the projects together at most as
    many.
    """
    sizes: dict[str, int] = {}
    for line in block:
        if pooled and line["size"] != segments:
            yield f"{scope}, {line['question']}: {line['size']} is not the size of the pool"
        if sizes.setdefault(line["project"], line["size"]) != line["size"]:
            yield f"{scope}: the project {line['project']} has two sizes"
    if not pooled and sum(sizes.values()) > segments:
        yield f"{scope}: the projects have {sum(sizes.values()):,} segments, more than the corpus"


def _counts(block: Sequence[Json], context: RunContext) -> Iterator[str]:
    """Yield the faults of the counts of questions by type, and of all questions."""
    shape, choice = context.run.corpus.shape, context.run.choice
    for kind, number in Counter(line["type"] for line in block).items():
        if number > shape.get(kind, 0):
            yield f"{number:,} questions of the type {kind} are more than the corpus has"
        if choice.types and kind not in choice.types:
            yield f"questions of the type {kind} were not asked for"
    answerable = shape.get("answerable", shape["scored"])
    asked = min(answerable, choice.limit or answerable)
    some = bool(choice.types or choice.split)  # then only the corpus shows how many have gold
    if len(block) != asked and (not some or len(block) > asked):
        yield f"{len(block):,} questions were asked, and not {asked:,}"


def questions(context: RunContext) -> str:
    """Check with the corpus that every row is of a planned question, with its type, project and gold."""
    own, run = context.require_corpus, context.run
    asked = [one.question for one in selected(run.choice, own, context.edition)]
    sizes, whole = own.project_sizes(), len(own.segments)
    wanted = {
        scope.name: [
            {
                "question": one.key,
                "type": one.type,
                "project": one.project,
                "size": whole if scope.pooled else sizes[one.project],
                "gold": list(one.gold),
            }
            for one in asked
        ]
        for scope in own.scopes
    }
    for fault in _unlike(_blocks(context), wanted, "in the corpus"):
        raise CheckFailed(fault)
    return f"{len(asked):,} questions in each scope and arm, none missing, each with the corpus's own gold"


def ranked(context: RunContext) -> str:
    """Check with the corpus that every ranked id exists in the searched scope, and every counted length."""
    own = context.require_corpus
    projects: dict[str, set[str]] = {}
    for segment in own.heads:
        projects.setdefault(segment.project, set()).add(segment.id)
    everything = {segment.id for segment in own.heads}
    pooled = {scope.name: scope.pooled for scope in own.scopes}
    number, lengths = 0, TextLengths(own)
    for line in context.raw:
        members = everything if pooled.get(line["scope"]) else projects.get(line["project"], set())
        if strange := [one for one in ids(line) if one not in members]:
            place = f"{line['arm']}, {line['scope']}, {line['question']}"
            raise CheckFailed(f"{place}: there is no segment {strange[0]} to be found")
        for what, some in (("gold_tokens", line["gold"]), ("tokens", ids(line))):
            if what in line and tuple(line[what]) != lengths.of(line["project"], some):
                place = f"{line['arm']}, {line['scope']}, {line['question']}"
                raise CheckFailed(f"{place}: {what} are not the lengths of the corpus's texts")
        number += len(line["ranking"])
    return f"{number:,} ranked ids exist in their scopes"


def controls(context: RunContext) -> str:
    """Check the random arm and plain-bm25 with the corpus, by ranking again without a system or vectors."""
    there = [name for name in AGAIN if name in context.by_arm]
    if not there:
        raise CheckSkipped("the run has none of the arms " + ", ".join(AGAIN))
    own = context.require_corpus
    asked = {question.key: IndexedQuestion(place, question) for place, question in enumerate(own.questions)}
    workload = Workload(own, None, tuple(asked.values()), CorpusLessons(own, None))
    for name in there:
        _demand_same(context, name, workload, asked)
    return f"{sum(len(context.by_arm[name]) for name in there):,} rankings are made again: {', '.join(there)}"


def _demand_same(
    context: RunContext, name: str, workload: Workload, asked: Mapping[str, IndexedQuestion]
) -> None:
    """Raise CheckFailed if the control `name` ranks differently now."""
    arm = new_control(name, context.run.seed, workload.drawn_by)
    arm.load(workload.lessons)
    scopes = {scope.name: scope for scope in workload.corpus.scopes}
    for scope, group in groupby(context.by_arm[name], key=lambda line: str(line["scope"])):
        lines = list(group)
        queries = workload.queries([asked[line["question"]] for line in lines], scopes[scope])
        for line, query in zip(lines, queries, strict=True):
            again = workload.hits(arm.ask(query, context.edition.retrieval.depth))
            if ids(line) != [hit.id for hit in again]:
                raise CheckFailed(f"{name}, {scope}, {line['question']}: made again, its order is another")


def metrics(context: RunContext) -> str:
    """Check that metrics.json equals a new computation from the raw rankings and run.json. (§4)"""
    wanted = metrics_of(context.run, list(context.detailed()))
    if context.text(METRICS) != metrics_text(wanted):
        fault = first_difference(context.metrics, wanted)
        raise CheckFailed(f"{METRICS}: {fault or 'what was computed stands there in another form'}")
    figures = len(wanted["results"]) + len(wanted["differences"])
    return f"{figures:,} figures and their intervals are made again by metric code {wanted['metric_code']}"
