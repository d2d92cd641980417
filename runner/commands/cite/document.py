"""Parse a Markdown document for `cite`: its marks, and figures outside marks that look like recall results.

A mark is `<!-- cite: WORDS -->text that the program wrote<!-- /cite -->`. Inside code it is plain text. A
figure looks like a recall result if a word such as "recall" or "MRR" is near.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt("commonmark").enable("table").disable("inline")  # blocks are enough
NEWLINE = re.compile(r"\r\n?|\n")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
SPAN = re.compile(rf"{COMMENT.pattern}|(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))", re.DOTALL)
MARK = re.compile(r"<!--\s*(?:cite:(?P<words>.*?)|(?P<end>/cite)\s*)-->", re.DOTALL)
UNSEEN = re.compile(
    rf"{COMMENT.pattern}|\]\([^()]*\)|https?://\S+|\b95\s?%(?=\s(?:interval|confidence))", re.DOTALL
)
BLOCKS = ("paragraph_open", "heading_open", "html_block", "tr_open")
LISTS = ("bullet_list_open", "ordered_list_open")
TEXTS = ("", "text")  # languages of code blocks that are read as prose

RECALL = re.compile(
    r"""recall(?!\ benchmark|ed\b) | \bMRR | nDCG | hit\ rate | \bgold\b | \bmiss(?:es|ed)?\b
    | \b(?:any|all|frac|R|hits?)@\d | \b(?:first|top)[ -](?:one|five|ten|\d+)\b""",
    re.IGNORECASE | re.VERBOSE,
)
ALONE = r"(?<![\w.,@/§±])(?<!\w-)(?<!±\s)"  # no version, date, identifier, depth or band
FIGURE = re.compile(
    rf"""{ALONE}(?:
        \d+(?:\.\d+)?\s?%                                        # a share
      | (?:0?\.\d+|1\.0+|\d{{2,3}}\.\d+)(?!\w|[.,/-]?\d)        # a decimal in 0 to 1, or in percent
        (?!(?:\s/\s[\d.]+)?\s?(?:ms|s|MB|GB)\b)                # … of no time and no size
      | \d+(?:\.\d+)?(?=\spoints?\b)                              # a difference
      | \d[\d,]*(?=\s(?:\w+\s){{0,2}}(?:questions|hits)\b|\s(?:out\s)?of\s(?:the\s)?\d)  # a count
    ) | (?<=question\sin\s)\d+ | \[[+−-]?[\d.]+,\s[+−-]?[\d.]+\]""",  # noqa: RUF001
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class CiteMark:
    """A mark: its words, its first line, and the position of its body in the text."""

    words: tuple[str, ...]
    line: int
    start: int
    end: int


class Document:
    """The text of one file, with its original line endings."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in NEWLINE.finditer(text)), len(text) + 1]
        self._tokens = [token for token in MARKDOWN.parse(text) if token.map]
        self.marks: list[CiteMark] = []
        self.faults: list[tuple[int, str]] = []
        self._read_marks()

    def body(self, mark: CiteMark) -> str:
        """Return the body of a mark, with `\n` as the line ending."""
        return NEWLINE.sub("\n", self.text[mark.start : mark.end])

    def filled(self, bodies: Iterable[str]) -> str:
        """Return the text with `bodies` in the marks, in order; a mark with an equal body is unchanged."""
        newline = found[0] if (found := NEWLINE.search(self.text)) else "\n"
        parts, place = [], 0
        for mark, body in zip(self.marks, bodies, strict=True):
            if body != self.body(mark):
                parts += [self.text[place : mark.start], body.replace("\n", newline)]
                place = mark.end
        return "".join([*parts, self.text[place:]])

    def unmarked(self) -> Iterator[tuple[int, str]]:
        """Yield (line, figures) of each line that has unmarked figures near a recall word.

        Near means in the same paragraph; for a list item the whole list, for a table row the table's
        head, and for both also the paragraph before.
        """
        seen = _blank(self._prose, [(mark.start, mark.end) for mark in self.marks])
        seen = _blank(seen, [found.span() for found in UNSEEN.finditer(seen)])
        front = near = ""
        for token in self._tokens:
            start, end = self._span(token)
            here = COMMENT.sub("", self.text[start:end])
            if token.level == 0 and token.type != "inline":
                near = front + here if token.type in LISTS else front if token.type == "table_open" else ""
                front = (here if token.type in BLOCKS else "") if here.strip() else front
            if token.type == "thead_open":
                near += here
            elif (token.type in BLOCKS or _is_text(token)) and RECALL.search(near + here):
                yield from self._figures(seen, start, end)

    def _figures(self, seen: str, start: int, end: int) -> Iterator[tuple[int, str]]:
        found = FIGURE.finditer(seen, start, end)
        for line, figures in groupby(found, lambda figure: self.line(figure.start())):
            yield line, ", ".join(figure[0] for figure in figures)

    @cached_property
    def _prose(self) -> str:
        """Return the text with programs and code spans blanked out."""
        programs = [token for token in self._tokens if _is_code(token) and not _is_text(token)]
        inline = [self._span(token) for token in self._tokens if token.type in ("inline", "tr_open")]
        spans = [
            found.span()
            for start, end in inline
            for found in SPAN.finditer(self.text, start, end)
            if found["code"]
        ]
        return _blank(self.text, [*map(self._span, programs), *spans])

    def _read_marks(self) -> None:
        texts = [self._span(token) for token in self._tokens if _is_text(token)]
        opened: list[re.Match[str]] = []
        for found in MARK.finditer(_blank(self._prose, texts)):
            line = self.line(found.start())
            if found["end"] is None:
                if opened:
                    outer = self.line(opened[0].start())
                    self.faults.append(
                        (line, f"a mark begins inside that of line {outer}: end that one first")
                    )
                opened.append(found)
            elif not opened:
                self.faults.append((line, "<!-- /cite --> ends a mark that does not begin"))
            elif len(opened) == 1:
                begun = opened.pop()
                words = tuple(begun["words"].split())
                self.marks.append(CiteMark(words, self.line(begun.start()), begun.end(), found.start()))
            else:
                opened.pop()
        self.faults += [(self.line(one.start()), "the mark has no <!-- /cite -->") for one in opened[:1]]
        self.faults += [
            (self.line(start), "a mark at the start of a line ends its paragraph: put a word before it")
            for start, end in (self._span(token) for token in self._tokens if token.type == "html_block")
            if self.text[start:end].lstrip().startswith("<!--")
            and MARK.search(self.text, start, end)
            and COMMENT.sub("", self.text[start:end]).strip()
        ]

    def _span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return self._starts[first], min(self._starts[last], len(self.text))

    def line(self, place: int) -> int:
        """Return the line number of a position in the text."""
        return bisect_right(self._starts, place)


def _is_code(token: Token) -> bool:
    return token.type in ("fence", "code_block")


def _is_text(token: Token) -> bool:
    return _is_code(token) and token.info.strip() in TEXTS


def _blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return `text` with each span replaced by spaces; line breaks are kept."""
    parts, place = [], 0
    for start, end in sorted(spans):
        parts += [text[place:start], re.sub(r"[^\r\n]", " ", text[max(start, place) : end])]
        place = max(place, end)
    return "".join([*parts, text[place:]])
