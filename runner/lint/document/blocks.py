"""Markdown as blocks in sections: as much of it as it takes to know what stands beside a figure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from markdown_it import MarkdownIt
from markdown_it.token import Token

QUOTE = re.compile(r"^\s*(?:>\s?)+")
MARKDOWN = MarkdownIt("commonmark").enable("table")
READ = (
    "", "text", "txt", "md", "markdown", "plain", "plaintext", "output", "console", "bibtex", "bib", "diff",
)  # fmt: skip
KINDS = {"heading_open": "heading", "table_open": "table", "code_block": "code", "html_block": "text"}


@dataclass
class Block:
    """Lines that belong together; `first` is the number of the first.

    `kind` is heading, text, item, table, code or skipped (a program, which states no figure).
    """

    kind: str
    first: int
    lines: list[str]
    section: Section
    place: int  # among the section's blocks

    @cached_property
    def raw(self) -> str:
        return "\n".join(self.lines)


@dataclass
class Section:
    """A heading and what stands under it, up to the next heading; the file itself is the outermost one."""

    level: int
    parent: Section | None
    blocks: list[Block] = field(default_factory=list)

    @cached_property
    def raw(self) -> str:
        """All of its own text, once every block is read."""
        return "\n\n".join(block.raw for block in self.blocks)

    def chain(self) -> list[Section]:
        """This section and those that it stands in, innermost first."""
        return [self, *(self.parent.chain() if self.parent else [])]


def parse(text: str) -> list[Block]:
    """The blocks of `text`, whose comments are blanked out."""
    lines = [QUOTE.sub(lambda m: " " * len(m[0]), line) for line in text.split("\n")]
    section, item = Section(0, None), -1
    blocks: list[Block] = []
    for token in MARKDOWN.parse("\n".join(lines)):
        first, end = token.map or (-1, -1)
        if token.type == "list_item_open":
            item = first
        elif token.type == "heading_open":
            level = int(token.tag[1:])
            section = Section(level, next(one for one in section.chain() if one.level < level))
        if (kind := _kind(token, item)) and (
            not blocks or first >= blocks[-1].first + len(blocks[-1].lines) - 1
        ):
            blocks.append(Block(kind, first + 1, lines[first:end], section, len(section.blocks)))
            section.blocks.append(blocks[-1])
    return blocks


def _kind(token: Token, item: int) -> str:
    """The kind of block that a token opens, or nothing; `item` is the line where a list's item began."""
    if token.type == "fence":
        words = token.info.lower().split()
        return "code" if (words[0] if words else "") in READ else "skipped"
    if token.type == "paragraph_open":
        return "item" if token.map and token.map[0] == item else "text"
    return KINDS.get(token.type, "")
