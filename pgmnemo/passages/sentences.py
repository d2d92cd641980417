"""Places to cut a text: after sentences of any script, at blanks, and never inside a character.

The marks are those that Unicode 16 lists as Sentence_Terminal, and the Tibetan shad. A Latin mark ends a
sentence only before a blank, because `3.5` and `a.b` contain one.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

MARKS = (
    "\u0589\u061d-\u061f\u06d4\u0700-\u0702\u07f9\u0837\u0839\u083d\u083e\u0964\u0965\u0f0d\u0f0e\u104a\u104b"
    "\u1362\u1367\u1368\u166e\u1735\u1736\u17d4\u17d5\u1803\u1809\u1944\u1945\u1aa8-\u1aab\u1b5a\u1b5b\u1b5e"
    "\u1b5f\u1b7d-\u1b7f\u1c3b\u1c3c\u1c7e\u1c7f\u203c\u203d\u2047-\u2049\u2cf9-\u2cfb\u2e2e\u2e3c\u2e53\u2e54"
    "\u3002\ua4ff\ua60e\ua60f\ua6f3\ua6f7\ua876\ua877\ua8ce\ua8cf\ua92f\ua9c8\ua9c9\uaa5d-\uaa5f\uaaf0\uaaf1"
    "\uabeb\ufe12\ufe15\ufe16\ufe52\ufe56\ufe57\uff01\uff0e\uff1f\uff61\U00010a56\U00010a57\U00011047\U00011048"
    "\U000110be-\U000110c1\U00011141-\U00011143\U000111c5\U000111c6\U00011238\U00011239\U0001144b\U0001144c"
)
CLOSING = "\"'\u201d\u2019\u00bb\u203a\uff09)\\]\uff63\u300d\u300f\u3011\u3009\u300b"
SENTENCE = re.compile(rf"(?:(?<![.!?…])[.!?…]++[{CLOSING}]*+(?=\s)|[{MARKS}]++[{CLOSING}]*+)\s*+")
BLANKS = re.compile(r"\s++|[\u0e46\u0e2f\u200b]++")  # including Thai: maiyamok, paiyannoi
ZWJ = "\u200d"


def sentences(text: str) -> list[str]:
    """Cut a text after each sentence; the joined parts are the text."""
    return _cut(text, [found.end() for found in SENTENCE.finditer(text)])


def words(text: str) -> list[str]:
    """Cut a text after each run of blanks; the joined parts are the text."""
    return _cut(text, [found.end() for found in BLANKS.finditer(text)])


def chunks(text: str, size: int) -> list[str]:
    """Cut a text into parts of about `size` characters, never between a character and its combining marks."""
    return _cut(text, [whole_character(text, at) for at in range(size, len(text), size)])


def whole_character(text: str, at: int) -> int:
    """Return the last place up to `at` that is not before a combining mark or next to a joiner.

    Return `at` itself after 32 such characters, so that a run of marks without a base can be cut.
    """
    for place in range(at, max(at - 32, 0), -1):
        if not (_belongs(text[place]) or text[place - 1] == ZWJ):
            return place
    return at


def _belongs(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me")
        or character == ZWJ
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # tones of skin
    )


def _cut(text: str, places: list[int]) -> list[str]:
    ends = [0, *(place for place in places if 0 < place < len(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends) if start < end]
