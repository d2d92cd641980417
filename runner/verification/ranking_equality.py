"""The equality of two rankings, within the differences of honest machines.

Between two machines the last bits of a vector differ (order of sums, batches, threads, processor), by some
1e-7 of it. pgmnemo stores vectors in half precision, where such a difference sometimes moves a coordinate to
the next half-precision number: a cosine differs by up to 1.4e-5, and through weights and relevance from
neighbours every score by up to 2.8e-5 of the best score of its answer (docs/howto/verify.md, "The tolerance",
has the measurement). So the bounds are shares of the best score; a bound relative to each score would be too
narrow for a small score after a large one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.records import RankedSegment

SWAY = 5e-5  # largest difference of a score, as a share of the best score: below twice the measured maximum
HALF = 5.1e-5  # largest error of a component that is kept with four decimals
DIGITS = 5.1e-6  # largest relative error of a score that is kept with six digits

Ranking = Sequence[RankedSegment]


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The range from the smallest to the largest of some numbers."""

    low: float
    high: float

    @classmethod
    def of(cls, numbers: Iterator[float] | Sequence[float]) -> ValueRange:
        some = list(numbers)
        return cls(min(some), max(some))

    def near(self, other: ValueRange, by: float) -> bool:
        """Return whether the distance of the two ranges is at most `by`."""
        return self.low - by <= other.high and other.low - by <= self.high


def ranking_faults(recorded: Ranking, answers: Sequence[Ranking], *, cut: bool = True) -> Iterator[str]:
    """Yield the faults of a recorded ranking against the `answers` of honest machines, ours first.

    An id may have another rank if the score there ties its own within twice the bound, because both may have
    moved. An id that was not recalled is allowed only if the list is `cut` off and the rank ties the last
    rank. A score of exactly 0 cannot move, and must be in order.
    """
    alike = [answer for answer in answers if len(answer) == len(recorded)]
    if not alike:
        yield f"{len(recorded)} ranks stand there, and {len(answers[0])} were recalled"
        return
    if len({one.id for one in recorded}) < len(recorded):
        yield "an id stands there twice"
    judged = _Alternatives.of(alike, cut)
    for rank, one in enumerate(recorded):
        yield from judged.at(rank, one)


@dataclass(frozen=True, slots=True)
class _Alternatives:
    """Several answers of one length, and their hits by id."""

    answers: Sequence[Ranking]
    hits: dict[str, list[RankedSegment]]
    sway: float
    cut: bool

    @classmethod
    def of(cls, answers: Sequence[Ranking], cut: bool) -> _Alternatives:
        hits: dict[str, list[RankedSegment]] = {}
        for answer in answers:
            for hit in answer:
                hits.setdefault(hit.id, []).append(hit)
        best = max((abs(hit.score) for hit in answers[0] if hit.score is not None), default=0.0)
        return cls(answers, hits, SWAY * best, cut)

    def at(self, rank: int, one: RankedSegment) -> Iterator[str]:
        """Yield the faults of the hit at a rank, counted from 0."""
        there = [answer[rank] for answer in self.answers]
        place, own = _scores(there), _scores(self.hits.get(one.id, []))
        if one.id not in {hit.id for hit in there} and not self._tied(own, place):
            yield f"rank {rank + 1} is {one.id}, recalled is {there[0].id}"
        elif one.score is not None and not self._alike(one.score, own or self._last):
            yield f"the score of {one.id} is {one.score:g}, recalled is {_told(own)}"
        elif one.components and one.id in self.hits and not self._parts(one):
            parts = self.hits[one.id][0].components
            yield f"the components of {one.id} are {one.components}, recalled are {parts}"

    def _tied(self, own: ValueRange | None, place: ValueRange | None) -> bool:
        if place is None:
            return False
        if own is None:
            last = self._last
            return (
                self.cut and last is not None and last != ValueRange(0, 0) and last.near(place, 2 * self.sway)
            )
        return own.near(place, 2 * self.sway) and not own == place == ValueRange(0, 0)

    @property
    def _last(self) -> ValueRange | None:
        return _scores([answer[-1] for answer in self.answers])

    def _alike(self, score: float, span: ValueRange | None) -> bool:
        by = self.sway + DIGITS * abs(score)
        return span is not None and span.near(ValueRange(score, score), by)

    def _parts(self, one: RankedSegment) -> bool:
        """Return whether an answer has each component of a hit, and lacks each that the hit lacks."""
        found = self.hits[one.id]
        if any(len(hit.components) != len(one.components) for hit in found):
            return False
        for place, value in enumerate(one.components):
            numbers = [hit.components[place] for hit in found]
            there = [number for number in numbers if number is not None]
            if value is None or not there:
                if value is not None or len(there) == len(numbers):
                    return False
            elif not ValueRange.of(there).near(ValueRange(value, value), HALF + SWAY * self._greatest(place)):
                return False
        return True

    def _greatest(self, place: int) -> float:
        """Return the largest absolute value of a component in the first answer, but at least 1.

        1 is the maximum of cosines and shares.
        """
        return max(1.0, *(abs(hit.components[place] or 0) for hit in self.answers[0] if hit.components))


def _scores(hits: Sequence[RankedSegment]) -> ValueRange | None:
    """Return the range of the hits' scores; None if a hit has no score, or there is no hit."""
    scores = [hit.score for hit in hits if hit.score is not None]
    return ValueRange.of(scores) if scores and len(scores) == len(hits) else None


def _told(span: ValueRange | None) -> str:
    if span is None:
        return "none"
    return f"{span.low:g}" if span.low == span.high else f"from {span.low:g} to {span.high:g}"
