"""Does every ranked id exist in the scope that was searched?"""

from __future__ import annotations

from runner.claims.verify.check import Wrong
from runner.claims.verify.checks.corpus import given
from runner.claims.verify.evidence import Evidence


def ranked(evidence: Evidence) -> str:
    """Within a project its own segments, over a pool all."""
    corpus = given(evidence)
    everything = {segment.id for segment in corpus.segments}
    projects: dict[str, set[str]] = {}
    for segment in corpus.segments:
        projects.setdefault(segment.project, set()).add(segment.id)
    pooled = {scope.name: scope.pooled for scope in corpus.scopes}
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
