"""The words around a figure, nearest first: its sentence or row, its block, its neighbours, its section."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from runner.lint.around.citations import SCOPE
from runner.lint.document.blocks import Block
from runner.lint.document.figures import Figure, prose


@dataclass(frozen=True, slots=True)
class Context:
    """`near` is the block with what belongs to it: the text around a table, the introduction of a list.

    `headings` are those that it stands under; `wide` is its section and what introduces the sections around.
    """

    local: str
    introduction: str
    citation: str
    block: str
    headings: str
    near: str
    wide: tuple[str, ...]
    tabular: bool


def context(figure: Figure) -> Context:
    """The context of one figure."""
    block = figure.block
    chain = block.section.chain()
    return Context(
        local=figure.header or figure.words,
        introduction=_introduction(figure),
        citation=block.raw.partition("Verdict:")[0] if _is_citation(block.raw) else "",
        block=block.raw,
        headings="\n".join(s.blocks[0].raw for s in chain[:2] if s.blocks and s.blocks[0].kind == "heading"),
        near="\n\n".join(other.raw for other in _near(block)),
        wide=tuple(section.raw for section in chain),
        tabular=block.kind == "table",
    )


@lru_cache(maxsize=512)
def _is_citation(text: str) -> bool:
    return SCOPE.search(text) is not None


def _introduction(figure: Figure) -> str:
    """What stands before a figure and may set what it is of: its block so far, and what introduces it."""
    block = figure.block
    if block.kind == "table":
        return above(block)
    before = figure.said.before
    lead = (
        [other for other in _siblings(block)[0] if other.kind != "item"][-1:] if block.kind == "item" else []
    )
    return "\n".join([*(other.raw for other in lead if other.raw.rstrip().endswith(":")), before])


def _near(block: Block) -> list[Block]:
    before, behind = _siblings(block)
    if block.kind in ("table", "code"):
        return [*filter(_introduces, before[-1:]), block, *filter(_introduces, behind[:1])]
    if block.kind == "item":
        return [*[other for other in before if other.kind != "item"][-1:], block]
    return [block]


def _introduces(block: Block) -> bool:
    """Whether a block speaks of its neighbour: text that ends in a colon or has no figure of its own."""
    return block.kind in ("text", "item") and (block.raw.rstrip().endswith(":") or not prose(block))


def above(block: Block) -> str:
    """The paragraph and heading in front of a block, in its section."""
    before = _siblings(block)[0][-1:]
    return before[0].raw if before and before[0].kind in ("text", "item", "heading") else ""


def _siblings(block: Block) -> tuple[list[Block], list[Block]]:
    """What stands before a block in its section, and what behind it."""
    return block.section.blocks[: block.place], block.section.blocks[block.place + 1 :]
