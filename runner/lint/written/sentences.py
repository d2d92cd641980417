"""Sentences of a text, and a metric that stands behind one as a sentence of its own."""

from __future__ import annotations

import re
from dataclasses import replace

from runner.lint.written.names import Name, find_names
from runner.lint.written.numbers import find_numbers

LONGEST = 2_000  # characters of a sentence, so that the work grows with the length of the file alone
SENTENCE = re.compile(
    r"(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!cf\.)(?<!\bal\.)(?<=[.!?;])[)\"”']?\s+(?=[^\s\d\[(])|;\s"
)


def sentences(text: str, *, lines: bool) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; one that is too long for a sentence is read in parts."""
    spans, start = [], 0
    for match in re.finditer(r"\n", text) if lines else SENTENCE.finditer(text):
        if match[0].startswith(";") and _in_brackets(text[start : match.start()]):
            continue
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return [
        (at, min(at + LONGEST, end))
        for begin, end in spans
        for at in range(begin, max(end, begin + 1), LONGEST)
    ]


def _in_brackets(text: str) -> bool:
    """Whether a bracket is open at the end of a text."""
    return text.count("(") > text.count(")")


def fragment(words: str, behind: str) -> list[Name]:
    """The metric that the sentence `behind` names, which states no value, for the values of `words`:
    "pgmnemo 98.4 %, bm25s 97.4 %. recall_any@10, LoCoMo sessions."."""
    found = find_names(behind)
    if len(found) != 1 or found[0].k is None or find_numbers(behind) or find_names(words):
        return []
    alone = not behind[: found[0].start].strip(" .)*_`\n")
    first = alone and re.match(r"[\s`*_]*(?:[.,;]|on\b|$)", behind[found[0].end :]) is not None
    told = re.search(r"\b(?:we|all|these|values?|figures?|numbers?|it is|that is)\b", behind) is not None
    return [replace(found[0], start=len(words), end=len(words))] if first or told else []
