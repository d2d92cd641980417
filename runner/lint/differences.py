"""Differences: which two arms or versions a sentence compares, in which direction, and by how much."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from runner.cite.results import Cited
from runner.lint.artefacts import Row, Shelf, rows
from runner.lint.binding import BREAK, DEFAULT, bind
from runner.lint.context import Context
from runner.lint.facets import ROW_FACETS, RUN_VALUES, Mention, defaults, mentions
from runner.lint.figures import Figure
from runner.lint.readings import Reading, read

UP = re.compile(
    r"\b(?:beats?|beating|ahead|above|over|better|outperform\w*|gain\w*|adds?|added|improv\w*|ris(?:es|"
    r"ing|en|e)|rose|more|higher|"
    r"lead\w*|led|exceed\w*|surpass\w*|wins?|won|tops?|increas\w*|grew|grows?|climb\w*|advantage|plus|"
    r"up|boost\w*|"
    r"jump\w*|stronger|superior|margin)\b",
    re.IGNORECASE,
)
DOWN = re.compile(
    r"\b(?:los(?:es|ing|e|t|s)|behind|below|under|trail\w*|lags?|lagging|lagged|worse|less|lower\w*|"
    r"fewer|fall\w*|fell|drop\w*|decreas\w*|"
    r"declin\w*|short|down|deficit|costs?|cost|weaker|inferior|sinks?|sank|shed|sheds|regress\w*|"
    r"gives? up|gave up)\b",
    re.IGNORECASE,
)
NOT = re.compile(r"\b(?:not|no|never|neither|hardly|instead of)\s+(?:\w+\s+)?$", re.IGNORECASE)
MISS = re.compile(r"\b(?:leads? to|over (?:the|all) (?:pool|conversations?|questions|whole)|"
    r"under protocol|(?:under|below|over|above) (?:one|half|two|a|\d)|up to|more than|less than|"
                  r"no more than|over all|at least)\b", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared with what; None where it is not said. `sign` is 0 where no direction is."""

    subject: str | None
    other: str | None
    sign: int


def compared(figure: Figure, runs: Sequence[Cited], shelf: Shelf) -> Compared:
    """The pair and the direction that the words around a difference say."""
    text, number = figure.said.text, figure.number
    arms = _sides(mentions(text, runs, shelf.versions(runs)), runs)
    arms = _of_number(figure, arms)
    verb, sign = _direction(text, number.start, number.end)
    subject, other = _pair(text, arms, verb if verb is not None else number.start)
    if verb is not None and (_far(figure, arms, verb) or _one_sided(arms, verb)):
        sign = 0
    if figure.header:
        sign = number.sign or 1
    elif number.sign and not sign:
        sign = number.sign
    elif number.sign < 0:
        sign = -sign if sign > 0 else sign
    return Compared(subject, other, sign)


def _one_sided(arms: list[Mention], verb: int) -> bool:
    """Whether two arms stand on one side of the word of direction, neither as what is compared with."""
    sides = {one.start > verb for one in arms}
    return len({_arm(one) for one in arms}) == 2 and len(sides) == 1 and not any(one.aside for one in arms)


def _far(figure: Figure, arms: list[Mention], verb: int) -> bool:
    """Whether a word of direction is another difference's: "keyword is 3.2 points behind, vector 29.6"."""
    text, number = figure.said.text, figure.number
    changes = [one for one in figure.said.numbers if one.change and one is not number]
    if any(verb < one.start < number.start or number.end <= one.start < verb for one in changes):
        return True
    return bool(changes) and any(verb < one.start and BREAK.search(text[verb : one.start]) for one in arms)


def _of_number(figure: Figure, arms: list[Mention]) -> list[Mention]:
    """The arms of one of several differences: "keyword is 1.1 points behind, vector 9.2"."""
    changes = [number for number in figure.said.numbers if number.change]
    if len(changes) < 2 or len({_arm(one) for one in arms}) < len(changes):
        return arms
    places = bind(figure.said.text, arms, changes)[changes.index(figure.number)]
    return [arms[place] for place in places if place != DEFAULT] or arms


def _sides(found: Iterable[Mention], runs: Sequence[Cited]) -> list[Mention]:
    """The arms and versions that are named; of two for one place the arm."""
    newest = {str(run.run.version).removeprefix("v") for run in runs}
    found = [one for one in found if not one.weak and not one.denied]
    arms = [one for one in found if one.facet == "arm"]
    if len({one.value for one in arms}) > 1:
        return arms
    versions = [
        replace(one, facet="arm", value="") if one.value in newest else one
        for one in found
        if one.facet == "version"
    ]
    if not any(one.value for one in versions) and not any("@" in one.value for one in arms):
        versions = []
    return sorted([*arms, *versions], key=lambda one: one.start)


def _direction(text: str, start: int, end: int) -> tuple[int | None, int]:
    """Where the word of direction nearest to a number begins, and its sign."""
    skipped = [match.span() for match in MISS.finditer(text)]
    nearest: tuple[int, int, int] | None = None
    for sign, pattern in ((1, UP), (-1, DOWN)):
        for match in pattern.finditer(text):
            if any(a <= match.start() < b for a, b in skipped):
                continue
            away = start - match.end() if match.end() <= start else match.start() - end
            turned = -sign if NOT.search(text[: match.start()][-30:]) else sign
            turned = 0 if turned != sign else sign
            if nearest is None or away < nearest[0]:
                nearest = (away, match.start(), turned)
    return (nearest[1], nearest[2]) if nearest and nearest[0] < 90 else (None, 0)


def _pair(text: str, arms: list[Mention], verb: int) -> tuple[str | None, str | None]:
    """Subject and object: by the side of the verb on which they stand, and by what they are compared with."""
    names = list(dict.fromkeys(_arm(one) for one in arms))
    if len(names) == 1:
        (name,) = names
        first = arms[0]
        return ("", name) if first.start > verb or first.aside else (name, None)
    before = [one for one in arms if one.end <= verb]
    after = [one for one in arms if one.start > verb]
    if before and after:
        subject = next((one for one in reversed(before) if not one.aside), before[-1])
        return _arm(subject), _arm(after[0])
    sides = before or after
    aside = [one for one in sides if one.aside]
    free = [one for one in sides if not one.aside]
    if len(names) == 2 and len(aside) == 1 and len(free) == 1:
        return _arm(free[0]), _arm(aside[0])
    return (names[0], names[1]) if len(names) == 2 else (None, None)


def _arm(one: Mention) -> str:
    return one.value if one.facet == "arm" else f"@{one.value}"


def wrong_difference(
    figure: Figure, key: str, around: Context, runs: Sequence[Cited], shelf: Shelf
) -> str | None:
    """What is wrong with a difference, as a sentence; None where it is that of the artefacts."""
    reading = read(figure, around, runs, shelf)
    said = _in_table(figure, reading) if figure.header else compared(figure, runs, shelf)
    pairs = list(_differences(reading, key, said, runs, shelf))
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


def _differences(
    reading: Reading, key: str, said: Compared, runs: Sequence[Cited], shelf: Shelf
) -> Iterator[tuple[float, Row | None]]:
    """Differences of the pair, each with its row where metrics.json has one."""
    for run in reading.runs:
        yield from _in_run(run, reading, key, said)
    yield from _between(reading, key, said, runs, shelf)


def _in_run(run: Cited, reading: Reading, key: str, said: Compared) -> Iterator[tuple[float, Row | None]]:
    own = defaults(run)["arm"]
    subject, other = (_named(one, run) for one in (said.subject, said.other))
    for row in run.metrics.get("differences", []):
        if row["metric"] != key or not _alike(row, reading, run):
            continue
        pair = (str(row["arm"]), str(row["baseline"]))
        if _meant(pair, subject, other):
            yield row["value"], row
        if _meant(pair[::-1], subject, other):
            yield -row["value"], row
    table = [row for row in rows(run, key) if _alike(row, reading, run)]
    for a in table:
        for b in table:
            named = _meant((str(a["arm"]), str(b["arm"])), subject, other)
            same = all(a[facet] == b[facet] for facet in ROW_FACETS[1:])
            if a["arm"] != b["arm"] and same and named and (subject or other or own in (a["arm"], b["arm"])):
                yield a["value"] - b["value"], None
                yield round(a["value"], 3) - round(b["value"], 3), None
    if said.other is None:
        yield from _across(run, reading, key, subject or own)


def _named(said: str | None, run: Cited) -> str | None:
    own = defaults(run)["arm"]
    if said is None:
        return None
    return f"{own}{said}" if said.startswith("@") else said or own


def _meant(pair: tuple[str, str], subject: str | None, other: str | None) -> bool:
    return (subject is None or pair[0] == subject) and (other is None or pair[1] == other)


def _alike(row: Row, reading: Reading, run: Cited) -> bool:
    """Whether a row is of the scope, view and type that are said."""
    for facet, standard in defaults(run).items():
        values = {value or standard for value in reading.wanted[facet] or ("",)}
        if facet != "arm" and facet in row and str(row[facet]) not in values and not reading.every:
            return False
    return True


def _across(run: Cited, reading: Reading, key: str, arm: str) -> Iterator[tuple[float, Row | None]]:
    """Between two scopes, views or types of one arm, where the sentence names one."""
    table = [row for row in rows(run, key) if row["arm"] == arm]
    standard = defaults(run)
    for facet in ROW_FACETS[1:]:
        named = {value for value in reading.wanted[facet] if value}
        if not named:
            continue
        for a in (row for row in table if row[facet] in named):
            for b in table:
                others = all(a[f] == b[f] for f in ROW_FACETS[1:] if f != facet)
                if a[facet] != b[facet] and others and b[facet] in {standard[facet], *named}:
                    for digits in (9, 3):
                        change = round(a["value"], digits) - round(b["value"], digits)
                        yield change, None
                        yield -change, None


def _between(
    reading: Reading, key: str, said: Compared, runs: Sequence[Cited], shelf: Shelf
) -> Iterator[tuple[float, Row | None]]:
    """Between two runs: those that are named, or one and an earlier version beside it."""
    version = next((one[1:] for one in (said.other, said.subject) if one and one.startswith("@")), None)
    earlier = [one for run in runs for one in shelf.earlier(version, run)] if version else []
    if said.other and not said.other.startswith("@"):
        return
    for after in runs:
        for before in [*runs, *earlier]:
            if after is before or (version and said.other and RUN_VALUES["version"](before) != version):
                continue
            for one in _own(after, reading, key, said):
                same = (two for two in rows(before, key) if all(one[f] == two[f] for f in ROW_FACETS))
                for two in same:
                    yield one["value"] - two["value"], None
                    yield round(one["value"], 3) - round(two["value"], 3), None


def _own(run: Cited, reading: Reading, key: str, said: Compared) -> list[Row]:
    """The rows of the subject, which is the system under test unless an arm is named."""
    subject = said.subject or ""
    arm = defaults(run)["arm"] if subject.startswith("@") or not subject else subject
    return [row for row in rows(run, key) if row["arm"] == arm and _alike(row, reading, run)]
