"""Timings stand apart from the raw file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgmnemo.errors import OutputError
from runner.runs.record_files import RecordFile, read_lines
from runner.runs.timings import TIMINGS, Latency, Timing, latencies


def test_a_timing_is_one_line_in_microseconds(tmp_path: Path) -> None:
    with RecordFile(tmp_path / TIMINGS, Timing) as writer:
        writer.write(Timing("q0", "pgmnemo", "pool", 0.001235))
    line = '{"question":"q0","arm":"pgmnemo","scope":"pool","seconds":0.001235}\n'
    assert (tmp_path / TIMINGS).read_text(encoding="utf-8") == line
    assert list(read_lines(tmp_path / TIMINGS, Timing)) == [Timing("q0", "pgmnemo", "pool", 0.001235)]


def test_the_timings_of_an_arm_that_failed_are_taken_away(tmp_path: Path) -> None:
    with RecordFile(tmp_path / TIMINGS, Timing) as writer:
        for arm in ("pgmnemo", "chroma"):
            for question in ("q0", "q1"):
                writer.write(Timing(question, arm, "pool", 0.5))
        writer.forget("chroma")
        writer.write(Timing("q0", "sqlite-fts5", "pool", 0.25))
    kept = [(timing.question, timing.arm) for timing in read_lines(tmp_path / TIMINGS, Timing)]
    assert kept == [("q0", "pgmnemo"), ("q1", "pgmnemo"), ("q0", "sqlite-fts5")]


def test_latency_is_of_each_arm_and_scope() -> None:
    timings = [Timing(f"q{n}", "pgmnemo", "pool", n / 1000) for n in range(101)]
    timings.append(Timing("q0", "random", "pool", 0.5))
    assert latencies(timings, 10) == (
        Latency("pgmnemo", "pool", 10, 101, 50.0, 95.0),
        Latency("random", "pool", 10, 1, 500.0, 500.0),
    )


def test_a_malformed_timing_is_named(tmp_path: Path) -> None:
    (tmp_path / TIMINGS).write_text('{"question":"q0"}\n', encoding="utf-8")
    with pytest.raises(OutputError, match="line 1 is no timing"):
        list(read_lines(tmp_path / TIMINGS, Timing))
