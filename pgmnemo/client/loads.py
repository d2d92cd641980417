"""When the lessons that sets store in a folder are indexed: a folder has no scheduler that does it."""

from __future__ import annotations

from dataclasses import dataclass

MANY = 1000  # lessons
SHARE = 8  # an eighth of all that this memory stored may wait


@dataclass(slots=True)
class Load:
    """The number of lessons that sets stored for a tenant: in all, and since they were last indexed."""

    stored: int = 0
    waiting: int = 0

    def add(self, lessons: int) -> None:
        """Count lessons that a set has stored."""
        self.stored += lessons
        self.waiting += lessons

    def is_due(self, *, closing: bool = False) -> bool:
        """Return whether so many wait that they are indexed now, or before the memory closes."""
        return self.waiting >= (MANY if closing else max(MANY, self.stored // SHARE))
