"""The words of a text that a reader sees, offsets kept."""

from __future__ import annotations

import re
from urllib.parse import unquote

HIDDEN = re.compile(
    r"\[\d+(?:\.\d+)+\](?!\()|\]\([^)\s]{0,500}(?:\s+\"[^\"\n]{0,200}\")?\)|https?://\S+|<[^<>\n]{1,200}>|"
    r"every system (?:measured )?behind the reranker[^.;)\n]{0,40}(?:\(--rerank\))?|"
    r"benchmarks/[\w./+-]+|\[\^[\w-]{1,30}\]:?|\d{40,}"
)


def visible(text: str) -> str:
    """`text` with addresses, paths and emphasis blanked out, offsets kept."""
    text = re.sub(r"!\[[^\]\n]*\]\([^)\s]+\)", _badge, text)
    text = HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return re.sub(r"[*`~\u00a0\u2009\u202f]", " ", text).replace("&nbsp;", "      ")


def _badge(match: re.Match[str]) -> str:
    """What a drawn badge says, which its address holds: `any%4010-97.5%25` is `any@10 97.5%`."""
    said = unquote(match[0]).translate(str.maketrans("-/()[]!?&=", " " * 10))
    return said.ljust(len(match[0]))
