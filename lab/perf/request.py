"""The options of a performance run, its systems, its estimated cost, and the check that the machine suffices.

RATES are for lessons of LoCoMo with 384 dimensions on two cores, from loads of 20,000 and questions to
100,000 lessons; half of a lesson's cost grows with the width of its vector.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import disk_usage
from typing import Annotated, NamedTuple

import psutil

from lab.perf.workload import LEAST, PASSAGES, SPARE, TenantSize, sizes
from pgmnemo.errors import OutputError, UsageError
from pgmnemo.paths import release_numbers
from pgmnemo.postgres.releases import version_number
from pgmnemo.postgres.temporary_folders import temporary_bases
from runner.naming import SystemName
from runner.options import NAMES
from runner.systems import System, SystemContext, SystemSpec, missing_parts, open_system, spec_of
from runner.systems.wrappers import PASSAGES as PARTED

NATIVE = 384  # MiniLM's own width; other widths are reached by an orthonormal projection
WIDTHS = (384, 1024)
NARROW = ("minilm", "hash")  # the embedders with 384 dimensions
MOST_MEMORIES = 10_000_000
USUAL = ("pgmnemo", "sqlite-hybrid", "chroma", "gin-hnsw", "pgmnemo+passages")  # the default systems
SINCE = (0, 3, 0)  # the first version of pgmnemo that takes passages


@dataclass(frozen=True, kw_only=True)
class PerfRequest:
    """The options of `python -m lab perf`; `check` rejects impossible options before anything is created.

    Args:
        memories: number of memories of the largest tenant
        tenants: T: another tenant has N/T memories, interleaved with the others
        small_tenants: number of small tenants with 100 memories each
        version: version of pgmnemo (default: the current one)
        dimensions: width of the vectors: 384, or 1024 by an orthonormal map
        corpus: suite whose turns and questions are used
        data: the suite's file or its folder
        embedder: embedder of 384 dimensions (hash for tests)
        systems: S,S,…: measure only these systems (default: all that are installed)
        questions: maximum number of questions
        k: number of rows to request
        clients: number of clients in concurrent reads (1: no concurrent reads)
        seconds: maximum seconds for one kind of reads
        seed: seed of the generated corpus
        name: name of the results folder
        output: folder for results folders (default: benchmarks/performance)
        scratch: folder for the corpus and the peers' files (default: TMPDIR)
        cache: folder of the embedding cache (default: the user's own)
    """

    memories: int = 0
    tenants: int = 100
    small_tenants: int = 1
    version: str | None = None
    dimensions: int = NATIVE
    corpus: str = "sample"
    data: Path | None = None
    embedder: str = "minilm"
    systems: Annotated[tuple[str, ...], NAMES] = ()
    questions: int = 400
    k: int = 10
    clients: int = 8
    seconds: float = 8.0
    seed: int = 42
    name: str | None = None
    output: Path | None = None
    scratch: Path | None = None
    cache: Path | None = None

    def check(self) -> None:
        """Raise UsageError for impossible options."""
        if not self.memories:
            raise UsageError("perf needs --memories N, or plot; see `python -m lab perf --help`")
        for option, value, low, high in (
            ("--memories", self.memories, 100, MOST_MEMORIES),
            ("--tenants", self.tenants, 1, max(1, self.memories // 10)),
            ("--small-tenants", self.small_tenants, 1, 100_000),
            ("--questions", self.questions, 1, 100_000),
            ("--k", self.k, 1, 50),
            ("--clients", self.clients, 1, 24),
            ("--seed", self.seed, 0, 2**32 - 1),
        ):
            if not low <= value <= high:
                raise UsageError(f"{option} takes a whole number from {low:,} to {high:,}, not {value:,}")
        if not 0 < self.seconds <= 600:
            raise UsageError(f"--seconds takes a number above 0 and up to 600, not {self.seconds:g}")
        if self.dimensions not in WIDTHS:
            raise UsageError(f"--dimensions takes {' or '.join(map(str, WIDTHS))}, not {self.dimensions}")
        if self.embedder not in NARROW:
            raise UsageError(
                f"--embedder takes one of {NATIVE} dimensions, {' or '.join(NARROW)}, not {self.embedder!r}"
            )
        if self.name is not None and (not self.name.strip("._-") or set(self.name) & set("/\\\0")):
            raise UsageError(f"--name takes the name of a folder, not {self.name!r}")

    def sizes(self) -> dict[TenantSize, int]:
        """Return the number of memories of each tenant, with the small tenants as one sum."""
        return sizes(self.memories, self.tenants, self.small_tenants)

    @property
    def number(self) -> str:
        """The extension's version without its `v`."""
        return version_number(self.version)


@dataclass(frozen=True, slots=True)
class Subject:
    """A system to measure. `name` is its name on the command line."""

    name: str
    kind: SystemSpec
    passages: bool

    @property
    def title(self) -> str:
        """The system's title in tables."""
        version = SystemName.of(self.name).version
        named = f"{self.kind.title} {version}".strip()
        return f"{named}, two passages a lesson" if self.passages else named

    def missing(self, version: str) -> str:
        """Return a sentence on why the system cannot be measured here, with the remedy; empty if it can."""
        number = SystemName.of(self.name).version or version
        if self.passages and self.kind.versions and release_numbers(number) < SINCE:
            return f"pgmnemo {number} takes no passages; measure --version v0.6.1 or later"
        return missing_parts(self.kind)

    def open(self, context: SystemContext, version: str) -> AbstractContextManager[System]:
        """Open the system, on its own durable server or with its own files."""
        settings = {"gate_strict": "off"} if self.kind.versions else {}
        own = replace(
            context, version=version, label="perf", settings=settings, durable=True, tenant_per_project=True
        )
        return open_system(str(SystemName.of(self.name).bare), replace(own, with_components=False))


def subject(name: str) -> Subject:
    """Return the subject with this name; raise UsageError for an unknown system or an unsupported wrapper."""
    parts = SystemName.of(name)
    kind, passages = spec_of(str(parts.bare)), parts.wrappers == (PARTED,)
    if passages and not kind.versions:
        raise UsageError(f"only pgmnemo is measured with passages here, not {parts.bare}")
    if parts.wrappers and not passages:
        raise UsageError(f"no wrapper but +{PARTED} is measured here: {name!r}")
    return Subject(name, kind, passages)


RESERVE = 1 << 30  # bytes of disk and of memory that stay free
TEXT_BYTES = 620  # bytes of a lesson's text in LoCoMo
GENERATING = 6e-5  # seconds per lesson
SERVER_SHARE = 0.4  # maximum share of the machine's memory that the server's settings allow
CELLS = 24  # kinds of reads of one system, each for at most `--seconds`
SCANS = 6  # cells that take longer for a system that reads every row
WRITE_AHEAD = 4 << 30  # bytes of WAL that the server may keep in addition to its data


class Rate(NamedTuple):
    """The costs of a lesson: seconds to load, bytes on disk and in memory, and added seconds per question."""

    seconds: float
    disk_bytes: int
    memory_bytes: int
    question: float = 0.0


RATES = {
    "pgmnemo": Rate(1.1e-3, 10_800, 18_000),
    "pgmnemo+passages": Rate(1.6e-3, 20_200, 26_000),
    "sqlite-fts5": Rate(6e-5, 1_300, 1_200, 1.8e-6),
    "sqlite-hybrid": Rate(1.5e-4, 3_100, 1_500, 2.3e-6),
    "chroma": Rate(7.5e-4, 2_400, 3_000),
    "gin-hnsw": Rate(7.5e-4, 5_700, 11_000, 2.1e-6),
    "pg-textsearch": Rate(7.5e-4, 4_800, 11_000),
}
UNKNOWN = Rate(2e-3, 14_200, 18_000)  # for a system without a measurement: the highest rate


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimate of a run: its seconds, and its peak bytes of disk and memory."""

    seconds: float
    corpus_bytes: int
    system_bytes: int
    memory_bytes: int

    def sentence(self) -> str:
        """Return the estimate in a sentence for the user."""
        gigabytes = (self.corpus_bytes + self.system_bytes) / 1e9
        minutes = self.seconds / 60
        time = f"{self.seconds:,.0f} s" if minutes < 2 else f"{minutes:,.0f} min"
        return (
            f"this will take about {time}, {gigabytes:,.1f} GB of disk and {self.memory_bytes / 1e9:,.1f} GB "
            "of memory at the most (on a quiet machine with two cores; one system at a time)"
        )


def estimate(request: PerfRequest, chosen: Sequence[Subject]) -> Estimate:
    """Return the estimated cost of measuring these systems."""
    lessons, wide = sum(request.sizes().values()), request.dimensions / NATIVE
    vectors = 4 * request.dimensions * (1 + PASSAGES)
    measuring = CELLS * request.seconds * min(1.0, 0.1 + request.memories / 1e6)  # few memories are quick
    server = int(psutil.virtual_memory().total * SERVER_SHARE)  # buffers and builds, for any corpus
    disk, memory, seconds = 0, 0, GENERATING * wide * lessons
    for subject in chosen:
        rate, wider = RATES.get(subject.name.partition("@")[0], UNKNOWN), lessons * (1 + wide) / 2
        seconds += rate.seconds * wider + measuring + SCANS * LEAST * rate.question * request.memories
        disk = max(disk, int(rate.disk_bytes * wider) + (WRITE_AHEAD if subject.kind.postgres else 0))
        held = int(rate.memory_bytes * wider)
        memory = max(memory, min(held, server) if subject.kind.postgres else held)
    return Estimate(seconds, (lessons + SPARE) * (TEXT_BYTES + vectors), disk, memory + RESERVE // 2)


def scratch_folder(request: PerfRequest) -> Path:
    """Return the folder for the corpus and for file-based systems."""
    return request.scratch or Path(tempfile.gettempdir())


def check(request: PerfRequest, needed: Estimate) -> None:
    """Raise OutputError unless disk and memory suffice.

    The message has the available and the needed bytes.
    """
    scratch = scratch_folder(request)
    if not scratch.is_dir():
        raise OutputError(f"the scratch folder {scratch} does not exist; name another with --scratch")
    _check_disk(scratch, needed.corpus_bytes + needed.system_bytes, "name another folder with --scratch")
    for base in temporary_bases()[:1]:
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
