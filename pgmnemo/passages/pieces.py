"""Cut a text of any length into passages: windows of lines, cut further if an embedder reads less.

1. A window of lines within the embedder's limit is a passage.
2. A longer window, and a single line of more than AIM tokens, is cut after sentences; a sentence beyond the
   limit is cut at blanks, else after a token. Short parts are combined, up to AIM tokens. So every part of a
   text has a vector.
3. A text of more passages than a lesson may have (1,000, and 20 MB) is cut into at most 1,000 pieces of
   similar size, which do not overlap. An embedder reads only the beginning of such a piece, but all of its
   words are indexed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from pgmnemo.passages.sentences import chunks, sentences, whole_character
from pgmnemo.passages.windows import WINDOWS, Line, windows
from pgmnemo.records import Passage

if TYPE_CHECKING:
    from pgmnemo.embedders import TokenSpan

MOST = 1_000  # passages that the extension takes of one lesson
BYTES = 20_000_000  # most bytes of a lesson's passages
FEW = 900  # target number of pieces if there are more than MOST; rounding adds some
LONG = 1_000_000  # characters above which tokens are not counted
AIM = 32  # most tokens of a combined piece: a fact in a longer piece is not found by its meaning
USUAL = 256  # tokens of a piece, by estimate, for an embedder without a known limit
SPECIAL = 2  # tokens that an embedder sets around a text
LEAST = 16  # least tokens of a piece, for any embedder
PART = 20_000  # characters per batch of the tokenizer

Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Meter:
    """An embedder's limits on a text: at most `limit` tokens, and at most `characters` (None: no limit).

    `spans` returns the first character and the end of each token. Short parts are combined up to `aim`
    tokens.
    """

    spans: Callable[[Sequence[str]], list[Spans]]
    limit: int
    characters: int | None = None
    aim: int = AIM

    @classmethod
    def of_tokens(
        cls, spans: Callable[[Sequence[str]], list[list[TokenSpan]]], tokens: int, prefixes: Sequence[str]
    ) -> Meter:
        """Return the limits for an embedder that reads `tokens` tokens of a text.

        The longest of `prefixes` and the special tokens count towards that number.
        """
        room = SPECIAL + max(map(len, spans(list(prefixes))))
        return cls(
            lambda texts: [[(one.start, one.end) for one in some] for some in spans(texts)],
            max(LEAST, tokens - room),
        )

    def sizes(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; `limit` + 1 for a text with too many characters."""
        counted = [text for text in texts if not self._far(text)]
        found = iter(map(len, self.spans(counted) if counted else []))
        return [self.limit + 1 if self._far(text) else next(found) for text in texts]

    def _far(self, text: str) -> bool:
        return len(text) > (self.characters or PART)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a turn: its text, its words to embed, and the number of their tokens."""

    text: str
    words: str
    size: int


def passages_within(lines: Sequence[Line], meter: Meter) -> tuple[Passage, ...]:
    """Return the passages of a text's turns, in order, each within the limits of `meter`."""
    long = sum(len(line.line) for line in lines) > LONG
    found = () if long else tuple(islice(_fitting_windows(lines, meter), MOST + 1))
    if long or len(found) > MOST or _bytes(found) > BYTES:
        return tuple(_at_most(lines))
    return found


def pieces(text: str, meter: Meter) -> list[str]:
    """Cut a text into parts within the limits of `meter`, in order; [text] if all of it is within them."""
    if meter.sizes([text])[0] <= meter.limit:
        return [text]
    large = replace(meter, aim=meter.limit)
    return [passage.embedded for passage in _pack_parts(_cut(text, text, large), large)] or [text]


def _fitting_windows(lines: Sequence[Line], meter: Meter) -> Iterator[Passage]:
    """Yield the windows of a text as passages within the limits.

    A longer window is cut into pieces; a piece that several windows share is yielded once.
    """
    some = list(windows(lines, WINDOWS))
    said = ["\n".join(line.words for line in window) for window in some]
    cut: dict[Line, list[_Part]] = {}
    seen: set[Passage] = set()
    for window, words, size in zip(some, said, meter.sizes(said), strict=True):
        if size <= (meter.limit if len(lines) > 1 else min(meter.limit, meter.aim)):
            yield Passage("\n".join(line.line for line in window), words)
            continue
        for line in window:
            if line not in cut:
                cut[line] = _cut(line.line + "\n", line.words + "\n", meter)
        new = [
            one
            for one in _pack_parts([part for line in window for part in cut[line]], meter)
            if one not in seen
        ]
        seen.update(new)
        yield from new


def _cut(text: str, words: str, meter: Meter) -> list[_Part]:
    """Return parts of `words` within the limits; the text before `words` in `text` goes into the
    first part.
    """
    said = sentences(words)
    parts: list[tuple[str, int]] = []
    for sentence, size in zip(said, meter.sizes(said), strict=True):
        if size <= meter.limit:
            parts.append((sentence, size))
        else:
            parts += [one for chunk in chunks(sentence, PART) for one in _by_tokens(chunk, meter)]
    head = text[: len(text) - len(words)] if text.endswith(words) else ""
    return [_Part(head * (number == 0) + part, part, size) for number, (part, size) in enumerate(parts)]


def _by_tokens(text: str, meter: Meter) -> Iterator[tuple[str, int]]:
    """Yield parts of a text of as many tokens as fit, each with its number of tokens.

    A part ends at the last blank in the second half of its tokens, else after a token.
    """
    [spans] = meter.spans([text])
    most, start, first = meter.characters or len(text), 0, 0
    while first < len(spans):
        last = min(first + meter.limit, len(spans))
        while last - first > 1 and spans[last - 1][1] - start > most:
            last = first + (last - first) // 2
        if last < len(spans):
            blanks = (at for at in range(last, first + (last - first) // 2, -1) if _blank(spans, at))
            last = next(blanks, last)
        end = whole_character(text, spans[last][0]) if last < len(spans) else len(text)
        if end <= start:  # one character has more tokens than the limit
            end = spans[last][0]
        while last < len(spans) and spans[last - 1][0] >= end and last - first > 1:
            last -= 1
        if start < end:
            yield text[start:end], last - first
        start, first = max(start, end), last
    if not spans:
        yield text, 0


def _blank(spans: Spans, at: int) -> bool:
    """Return whether there is a gap, such as a blank, before a token."""
    return at < len(spans) and spans[at][0] > spans[at - 1][1]


def _pack_parts(parts: Sequence[_Part], meter: Meter) -> Iterator[Passage]:
    """Yield passages of consecutive parts, each with as many parts as fit."""
    most, kept, size, long = min(meter.limit, meter.aim), list[_Part](), 0, 0
    for part in parts:
        wide = long + len(part.words) > (meter.characters or PART) + 1
        if kept and (size + part.size > most or wide):
            yield from _passage(kept)
            kept, size, long = [], 0, 0
        kept.append(part)
        size, long = size + part.size, long + len(part.words)
    yield from _passage(kept)


def _passage(parts: Sequence[_Part]) -> Iterator[Passage]:
    text = "".join(part.text for part in parts).strip()
    words = "".join(part.words for part in parts).strip()
    if words:
        yield Passage(text, words)


def _at_most(lines: Sequence[Line]) -> Iterator[Passage]:
    """Return at most MOST pieces of similar size, cut after sentences if possible."""
    said = [line for line in lines if line.person] or list(lines[:1])
    size = -(-sum(len(line.line) + 1 for line in said) // FEW)
    sized = Meter(lambda texts: [[(0, 0)] * len(text) for text in texts], size, aim=size)
    parts = [
        _Part(piece, piece, len(piece))
        for line in said
        for sentence in sentences(line.line + "\n")
        for piece in chunks(sentence, size)
    ]
    found = list(_pack_parts(parts, sized))
    return iter(found if len(found) <= MOST else _pack_parts(_plain_passage(said, size), sized))


def _plain_passage(lines: Sequence[Line], size: int) -> list[_Part]:
    text = "\n".join(line.line for line in lines)
    return [_Part(piece, piece, size) for piece in chunks(text, size)]


def _bytes(passages: Sequence[Passage]) -> int:
    return sum(len(passage.text.encode("utf-8", "surrogatepass")) for passage in passages)
