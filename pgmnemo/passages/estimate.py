"""Tokens of a text where no tokenizer is at hand: estimated high, for every script."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"[A-Za-z]+|\d+| {2,}|[^\S ]|[^\sA-Za-z\d]")


def about_tokens(text: str) -> int:
    """Tokens of a text, estimated high: three letters, digits or blanks a token, others one or two each.

    The vocabularies of large models need less of English; give `count` the model's own to be exact.
    """
    return sum(-(-len(found) // 3) if found.isascii() else 2 * len(found) for found in WORD.findall(text))


def estimated_spans(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return for each text places of characters, as many as its tokens by `about_tokens`."""
    return [_spans(text) for text in texts]


def _spans(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for match in WORD.finditer(text):
        start, end = match.span()
        if text[start] < "\x80":
            found += [(at, min(at + 3, end)) for at in range(start, end, 3)]
        else:
            found += [(start, end), (end, end)]
    return found
