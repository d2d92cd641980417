"""HTML comments: markers that exempt, and text that nobody sees and so nobody lints.

`<!-- lint: exempt: reason -->` at the end of a line exempts that line; alone on its line, the whole block
that follows (a paragraph, a list item, a table, a code block). `<!-- lint: exempt not-citable: reason -->`
exempts from the rules that it names alone. Within code a comment is text and no marker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from runner.lint.finding import RULES

COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
LINT = re.compile(r"\s*lint\b\s*:?\s*(.*?)\s*", re.DOTALL)
EXEMPT = re.compile(r"exempt(?:\s+(?P<rules>[a-z-]+(?:,\s*[a-z-]+)*))?\s*:\s*(?P<reason>\S.*)", re.DOTALL)
FENCE = re.compile(r"^ {0,3}(?:>\s?)*\s*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker. `reason` is empty when it has none or names a rule that is not there; `alone` when nothing
    else stands on its line; `rules` are those that it exempts from, all of them when it names none."""

    line: int
    column: int
    reason: str
    alone: bool
    rules: frozenset[str] = frozenset(RULES)


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

    end = text.rfind("-->") + len("-->")  # behind the last end no comment is closed, so none begins
    return COMMENT.sub(blank, text[:end]) + text[end:], markers


def _marker(text: str, match: re.Match[str], word: str) -> Marker:
    start = text.rfind("\n", 0, match.start()) + 1
    stop = text.find("\n", match.end())
    rest = text[start : match.start()] + text[match.end() : len(text) if stop < 0 else stop]
    exempt = EXEMPT.fullmatch(word)
    line = text.count("\n", 0, match.start()) + 1
    named = re.split(r",\s*", exempt["rules"]) if exempt and exempt["rules"] else RULES
    known = exempt is not None and set(named) <= set(RULES)
    reason = " ".join(exempt["reason"].split()) if exempt and known else ""
    return Marker(line, match.start() - start + 1, reason, not rest.strip(" \t>"), frozenset(named))


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
