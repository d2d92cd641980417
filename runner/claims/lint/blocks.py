"""Markdown as blocks in sections: as much of it as it takes to know what stands beside a figure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from runner.claims.lint.comments import FENCE

HEADING = re.compile(r"^ {0,3}(#{1,6})\s")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
RULE = re.compile(r"^\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?\s*\|?\s*$|^\s*\|\s*:?-+:?\s*\|?\s*$")
QUOTE = re.compile(r"^\s*(?:>\s?)+")
READ = {
    "",
    "text",
    "txt",
    "md",
    "markdown",
    "plain",
    "plaintext",
    "output",
    "console",
    "bibtex",
    "bib",
    "diff",
}


@dataclass(slots=True)
class Block:
    """Lines that belong together; `first` is the number of the first.

    `kind` is heading, text, item, table, code or skipped (a program, which states no figure).
    """

    kind: str
    first: int
    lines: list[str]
    section: Section

    @property
    def raw(self) -> str:
        return "\n".join(self.lines)


@dataclass(slots=True)
class Section:
    """A heading and what stands under it, up to the next heading; the file itself is the outermost one."""

    level: int
    parent: Section | None
    blocks: list[Block] = field(default_factory=list)

    @property
    def raw(self) -> str:
        return "\n\n".join(block.raw for block in self.blocks)

    def chain(self) -> list[Section]:
        """This section and those that it stands in, innermost first."""
        return [self, *(self.parent.chain() if self.parent else [])]


def parse(text: str) -> list[Block]:
    """The blocks of `text`, whose comments are blanked out."""
    return _Parser(text.split("\n")).blocks


class _Parser:
    def __init__(self, lines: list[str]) -> None:
        self.lines = [QUOTE.sub(lambda m: " " * len(m[0]), line) for line in lines]
        self.blocks: list[Block] = []
        self.section = Section(0, None)
        self.at = 0
        while self.at < len(self.lines):
            self._step()

    def _step(self) -> None:
        line = self.lines[self.at]
        if not line.strip():
            self.at += 1
        elif (fence := FENCE.match(line)) is not None:
            self._code(fence[1], line)
        elif (heading := HEADING.match(line)) is not None:
            self._open(len(heading[1]))
            self._take("heading", self.at + 1)
        elif self._is_table():
            self._take("table", self._while(self.at + 2, lambda at: "|" in self.lines[at]))
        else:
            kind = "item" if ITEM.match(line) else "text"
            self._take(kind, self._while(self.at + 1, self._goes_on))

    def _open(self, level: int) -> None:
        parent = next(s for s in self.section.chain() if s.level < level)
        self.section = Section(level, parent)

    def _is_table(self) -> bool:
        after = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        return "|" in self.lines[self.at] and RULE.match(after) is not None

    def _goes_on(self, at: int) -> bool:
        line, here = self.lines[at], self.at
        self.at = at
        table = self._is_table()
        self.at = here
        return bool(line.strip()) and not (
            table or ITEM.match(line) or HEADING.match(line) or FENCE.match(line)
        )

    def _while(self, at: int, holds: object) -> int:
        assert callable(holds)
        while at < len(self.lines) and self.lines[at].strip() and holds(at):
            at += 1
        return at

    def _code(self, fence: str, line: str) -> None:
        end = self.at + 1
        while end < len(self.lines):
            mark = FENCE.match(self.lines[end])
            if mark and mark[1].startswith(fence):
                break
            end += 1
        words = line.strip().strip("`~").split()
        self._take("code" if (words[0].lower() if words else "") in READ else "skipped", end + 1)

    def _take(self, kind: str, end: int) -> None:
        block = Block(kind, self.at + 1, self.lines[self.at : end], self.section)
        self.section.blocks.append(block)
        self.blocks.append(block)
        self.at = end
