"""The records that stores, embedders and servers share, all immutable.

This module imports no other module of the project, and no numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
else:
    Matrix = Any  # importing the records imports no numpy


@dataclass(frozen=True, slots=True)
class Passage:
    """A few consecutive turns of a segment: `text` is indexed by its words, `embedded` by its vector."""

    text: str
    embedded: str


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Everything that a vector depends on besides its text; the cache key and the artefacts have all
    of it.
    """

    name: str
    model: str
    revision: str  # hub commit or weight sha256
    dimensions: int
    max_tokens: int
    batch_size: int
    query_prefix: str = ""
    document_prefix: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """Facts about the connected server and extension."""

    origin: str  # "--dsn", "PGMNEMO_DSN", "compose", "embedded"
    database: str
    postgresql: str
    pgvector: str
    pgmnemo: str
    fingerprint: str
    role: str
