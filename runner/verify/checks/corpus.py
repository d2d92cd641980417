"""With the corpus at hand: is it the one of the run, and are questions, gold, ids and chance its own?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from runner.bench.heading import passage_counts
from runner.bench.material import Asked, CorpusLessons, Material
from runner.bench.request import selected
from runner.gates import gates_of
from runner.records import Corpus, Json
from runner.systems.controls import RandomOrder
from runner.verify.check import NotAsked, Wrong
from runner.verify.checks.record import compare
from runner.verify.evidence import Evidence
from runner.verify.facts import facts


def given(evidence: Evidence) -> Corpus:
    """The corpus; NotAsked where none is at hand."""
    if evidence.corpus is None:
        raise NotAsked(evidence.lacking)
    return evidence.corpus


def corpus(evidence: Evidence) -> str:
    """Hash, counts, passages, scopes, and the gates that look at the corpus alone."""
    own, run = given(evidence), evidence.run
    pins = run.corpus
    if own.sha256 != pins.sha256:
        raise Wrong(f"{own.path} has sha256 {own.sha256[:12]}…, the corpus of the run {pins.sha256[:12]}…")
    counts = {
        "segments": (pins.segments, len(own.segments)),
        "questions": (pins.questions, len(own.questions)),
        "clustered": (pins.clustered, own.clustered),
        "shape": (dict(pins.shape), dict(own.shape)),
    }
    if run.passages is not None:
        parts = passage_counts(own)
        counts["passages"] = (run.passages.count, parts.count)
        counts["distinct passages"] = (run.passages.distinct, parts.distinct)
    for name, (recorded, value) in counts.items():
        if recorded != value:
            raise Wrong(f"run.json gives the corpus's {name} as {recorded}; they are {value}")
    if run.scopes != own.scopes:
        raise Wrong("the scopes of run.json are not those of the corpus")
    known = facts(evidence, own)
    of_corpus = [gate for gate in gates_of(evidence.edition, run.choice.ours) if gate.of_corpus]
    compare(run.gates, [gate(known) for gate in of_corpus])
    names = ", ".join(gate.name for gate in of_corpus)
    return f"sha256 {own.sha256[:12]}…, its counts and the gates {names}"


def questions(evidence: Evidence) -> str:
    """Every question that was to be asked, once, in the corpus's order, with type, project, scope size."""
    own = given(evidence)
    asked = [one.question for one in selected(evidence.run.choice, own, evidence.edition)]
    sizes, whole = own.project_sizes(), len(own.segments)
    pooled = {scope.name: scope.pooled for scope in own.scopes}
    for arm, scope, lines in _blocks(evidence):
        keys = [line["question"] for line in lines]
        if keys != [question.key for question in asked]:
            raise Wrong(f"{arm}, {scope}: {_difference(keys, [question.key for question in asked])}")
        for line, question in zip(lines, asked, strict=True):
            size = whole if pooled[scope] else sizes[question.project]
            seen = {"type": question.type, "project": question.project, "size": size}
            for name, value in seen.items():
                if line[name] != value:
                    raise Wrong(
                        f"{arm}, {scope}, {question.key}: {name} is {line[name]}, in the corpus {value}"
                    )
    return f"{len(asked):,} questions in each scope and arm, none missing and none doubled"


def _blocks(evidence: Evidence) -> Iterator[tuple[str, str, list[Json]]]:
    """(arm, scope, its raw lines) in the order of the file."""
    grouped: dict[tuple[str, str], list[Json]] = {}
    for line in evidence.raw:
        grouped.setdefault((line["arm"], line["scope"]), []).append(line)
    for (arm, scope), lines in grouped.items():
        yield arm, scope, lines


def _difference(found: list[str], wanted: list[str]) -> str:
    missing, strange = set(wanted) - set(found), set(found) - set(wanted)
    if missing:
        return f"{len(missing):,} questions are missing, among them {min(missing)}"
    if strange:
        return f"{min(strange)} is no question that was to be asked"
    return "a question stands there twice, or out of order"


def gold(evidence: Evidence) -> str:
    """The gold of every raw line is the corpus's own, so that no arm is judged by another gold."""
    own = {question.key: list(question.gold) for question in given(evidence).questions}
    for line in evidence.raw:
        if line["gold"] != own.get(line["question"]):
            raise Wrong(
                f"{line['arm']}, {line['scope']}, {line['question']}: the gold is {', '.join(line['gold'])}, "
                f"in the corpus {', '.join(own.get(line['question'], ['nothing']))}"
            )
    ids = {(line["question"], one) for line in evidence.raw for one in line["gold"]}
    return f"the gold of every line is the corpus's ({len(ids):,} segments)"


def ranked(evidence: Evidence) -> str:
    """Every ranked id exists in the scope that was searched: within a project its own, over a pool all."""
    own = given(evidence)
    everything = {segment.id for segment in own.heads}
    projects: dict[str, set[str]] = {}
    for segment in own.heads:
        projects.setdefault(segment.project, set()).add(segment.id)
    pooled = {scope.name: scope.pooled for scope in own.scopes}
    number = 0
    for row in evidence.rows:
        members = everything if pooled.get(row.scope) else projects.get(row.project, set())
        strange = [hit.id for hit in row.ranking if hit.id not in members]
        if strange:
            raise Wrong(
                f"{row.arm}, {row.scope}, {row.question}: there is no segment {strange[0]} to be found"
            )
        number += len(row.ranking)
    return f"{number:,} ranked ids exist in their scopes"


def chance(evidence: Evidence) -> str:
    """The random arm is what the seed draws: it needs no system, so it can be drawn again."""
    own, seed = given(evidence), evidence.run.seed
    rows = [row for row in evidence.rows if row.arm == "random"]
    if not rows:
        raise NotAsked("the run has no random arm")
    asked = {question.key: Asked(place, question) for place, question in enumerate(own.questions)}
    material = Material(own, None, tuple(asked.values()), CorpusLessons(own, None))
    arm = RandomOrder(seed, material.drawn_by)
    arm.load(material.lessons)
    scopes = {scope.name: scope for scope in own.scopes}
    for scope, group in groupby(rows, key=lambda row: row.scope):
        lines = list(group)
        queries = material.queries([asked[row.question] for row in lines], scopes[scope])
        for row, query in zip(lines, queries, strict=True):
            drawn = material.hits(arm.ask(query, evidence.edition.retrieval.depth))
            if [hit.id for hit in row.ranking] != [hit.id for hit in drawn]:
                raise Wrong(f"{scope}, {row.question}: seed {seed} draws another order")
    return f"{len(rows):,} random rankings are those that seed {seed} draws"
