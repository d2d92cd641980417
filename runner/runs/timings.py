"""timings.jsonl: how long each timed recall took. Kept apart, so that the raw file repeats to the byte."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from runner.runs.canonical import compact, decimals
from runner.runs.storage import LineWriter, decoded

TIMINGS = "timings.jsonl"


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one recall, as the client saw it."""

    question: str
    arm: str
    scope: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of one arm in one scope at `k` results, in milliseconds, interpolated linearly."""

    arm: str
    scope: str
    k: int
    n: int
    p50_ms: float
    p95_ms: float


class TimingsWriter(LineWriter):
    """Appends how long a question took."""

    def write(self, question: str, arm: str, scope: str, seconds: float) -> None:
        """One line. Raises OutputError on a full disk."""
        entry = {"question": question, "arm": arm, "scope": scope, "seconds": decimals(seconds, 6)}
        self.append(compact(entry))


def read_timings(path: Path) -> Iterator[Timing]:
    """The timings of a run, in its order. Raises OutputError that names a malformed line."""
    return decoded(path.read_bytes(), path.name, Timing, "timing")


def latencies(timings: Collection[Timing], k: int) -> tuple[Latency, ...]:
    """p50 and p95 of each arm in each scope, in order of appearance."""
    groups: dict[tuple[str, str], list[float]] = {}
    for timing in timings:
        groups.setdefault((timing.arm, timing.scope), []).append(timing.seconds * 1000)
    return tuple(_latency(arm, scope, k, values) for (arm, scope), values in groups.items())


def _latency(arm: str, scope: str, k: int, milliseconds: list[float]) -> Latency:
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return Latency(arm, scope, k, len(milliseconds), decimals(float(p50), 3), decimals(float(p95), 3))
