"""timings.jsonl: how long each recall took, kept apart so that the raw file is the same in every run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from runner.artefacts.canonical import compact, decimals
from runner.artefacts.raw import Key
from runner.artefacts.storage import LineWriter, drop_torn_line, write_file
from runner.errors import OutputError
from runner.records import Retrieval

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
    """Appends the seconds of retrievals that were timed.

    Write a timing before its raw line: then a killed run has a timing for each raw line.
    """

    def write(self, retrieval: Retrieval) -> None:
        """One line; nothing when `retrieval.seconds` is None. Raises OutputError on a full disk."""
        if retrieval.seconds is not None:
            self.append(_line(retrieval.question, retrieval.arm, retrieval.scope, retrieval.seconds))

    def __enter__(self) -> TimingsWriter:
        return self


def _line(question: str, arm: str, scope: str, seconds: float) -> str:
    entry = {"question": question, "arm": arm, "scope": scope, "seconds": decimals(seconds, 6)}
    return compact(entry)


def resume_timings(path: Path, done: Collection[Key]) -> None:
    """Keep only the timings of retrievals that stand in the raw file, each once."""
    if path.exists():
        drop_torn_line(path)
        kept = {(t.question, t.arm, t.scope): t.seconds for t in read_timings(path)}
        lines = (_line(*key, seconds) + "\n" for key, seconds in kept.items() if key in done)
        write_file(path, "".join(lines))


def read_timings(path: Path) -> Iterator[Timing]:
    """The timings of a run, in its order. Raises OutputError that names a malformed line."""
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            yield Timing(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise OutputError(f"{path.name}, line {number} is no timing ({error})") from error


def latencies(timings: Collection[Timing], k: int) -> tuple[Latency, ...]:
    """p50 and p95 of each arm in each scope, in order of appearance."""
    groups: dict[tuple[str, str], list[float]] = {}
    for timing in timings:
        groups.setdefault((timing.arm, timing.scope), []).append(timing.seconds * 1000)
    return tuple(_latency(arm, scope, k, values) for (arm, scope), values in groups.items())


def _latency(arm: str, scope: str, k: int, milliseconds: list[float]) -> Latency:
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return Latency(arm, scope, k, len(milliseconds), decimals(float(p50), 3), decimals(float(p95), 3))
