"""A figure: a value, the metric that it is of, and the words around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

from runner.lint.blocks import Block
from runner.lint.names import Name, find_names
from runner.lint.numbers import Number, find_numbers

HIDDEN = re.compile(
    r"\[\d+(?:\.\d+)+\](?!\()|\]\([^)\s]*(?:\s+\"[^\"]*\")?\)|https?://\S+|<[^<>\n]{1,200}>|benchmarks/[\w./+-]+"
)
SENTENCE = re.compile(
    r"(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!cf\.)(?<!\bal\.)(?<=[.!?;])[)\"”']?\s+(?=[^\s\d\[(])|;\s"
)
ADVERBS = re.compile(r"[\s,/|:&]*(?:and|or)?[\s,/]*")
JOINT = re.compile(r"\s*(?:of|for|in|on|the|at|our|its|\()?\s*", re.IGNORECASE)
FOUND = re.compile(r"\b(?:found|finds?|retriev\w*|hits?|gold|evidence|answer\w*|session)\b", re.IGNORECASE)
DEPTH = re.compile(
    r"\b(?:(?:top|first)[- ]?(?P<k>\d+|one|five|ten|twenty|fifty)|"
    r"at (?:k = )?(?P<k2>5|10|20|50))\b(?!\s*%|[.,]\d)",
    re.IGNORECASE,
)
REACHES = re.compile(
    r"\b(?:(?:it|this|that)\s+(?:is|was|stands|comes|lies)|(?:it|this|that|hybrid|pgmnemo|ours|we|version|system|extension|"
    r"v\d[\w.]*)\s+(?:now\s+|then\s+)?(?:reach\w*|gets?|got|scor\w*|comes? to|came to|rises?|rose|climb\w*|"
    r"improv\w*|achiev\w*|drop\w*|fell|falls?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One value. `words` is the sentence, or the row with its header, that it stands in; `before` the text of
    that sentence in front of it; `arm` what the column or row says of the arm."""

    line: int
    column: int
    name: Name
    number: Number
    block: Block
    words: str
    before: str = ""
    header: str = ""


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
    figures: list[Figure] = []
    carried: list[Name] = []
    for start, end in _sentences(text, lines=block.kind == "code"):
        words = text[start:end]
        names, numbers = find_names(words), find_numbers(words)
        pairs = bind(words, names, numbers) if names else _without_name(words, numbers, carried)
        pairs = [(name, number) for name, number in pairs if plausible(name, number)]
        figures += [_figure(block, raw, start, end, name, number) for name, number in pairs]
        carried = names if names and not numbers else [] if numbers else carried
    return figures


def _sentences(text: str, *, lines: bool) -> list[tuple[int, int]]:
    spans, start = [], 0
    for match in re.finditer(r"\n", text) if lines else SENTENCE.finditer(text):
        spans.append((start, match.start()))
        start = match.end()
    return [*spans, (start, len(text))]


def _figure(block: Block, raw: str, start: int, end: int, name: Name, number: Number) -> Figure:
    at = start + number.start
    line = raw.count("\n", 0, at)
    column = at - (raw.rfind("\n", 0, at) + 1) + 1
    return Figure(block.first + line, column, name, number, block, raw[start:end], raw[start:at])


def bind(text: str, names: list[Name], numbers: list[Number]) -> list[tuple[Name, Number]]:
    """Which number is of which metric: a list of names goes with a list of values, else the nearest wins."""
    if len(names) > 1 and numbers and len(numbers) % len(names) == 0 and _listed(text, names, numbers[0]):
        return [(names[place % len(names)], number) for place, number in enumerate(numbers)]
    return [(_nearest(text, names, number), number) for number in numbers]


def plausible(name: Name, number: Number) -> bool:
    """Whether a number can be a value: the bare word "recall" needs a percentage or a fraction close by."""
    if name.k is not None or name.family != "recall" or name.kind is not None:
        return True
    ahead, behind = name.start - number.end, number.start - name.end
    return not number.bare and (0 <= ahead <= 8 or 0 <= behind <= 40)


def _listed(text: str, names: list[Name], first: Number) -> bool:
    gaps = pairwise(names)
    return names[-1].end <= first.start and all(
        ADVERBS.fullmatch(text[left.end : right.start]) for left, right in gaps
    )


def _nearest(text: str, names: list[Name], number: Number) -> Name:
    after = next((name for name in names if name.start >= number.end), None)
    before = next((name for name in reversed(names) if name.end <= number.start), None)
    if after is not None and (before is None or JOINT.fullmatch(text[number.end : after.start])):
        return after
    return before or names[0]


def _without_name(text: str, numbers: list[Number], carried: list[Name]) -> list[tuple[Name, Number]]:
    """A hit rate in words (`97.5 % of the questions … in the top 10`), or a value of the metric before."""
    percents = [number for number in numbers if number.percent and not number.change]
    depths = list(DEPTH.finditer(text))
    if depths and percents and FOUND.search(text):
        return [(_at_depth(depths, number), number) for number in percents]
    if carried and numbers and REACHES.search(text):
        return [(carried[min(place, len(carried) - 1)], number) for place, number in enumerate(numbers)]
    return []


def _at_depth(depths: list[re.Match[str]], number: Number) -> Name:
    """A hit rate at the depth that stands behind the number, else at the last before it."""
    depth = next((match for match in depths if match.start() >= number.end), depths[-1])
    return find_names(f"any@{(depth['k'] or depth['k2']).lower()}")[0]
