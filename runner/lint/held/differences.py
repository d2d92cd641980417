"""Whether a difference that is stated is that of the artefacts: its pair, its sign and its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner.cite.results import Cited
from runner.lint.around.context import Context
from runner.lint.artefacts import Row, Shelf
from runner.lint.document.figures import Figure
from runner.lint.held.pairs import differences
from runner.lint.held.readings import Reading, read
from runner.lint.said.compared import Compared, compared, named_before
from runner.lint.said.facets import defaults


def wrong_difference(
    figure: Figure, key: str, around: Context, runs: Sequence[Cited], shelf: Shelf
) -> str | None:
    """What is wrong with a difference, as a sentence; None where it is that of the artefacts."""
    reading = read(figure, around, runs, shelf)
    if (step := _step(figure)) is not None:
        sign = 0 if figure.header else compared(figure, runs, shelf).sign
        return None if _fits(figure, step, sign) else f"the two values beside it are {step:+.4f} apart"
    said = _in_table(figure, reading) if figure.header else compared(figure, runs, shelf)
    if said.other is None and said.subject and not figure.header and not named_before(figure, runs, shelf):
        said = replace(said, other="")  # "bm25 is 1.6 points behind": behind ours
    pairs = list(differences(reading, key, said, runs, shelf))
    if not pairs:
        return None  # the pair cannot be found in what is at hand: unread
    if _lies_between(figure, said.sign):
        return None
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


def _lies_between(figure: Figure, sign: int) -> bool:
    """Whether a difference is that of the only two values of its sentence, which are held themselves:
    "88.5 %, up 16.2 points from 72.3 %", "bm25s (92.9 %) and sqlite-fts5 (92.8 %) differ by 0.1 points"."""
    values = [n for n in figure.said.numbers if not n.change]
    if figure.header or len(values) != 2 or values[0].percent != values[1].percent:
        return False
    if figure.number.interval is not None or any(n.hits is not None for n in values):
        return False
    return _fits(figure, (values[0].shown - values[1].shown) / (100 if values[0].percent else 1), sign)


def _step(figure: Figure) -> float | None:
    """What lies between the two ends of the move that a sentence tells beside its only difference: its ends
    are held themselves, so the difference is theirs."""
    numbers = figure.said.numbers
    ends = [n for n in numbers if n.moved and not n.change]
    alone = [n for n in numbers if n.change] == [figure.number]
    if figure.header or not alone or len(ends) != 2 or ends[0].percent != ends[1].percent:
        return None
    if figure.number.interval is not None or any(n.missed or n.perhaps or n.hits is not None for n in ends):
        return None
    return (ends[1].shown - ends[0].shown) / (100 if ends[0].percent else 1)


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
