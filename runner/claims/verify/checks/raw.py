"""Do the raw rankings cover what run.json says: each arm, scope and question once, with one gold?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence
from runner.records import Json

SHARED = ("question", "type", "project", "size", "gold")  # what every arm must have seen alike in a scope


def raw(evidence: Evidence) -> str:
    """The first fault, if any."""
    for fault in _faults(evidence):
        raise Wrong(fault)
    pairs, lines = len(evidence.counts), len(evidence.raw)
    return f"{lines:,} lines: {lines // pairs:,} questions in each of {pairs} pairs of arm and scope"


def _faults(evidence: Evidence) -> Iterator[str]:
    run = evidence.run
    scopes = {scope["name"]: scope["pooled"] for scope in run["scopes"]}
    arms = [arm["name"] for arm in run["arms"]]
    wanted = [(arm, scope) for arm in arms for scope in scopes]
    if list(evidence.counts) != wanted:
        yield f"the arms and scopes are not {', '.join(arms)} in {', '.join(scopes)}, in this order"
        return
    size = len(evidence.raw) // len(wanted)
    if set(evidence.counts.values()) != {size}:
        yield "not every arm has a line for every question in every scope"
        return
    blocks = {pair: evidence.raw[at * size : (at + 1) * size] for at, pair in enumerate(wanted)}
    for (arm, scope), block in blocks.items():
        yield from _block(block, blocks[arms[0], scope], arm, scope)
        yield from _rankings(block, evidence.protocol.depth, full=arm == arms[0], where=f"{arm}, {scope}")
        yield from _parts(block, tuple(run["components"]), where=f"{arm}, {scope}")
    for scope, pooled in scopes.items():
        yield from _sizes(blocks[arms[0], scope], run["corpus"], scope, pooled)
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
        if any(
            len(rank[2]) != len(components) for rank in line["ranking"] if isinstance(rank, list) and rank[2:]
        ):
            yield f"{where}, {line['question']}: a rank has not the components {', '.join(components)}"
            return


def _sizes(block: list[Json], corpus: Json, scope: str, pooled: bool) -> Iterator[str]:
    """A pool holds every segment; the projects together hold no more."""
    sizes: dict[str, int] = {}
    for line in block:
        if pooled and line["size"] != corpus["segments"]:
            yield f"{scope}, {line['question']}: {line['size']} is not the size of the pool"
        if sizes.setdefault(line["project"], line["size"]) != line["size"]:
            yield f"{scope}: the project {line['project']} has two sizes"
    if not pooled and sum(sizes.values()) > corpus["segments"]:
        yield f"{scope}: the projects have {sum(sizes.values()):,} segments, more than the corpus"


def _counts(block: list[Json], evidence: Evidence) -> Iterator[str]:
    """No more questions of a type than the corpus has, and all of them unless fewer were asked for."""
    shape, options = evidence.run["corpus"]["shape"], evidence.run["options"]
    for kind, number in Counter(line["type"] for line in block).items():
        if kind not in evidence.request.suite_parts.types or number > shape.get(kind, number):
            yield f"{number:,} questions of the type {kind} are more than the corpus has"
        if options["types"] and kind not in options["types"]:
            yield f"questions of the type {kind} were not asked for"
    asked = min(shape["scored"], options["limit"] or shape["scored"])
    if len(block) != asked and (not options["types"] or len(block) > asked):
        yield f"{len(block):,} questions were asked, and not {asked:,}"
