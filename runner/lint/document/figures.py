"""A figure: a value, the metric that it is of, and the words around it."""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass, replace

from runner.lint.artefacts import PATH
from runner.lint.document.blocks import Block
from runner.lint.document.lists import introduced, lead
from runner.lint.written.binding import bind, in_turn
from runner.lint.written.depths import deep, find_depths, find_first
from runner.lint.written.misses import misses
from runner.lint.written.names import QUESTIONS, Name, defined_first, find_names
from runner.lint.written.number import Number
from runner.lint.written.numbers import find_numbers
from runner.lint.written.sentences import fragment, sentences
from runner.lint.written.series import goes_on, in_item, in_series
from runner.lint.written.visible import visible

EARLIER = 400  # characters in front of a sentence that may say what it is of
FOUND = re.compile(
    r"(?<![\w-])(?:found|finds?|retriev\w*|hits?|gold|evidence|answer\w*|session|miss\w*|unanswered|"
    r"surfac\w*)(?![\w-])",
    re.IGNORECASE,
)
ASKED = re.compile(r"\?[)\"\u201d'*_]*\s*$")
TIME = re.compile(r"\d\s?(?:ms|µs|seconds?)\b|\bp50\b|\bp9[59]\b|\blatenc\w+", re.IGNORECASE)
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
    lead: str = ""  # the words that introduce the list that it stands in

    @property
    def name(self) -> Name:
        """The metric that the figure is most likely of."""
        return self.names[0]


def prose(block: Block) -> list[Figure]:
    """Figures of a heading, a paragraph, a list item or a quoted citation, sentence by sentence."""
    text, raw = visible(block.raw), block.raw
    starts = [0, *(match.end() for match in re.finditer(r"\n", raw))]
    figures: list[Figure] = []
    carried: list[Name] = []
    heading = introduced(block)
    cited = any(PATH.search(section.raw) for section in block.section.chain())
    last: list[tuple[Name, Number]] = []
    stepped = False  # the figures of the sentence before are differences
    spans = sentences(text, lines=block.kind == "code")
    for (start, end), (after, last_of) in zip(spans, [*spans[1:], (len(text), len(text))], strict=True):
        words = text[start:end]
        ahead = fragment(words, text[after:last_of])
        if not re.search(r"\d", words):
            carried = defined_first(find_names(words)) or find_depths(words) or carried
            continue
        names, numbers = defined_first(deep(words, find_names(words))), find_numbers(words)
        if misses(text[max(0, start - EARLIER) : start]):
            numbers = [replace(number, perhaps=not number.change) for number in numbers]
        names = _at_last_depth(names, carried) or ahead
        pairs = (
            _named(words, names, numbers) if names else _without_name(words, numbers, carried, cited=cited)
        )
        if not pairs and goes_on(text, start, words):
            numbers = [replace(n, change=n.change or (stepped and n.bare)) for n in numbers]
            pairs = in_series(numbers, last) or in_item(numbers, carried[:1])
        if not pairs and carried and not names and ASKED.search(text[max(0, start - EARLIER) : start]):
            pairs = in_item([n for n in numbers if not n.change], carried[:1])
        if not pairs and heading and not names and start == 0:
            pairs = in_item(numbers, heading)
        last = [(meant[0], number) for meant, number in pairs if meant and not number.change]
        stepped = bool(pairs) and not last
        said = Sentence(words, tuple(numbers), text[max(0, start - EARLIER) : start])
        for meant, number in pairs:
            if meant and plausible(meant[0], number) and not _timed(words, meant[0], number):
                line = bisect(starts, start + number.start) - 1
                column = start + number.start - starts[line] + 1
                figures.append(
                    Figure(
                        block.first + line,
                        column,
                        meant,
                        number,
                        block,
                        raw[start:end],
                        said,
                        lead=lead(block),
                    )
                )
        carried = names or (find_depths(words) if cited else []) or carried
    return figures


def _at_last_depth(names: list[Name], carried: list[Name]) -> list[Name]:
    """`names`, recalls that say no cutoff at the one of the sentence before: "A hit is recall_any@k"."""
    depth = carried[0].k if carried else None
    if depth is None or any(name.k is not None or name.family != "recall" for name in names):
        return names
    return [replace(name, k=depth) for name in names]


def _named(text: str, names: list[Name], numbers: list[Number]) -> list[tuple[tuple[Name, ...], Number]]:
    """Which number is of which metric."""
    distinct = {(name.words, name.kind) for name in names}
    meant = in_turn(names, numbers) or bind(text, names if len(distinct) > 1 else names[:1], numbers)
    return [
        (tuple(dict.fromkeys(names[max(place, 0)] for place in places)), number)
        for places, number in zip(meant, numbers, strict=True)
    ]


def _timed(text: str, name: Name, number: Number) -> bool:
    """Whether a sentence is about how long a recall takes: "every recall at k = 10, 95 % below 31.6 ms"; no
    mean reciprocal rank is above one, so that such a number is of the times beside it."""
    if name.family != "recall" and number.bare and TIME.search(text):
        return True
    if name.k is not None:
        return False
    operation = re.search(r"\b(?:every|each|a|one|per|single)\s+$", text[: name.start], re.IGNORECASE)
    return name.family == "recall" and operation is not None and TIME.search(text) is not None


def plausible(name: Name, number: Number) -> bool:
    """Whether a number can be a value: the bare word "recall" needs a percentage or a fraction close by."""
    if name.k is not None or name.family != "recall" or name.kind is not None:
        return True
    ahead, behind = name.start - number.end, number.start - name.end
    return not number.bare and (0 <= ahead <= 8 or 0 <= behind <= 40)


def _without_name(
    text: str, numbers: list[Number], carried: list[Name], *, cited: bool
) -> list[tuple[tuple[Name, ...], Number]]:
    """A hit rate in words (`97.5 % of the questions … in the top 10`), a value of the metric that the
    sentence before names, or a count of questions of which nothing else is said. Where a run is `cited`, a
    share at a depth needs no word of finding: "top five: 95.5 %"."""
    shares = [n for n in numbers if (n.percent or n.hits is not None) and not n.change]
    depths = find_depths(text) or (find_first(text) if cited else [])
    if depths and shares and (cited or FOUND.search(text)):
        return _named(text, depths, shares)
    changes = [number for number in numbers if number.change and number.percent]
    if cited and changes and find_depths(text):
        return _named(text, find_depths(text), changes)
    if len({name.words for name in carried}) == 1 and changes and not REACHES.search(text):
        return [((carried[0],), number) for number in changes]
    if carried and numbers and REACHES.search(text):
        return [((carried[min(place, len(carried) - 1)],), number) for place, number in enumerate(numbers)]
    counts = [number for number in numbers if number.hits is not None]
    return [((QUESTIONS,), number) for number in counts if FOUND.search(text)]
