"""Numbers that can be values of a recall metric, told from versions, settings, counts and times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from runner.lint.written.changes import find_changes
from runner.lint.written.counts import find_counts
from runner.lint.written.digits import MINUS, NEAR, PERCENT, PLAIN, POINTS, plain
from runner.lint.written.intervals import INTERVAL, NUM, PLUS_MINUS, is_interval, with_intervals, without_ends
from runner.lint.written.misses import said
from runner.lint.written.number import Number
from runner.lint.written.odds import find_odds
from runner.lint.written.settings import is_other

NUMBER = re.compile(
    rf"(?<![\w.,@#§])(?<![A-Za-z]/)(?P<sign>[+{MINUS}-]?)(?P<number>{PLAIN})"
    rf"(?P<unit>\s{{0,4}}(?:{PERCENT}|{POINTS}))?(?![\w@]|[.,:]\d|\s?[×§]|-[a-z])",  # noqa: RUF001
    re.IGNORECASE,
)
PAIR = re.compile(
    rf"\(\s*(?:from\s+)?{NUM}\s*(?:→|->|⟶|to|against|versus|vs\.?|and|for|instead of|,|/)\s*{NUM}\s*\)|"
    rf"{NUM}\s*(?:→|->|⟶)\s*{NUM}",
    re.IGNORECASE,
)
ARROW = re.compile(rf"{NUM}\s*(?:\([^()]{{0,30}}\))?\s*(?:→|->|⟶)\s*{NUM}")
STEP = re.compile(
    r"\b(?:(?:up|down|higher|lower|better|worse)|(?<!divided )(?<!given )(?<!followed )by|"
    r"(?:gain|rise|increase|improvement|jump|lead|advantage|margin|loss|drop|fall|decrease|decline|"
    r"deficit|gap|"
    r"difference|change|step|delta)s?\s+of)"
    r"(?:\s+(?:by|about|some|only|just|another))?\s+$",
    re.IGNORECASE,
)
LENT = re.compile(  # a whole number whose unit stands behind the next one: "between 95 and 96 %"
    rf"\s*(?:[{MINUS}-]|to|and|or|,|/|→)\s*(?:about\s+)?\d{{1,3}}(?:\.\d+)?\s{{0,4}}"
    rf"(?P<unit>{PERCENT}|{POINTS})",
    re.IGNORECASE,
)
NONE = re.compile(
    r"\b(?:not (?:one|a single)|no (?:category|type|arm|system|peer|leg|one)|none|nothing|nobody|"
    r"neither|never)\b",
    re.IGNORECASE,
)
VERSUS = re.compile(
    r"\b(?:better|worse|ahead|behind|beats?|loses?|edges|outruns|wins?|above|below)\b", re.IGNORECASE
)
AWAY = re.compile(
    r"\s+(?:behind|ahead|below|above|short|better|worse|higher|lower|clear)\b(?!\s+(?:average|zero|linear|(?:the\s+|a\s+|our\s+)?rerank))",
    re.I,
)
RANGE = re.compile(r"\s*(?:–|—|-|to)\s*$")  # noqa: RUF001
AGAINST = re.compile(
    r"(?:\s+(?:recall|R|MRR|nDCG|any|hit)[\w@]*)?\s*[,(]?\s*"
    r"(?:for|as compared (?:to|with)|as against|as opposed to|compared (?:to|with)|against|versus|vs\.?|"
    r"instead of|in place of|rather than|up from|down from|after|over|above|below|behind|than)\s+"
    r"(?:(?:our|its|the)\s+(?:own\s+)?)?(?:about\s+|around\s+|some\s+)?",
    re.IGNORECASE,
)
FROM = re.compile(r"\bfrom\s+(?:[\w@'\u2019-]{1,30}\s+){0,5}$", re.IGNORECASE)
AMONG = re.compile(r"\bbetween\s+$", re.IGNORECASE)
BOUND = re.compile(
    r"(?:\b(?P<high2>(?:no|not)\s+(?:more|better|higher)\s+than|not\s+(?:above|over)|not\s+exceed\w*|"
    r"not\s+(?:get|go|come|reach|rise|climb)\w*\s+(?:beyond|above|past|over))|"
    r"\b(?P<low2>(?:no|not)\s+(?:less|worse|lower|fewer)\s+than|not\s+(?:below|under)|never\s+(?:below|"
    r"under))|"
    r"(?P<low>(?<!\d\s)(?<!%\s)>=?|≥|\b(?:passes|clears|tops?|crosses|surpass\w*|above|over|"
    r"more than|at least|exceeds|beyond|beats|better than|higher than))|"
    r"(?P<high><=?|≤|\b(?:below|under|less than|at most|up to|fewer than|lower than)))"
    r"(?:\s+(?:an?\s+)?(?:recall\w*|any|MRR|nDCG)@\d+(?:\s+of)?)?\s*$",
    re.IGNORECASE,
)


def find_numbers(text: str, *, cell: bool = False) -> list[Number]:
    """Values in `text`, in order; in a table's `cell` also whole numbers up to 100."""
    intervals = [match for match in INTERVAL.finditer(text) if is_interval(match)]
    taken = [match.span() for match in intervals]
    changes = list(find_changes(text))
    counts = [*_outside(find_counts(text), changes), *changes]
    found: list[Number] = []
    for match in NUMBER.finditer(text):
        inside = any(start <= match.start() < end for start, end in taken)
        if inside or any(c.start <= match.start() < c.end for c in counts) or is_other(text, match):
            continue
        number = _number(text, match, cell)
        if number is not None:
            _add(found, number, text)
    odds = _outside(find_odds(text), counts)
    found = sorted([*_outside([*found, *counts], odds), *odds], key=lambda number: number.start)
    found = _moves(_in_points(without_ends(found, text), text), text)
    return with_intervals(_complements([said(number, text) for number in found]), intervals, text)


def _outside(numbers: Iterable[Number], others: Sequence[Number]) -> list[Number]:
    """The numbers that begin within none of the others."""
    return [one for one in numbers if not any(other.start <= one.start < other.end for other in others)]


def _complements(found: list[Number]) -> list[Number]:
    """The numbers, each as perhaps of what is missed, where the sentence states what two of them leave of
    each other: "1.5 % (recall_any@10 98.5 %)"."""
    values = [n for n in found if n.percent and not n.change and n.hits is None and n.until is None]
    both = any(abs(a.shown + b.shown - 100) < 1e-6 for a in values for b in values if a is not b)
    return [replace(n, perhaps=True) if both and n in values and not n.missed else n for n in found]


def _in_points(found: list[Number], text: str) -> list[Number]:
    """Numbers without a unit are points too, where the sentence speaks of points and of no percentage."""
    speaks = re.search(r"\bpoints?\b|\bpp\b", text) is not None
    if not speaks or re.search(r"%|\bpercent|MRR|nDCG", text):
        return found
    values = [match.span() for match in PAIR.finditer(text)]
    return [
        replace(n, change=True, bound="")
        if not n.change and n.hits is None and n.decimals < 3 and not _within(n, values)
        else n
        for n in found
    ]


def _moves(found: list[Number], text: str) -> list[Number]:
    """The numbers, those as differences that a step is said to have ("up 23.2 on bm25", "by 0.012"), and
    both ends of an arrow as the ends of a move."""
    arrows = [match.span() for match in ARROW.finditer(text)]
    moved: list[Number] = []
    for number in found:
        step = (
            number.hits is None
            and number.bound == ""
            and STEP.search(text[max(0, number.start - NEAR) : number.start])
        )
        step = step or (number.hits is None and number.bound == "" and AWAY.match(text, number.end))
        unit = "%" in text[number.start : number.end] or number.until is not None
        if step and not number.change and not unit:
            number = replace(number, change=True)
        moved.append(replace(number, moved=number.moved or _within(number, arrows)))
    return moved


def _within(number: Number, spans: list[tuple[int, int]]) -> bool:
    return any(start <= number.start and number.end <= end for start, end in spans)


def _add(found: list[Number], number: Number, text: str) -> None:
    """Adds a number, or makes it the end of the range that the last one begins."""
    last = found[-1] if found else None
    between = text[last.end : number.start] if last else ""
    before = text[max(0, last.start - NEAR) : last.start] if last else ""
    ranged = RANGE.fullmatch(between) is not None
    if (
        ranged
        and last is not None
        and between.strip() == "to"
        and not last.change
        and not FROM.search(before)
        and (last.shown > number.shown or VERSUS.search(text))
    ):
        found[-1] = replace(last, paired=True)
        found.append(replace(number, paired=True))
        return
    among = AMONG.search(before) is not None and between.strip().lower() == "and"
    if last is None or (number.change and not (last.change and ranged)):
        found.append(number)
    elif (ranged or among) and not FROM.search(before):
        found[-1] = replace(last, until=number.shown, end=number.end, percent=number.percent)
    elif FROM.search(before) and re.search(r"\bto\s+(?:about\s+)?$", between) and len(between) < 60:
        found[-1] = replace(last, moved=True)
        found.append(
            replace(number, moved=True, bound="", change=last.change, percent=number.percent or last.change)
        )
    else:
        paired = last.change == number.change and AGAINST.fullmatch(between) is not None
        found[-1] = replace(last, paired=last.paired or paired)
        found.append(replace(number, paired=paired))


def _number(text: str, match: re.Match[str], cell: bool) -> Number | None:
    digits, unit = match["number"], (match["unit"] or "").strip().lower()
    end, half = match.end(), PLUS_MINUS.match(text, match.end())
    if half:
        end, unit = half.end(), unit or (half["unit"] or "").strip().lower()
    if "," in digits and not unit:
        return None
    digits = digits.replace(",", ".")
    shown = float(digits)
    decimals = len(digits.partition(".")[2])
    change = bool(re.match(POINTS, unit, re.IGNORECASE)) or match["sign"] == "+"
    if not (decimals or unit or cell) and (lent := LENT.match(text, match.end())):
        unit = lent["unit"].lower()
    if shown > 100 or not (decimals or unit or cell):
        return None
    percent = bool(unit) or shown > 1
    bound = BOUND.search(text[max(0, match.start() - NEAR) : match.start()])
    kind = "" if bound is None else ">" if bound["low"] or bound["low2"] else "<"
    if kind and NONE.search(text[max(0, match.start() - NEAR) : match.start()]):
        kind = "<" if kind == ">" else ">"
    change = change or match["sign"] != ""
    return Number(
        match.start(),
        end,
        shown,
        percent,
        decimals,
        change,
        sign=0 if not match["sign"] else 1 if match["sign"] == "+" else -1,
        bound="" if change and not (bound and (bound["low2"] or bound["high2"] or bound["low"])) else kind,
        half=plain(half["half"]) if half else None,
        bare=percent and not unit,
    )
