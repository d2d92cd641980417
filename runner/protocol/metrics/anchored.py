"""On which questions an anchor of time acted: they name a time, and find what is dated near it (§4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner.records import Json, Retrieval, SearchScope
from runner.runs.run import Run

TEMPORAL = "temporal"  # the component that an anchor adds, of pgmnemo as of a strategy


def anchored(run: Run, rows: Iterable[Retrieval]) -> Iterator[Json]:
    """One row for each system with an anchor and each scope where it answers: asked, and acted on.

    Acted on: among the ranks whose components the raw file holds, the first ten, is a lesson to which the
    time that the question names adds something.
    """
    places = {
        arm.name: arm.components.index(TEMPORAL)
        for arm in run.systems
        if TEMPORAL in arm.components and not arm.failed
    }
    found: dict[tuple[str, str], list[Retrieval]] = {}
    for row in rows:
        if row.arm in places:
            found.setdefault((row.arm, row.scope), []).append(row)
    for arm in run.systems:
        if arm.name in places:
            for scope in run.scopes_of(arm):
                yield _row(arm.name, scope, found.get((arm.name, scope.name), ()), places[arm.name])


def _row(arm: str, scope: SearchScope, rows: Sequence[Retrieval], place: int) -> Json:
    acted = [row.question for row in rows if _acts(row, place)]
    return {"arm": arm, "scope": scope.name, "n": len(rows), "questions": acted}


def _acts(row: Retrieval, place: int) -> bool:
    return any(hit.components and hit.components[place] for hit in row.ranking)
