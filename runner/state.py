"""A run as far as it has come: what its gates, its plan and its header are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from runner.artefacts import Code, folder_name
from runner.embedders import Embedder
from runner.gates import RunFacts
from runner.protocol.history import can_append
from runner.records import Corpus, DatabaseFacts, EmbedderIdentity, GateResult, Json, Vectors
from runner.request import Request
from runner.stopwatch import Stopwatch
from runner.systems import System

ROOT = Path(__file__).resolve().parents[1]


@dataclass(slots=True)
class RunState:
    """`base` is the folder that holds the results folders; None means "not known yet"."""

    request: Request
    corpus: Corpus
    embedder: Embedder | None  # None: a keyword-only run
    base: Path
    code: Code
    hash_seed: str | None  # PYTHONHASHSEED
    started: datetime
    watch: Stopwatch
    asked: int  # how many questions
    database: DatabaseFacts | None = None
    fingerprint: str | None = None  # of the requested release; None: it is not released
    ours: bool | None = None  # whether the installed extension is of this family, patched or not
    vectors: Vectors | None = None
    settings: dict[str, str] | None = None
    defaults: dict[str, str] = field(default_factory=dict)
    systems: Sequence[System] = ()
    gates: tuple[GateResult, ...] = ()

    @property
    def identity(self) -> EmbedderIdentity | None:
        """What the vectors depend on; None without vectors."""
        return self.embedder.identity if self.embedder else None

    @property
    def name(self) -> str:
        """The results folder's name, before a number is added to one that is taken."""
        request = self.request
        return folder_name(request.version, self.started, request.embedder_name, request.labels())

    @property
    def history(self) -> Path:
        """The repository's HISTORY.md for results inside the repository, else one beside the results."""
        return (ROOT if self.base.is_relative_to(ROOT / "benchmarks") else self.base) / "HISTORY.md"

    def plan(self) -> Json:
        """All that decides the raw bytes: a run may be completed only under the same plan."""
        request = self.request
        return {
            "suite": request.suite,
            "version": request.number,
            "protocol": request.protocol.version,
            "seed": request.protocol.seed,
            "corpus": self.corpus.sha256,
            "granularity": request.level,
            "embedder": repr(self.identity),
            "mode": request.recall_mode,
            "limit": request.limit,
            "types": request.types,
        }

    def facts(
        self,
        retrievals: Mapping[tuple[str, str], int] | None = None,
        artefacts: Mapping[str, bool] | None = None,
    ) -> RunFacts:
        """What the gates look at; after the run with the counts of raw lines and with the files."""
        request, history = self.request, self.history
        return RunFacts(
            protocol=request.protocol,
            corpus=self.corpus,
            requested_version=request.version,
            embedder=request.embedder_name,
            hash_seed=self.hash_seed,
            seed=request.protocol.seed,
            allow_unregistered=request.allow_unregistered_corpus,
            identity=self.identity,
            database=self.database,
            fingerprint=self.fingerprint,
            ours=self.ours,
            settings=self.settings,
            defaults=self.defaults,
            cutoffs=request.cutoffs,
            limit=request.limit,
            types=request.types,
            departures=request.departures(),
            commit=self.code.commit,
            dirty=self.code.dirty,
            asked=self.asked,
            history=history.name,
            history_ready=can_append(history),
            retrievals=retrievals,
            artefacts=artefacts,
        )
