"""HTML comments: markers that exempt, and text that nobody sees and so nobody lints.

`<!-- lint: exempt: reason -->` at the end of a line exempts that line; alone on its line, the whole block
that follows (a paragraph, a list item, a table, a code block). Within code a comment is text and no marker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
LINT = re.compile(r"\s*lint\b\s*:?\s*(.*?)\s*", re.DOTALL)
EXEMPT = re.compile(r"exempt\s*:\s*(\S.*)", re.DOTALL)
FENCE = re.compile(r"^ {0,3}(?:>\s?)*\s*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker. `reason` is empty when it has none; `alone` when nothing else stands on its line."""

    line: int
    column: int
    reason: str
    alone: bool


def split_comments(text: str) -> tuple[str, list[Marker]]:
    """`text` with every comment blanked out, offsets kept, and the markers among the comments."""
    markers: list[Marker] = []
    code = _code_spans(text)

    def blank(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in code):
            return match[0]
        if (word := LINT.fullmatch(match[1])) is not None:
            markers.append(_marker(text, match, word[1]))
        return re.sub(r"[^\n]", " ", match[0])

    return COMMENT.sub(blank, text), markers


def _marker(text: str, match: re.Match[str], word: str) -> Marker:
    start = text.rfind("\n", 0, match.start()) + 1
    stop = text.find("\n", match.end())
    rest = text[start : match.start()] + text[match.end() : len(text) if stop < 0 else stop]
    exempt = EXEMPT.fullmatch(word)
    line = text.count("\n", 0, match.start()) + 1
    reason = " ".join(exempt[1].split()) if exempt else ""
    return Marker(line, match.start() - start + 1, reason, not rest.strip(" \t>"))


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of fenced blocks and of inline code."""
    spans, offset, fence, begin = [], 0, "", 0
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence and mark and mark[1].startswith(fence):
            spans.append((begin, offset + len(line)))
            fence = ""
        elif not fence and mark:
            fence, begin = mark[1], offset
        elif not fence:
            spans += [(offset + m.start(), offset + m.end()) for m in re.finditer(r"(`+)(?!`).+?\1", line)]
        offset += len(line)
    return [*spans, (begin, offset)] if fence else spans
