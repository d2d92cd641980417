"""run.json as one record: everything besides the raw rankings that a number depends on, and the run's costs.

A run fills it in as it proceeds, gates check it, and the readers of a finished run use the same record. This
module also writes metrics.json, and BLOCKED.md, which lists the failed gates of a run that may not be cited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pgmnemo.escaping import escape_line, escape_markdown
from pgmnemo.records import DatabaseFacts, EmbedderIdentity
from runner.protocol.editions import Edition, edition
from runner.records import (
    ALL,
    GateResult,
    Json,
    RerankerIdentity,
    RewriterIdentity,
    SearchScope,
    Status,
    Verdict,
    View,
)
from runner.runs.canonical import pretty, tabular, without_private_path, without_private_paths
from runner.runs.config import HEADLINE_SCOPE, NO_EMBEDDER, OURS, RunConfig
from runner.runs.environment import Code, Machine
from runner.runs.storage import write_file
from runner.runs.timings import Latency, RerankCount, RewriteCount

RUN = "run.json"


@dataclass(frozen=True, slots=True)
class ProtocolPins:
    """The version of the protocol, and the SHA-256 of its PROTOCOL.md and of its edition.toml."""

    version: str
    sha256: str
    pins_sha256: str


@dataclass(frozen=True, slots=True)
class CorpusPins:
    """The corpus that was searched. `file` is a bare name; `segments` counts the indexed lessons."""

    title: str
    file: str
    sha256: str
    segments: int
    questions: int
    clustered: bool
    shape: Mapping[str, int]
    citable: bool = True  # False for a corpus that tests an installation, not recall
    files: Mapping[str, str] = field(default_factory=dict)  # of a folder: SHA-256 of each file, by its name


@dataclass(frozen=True, slots=True)
class PassageCounts:
    """The number of passages of the lessons, and the number of distinct texts among them to embed."""

    count: int
    distinct: int


EMPTY = "every answer was empty"
"""The remark on a system that found nothing for any question."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A ranked system, retriever or control of a run. The first arm of a run is the system under test.

    `role` is `system` (under test, or a baseline), `leg` for a retriever of the system under test, or
    `control`. `components` are those of its ranks in the raw file. The other fields are for systems only:
    title and version, versions and settings that decide its figures, seconds of each step of loading, bytes
    on disk and in memory, and remarks. `failed` says why it has no ranking; empty if it has one.
    """

    name: str
    words: str
    role: str = "control"
    title: str = ""
    version: str = ""
    tuned_on: str = ""
    own_embedder: bool = False
    components: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    load_seconds: Mapping[str, float] = field(default_factory=dict)
    disk_bytes: int | None = None
    memory_bytes: int | None = None
    remarks: tuple[str, ...] = ()
    failed: str = ""

    @property
    def is_silent(self) -> bool:
        """Return whether every answer of the arm was empty, according to its remarks."""
        return EMPTY in self.remarks


STAGES = ("load", "check", "embed", "ingest", "recall", "time", "score")  # each has its seconds


@dataclass(frozen=True, slots=True)
class Resources:
    """The seconds of each stage, texts embedded, and the runner's largest resident size in MB (10^6 bytes).

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The record of a run, in the order of run.json. `name` is that of the results folder.

    None and empty mean "not known yet", or that the system under test has no such thing.
    """

    name: str
    verdict: Verdict
    deviations: tuple[str, ...] = ()
    protocol: ProtocolPins
    choice: RunConfig
    seed: int
    python_hash_seed: str | None
    corpus: CorpusPins
    embedder: EmbedderIdentity | None
    reranker: RerankerIdentity | None = None  # None: every answer in its system's own order
    rewriter: RewriterIdentity | None = None  # None: questions are asked unchanged
    passages: PassageCounts | None = None  # None: lessons without passages
    arms: tuple[Arm, ...] = ()
    scopes: tuple[SearchScope, ...] = ()
    views: tuple[View, ...] = ()  # subsets of questions with figures of their own
    headline: tuple[str, ...] = ()
    components: Mapping[str, str] = field(default_factory=dict)  # name → "active" or "inactive: why"
    guc_state: Mapping[str, str] = field(default_factory=dict)  # every setting of pgmnemo in force
    guc_defaults: Mapping[str, str] = field(default_factory=dict)  # the defaults of guc_state
    database: DatabaseFacts | None = None  # set if pgmnemo is under test
    python: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    code: Code = field(default_factory=lambda: Code(None, None))
    machine: Machine | None = None
    gates: tuple[GateResult, ...] = ()
    disclosures: tuple[str, ...] = ()  # what the protocol asks every claim to disclose, such as padding
    resources: Resources | None = None
    latency: tuple[Latency, ...] = ()
    reranks: tuple[RerankCount, ...] = ()
    rewrites: tuple[RewriteCount, ...] = ()
    started: datetime
    finished: datetime | None = None

    @property
    def edition(self) -> Edition:
        """The edition of the protocol that the run names; raises UsageError if it is unknown here."""
        return edition(self.protocol.version)

    @property
    def system(self) -> str:
        """The name of the arm under test."""
        return self.arms[0].name if self.arms else self.choice.system

    def scopes_of(self, arm: Arm) -> tuple[SearchScope, ...]:
        """Return the scopes in which an arm of the run answers."""
        return self.baseline_scopes if arm.role == "system" and arm.name != self.system else self.scopes

    @property
    def baseline_scopes(self) -> tuple[SearchScope, ...]:
        """Return the scopes of the baselines: all, or only the headline's scope."""
        return self.scopes[:1] if self.choice.baseline_scopes == HEADLINE_SCOPE else self.scopes

    @property
    def systems(self) -> tuple[Arm, ...]:
        """The arms that are systems: the system under test, then the baselines."""
        return tuple(arm for arm in self.arms if arm.role == "system")

    @property
    def version(self) -> str:
        """The version of the system under test, such as `0.3.1`.

        For another system than pgmnemo, from its arm.
        """
        if self.choice.ours:
            return self.choice.version
        return self.arms[0].version if self.arms else ""

    @property
    def title(self) -> str:
        """The title of the system under test: `pgmnemo v0.3.1`."""
        if self.choice.ours:
            return f"{OURS} v{self.version}"
        return f"{self.arms[0].title if self.arms else self.choice.system} {self.version}".strip()

    @property
    def headline_view(self) -> str:
        """The view of the headline; `all` if no requested type belongs to the suite's headline view."""
        pins, kinds = self.edition.suites.get(self.choice.suite), self.choice.types
        view = next((one for one in self.views if pins and one.name == pins.headline_view), None)
        if view is None or (kinds and not any(view("", kind) for kind in kinds)):
            return ALL
        return view.name

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or `none` for a run without vectors."""
        return self.choice.embedder if self.embedder else NO_EMBEDDER

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The k at which recall is counted."""
        return self.choice.cutoffs(self.edition)

    @property
    def path(self) -> str:
        """Return the path of the results folder in the repository."""
        return f"benchmarks/{self.choice.suite}/results/{self.name}/"

    def document(self) -> Json:
        """Return the record as JSON: plain types, no private path."""
        document = {"schema": self.edition.schemas.run, **asdict(self)}
        if not self.corpus.files:
            del document["corpus"]["files"]
        document["started"], document["finished"] = moment(self.started), moment(self.finished)
        plain: Json = without_private_paths(document)
        return plain


def moment(time: datetime | None) -> str | None:
    """Return a time as `2026-11-21T18:11:06Z`; None for None."""
    return None if time is None else f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def write_run(folder: Path, run: Run) -> Json:
    """Write run.json into `folder`; return the document."""
    document = run.document()
    write_file(folder / RUN, pretty(document))
    return document


METRICS = "metrics.json"
TABLES = ("results", "differences", "readings", "anchored")  # lists that are written one row per line


def metrics_text(document: Json) -> str:
    """Return the text of metrics.json, with one row on each line."""
    return tabular(document, TABLES)


def write_metrics(folder: Path, document: Json) -> None:
    """Write metrics.json into `folder`."""
    write_file(folder / METRICS, metrics_text(document))


BLOCKED = "BLOCKED.md"
FIELDS = ("where", "expected", "found", "resolve")


def write_blocked(folder: Path, run: Run) -> None:
    """Write BLOCKED.md and run.json for the failed gates of `run`; remove metrics and report.

    Raw rankings that were already retrieved stay: they explain a failure, and repeating them takes hours.
    """
    for name in (METRICS, "report.md"):
        (folder / name).unlink(missing_ok=True)
    write_run(folder, replace(run, verdict=Verdict.BLOCKED, latency=()))
    write_file(folder / BLOCKED, blocked_text(run.name, run.gates))


def blocked_text(name: str, gates: Iterable[GateResult]) -> str:
    """Return the text of BLOCKED.md for the gates that failed."""
    failed = [gate for gate in gates if gate.status is Status.FAILED]
    count = "1 gate failed" if len(failed) == 1 else f"{len(failed)} gates failed"
    told = f"{count}. No number of this run may be cited; run.json holds every gate."
    head = f"# BLOCKED: {_harmless(name)}\n\n{told}\n"
    return without_private_path(head + "".join(_section(gate) for gate in failed))


def _section(gate: GateResult) -> str:
    lines = (
        f"- **{field}:** {escape_markdown(escape_line(getattr(gate, field)))}"
        for field in FIELDS
        if getattr(gate, field)
    )
    return f"\n## {gate.gate}\n\n" + "\n".join(lines) + "\n"


def _harmless(text: str) -> str:
    """Return a foreign text, such as a corpus's title, as one line of escaped Markdown."""
    return escape_markdown(escape_line(text))
