"""An estimate of a text's tokens without a tokenizer, for every script.

The reference is the vocabulary of XLM-RoBERTa: 250,000 pieces of a hundred languages, about as many as
current large models have. The numbers were fitted on paragraphs of English, German, Chinese, Arabic, Russian
and Thai, so that the estimate is above nearly all of them; the numbers of other scripts are from a few
sentences each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

RUN = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+)|(?P<digits>\d+)|(?P<blanks> {2,}|[^\S ])|(?P<blank> )"
    r"|(?P<greek>[\u0370-\u03ff]+)|(?P<cyrillic>[\u0400-\u058f\u10a0-\u10ff]+)|(?P<hebrew>[\u0590-\u05ff]+)|(?P<arabic>[\u0600-\u08ff]+)|(?P<indic>[\u0900-\u0dff]+)"
    r"|(?P<thai>[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]+)|(?P<han>[\u3400-\u9fff\uf900-\ufaff]+)"
    r"|(?P<kana>[\u3040-\u30ff]+)|(?P<hangul>[\u1100-\u11ff\uac00-\ud7af]+)|(?P<wide>[\U00010000-\U0010ffff])"
    r"|(?P<other>.)",
    re.DOTALL,
)
COSTS = {  # tokens of a run, tokens of each further character, and the number of characters before these
    "latin": (1.11, 0.28, 5),
    "digits": (0.9, 0.34, 3),
    "blanks": (1.0, 0.34, 2),
    "blank": (0.0, 0.0, 1),
    "cyrillic": (1.8, 0.04, 4),
    "arabic": (1.5, 0.33, 4),
    "greek": (1.8, 0.2, 4),
    "hebrew": (1.5, 0.38, 3),
    "indic": (1.4, 0.25, 4),
    "thai": (2.8, 0.24, 1),
    "han": (1.2, 0.72, 1),
    "kana": (0.7, 0.42, 1),
    "hangul": (1.6, 0.6, 2),
    "wide": (2.0, 0.0, 1),
    "other": (1.1, 0.0, 1),
}
SPELT, SPELLING = 14, 0.6  # letters after which a word is split, and tokens of each further letter
CAPITAL = 0.3  # tokens of each capital within a word
WORD = re.compile(r"[A-Za-z]+|\d+| {2,}|[^\S ]|[^\sA-Za-z\d]")


def about_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text, slightly high; pass a model's own `count` for exact
    numbers.
    """
    return math.ceil(sum(map(_cost, RUN.finditer(text))))


def _cost(run: re.Match[str]) -> float:
    kind, long = run.lastgroup or "other", run.end() - run.start()
    first, each, free = COSTS[kind]
    cost = first + each * max(0, long - free)
    if kind == "latin" and long > 1:
        cost += SPELLING * max(0, long - SPELT) + CAPITAL * sum(map(str.isupper, run[0][1:]))
    return cost


def estimated_spans(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return for each text spans of characters (start, end), at least as many as the text has tokens."""
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
