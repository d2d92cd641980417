"""The words around a figure, nearest first: its sentence or row, its block, its neighbours, its section."""

from __future__ import annotations

from dataclasses import dataclass

from runner.lint.blocks import Block
from runner.lint.figures import Figure, prose


@dataclass(frozen=True, slots=True)
class Context:
    """`near` is the block with what belongs to it: the text around a table, the introduction of a list.

    `headings` are those that it stands under; `wide` is its section and what introduces the sections around.
    """

    local: str
    block: str
    headings: str
    near: str
    wide: str
    tabular: bool


def context(figure: Figure) -> Context:
    """The context of one figure."""
    block = figure.block
    chain = block.section.chain()
    return Context(
        local=figure.header or figure.words,
        block=block.raw,
        headings="\n".join(s.blocks[0].raw for s in chain[:2] if s.blocks and s.blocks[0].kind == "heading"),
        near="\n\n".join(other.raw for other in _near(block)),
        wide="\n\n".join(section.raw for section in chain),
        tabular=block.kind == "table",
    )


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
    blocks = block.section.blocks
    place = next(at for at, other in enumerate(blocks) if other is block)
    return blocks[:place], blocks[place + 1 :]
