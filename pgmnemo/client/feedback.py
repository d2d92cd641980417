"""Feedback on a lesson: it was used, or it was wrong; and what follows for its importance.

The counts are in the lesson's metadata, under a reserved key, with the importance before any feedback. The
importance is computed from them, so that taking feedback back restores it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pgmnemo.client.records import Feedback, Lesson
from pgmnemo.errors import UsageError

KEY = "pgmnemo_feedback"
USES = 3  # uses that raise the importance by 1
LEAST, MOST = 1, 5  # importance


@dataclass(frozen=True, slots=True)
class FeedbackCounts:
    """How often a lesson was used and was wrong, and its importance before that."""

    used: int
    wrong: int
    importance: int

    @classmethod
    def of(cls, lesson: Lesson) -> FeedbackCounts:
        """Return the counts of a lesson, from an importance that was set by hand since, if it was."""
        told = lesson.metadata.get(KEY)
        used, wrong = (max(0, _whole(told, name)) for name in ("used", "wrong"))
        found = cls(used, wrong, _whole(told, "importance"))
        if found.effect() == lesson.importance:
            return found
        return replace(found, importance=lesson.importance - used // USES + wrong)

    def effect(self) -> int:
        """Return the importance: 1 more for each USES uses, 1 less for each time it was wrong."""
        return min(MOST, max(LEAST, self.importance + self.used // USES - self.wrong))


def counted(lesson: Lesson, name: str, undo: bool) -> tuple[Feedback, dict[str, Mapping[str, Any]]]:
    """Return the feedback after one more, or with `undo` one less, and the `patch` or `metadata` for it."""
    before = FeedbackCounts.of(lesson)
    number = getattr(before, name) + (-1 if undo else 1)
    if number < 0:
        raise UsageError(f"{lesson.key!r} was not said to be {name}, so there is nothing to undo")
    after = replace(before, **{name: number})
    answer = Feedback(lesson.key, after.effect(), after.used, after.wrong)
    if after.used or after.wrong:
        return answer, {"patch": {KEY: asdict(after)}}
    return answer, {"metadata": {name: value for name, value in lesson.metadata.items() if name != KEY}}


def _whole(told: Any, name: str) -> int:
    value = told.get(name) if isinstance(told, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
