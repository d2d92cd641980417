"""Is every question of the corpus there that was to be asked, once, as the corpus has it?"""

from __future__ import annotations

from collections.abc import Iterator

from runner.claims.verify.check import Wrong
from runner.claims.verify.checks.corpus import given
from runner.claims.verify.evidence import Evidence
from runner.records import Json


def questions(evidence: Evidence) -> str:
    """Keys in the corpus's order, with type, project and the size of the scope."""
    corpus = given(evidence)
    asked = [question for _, question in evidence.request.selected(corpus)]
    sizes, whole = corpus.project_sizes(), len(corpus.segments)
    pooled = {scope.name: scope.pooled for scope in corpus.scopes}
    for arm, scope, lines in blocks(evidence):
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


def blocks(evidence: Evidence) -> Iterator[tuple[str, str, list[Json]]]:
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
