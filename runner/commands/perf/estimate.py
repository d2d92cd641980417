"""What a run will take, said before it starts, and whether this machine has it.

RATES are seconds and bytes a lesson at 100,000 lessons of 384 dimensions on two cores, from the processor
time and the sizes of loads of 20,000 lessons of LoCoMo. Work on an HNSW graph grows with the logarithm of its
size, all else in proportion; vectors grow with their width.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage

import psutil

from pgmnemo.errors import OutputError
from pgmnemo.server.folders import candidates
from runner.commands.perf.request import NATIVE, PerfRequest, Subject
from runner.commands.perf.workload import PASSAGES, SPARE, sizes

BASIS = 100_000
RESERVE = 1 << 30  # bytes of disk and of memory that stay free
TEXT_BYTES = 620  # a lesson's text, of LoCoMo
GENERATING = 6e-5  # seconds a lesson
SERVER_SHARE = 0.4  # of the machine's memory, the most that the server's settings let it take
CELLS = 22  # reads of one system, each for `--seconds` at most
WRITE_AHEAD = 4 << 30  # bytes of log that the server may keep beside its data


@dataclass(frozen=True, slots=True)
class Rate:
    """A lesson's seconds to load, bytes on disk that do not and do grow with the width, bytes of memory."""

    seconds: float
    text_bytes: int
    vector_bytes: int
    memory_bytes: int
    graph: bool = True


RATES = {
    "pgmnemo": Rate(1.1e-3, 8_000, 2_800, 18_000),
    "pgmnemo+passages": Rate(1.6e-3, 14_000, 6_200, 26_000),
    "sqlite-fts5": Rate(6e-5, 1_300, 0, 1_200, graph=False),
    "sqlite-hybrid": Rate(1.5e-4, 1_500, 1_600, 1_500, graph=False),
    "chroma": Rate(7.5e-4, 500, 1_900, 3_000),
    "gin-hnsw": Rate(7.5e-4, 2_200, 3_500, 11_000),
}
UNKNOWN = Rate(2e-3, 8_000, 6_200, 18_000)  # of a system that nobody measured: as much as the dearest


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of the whole run, and the most bytes of disk and memory that it needs at one time."""

    seconds: float
    corpus_bytes: int
    system_bytes: int
    memory_bytes: int

    def sentence(self) -> str:
        """What a user is told."""
        gigabytes = (self.corpus_bytes + self.system_bytes) / 1e9
        minutes = self.seconds / 60
        time = f"{self.seconds:,.0f} s" if minutes < 2 else f"{minutes:,.0f} min"
        return (
            f"this will take about {time}, {gigabytes:,.1f} GB of disk and {self.memory_bytes / 1e9:,.1f} GB "
            "of memory at the most (on a quiet machine with two cores; one system at a time)"
        )


def estimate(request: PerfRequest, chosen: Sequence[Subject]) -> Estimate:
    """What measuring these systems will take."""
    lessons = sum(sizes(request.memories, request.tenants).values())
    wide = request.dimensions / NATIVE
    vectors = 4 * request.dimensions * (1 + PASSAGES)
    measuring = CELLS * request.seconds * min(1.0, 0.1 + request.memories / 1e6)  # few memories: all answered
    server = int(
        psutil.virtual_memory().total * SERVER_SHARE
    )  # buffers and index builds, whatever the corpus
    disk, memory, seconds = 0, 0, GENERATING * wide * lessons
    for subject in chosen:
        rate = RATES.get(subject.name.partition("@")[0], UNKNOWN)
        deeper = max(0.5, math.log(lessons) / math.log(BASIS)) if rate.graph else 1.0
        seconds += rate.seconds * lessons * deeper * (1 + wide) / 2 + measuring
        own = int(lessons * (rate.text_bytes + rate.vector_bytes * wide))
        disk = max(disk, own + (WRITE_AHEAD if subject.kind.postgres else 0))
        held = int(lessons * rate.memory_bytes * (1 + wide) / 2)
        memory = max(memory, min(held, server) if subject.kind.postgres else held)
    return Estimate(seconds, (lessons + SPARE) * (TEXT_BYTES + vectors), disk, memory + RESERVE // 2)


def scratch_folder(request: PerfRequest) -> Path:
    """Where the corpus and the file-based systems go."""
    return request.scratch or Path(tempfile.gettempdir())


def check(request: PerfRequest, needed: Estimate) -> None:
    """OutputError unless disk and memory suffice, each with what there is and what it takes."""
    scratch = scratch_folder(request)
    if not scratch.is_dir():
        raise OutputError(f"the scratch folder {scratch} does not exist; name another with --scratch")
    _check_disk(scratch, needed.corpus_bytes + needed.system_bytes, "name another folder with --scratch")
    for base in candidates()[:1]:
        _check_disk(base, needed.system_bytes, "set TMPDIR to another folder")
    free = psutil.virtual_memory().available
    if free < needed.memory_bytes:
        raise OutputError(
            f"{request.memories:,} memories of {request.dimensions} dimensions need about "
            f"{needed.memory_bytes / 1e9:,.1f} GB of memory and {free / 1e9:,.1f} GB are free; measure fewer "
            "memories or fewer --systems"
        )


def _check_disk(folder: Path, needed: int, remedy: str) -> None:
    free = disk_usage(folder).free
    if free < needed + RESERVE:
        raise OutputError(
            f"the run needs about {(needed + RESERVE) / 1e9:,.1f} GB of disk in {folder} and "
            f"{free / 1e9:,.1f} GB are free; free some space or {remedy}"
        )
