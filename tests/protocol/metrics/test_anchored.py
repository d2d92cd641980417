"""On which questions a time acted follows from the components of the first ten ranks alone."""

from __future__ import annotations

from collections.abc import Callable

from runner.protocol.metrics.document import anchor_rows
from runner.records import RankedSegment, Retrieval, SearchScope
from runner.runs.run import Arm, Run

SCOPES = (SearchScope("haystack"), SearchScope("pool", pooled=True))
PARTS = ("cosine", "temporal")


def _row(question: str, arm: str, scope: str, *parts: tuple[float | None, ...]) -> Retrieval:
    hits = (RankedSegment(str(place), 1.0, part) for place, part in enumerate(parts))
    return Retrieval(question, "t", arm, scope, "p", 5, ("0",), tuple(hits))


def test_a_question_is_listed_where_a_shown_rank_has_a_part_from_its_time(record: Callable[..., Run]) -> None:
    ours = Arm("pgmnemo", "", "system", components=PARTS)
    beside = Arm("convex", "", "system", components=("temporal", "vector"))
    other = Arm("chroma", "", "system", components=("cosine",))
    broken = Arm("rrf", "", "system", components=PARTS, failed="it died")
    leg = Arm("keyword", "", "leg", components=PARTS)
    run = record(
        arms=(ours, beside, other, broken, leg), scopes=SCOPES, choice={"baseline_scopes": "headline"}
    )
    rows = [
        _row("q1", "pgmnemo", "haystack", (0.9, 0.0), (0.1, 0.25)),
        _row("q2", "pgmnemo", "haystack", (0.9, 0.0), (0.1, None)),  # a part that is not known is none
        _row("q3", "pgmnemo", "haystack", (0.9, 1.0), ()),
        _row("q1", "pgmnemo", "pool", (0.9, 0.0), ()),  # what lies after the first ten shows nothing
        _row("q1", "convex", "haystack", (0.0, 0.5)),
        _row("q2", "convex", "haystack", (0.2, 0.5)),
        _row("q1", "chroma", "haystack", (0.4,)),
        _row("q1", "keyword", "haystack", (0.9, 0.3)),
    ]
    assert list(anchor_rows(run, rows)) == [
        {"arm": "pgmnemo", "scope": "haystack", "n": 3, "questions": ["q1", "q3"]},
        {"arm": "pgmnemo", "scope": "pool", "n": 1, "questions": []},
        {"arm": "convex", "scope": "haystack", "n": 2, "questions": ["q2"]},
    ]
