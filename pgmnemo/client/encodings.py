"""Replace characters that a database's encoding lacks in questions and embedder names."""

from __future__ import annotations

import codecs
import unicodedata
from functools import cache

OF_PYTHON = {"KOI8R": "koi8_r", "KOI8U": "koi8_u", "EUC_CN": "gb2312", "SQL_ASCII": "utf-8"}
PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | {"\u00b7": "|"}  # the separator in an embedder's name
)  # fmt: skip


@cache
def _codec(encoding: str) -> str | None:
    """Return Python's name of an encoding of PostgreSQL; None if Python has no such codec."""
    try:
        return codecs.lookup(OF_PYTHON.get(encoding, encoding.replace("WIN", "cp"))).name
    except LookupError:
        return None


def transliterate(encoding: str, text: str) -> str:
    """Return a text in the characters of an encoding: a missing letter becomes a plainer letter, else a
    blank.

    Half a surrogate pair is left in place, and the connection refuses it.
    """
    if text.isascii() or (codec := _codec(encoding)) is None:
        return text
    return "".join(one if _encodes(codec, one) else _plainer_letter(codec, one) for one in text)


def _encodes(codec: str, letter: str) -> bool:
    return letter == letter.encode(codec, "ignore").decode(codec) or "\ud800" <= letter <= "\udfff"


def _plainer_letter(codec: str, letter: str) -> str:
    form = unicodedata.normalize("NFKD", letter.translate(PLAIN)).encode(codec, "ignore").decode(codec)
    return form or " "
