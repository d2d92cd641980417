"""Is the random arm what the seed draws? It needs no database, so it can be drawn again."""

from __future__ import annotations

from itertools import groupby

from runner.claims.verify.check import NotAsked, Wrong
from runner.claims.verify.checks.corpus import given
from runner.claims.verify.evidence import Evidence
from runner.systems import Asked, Inputs
from runner.systems.controls import RandomOrder


def chance(evidence: Evidence) -> str:
    """Every ranking of the arm, drawn anew."""
    corpus = given(evidence)
    arm = RandomOrder(Inputs(corpus, None, evidence.protocol.depth, evidence.run["seed"]))
    scopes = {scope.name: scope for scope in corpus.scopes}
    own = {question.key: Asked(place, question) for place, question in enumerate(corpus.questions)}
    rows = [row for row in evidence.rows if row.arm == arm.name]
    if not rows:
        raise NotAsked("the run has no random arm")
    for scope, group in groupby(rows, key=lambda row: row.scope):
        lines = list(group)
        answers = arm.answers([own[row.question] for row in lines], scopes[scope])
        for row, answer in zip(lines, answers, strict=True):
            if [hit.id for hit in row.ranking] != [hit.id for hit in answer.ranking]:
                raise Wrong(f"{scope}, {row.question}: seed {evidence.run['seed']} draws another order")
    return f"{len(rows):,} random rankings are those that seed {evidence.run['seed']} draws"
