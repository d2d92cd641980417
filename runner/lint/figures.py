"""A figure: a value, the metric that it is of, and the words around it."""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass, replace
from urllib.parse import unquote

from runner.lint.binding import bind, in_turn
from runner.lint.blocks import Block
from runner.lint.misses import misses
from runner.lint.names import QUESTIONS, Name, defined_first, find_names, kinds_said
from runner.lint.number import Number
from runner.lint.numbers import find_numbers
from runner.lint.series import goes_on, in_series

LONGEST = 2_000  # characters of a sentence, so that the work grows with the length of the file alone
EARLIER = 400  # characters in front of a sentence that may say what it is of
HIDDEN = re.compile(
    r"\[\d+(?:\.\d+)+\](?!\()|\]\([^)\s]{0,500}(?:\s+\"[^\"\n]{0,200}\")?\)|https?://\S+|<[^<>\n]{1,200}>|"
    r"benchmarks/[\w./+-]+|\[\^[\w-]{1,30}\]:?|\d{40,}"
)
SENTENCE = re.compile(
    r"(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!cf\.)(?<!\bal\.)(?<=[.!?;])[)\"”']?\s+(?=[^\s\d\[(])|;\s"
)
FOUND = re.compile(
    r"(?<![\w-])(?:found|finds?|retriev\w*|hits?|gold|evidence|answer\w*|session|miss\w*|unanswered|surfac\w*)(?![\w-])",
    re.IGNORECASE,
)
TIME = re.compile(r"\d\s?(?:ms|µs|seconds?)\b|\bp50\b|\bp9[59]\b|\blatenc\w+", re.IGNORECASE)
DEPTH = re.compile(
    r"\b(?:(?:top|first)[- ]?(?P<k>\d+|one|five|ten|twenty|fifty)|"
    r"(?:at|depth) (?:k = |depth )?(?P<k2>5|10|20|50|one|five|ten|twenty|fifty))\b(?!\s*%|[.,]\d)",
    re.IGNORECASE,
)
REACHES = re.compile(
    r"\b(?:(?:it|this|that)\s+(?:is|was|stands|comes|lies)|(?:it|this|that|hybrid|pgmnemo|ours|we|"
    r"version|system|extension|"
    r"v\d[\w.]*)\s+(?:now\s+|then\s+)?(?:reach\w*|gets?|got|scor\w*|comes? to|came to|rises?|rose|climb\w*|"
    r"improv\w*|achiev\w*|drop\w*|fell|falls?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a cell with what heads its row and column: its visible words, and every number in it."""

    text: str
    numbers: tuple[Number, ...]
    before: str = ""  # the end of what stands in front of it in its block


@dataclass(frozen=True, slots=True)
class Figure:
    """One value. `names` are the metrics that it can be of, mostly one; `words` is the sentence or row that
    it stands in as it is written, `said` the same as it is read; `header` is set within a table."""

    line: int
    column: int
    names: tuple[Name, ...]
    number: Number
    block: Block
    words: str
    said: Sentence
    header: str = ""

    @property
    def name(self) -> Name:
        """The metric that the figure is most likely of."""
        return self.names[0]


def visible(text: str) -> str:
    """`text` with addresses, paths and emphasis blanked out, offsets kept."""
    text = re.sub(r"!\[[^\]\n]*\]\([^)\s]+\)", _badge, text)
    text = HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return re.sub(r"[*`~\u00a0\u2009\u202f]", " ", text).replace("&nbsp;", "      ")


def _badge(match: re.Match[str]) -> str:
    """What a drawn badge says, which its address holds: `any%4010-97.5%25` is `any@10 97.5%`."""
    said = unquote(match[0]).translate(str.maketrans("-/()[]!?&=", " " * 10))
    return said.ljust(len(match[0]))


def prose(block: Block) -> list[Figure]:
    """Figures of a heading, a paragraph, a list item or a quoted citation, sentence by sentence."""
    text, raw = visible(block.raw), block.raw
    starts = [0, *(match.end() for match in re.finditer(r"\n", raw))]
    figures: list[Figure] = []
    carried: list[Name] = []
    last: list[tuple[Name, Number]] = []
    for start, end in _sentences(text, lines=block.kind == "code"):
        words = text[start:end]
        if not re.search(r"\d", words):
            carried = defined_first(find_names(words)) or carried
            continue
        names, numbers = _deep(words, defined_first(find_names(words))), find_numbers(words)
        if misses(text[max(0, start - EARLIER) : start]):
            numbers = [replace(number, perhaps=not number.change) for number in numbers]
        pairs = _named(words, names, numbers) if names else _without_name(words, numbers, carried)
        if not pairs and goes_on(text, start, words):
            pairs = in_series(numbers, last)
        last = [(meant[0], number) for meant, number in pairs if meant and not number.change]
        said = Sentence(words, tuple(numbers), text[max(0, start - EARLIER) : start])
        for meant, number in pairs:
            if meant and plausible(meant[0], number) and not _timed(words, meant[0]):
                line = bisect(starts, start + number.start) - 1
                column = start + number.start - starts[line] + 1
                figures.append(Figure(block.first + line, column, meant, number, block, raw[start:end], said))
        carried = names if names else carried
    return figures


def _sentences(text: str, *, lines: bool) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; one that is too long for a sentence is read in parts."""
    spans, start = [], 0
    for match in re.finditer(r"\n", text) if lines else SENTENCE.finditer(text):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return [
        (at, min(at + LONGEST, end))
        for begin, end in spans
        for at in range(begin, max(end, begin + 1), LONGEST)
    ]


def _deep(text: str, names: list[Name]) -> list[Name]:
    """`names`, a recall without its cutoff at the one depth that the sentence says elsewhere."""
    depths = {find_names(f"any@{(m['k'] or m['k2']).lower()}")[0].k for m in DEPTH.finditer(text)}
    if len(depths) > 1 and {(n.family, n.k) for n in names} == {("recall", None)}:
        return _at_depths(text, names[0])
    if len(depths) != 1:
        return names
    (k,) = depths
    return [
        replace(n, k=k, kind=n.kind or _kind(text)) if n.k is None and n.family == "recall" else n
        for n in names
    ]


def _at_depths(text: str, name: Name) -> list[Name]:
    """A recall without its cutoff at each of the depths of the sentence, where they stand."""
    return [
        replace(name, start=m.start(), end=m.end(), k=find_names(f"any@{(m['k'] or m['k2']).lower()}")[0].k)
        for m in DEPTH.finditer(text)
    ]


def _kind(text: str) -> str | None:
    said = sorted(kinds_said(text))
    return said[0] if len(said) == 1 else None


def _named(text: str, names: list[Name], numbers: list[Number]) -> list[tuple[tuple[Name, ...], Number]]:
    """Which number is of which metric."""
    distinct = {(name.words, name.kind) for name in names}
    meant = in_turn(names, numbers) or bind(text, names if len(distinct) > 1 else names[:1], numbers)
    return [
        (tuple(dict.fromkeys(names[max(place, 0)] for place in places)), number)
        for places, number in zip(meant, numbers, strict=True)
    ]


def _timed(text: str, name: Name) -> bool:
    """Whether a sentence is about how long a recall takes: "every recall at k = 10, 95 % below 31.6 ms"."""
    operation = re.search(r"\b(?:every|each|a|one|per|single)\s+$", text[: name.start], re.IGNORECASE)
    return name.family == "recall" and operation is not None and TIME.search(text) is not None


def plausible(name: Name, number: Number) -> bool:
    """Whether a number can be a value: the bare word "recall" needs a percentage or a fraction close by."""
    if name.k is not None or name.family != "recall" or name.kind is not None:
        return True
    ahead, behind = name.start - number.end, number.start - name.end
    return not number.bare and (0 <= ahead <= 8 or 0 <= behind <= 40)


def _without_name(
    text: str, numbers: list[Number], carried: list[Name]
) -> list[tuple[tuple[Name, ...], Number]]:
    """A hit rate in words (`97.5 % of the questions … in the top 10`), a value of the metric that the
    sentence before names, or a count of questions of which nothing else is said."""
    shares = [n for n in numbers if (n.percent or n.hits is not None) and not n.change]
    depths = list(DEPTH.finditer(text))
    if depths and shares and FOUND.search(text):
        return [((_at_depth(depths, number),), number) for number in shares]
    changes = [number for number in numbers if number.change and number.percent]
    if len({name.words for name in carried}) == 1 and changes and not REACHES.search(text):
        return [((carried[0],), number) for number in changes]
    if carried and numbers and REACHES.search(text):
        return [((carried[min(place, len(carried) - 1)],), number) for place, number in enumerate(numbers)]
    counts = [number for number in numbers if number.hits is not None]
    return [((QUESTIONS,), number) for number in counts if FOUND.search(text)]


def _at_depth(depths: list[re.Match[str]], number: Number) -> Name:
    """A hit rate at the depth that stands behind the number, else at the last before it."""
    depth = next((match for match in depths if match.start() >= number.end), depths[-1])
    return find_names(f"any@{(depth['k'] or depth['k2']).lower()}")[0]
