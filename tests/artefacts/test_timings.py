"""Timings stand apart from the raw file and follow it on resumption."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner.artefacts import TIMINGS, Latency, TimingsWriter, latencies, read_timings, resume_timings
from runner.artefacts.timings import Timing
from runner.errors import OutputError
from runner.records import Retrieval

ASKED = Retrieval("q0", "temporal", "pgmnemo", "pool", "c1", 5, (), (), seconds=0.0012345678)


def _write(path: Path, *questions: str) -> None:
    with TimingsWriter(path) as writer:
        for question in questions:
            writer.write(replace(ASKED, question=question))


def test_a_timing_is_one_line_in_microseconds(tmp_path: Path) -> None:
    _write(tmp_path / TIMINGS, "q0")
    line = '{"question":"q0","arm":"pgmnemo","scope":"pool","seconds":0.001235}\n'
    assert (tmp_path / TIMINGS).read_text(encoding="utf-8") == line
    assert list(read_timings(tmp_path / TIMINGS)) == [Timing("q0", "pgmnemo", "pool", 0.001235)]


def test_what_was_not_timed_is_not_written(tmp_path: Path) -> None:
    with TimingsWriter(tmp_path / TIMINGS) as writer:
        writer.write(replace(ASKED, seconds=None))
    assert (tmp_path / TIMINGS).read_bytes() == b""


def test_resumption_keeps_the_timings_of_raw_lines_once(tmp_path: Path) -> None:
    path = tmp_path / TIMINGS
    _write(path, "q0", "q1", "q1", "q2")
    path.write_bytes(path.read_bytes() + b'{"question":')
    resume_timings(path, {("q0", "pgmnemo", "pool"), ("q1", "pgmnemo", "pool")})
    assert [timing.question for timing in read_timings(path)] == ["q0", "q1"]


def test_resumption_without_timings_is_nothing(tmp_path: Path) -> None:
    resume_timings(tmp_path / TIMINGS, set())
    assert not list(tmp_path.iterdir())


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
        list(read_timings(tmp_path / TIMINGS))
