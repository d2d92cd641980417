"""Numbers that can be values of a recall metric, told from versions, settings, counts and times."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

MINUS = "−–"  # noqa: RUF001
PLAIN = r"(?:\d{1,3}(?:[.,]\d+)?|\.\d+)"
PERCENT = r"(?:%|percent\b|per cent\b)"
POINTS = r"(?:percentage points?|points?\b|pp\b|p\.p\.|pts\b)"
NUMBER = re.compile(
    rf"(?<![\w.,@#§])(?<![A-Za-z]/)(?P<sign>[+{MINUS}-]?)(?P<number>{PLAIN})"
    rf"(?P<unit>\s*(?:{PERCENT}|{POINTS}))?(?![\w@]|[.,:]\d|\s?[×§]|-[a-z])",  # noqa: RUF001
    re.IGNORECASE,
)
NO_UNIT = re.compile(
    r"\s*(?:ms|s|sec|seconds?|min|minutes?|h|hours?|[kMGT]i?B|x|tokens?|dimensions?|dims?|chars?|characters?|px|"
    r"times|lessons|sessions|questions|turns|memories|texts|cores?|days?|items|million|thousand|conversations|"
    r"projects|clusters|runs|retries|rows|weights?|GPUs?|CPUs?|commits|files|lines|years|weeks|months)\b(?!/)"
)
LEVEL = re.compile(
    r"\s*%?[\s-]*(?:\w+\s+){0,2}(?:intervals?|CI|confidence|quantile|bootstrap)\b", re.IGNORECASE
)
SETTING = re.compile(
    r"\b(?:n|k|k1|b|p|q|t|z|alpha|beta|lambda|seed|weights?|versions?|python|postgresql|postgres|pgvector|limit|"
    r"threshold|temperature|depth|batch(?: size)?|half[- ]life|ef|"
    r"section|chapter|table|issue|step|half-width|margin(?: of error)?|"
    r"error|tolerance|decay|dropout|first|top|rank|importance|recency|pgmnemo|default|"
    r"dated?|size|page|line)\s*(?:is|of|=|:|,|to|at|≈|about|around|§)*\s*(?:about\s+)?"
    r"[`*\"'(]*$",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"\b([A-Za-z_][\w.]*)[`*]*\s*(?:=|:=)\s*[`*]*$")
VALUES = {"value", "score", "result", "recall", "figure", "mrr", "ndcg", "rate", "hybrid", "ours", "pgmnemo"}
SPREAD = re.compile(r"(?:±|\+/-|\+-|within|half-width of(?: about)?)\s*$")
NUM = rf"[+{MINUS}-]?{PLAIN}\s*%?"
INTERVAL = re.compile(
    rf"[\[(](?:95\s*%\s*(?:CI|interval)?:?\s*)?(?P<low>{NUM})\s*(?:,|;|–|—|-|to|\.\.)\s*(?P<high>{NUM})[\])]"  # noqa: RUF001
    rf"|(?:\bCI|\binterval)[^\d\[(]{{0,12}}(?P<low2>{NUM})\s*(?:–|—|-|to|,)\s*(?P<high2>{NUM})",  # noqa: RUF001
    re.IGNORECASE,
)
COUNTED = re.compile(r"(?<![\w.,])(\d[\d,]*)\s*(?:of|out of|/)\s*(?:the\s|all\s)?\s*(\d[\d,]*)\s+questions\b")
RANGE = re.compile(r"\s*(?:–|—|-|to)\s*$")  # noqa: RUF001
BOUND = re.compile(r"(?:(?P<low>>=?|≥|above|over|more than|at least|exceeds|beyond|beats)|"
                   r"(?P<high><=?|≤|below|under|less than|at most))\s*$", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A value as it is printed. `shown` is the number, `percent` whether it is in percent, `decimals` its
    decimals; `change` marks a difference, `bound` is `>` or `<` where only a bound is stated."""

    start: int
    end: int
    shown: float
    percent: bool
    decimals: int
    change: bool = False
    bound: str = ""
    interval: tuple[float, float] | None = None
    until: float | None = None
    bare: bool = False  # above 1 and without a unit

    def agrees(self, value: float) -> bool:
        """Whether `value`, a fraction, is this number after the rounding that the number shows."""
        scaled, step = value * (100 if self.percent else 1), 0.5 * 10**-self.decimals + 1e-9
        if self.bound:
            return bool(scaled > self.shown - step if self.bound == ">" else scaled < self.shown + step)
        if self.until is not None:
            return bool(self.shown - step <= scaled <= self.until + step)
        return bool(abs(scaled - self.shown) <= step)

    def interval_agrees(self, low: float, high: float) -> bool:
        """Whether an interval that stands behind the number is [low, high], rounded like it."""
        if self.interval is None:
            return True
        scale = 100 if self.interval[1] > 1 or (self.percent and self.shown > 1) else 1
        step = 0.5 * 10 ** -(self.decimals if (scale == 100) == self.percent else 3) + 1e-9
        return all(
            abs(shown - exact * scale) <= step
            for shown, exact in zip(self.interval, (low, high), strict=True)
        )


def find_numbers(text: str, *, cell: bool = False) -> list[Number]:
    """Values in `text`, in order; in a table's `cell` also whole numbers up to 100."""
    intervals = list(INTERVAL.finditer(text))
    found: list[Number] = []
    for match in NUMBER.finditer(text):
        if any(i.start() <= match.start() < i.end() for i in intervals) or _is_other(text, match):
            continue
        number = _number(text, match, cell)
        if number is None:
            continue
        if found and RANGE.fullmatch(text[found[-1].end : number.start]) and not number.change:
            found[-1] = replace(found[-1], until=number.shown, end=number.end, percent=number.percent)
        else:
            found.append(number)
    found = sorted([*found, *_counted(text)], key=lambda number: number.start)
    return [_with_interval(number, intervals, text) for number in found]


def _counted(text: str) -> list[Number]:
    """Shares that are given as counts: `481 of 500 questions`."""
    found = []
    for match in COUNTED.finditer(text):
        hits, all_of_them = (int(match[place].replace(",", "")) for place in (1, 2))
        if 0 < hits <= all_of_them and not SETTING.search(text[: match.start()]):
            found.append(Number(*match.span(), hits / all_of_them, False, 3))
    return found


def _is_other(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    if re.search(r"\d[-:]$", before) and "." not in match["number"]:
        return True  # part of a date or a time
    if LEVEL.match(text[match.end("number") :]) or NO_UNIT.match(after) or SPREAD.search(before):
        return True
    assigned = ASSIGNED.search(before)
    if assigned:
        word = assigned[1].lower()
        return not (word in VALUES or re.match(r"(?:recall|any|frac|all|mrr|ndcg|hit|r$)", word))
    return SETTING.search(before) is not None


def _number(text: str, match: re.Match[str], cell: bool) -> Number | None:
    digits, unit = match["number"], (match["unit"] or "").strip().lower()
    if "," in digits and not unit:
        return None
    digits = digits.replace(",", ".")
    shown = float(digits)
    decimals = len(digits.partition(".")[2])
    change = bool(re.match(POINTS, unit, re.IGNORECASE)) or match["sign"] == "+"
    if shown > 100 or not (decimals or unit or cell):
        return None
    percent = bool(unit) or shown > 1
    bound = BOUND.search(text[: match.start()])
    kind = "" if bound is None or change else ">" if bound["low"] else "<"
    change = change or match["sign"] != ""
    return Number(*match.span(), shown, percent, decimals, change, kind, bare=percent and not unit)


def _with_interval(number: Number, intervals: list[re.Match[str]], text: str) -> Number:
    for match in intervals:
        between = text[number.end : match.start()]
        if number.end <= match.start() and re.fullmatch(r"[\s,;:†*`(]*(?:95\s*%)?[\s,;:(]*", between):
            low, high = (match["low"] or match["low2"], match["high"] or match["high2"])
            return replace(number, interval=(_plain(low), _plain(high)))
    return number


def _plain(text: str) -> float:
    return float(text.strip(" %+").replace("−", "-").replace("–", "-").replace(",", "."))  # noqa: RUF001
