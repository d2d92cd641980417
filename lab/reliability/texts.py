"""Texts, vectors and moments that are derived from a name, so that two processes agree on them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

PROJECT = "p"
WORDS = [
    "river", "harbour", "lantern", "teacher", "garden", "violin", "winter", "market", "letter", "mountain",
    "kitchen", "engine", "painter", "bridge", "forest", "captain", "running", "quietly", "children",
    "written", "bicycle", "museum", "orchard", "thunder",
]  # fmt: skip
DAY = datetime(2026, 1, 1, tzinfo=UTC)
LATER = DAY + timedelta(days=120)  # later than every moment
DIMENSIONS = 64
LIMIT, EXACT = 100, 1_000_000  # maximum number of vectors in an exact scan; a larger tenant has a graph
HOLDS, ENDED, FORGOTTEN = "holds", "ended", "forgotten"
State = tuple[str, str]  # a lesson's text and its status


def set_limit(limit: int) -> str:
    """Return the connection options that set the limit of exact scans, in 0.6.1 and in later versions."""
    return f"-c pgmnemo.exact_scan_limit={limit} -c pgmnemo.hnsw_min_vectors={limit}"


def text_of(token: str, version: int = 1) -> str:
    """Return a text that is unique to this token and version."""
    chance = random.Random(f"{token} {version}")
    return " ".join([*chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=9), token, f"v{version}"])


def signs(texts: Sequence[str], dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """Return vectors of -1 and 1, which are stored without rounding."""
    seeds = (crc32(text.encode()) for text in texts)
    rows = [np.random.default_rng(seed).choice([-1, 1], dimensions) for seed in seeds]
    return np.array(rows, dtype=np.float32)


def moment(token: str) -> datetime:
    return DAY + timedelta(hours=crc32(token.encode()) % 2000)
