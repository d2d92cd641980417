"""What was measured, as records; `document` of each is its part of the JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Cell:
    """Reads of one kind. Milliseconds are what a client waits; `complete` is the share of answers with
    min(k, memories of the tenant) rows; `recall` that of the true nearest found (vector leg only).
    `shared_p50_ms` is over the first questions alone, which every system is asked however slow it is.

    `writes` is how many lessons a second were stored meanwhile (0: reads alone).
    """

    leg: str  # "all": the whole search; "vector"
    tenant: str
    clients: int
    ef_search: int | None
    questions: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    shared_p50_ms: float
    per_second: float
    rows: float
    complete: float
    writes: float = 0.0
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class Writes:
    """Single durable writes, one after the other, nothing else running."""

    count: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Result:
    """One system."""

    name: str
    title: str
    words: str
    hybrid: bool
    facts: Mapping[str, str]
    lessons: int
    load_seconds: Mapping[str, float]
    bytes: Mapping[str, int]
    memory: int | None
    cells: Sequence[Cell]
    adding: Writes
    plans: str = ""  # Markdown, a file of its own

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(self.bytes.values())

    def document(self) -> dict[str, Any]:
        """As JSON takes it, rounded to what a clock can tell."""
        return {
            "name": self.name,
            "title": self.title,
            "words": self.words,
            "hybrid": self.hybrid,
            "facts": dict(self.facts),
            "lessons": self.lessons,
            "load_seconds": {name: round(value, 2) for name, value in self.load_seconds.items()},
            "load_seconds_total": round(sum(self.load_seconds.values()), 2),
            "bytes": dict(self.bytes),
            "bytes_total": self.size,
            "bytes_per_lesson": round(self.size / self.lessons, 1),
            "memory_bytes": self.memory,
            "memory_bytes_per_lesson": None if self.memory is None else round(self.memory / self.lessons, 1),
            "add_one": _rounded(asdict(self.adding)),
            "reads": [_rounded(asdict(cell)) for cell in self.cells],
        }


def percentiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    """Median, 95th and 99th percentile in milliseconds (linear interpolation)."""
    p50, p95, p99 = np.percentile(np.asarray(seconds) * 1000, [50, 95, 99])
    return float(p50), float(p95), float(p99)


def _rounded(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in entry.items()}
