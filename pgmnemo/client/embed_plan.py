"""Plan what to embed for each text: the text itself, its pieces, or nothing.

- A text gets no vector if the embedder does not know most of its letters (`known_share` below KNOWN): such
  vectors are the same for unrelated texts.
- A question, a caller's passage or a text of `reembed` that has more tokens than the embedder reads gets the
  mean of the unit vectors of its pieces, scaled to length 1.
- The vector of a whole lesson covers only its beginning; its passages cover the rest.
- An embedder without a token count, such as a function or an endpoint, is assumed to know every script and to
  read texts of any length; lessons are cut for it by an estimate of their tokens.
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

MAX_QUESTION_PIECES = 16  # most pieces of a question that are embedded: some 4,000 tokens
REMEDY = (
    "open the memory with embedder='multilingual-e5-small-4bit', of the extra multilingual "
    "(docs/howto/languages.md), and change a tenant that has vectors by reembed"
)


def meter_of(embedding: MemoryEmbedder | None) -> Meter:
    """Return the token limits of a memory's embedder; an estimate without an embedder or known limits."""
    if embedding is None or embedding.spans is None or not embedding.max_tokens:
        return Meter(estimated_spans, (embedding.max_tokens if embedding else None) or USUAL)
    return Meter.of_tokens(embedding.spans, embedding.max_tokens, embedding.prefixes)


def plan_texts(
    embedding: MemoryEmbedder, texts: Sequence[str], wholes: Collection[str], *, question: bool = False
) -> dict[str, list[str]]:
    """Return a mapping from each distinct text to the texts to embed for it: itself, its pieces, or none.

    Whole lessons, in `wholes`, are never cut into pieces: the embedder reads their beginning. A `question`
    has at most MAX_QUESTION_PIECES pieces.
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
    """Return a mapping from each planned text to its vector, the mean of its pieces; None if it was not
    embedded.
    """
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
    """Return a random vector of `width` numbers, seeded by the text.

    Its cosine to any other vector is about 0. It replaces the former vector of a text in a script unknown to
    the new embedder, because the extension needs a vector for each text.
    """
    import numpy as np

    seed = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(width).astype(np.float32)


def warn_unknown_script(name: str, tenant: str) -> None:
    """Warn that a text of a tenant has no vector because the embedder `name` does not know its script."""
    warnings.warn(
        f"a text of the tenant {tenant} is in a script that {name} does not know: it has no vector and is "
        f"found by its words alone; {REMEDY}",
        UnknownScriptWarning,
        stacklevel=2,
    )
