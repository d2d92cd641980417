"""run.json: all that a number depends on besides the raw rankings, and what the run cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from runner.artefacts.canonical import pretty
from runner.artefacts.environment import Code, Machine
from runner.artefacts.privacy import published
from runner.artefacts.storage import write_file
from runner.artefacts.timings import Latency
from runner.records import DatabaseFacts, EmbedderIdentity, GateResult, Json, SearchScope, Verdict, View

RUN = "run.json"
SCHEMA = "pgmnemo/run/2"


@dataclass(frozen=True, slots=True)
class ProtocolPins:
    """Version of the protocol and SHA-256 of the bytes of PROTOCOL.md."""

    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class CorpusPins:
    """The corpus that was searched. `file` is a bare name; `segments` counts what was indexed."""

    suite: str
    title: str
    granularity: str
    file: str
    sha256: str
    segments: int
    questions: int
    clustered: bool
    shape: Mapping[str, int]
    citable: bool = True  # False for a corpus that proves an installation and no recall


@dataclass(frozen=True, slots=True)
class PassageCounts:
    """Passages that the lessons were given, and how many distinct texts of them there are to embed."""

    count: int
    distinct: int


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to search, and what it is in words. The first arm of a run is the system under test."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Options:
    """What the command asked for besides suite, version and embedder; None or empty: the protocol's own."""

    mode: str = "hybrid"
    k: tuple[int, ...] = ()
    limit: int | None = None
    types: tuple[str, ...] = ()
    allow_unregistered_corpus: bool = False


@dataclass(frozen=True, slots=True)
class Resources:
    """Seconds of each stage, texts embedded, and the runner's largest resident size in MB (10^6 bytes).

    `check` is the gates before the run, `time` the second, timed recall of the system under test.
    """

    load_seconds: float
    check_seconds: float
    embed_seconds: float
    ingest_seconds: float
    recall_seconds: float
    time_seconds: float
    score_seconds: float
    wall_seconds: float
    peak_memory_mb: float
    vectors_cached: int
    vectors_embedded: int


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The header of a run, in the order in which run.json holds it. `name` is the results folder's."""

    name: str
    verdict: Verdict
    deviations: tuple[str, ...]
    protocol: ProtocolPins
    pgmnemo_version: str
    guc_state: Mapping[str, str]
    seed: int
    python_hash_seed: str | None
    corpus: CorpusPins
    embedder: EmbedderIdentity | None
    arms: tuple[Arm, ...]
    scopes: tuple[SearchScope, ...]
    options: Options
    components: Mapping[str, str]  # name → "active" or "inactive: why", in the order of the raw file
    headline: tuple[str, ...]
    database: DatabaseFacts | None
    python: str
    packages: Mapping[str, str]
    code: Code
    machine: Machine
    gates: tuple[GateResult, ...]
    disclosures: tuple[str, ...] = ()  # what the protocol asks every claim to disclose, such as padding
    resources: Resources | None = None
    latency: tuple[Latency, ...] = ()
    views: tuple[View, ...] = ()  # the subsets of questions that figures are given for
    guc_defaults: Mapping[str, str] = field(default_factory=dict)  # what guc_state says without a change
    passages: PassageCounts | None = None  # None: an engine without passages
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    finished: datetime | None = None

    def document(self) -> Json:
        """The header as JSON: plain types, no private path."""
        document = {"schema": SCHEMA, **asdict(self)}
        document["started"] = _utc(self.started)
        document["finished"] = _utc(self.finished)
        plain: Json = published(document)
        return plain


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def write_run(folder: Path, header: RunHeader) -> Json:
    """Write run.json into `folder`; the document, as it will be read back."""
    document = header.document()
    write_file(folder / RUN, pretty(document))
    return document
