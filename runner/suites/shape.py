"""The counts of a corpus, which the shape gate compares with the protocol's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner.records import Question, Segment, Shelved


def counted(
    segments: Sequence[Segment], questions: Sequence[Question], types: Sequence[str], **more: int
) -> dict[str, int]:
    """projects, segments, questions, scored, `more`, and the number of questions of each type.

    `answerable` besides, where not every scored question has a gold segment: the others are not asked.
    """
    heads = segments.heads() if isinstance(segments, Shelved) else segments
    scored = sum(question.scored for question in questions)
    answerable = sum(bool(question.gold) for question in questions)
    by_type = Counter(question.type for question in questions)
    return {
        "projects": len({segment.project for segment in heads}),
        "segments": len(segments),
        "questions": len(questions),
        "scored": scored,
        **({"answerable": answerable} if answerable < scored else {}),
        **more,
        **{name: by_type[name] for name in types},
    }
