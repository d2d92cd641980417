"""Who says a lesson of one turn, and where in its project's conversation it stands (PROTOCOL.md §2.9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner.texts import Turn


def positions(sessions: Iterable[int], turns: bool = True) -> Iterator[Sequence[int | None]]:
    """The position of each lesson, session by session, of a project whose sessions have so many turns.

    From 1 on; within a session they differ by 1, and between two sessions a number is left out, so that no
    two neighbours are of different sessions. Where a lesson is a whole session (`turns` False) it has none.
    """
    start = 1
    for length in sessions:
        yield range(start, start + length) if turns else (None,)
        start += length + 1


def speaker(turn: Turn) -> str | None:
    """Who says a turn, without NUL, which no database takes; None where nobody is named."""
    return turn.speaker.replace("\0", "") or None
