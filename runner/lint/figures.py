"""A figure: a value, the metric that it is of, and the words around it."""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass, replace
from urllib.parse import unquote

from runner.lint.artefacts import PATH
from runner.lint.binding import bind, in_turn
from runner.lint.blocks import Block
from runner.lint.depths import find_depths, find_first
from runner.lint.misses import misses
from runner.lint.names import QUESTIONS, Name, defined_first, find_names, kinds_said
from runner.lint.number import Number
from runner.lint.numbers import find_numbers
from runner.lint.series import goes_on, in_item, in_series

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
    r"(?<![\w-])(?:found|finds?|retriev\w*|hits?|gold|evidence|answer\w*|session|miss\w*|unanswered|"
    r"surfac\w*)(?![\w-])",
    re.IGNORECASE,
)
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
    introduced = _introduced(block)
    cited = any(PATH.search(section.raw) for section in block.section.chain())
    last: list[tuple[Name, Number]] = []
    for start, end in _sentences(text, lines=block.kind == "code"):
        words = text[start:end]
        ahead = _fragment(text, end)
        if not re.search(r"\d", words):
            carried = defined_first(find_names(words)) or find_depths(words) or carried
            continue
        names, numbers = defined_first(_deep(words, find_names(words))), find_numbers(words)
        if misses(text[max(0, start - EARLIER) : start]):
            numbers = [replace(number, perhaps=not number.change) for number in numbers]
        names = names or ahead
        pairs = (
            _named(words, names, numbers) if names else _without_name(words, numbers, carried, cited=cited)
        )
        if not pairs and goes_on(text, start, words):
            pairs = in_series(numbers, last) or in_item(numbers, carried[:1])
        if not pairs and introduced and not names and start == 0:
            pairs = in_item(numbers, introduced)
        last = [(meant[0], number) for meant, number in pairs if meant and not number.change]
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
                        lead=_lead(block),
                    )
                )
        carried = names or (find_depths(words) if cited else []) or carried
    return figures


def _lead(block: Block) -> str:
    """The words that introduce the list that a block is an item of."""
    if block.kind != "item":
        return ""
    lead = next((b for b in reversed(block.section.blocks[: block.place]) if b.kind != "item"), None)
    introduces = lead is not None and (lead.raw.rstrip().endswith(":") or lead.kind == "heading")
    return visible(lead.raw) if lead is not None and introduces else ""


def _tail(block: Block) -> list[Name]:
    """The only metric of the line behind a list that states no value itself."""
    if block.kind != "item":
        return []
    behind = next((b for b in block.section.blocks[block.place :] if b.kind != "item"), None)
    words = visible(behind.raw) if behind is not None and behind.kind == "text" else ""
    found = find_names(words)
    return found if len({name.words for name in found}) == 1 and not find_numbers(words) else []


def _introduced(block: Block) -> list[Name]:
    """The metrics that the words before a list give to its items: "recall_any@5 by arm:"."""
    words = _lead(block)
    found = _deep(words, defined_first(find_names(words))) or _tail(block)
    return list({name.words: name for name in found if name.k or name.family != "recall"}.values())


def _sentences(text: str, *, lines: bool) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; one that is too long for a sentence is read in parts."""
    spans, start = [], 0
    for match in re.finditer(r"\n", text) if lines else SENTENCE.finditer(text):
        if match[0].startswith(";") and _in_brackets(text[start : match.start()]):
            continue
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return [
        (at, min(at + LONGEST, end))
        for begin, end in spans
        for at in range(begin, max(end, begin + 1), LONGEST)
    ]


def _fragment(text: str, end: int) -> list[Name]:
    """The one metric that stands behind a sentence as a fragment: "pgmnemo 98.4 %. recall_any@10."."""
    found = find_names(text[end : end + 60])
    alone = (
        len(found) == 1 and found[0].k is not None and not text[end : end + found[0].start].strip(" .)*_`\n")
    )
    follows = alone and re.match(r"[\s`*_]*(?:[.,;]|on\b|$)", text[end + found[0].end :]) is not None
    return [replace(found[0], start=end, end=end)] if follows else []


def _in_brackets(text: str) -> bool:
    """Whether a bracket is open at the end of a text."""
    return text.count("(") > text.count(")")


def _deep(text: str, names: list[Name]) -> list[Name]:
    """`names`, a recall without its cutoff at the one depth that the sentence says elsewhere."""
    depths = find_depths(text)
    if len({depth.k for depth in depths}) > 1 and {(n.family, n.k) for n in names} == {("recall", None)}:
        return [replace(names[0], start=depth.start, end=depth.end, k=depth.k) for depth in depths]
    said = {name.k for name in names if name.k is not None and name.family == "recall"}
    cutoffs = {depth.k for depth in depths} or (said if any(n.k is None and n.kind for n in names) else set())
    if len(cutoffs) != 1:
        return names
    (k,) = cutoffs
    return [
        replace(n, k=k, kind=n.kind or _kind(text)) if n.k is None and n.family == "recall" else n
        for n in names
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


def _timed(text: str, name: Name, number: Number) -> bool:
    """Whether a sentence is about how long a recall takes: "every recall at k = 10, 95 % below 31.6 ms"; no
    mean reciprocal rank is above one, so that such a number is of the times beside it."""
    if name.family != "recall" and number.bare and TIME.search(text):
        return True
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
