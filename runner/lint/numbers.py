"""Numbers that can be values of a recall metric, told from versions, settings, counts and times."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

MINUS = "−–"  # noqa: RUF001
PLAIN = r"(?:\d{1,3}(?:[.,]\d{1,12})?|\.\d{1,12})"
PERCENT = r"(?:%|percent\b|per cent\b|pct\b)"
POINTS = r"(?:percentage points?|points?\b|pp\b|p\.p\.|pts\b)"
NUMBER = re.compile(
    rf"(?<![\w.,@#§])(?<![A-Za-z]/)(?P<sign>[+{MINUS}-]?)(?P<number>{PLAIN})"
    rf"(?P<unit>\s{{0,4}}(?:{PERCENT}|{POINTS}))?(?![\w@]|[.,:]\d|\s?[×§]|-[a-z])",  # noqa: RUF001
    re.IGNORECASE,
)
NO_UNIT = re.compile(
    r"\s{0,4}(?:ms|s|sec|seconds?|min|minutes?|h|hours?|[kMGT]i?B|x|tokens?|dimensions?|dims?|chars?|"
    r"characters?|px|"
    r"times|lessons|sessions|questions|turns|memories|texts|cores?|days?|items|million|thousand|"
    r"conversations|"
    r"projects|clusters|runs|retries|rows|weights?|GPUs?|CPUs?|commits|files|lines|years|weeks|months|"
    r"times?|chats|messages|segments|arms|systems|versions)\b(?!/)"
)
CALLS = re.compile(
    r"\s*of\s+(?:them|the\s+(?:time|calls|runs|requests|memory|text|code|users)|users|"
    r"calls|requests)\b"
)
LEVEL = re.compile(
    r"\s*%?[\s-]*(?:\w+\s+){0,2}(?:intervals?|CI|confidence|quantile|bootstrap)\b", re.IGNORECASE
)
SETTING = re.compile(
    r"(?:\b(?:n|k|k1|b|p|q|t|z|alpha|beta|lambda|seed|weights?|versions?|python|postgresql|postgres|"
    r"pgvector|limit|"
    r"threshold|temperature|depth|batch(?: size)?|half[- ]life|ef|"
    r"section|chapter|table|issue|step|half-width|margin(?: of error)?|"
    r"error|tolerance|decay|dropout|first|top|rank|importance|recency|pgmnemo|default|"
    r"dated?|size|page|line)|\b(?!recall|MRR|nDCG|hit)[a-z]\w{0,40}[._][a-z]\w{0,40}[`*]{0,3})"
    r"\s{0,3}(?:is|of|=|:|,|to|at|from|≈|about|around|§|\s)*"
    r"[`*\"'(]*$",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"\b([A-Za-z_][\w.]{0,60})[`*]*\s*(?:=|:=)\s*[`*]*$")
VALUES = {"value", "score", "result", "recall", "figure", "mrr", "ndcg", "rate", "hybrid", "ours", "pgmnemo"}
SPREAD = re.compile(r"(?:±|\+/-|\+-|within|half-width of(?: about)?)\s*$")
NUM = rf"[+{MINUS}-]?{PLAIN}\s{{0,4}}%?"
TO = r"\s{0,4}(?:,|;|–|—|-|to|and|\.\.)\s{0,4}"  # noqa: RUF001
INTERVAL = re.compile(
    rf"[\[(](?:95\s?%\s?(?:CI|"
    rf"interval)?:?\s?(?:from\s)?)?(?P<low>{NUM}){TO}(?P<high>{NUM})(?:\s?(?:{POINTS}))?[\])]"
    rf"|(?:\bCI|\binterval)\b[^\d\[({MINUS}+]{{0,24}}(?P<low2>{NUM}){TO}(?P<high2>{NUM})",
    re.IGNORECASE,
)
PLUS_MINUS = re.compile(
    rf"\s{{0,3}}(?:±|\+/-|\+-)\s{{0,3}}(?P<half>{PLAIN})(?P<unit>\s{{0,3}}{PERCENT})?", re.IGNORECASE
)
WHOLE = r"\d{1,3}(?:,\d{3}){0,3}|\d{1,9}"
COUNTED = re.compile(
    rf"(?<![\w.,=])(?P<hits>{WHOLE})\s{{0,3}}(?:of|out of|/)\s{{0,3}}(?:the\s|all\s|its\s|our\s){{0,2}}"
    rf"(?P<all>{WHOLE})(?![\w%]|[.,]\d|\s?%)(?P<unit>\s{{1,3}}questions\b)?",
    re.IGNORECASE,
)
QUESTIONS = re.compile(rf"(?<![\w.,=@-])(?P<hits>{WHOLE})\s+(?:of\s+the\s+)?questions\b", re.IGNORECASE)
RANGE = re.compile(r"\s*(?:–|—|-|to)\s*$")  # noqa: RUF001
AGAINST = re.compile(
    r"\s*[,(]?\s*(?:for|against|versus|vs\.?|instead of|up from|down from|after)\s+", re.IGNORECASE
)
ENDS = re.compile(
    r"\b(?:interval|CI)\b.*\b(?:runs?|ranges?|extends?|reach\w*|goes|spans?|lies|"
    r"is)\s+from\b",
    re.I | re.S,
)
FROM = re.compile(r"\bfrom\s+(?:[\w'\u2019-]{1,30}\s+){0,5}$", re.IGNORECASE)
AMONG = re.compile(r"\bbetween\s+$", re.IGNORECASE)
BOUND = re.compile(
    r"(?:\b(?P<high2>(?:no|not)\s+(?:more|better|higher)\s+than|not\s+(?:above|over)|not\s+exceed\w*)|"
    r"\b(?P<low2>(?:no|not)\s+(?:less|worse|lower|fewer)\s+than|not\s+(?:below|under)|never\s+(?:below|"
    r"under))|"
    r"(?P<low>>=?|≥|\b(?:above|over|more than|at least|exceeds|beyond|beats|better than|higher than))|"
    r"(?P<high><=?|≤|\b(?:below|under|less than|at most|up to|fewer than|lower than)))\s*$",
    re.IGNORECASE,
)
ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|nearly|almost|some|ca\.|circa|close to)|[~≈])\s*$",
    re.IGNORECASE,
)
MISSED = re.compile(
    r"\bmiss(?:es|ed|ing)?\b(?!\s+nothing)|\bfail(?:s|ed|ures?)?\b|\berrors?(?:\s+rate)?\b|"
    r"\bunanswered\b|\bnot\s+(?:found|hit|answered|"
    r"retrieved|among)\b|\bunfound\b|\bwithout\s+(?:an?|any|their|its)\s+(?:\w+\s+)?(?:hit|gold|"
    r"evidence|session)\w*|\bno\s+(?:gold|hit|evidence|"
    r"session|right)\b|\bnothing\s+(?:right|gold)\b|\b1\s?[\u2212\u2013-]\s?(?:recall|R@|hit|any@)|"
    r"\bcomplement\b|"
    r"\bloses?\s+(?:sight|track)|"
    r"\bdo(?:es)?\s+not\s+(?:find|surface|retrieve|have|appear|reach|hit)|\bnone\s+of\s+(?:its|their|"
    r"the|these)\s+(?:\w+\s+)?(?:gold|evidence|sessions?|turns?)|\bnot\s+a\s+single\b|"
    r"\bgo(?:es)?\s+without\b|"
    r"\boutside\s+(?:the\s+)?(?:first|top)|\blacks?\b|\bescape[ds]?\b|"
    r"\bnever\s+(?:found|surface\w*)|\bslip\w*|\boverlook\w*|\bleft\s+(?:out|unfound)",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[,;:(]\s|\s(?:and|but|while|whereas|so)\s|[()]")
BRACKETS = re.compile(r"\([^()]{0,120}\)")
NEAR = 120  # characters in front of a number that say what it is


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
            return scaled > self.shown - self.step if self.bound == ">" else scaled < self.shown + self.step
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
        scale = 100 if max(map(abs, self.interval)) > 1 or (self.percent and self.shown > 1) else 1
        step = 0.5 * 10 ** -(self.decimals if scale == unit else 3) + 1e-9
        return all(
            abs(shown - exact * scale) <= step
            for shown, exact in zip(self.interval, (low, high), strict=True)
        )


def find_numbers(text: str, *, cell: bool = False) -> list[Number]:
    """Values in `text`, in order; in a table's `cell` also whole numbers up to 100."""
    intervals = list(INTERVAL.finditer(text))
    taken = [match.span() for match in intervals]
    counts = _counts(text)
    found: list[Number] = []
    for match in NUMBER.finditer(text):
        inside = any(start <= match.start() < end for start, end in taken)
        if inside or any(c.start <= match.start() < c.end for c in counts) or _is_other(text, match):
            continue
        number = _number(text, match, cell)
        if number is not None:
            _add(found, number, text)
    found = sorted([*found, *counts], key=lambda number: number.start)
    found = _in_points(_without_ends(found, text), text)
    return _with_intervals([_said(number, text) for number in found], intervals, text)


def _without_ends(found: list[Number], text: str) -> list[Number]:
    """The numbers, with the ends of "its interval runs from … to …" as the interval of the one in front."""
    ends = [number for number in found if number.moved and not number.change]
    if len(ends) != 2 or not ENDS.search(text):
        return found
    low, high = (number.shown for number in ends)
    rest = [number for number in found if number not in ends]
    last = max((number for number in rest if number.end <= ends[0].start), key=lambda n: n.end, default=None)
    return [replace(n, interval=(low, high)) if n is last and n.interval is None else n for n in rest]


def _in_points(found: list[Number], text: str) -> list[Number]:
    """Numbers without a unit are points too, where the sentence speaks of points and of no percentage."""
    speaks = re.search(r"\bpoints?\b|\bpp\b", text) is not None
    if not speaks or re.search(r"%|\bpercent|MRR|nDCG", text):
        return found
    plain = [number for number in found if not number.change and number.hits is None and number.decimals < 3]
    return [replace(n, change=True, bound="", percent=n.percent) if n in plain else n for n in found]


def _add(found: list[Number], number: Number, text: str) -> None:
    """Adds a number, or makes it the end of the range that the last one begins."""
    last = found[-1] if found else None
    between = text[last.end : number.start] if last else ""
    before = text[max(0, last.start - NEAR) : last.start] if last else ""
    ranged = RANGE.fullmatch(between) is not None
    among = AMONG.search(before) is not None and between.strip().lower() == "and"
    if last is None or (number.change and not (last.change and ranged)):
        found.append(number)
    elif (ranged or among) and not FROM.search(before):
        found[-1] = replace(last, until=number.shown, end=number.end, percent=number.percent)
    elif FROM.search(before) and re.search(r"\bto\s+(?:about\s+)?$", between) and len(between) < 60:
        found[-1] = replace(last, moved=True)
        found.append(replace(number, moved=True, change=last.change, percent=number.percent or last.change))
    else:
        paired = last.change == number.change and AGAINST.fullmatch(between) is not None
        found[-1] = replace(last, paired=last.paired or paired)
        found.append(replace(number, paired=paired))


def _counts(text: str) -> list[Number]:
    """Shares that are given as counts: `481 of 500 questions`, `misses 31 of 1,982`."""
    found: list[Number] = []
    for match in COUNTED.finditer(text):
        hits, everything = (int(match[place].replace(",", "")) for place in ("hits", "all"))
        clause = _clause(text, match.start(), match.end())
        told = match["unit"] or MISSED.search(clause) or re.search(r"\bquestions?\b", clause)
        if 0 <= hits <= everything and everything >= 20 and told and not _set(text, match.start()):
            found.append(Number(*match.span(), hits / everything, False, 3, hits=hits, of=everything))
    for match in QUESTIONS.finditer(text):
        apart = all(match.end() <= one.start or one.end <= match.start() for one in found)
        if (
            apart
            and MISSED.search(_clause(text, match.start(), match.end()))
            and not _set(text, match.start())
        ):
            found.append(Number(*match.span(), 0.0, False, 3, hits=int(match["hits"].replace(",", ""))))
    return found


def _clause(text: str, start: int, end: int) -> str:
    """The clause around a stretch of text, without what stands in brackets beside it."""
    before = BRACKETS.sub(" ", text[max(0, start - NEAR) : start])
    after = BRACKETS.sub(" ", text[end : end + NEAR])
    first = max((match.end() for match in CLAUSE.finditer(before)), default=0)
    last = CLAUSE.search(after)
    return f"{before[first:]}{text[start:end]}{after[: last.start()] if last else after}"


def _said(number: Number, text: str) -> Number:
    """What the words around a number make of it: the questions that are missed, or about right."""
    before = text[max(0, number.start - NEAR) : number.start]
    about = ABOUT.search(before) is not None
    missed = not number.change and MISSED.search(_clause(text, number.start, number.end)) is not None
    perhaps = not missed and not number.change and MISSED.search(BRACKETS.sub(" ", before)) is not None
    return replace(number, about=about, missed=missed, perhaps=perhaps)


def misses(text: str) -> bool:
    """Whether a text speaks of questions that are missed."""
    return MISSED.search(BRACKETS.sub(" ", text)) is not None


def _set(text: str, start: int) -> bool:
    return SETTING.search(text[max(0, start - NEAR) : start]) is not None


def _is_other(text: str, match: re.Match[str]) -> bool:
    before, after = text[max(0, match.start() - NEAR) : match.start()], text[match.end() : match.end() + NEAR]
    if re.search(r"\d[-:]$", before) and "." not in match["number"]:
        return True  # part of a date or a time
    unit = text[match.end("number") : match.end("number") + NEAR]
    if LEVEL.match(unit) or NO_UNIT.match(after) or CALLS.match(after) or SPREAD.search(before):
        return True
    assigned = ASSIGNED.search(before)
    if assigned:
        word = assigned[1].lower()
        return not (word in VALUES or re.match(r"(?:recall|any|frac|all|mrr|ndcg|hit|r$)", word))
    return SETTING.search(before) is not None


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
    if shown > 100 or not (decimals or unit or cell):
        return None
    percent = bool(unit) or shown > 1
    bound = BOUND.search(text[max(0, match.start() - NEAR) : match.start()])
    kind = "" if bound is None else ">" if bound["low"] or bound["low2"] else "<"
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
        half=_plain(half["half"]) if half else None,
        bare=percent and not unit,
    )


def _with_intervals(numbers: list[Number], intervals: list[re.Match[str]], text: str) -> list[Number]:
    """Each interval goes with the last number in front of it, or with the first where none is."""
    for match in intervals:
        low, high = (match["low"] or match["low2"], match["high"] or match["high2"])
        before = [place for place, number in enumerate(numbers) if number.end <= match.start()]
        place = before[-1] if before else 0
        near = before and _together(text[numbers[place].end : match.start()])
        if numbers and near and numbers[place].interval is None:
            numbers[place] = replace(numbers[place], interval=(_plain(low), _plain(high)))
    return numbers


def _together(between: str) -> bool:
    """Whether the words between a number and an interval say that they belong together."""
    if re.fullmatch(r"[\s,;:†*`(]*(?:95\s*%)?[\s,;:(]*", between):
        return True
    return (
        len(between) <= 60
        and re.fullmatch(
            r"[\s\S]{0,40}?(?:,|\(|\bwith|\band|\bis|\bits)\s*(?:\w+\s+){0,2}(?:95\s*%\s*)?(?:confidence\s*)?"
            r"(?:CI\s*|interval\s*)?(?:of\s*|is\s*|from\s*)?",
            between,
            re.IGNORECASE,
        )
        is not None
    )


def _plain(text: str) -> float:
    return float(text.strip(" %+").replace("−", "-").replace("–", "-").replace(",", "."))  # noqa: RUF001
