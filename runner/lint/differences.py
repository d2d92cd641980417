"""Whether a difference that is stated is that of the artefacts: its pair, its sign and its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner.cite.results import Cited
from runner.lint.artefacts import Row, Shelf
from runner.lint.compared import Compared, compared
from runner.lint.context import Context
from runner.lint.facets import defaults
from runner.lint.figures import Figure
from runner.lint.pairs import differences
from runner.lint.readings import Reading, read


def wrong_difference(
    figure: Figure, key: str, around: Context, runs: Sequence[Cited], shelf: Shelf
) -> str | None:
    """What is wrong with a difference, as a sentence; None where it is that of the artefacts."""
    reading = read(figure, around, runs, shelf)
    said = _in_table(figure, reading) if figure.header else compared(figure, runs, shelf)
    pairs = list(differences(reading, key, said, runs, shelf))
    if not pairs:
        return None  # the pair cannot be found in what is at hand: unread
    fitting = [pair for pair in pairs if _fits(figure, pair[0], said.sign)]
    if not fitting:
        names = ", ".join(dict.fromkeys(str(run.run.name) for run in runs))
        told = " or ".join(dict.fromkeys(f"{value:+.4f}" for value, _ in pairs[:4]))
        return (
            f"no such difference in {key} stands in {names}, or between the runs that are named: it is {told}"
        )
    rows_with = [row for _, row in fitting if row is not None]
    number = figure.number
    if number.interval is not None and rows_with and not any(_interval(figure, row) for row in rows_with):
        row = rows_with[0]
        return f"the interval of the difference in {key} is [{row['ci95_low']:.3f}, {row['ci95_high']:.3f}]"
    return None


def _interval(figure: Figure, row: Row) -> bool:
    low, high = row["ci95_low"], row["ci95_high"]
    numbers = (figure.number, replace(figure.number, percent=True))
    return any(n.interval_agrees(low, high) or n.interval_agrees(-high, -low) for n in numbers)


def _in_table(figure: Figure, reading: Reading) -> Compared:
    """A row of differences: of the system under test minus the row's arm, or of arms that both are named."""
    arms = [arm for arm in reading.wanted["arm"] if arm]
    known = [arm for arm in arms if any(arm != defaults(run)["arm"] for run in reading.runs)]
    both = len(arms) > 1
    return Compared("" if both or known else None, known[-1] if known else None, figure.number.sign)


def _fits(figure: Figure, value: float, sign: int) -> bool:
    number = figure.number
    turned = value * sign if sign else abs(value)
    scales = (100,) if number.percent else (1, 100) if number.decimals < 3 else (1,)
    return any(number.near(turned * scale) for scale in scales)
