"""A value as it is printed, and whether it is one of the artefacts."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Number:
    """A value as it is printed. `shown` is the number, `percent` whether it is in percent, `decimals` its
    decimals; `change` marks a difference and `sign` the one it bears, `bound` is `>` or `<` where only a
    bound is stated, `missed` marks the questions that are not found, `hits` and `of` a count of questions."""

    start: int
    end: int
    shown: float
    percent: bool
    decimals: int
    change: bool = False
    sign: int = 0
    bound: str = ""
    interval: tuple[float, float] | None = None
    half: float | None = None
    until: float | None = None
    moved: bool = False  # one end of "from … to …"
    paired: bool = False  # one of "98.5 % for 98.4 %"
    bare: bool = False  # above 1 and without a unit
    about: bool = False
    missed: bool = False
    perhaps: bool = False  # missed in the clause before, so that both can be meant
    hits: int | None = None
    of: int | None = None

    @property
    def step(self) -> float:
        """Half of the last digit that is shown; a whole one where the number is said to be about right."""
        return float((1.0 if self.about else 0.5) * 10**-self.decimals + 1e-9)

    def agrees(self, value: float, n: int | None = None) -> bool:
        """Whether `value`, a fraction over `n` questions, is this number after the rounding that it shows."""
        if self.perhaps and replace(self, perhaps=False, missed=not self.missed).agrees(value, n):
            return True
        value = 1 - value if self.missed else value
        if self.hits is not None:
            return self._counts(value, n)
        return self.near(value * (100 if self.percent else 1))

    def near(self, scaled: float) -> bool:
        """Whether `scaled`, in the number's own unit, is what is shown: a value, a bound or a range."""
        if self.bound:
            slack = min(self.step, 0.05 if self.percent else 0.0005)
            return scaled > self.shown - slack if self.bound == ">" else scaled < self.shown + slack
        if self.until is not None:
            return self.shown - self.step <= scaled <= self.until + self.step
        return abs(scaled - self.shown) <= self.step

    def _counts(self, value: float, n: int | None) -> bool:
        total = self.of if n is None else n
        if total is None or (self.of is not None and n is not None and self.of != n):
            return False
        if self.bound or self.about:
            step = max(1.0, 0.02 * total) if self.about else 0.5
            low = self.bound == ">" and value * total >= (self.hits or 0) - 0.5
            high = self.bound == "<" and value * total <= (self.hits or 0) + 0.5
            return low or high or (not self.bound and abs(value * total - (self.hits or 0)) <= step)
        return abs(value * total - (self.hits or 0)) < 0.5

    def interval_agrees(self, low: float, high: float) -> bool:
        """Whether an interval that stands behind the number is [low, high], rounded like it."""
        if self.missed:
            low, high = 1 - high, 1 - low
        unit = 100 if self.percent else 1
        if self.half is not None:
            middle = self.shown / unit
            sides = sorted((middle - low, high - middle))
            return sides[0] * unit - 2 * self.step <= self.half <= sides[1] * unit + 2 * self.step
        if self.interval is None:
            return True
        large = max(map(abs, self.interval)) > 1 or (self.percent and (self.change or self.shown > 1))
        scale = 100 if large else 1
        step = 0.5 * 10 ** -(self.decimals if scale == unit else 3) + 1e-9
        return all(
            abs(shown - exact * scale) <= step
            for shown, exact in zip(self.interval, (low, high), strict=True)
        )
