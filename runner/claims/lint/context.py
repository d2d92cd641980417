"""The words around a figure, nearest first: its sentence or row, its block, its neighbours, its section."""

from __future__ import annotations

from dataclasses import dataclass

from runner.claims.lint.blocks import Block
from runner.claims.lint.figures import Figure


@dataclass(frozen=True, slots=True)
class Context:
    """`near` is the block with the one before and the one behind it; `headings` those that it stands under;
    `wide` all of its section and the introductions of the sections around it."""

    local: str
    block: str
    headings: str
    near: str
    wide: str


def context(figure: Figure) -> Context:
    """The context of one figure."""
    block = figure.block
    chain = block.section.chain()
    siblings = block.section.blocks
    place = next(i for i, other in enumerate(siblings) if other is block)
    near = [other.raw for other in siblings[max(0, place - 1) : place + 2]]
    return Context(
        local=figure.header or figure.words,
        block=block.raw,
        headings="\n".join(s.blocks[0].raw for s in chain[:2] if s.blocks and s.blocks[0].kind == "heading"),
        near="\n\n".join(near),
        wide="\n\n".join(section.raw for section in chain),
    )


def above(block: Block) -> str:
    """The paragraph and heading in front of a block, in its section."""
    siblings = block.section.blocks
    place = next(i for i, other in enumerate(siblings) if other is block)
    before = siblings[place - 1] if place else None
    return before.raw if before is not None and before.kind in ("text", "heading") else ""
