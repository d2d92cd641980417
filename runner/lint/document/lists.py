"""What the words around a list give to its items: the metric, and whatever else they say."""

from __future__ import annotations

from itertools import takewhile

from runner.lint.document.blocks import Block
from runner.lint.written.depths import deep
from runner.lint.written.names import Name, defined_first, find_names
from runner.lint.written.numbers import find_numbers
from runner.lint.written.visible import visible


def lead(block: Block) -> str:
    """The words that introduce the list that a block is an item of."""
    if block.kind != "item":
        return ""
    before = next((b for b in reversed(block.section.blocks[: block.place]) if b.kind != "item"), None)
    introduces = before is not None and (before.raw.rstrip().endswith(":") or before.kind == "heading")
    return visible(before.raw) if before is not None and introduces else ""


def introduced(block: Block) -> list[Name]:
    """The metrics that the words before a list give to its items: "recall_any@5 by arm:"."""
    words = lead(block)
    found = deep(words, defined_first(find_names(words))) or _tail(block) or _first(block)
    return list({name.words: name for name in found if name.k or name.family != "recall"}.values())


def _first(block: Block) -> list[Name]:
    """The only metric of the item that begins the list: "MRR@50 0.846", "its keyword leg: 0.831"."""
    if block.kind != "item":
        return []
    items = list(takewhile(lambda other: other.kind == "item", reversed(block.section.blocks[: block.place])))
    found = find_names(visible(items[-1].raw)) if items else []
    return found if len({name.words for name in found}) == 1 else []


def _tail(block: Block) -> list[Name]:
    """The only metric of the line behind a list that states no value itself."""
    if block.kind != "item":
        return []
    behind = next((b for b in block.section.blocks[block.place :] if b.kind != "item"), None)
    words = visible(behind.raw) if behind is not None and behind.kind == "text" else ""
    found = find_names(words)
    return found if len({name.words for name in found}) == 1 and not find_numbers(words) else []
