"""What the header of a run says, from the parts of the run."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from runner.artefacts import (
    Arm,
    Code,
    CorpusPins,
    Latency,
    Options,
    ProtocolPins,
    Resources,
    RunHeader,
    machine,
    packages,
    peak_memory_mb,
)
from runner.gates import deviations, judge
from runner.records import Corpus, DatabaseFacts, EmbedderIdentity, GateResult, Vectors
from runner.request import Request
from runner.stopwatch import Stopwatch
from runner.systems import System

DISCLOSURES = {
    "bge-m3": "bge-m3 stands in for the paper's Stella V5 (PROTOCOL.md §3.1)",
    "dragon-plus": "DRAGON+ vectors of 768 dimensions are zero-padded to 1,024 and ranked by cosine",
}


@dataclass(slots=True)
class Progressed:
    """A run as far as it has come: what the header and the gates are made from."""

    request: Request
    corpus: Corpus
    code: Code
    started: datetime
    watch: Stopwatch
    database: DatabaseFacts | None = None
    identity: EmbedderIdentity | None = None
    vectors: Vectors | None = None
    settings: dict[str, str] | None = None
    defaults: dict[str, str] = field(default_factory=dict)
    ours: bool | None = None
    fingerprint: str | None = None
    systems: Sequence[System] = ()
    asked: int = 0
    gates: tuple[GateResult, ...] = ()

    def header(self, name: str, latency: Iterable[Latency] = ()) -> RunHeader:
        """The header as of now; its verdict is that of the gates so far."""
        request, protocol = self.request, self.request.protocol
        return RunHeader(
            name=name,
            verdict=judge(self.gates),
            deviations=deviations(self.gates),
            protocol=ProtocolPins(protocol.version, protocol.sha256),
            pgmnemo_version=request.number,
            guc_state=self.settings or {},
            seed=protocol.seed,
            python_hash_seed=str(protocol.seed),
            corpus=self._corpus(),
            embedder=self.identity,
            arms=tuple(Arm(system.name, system.words) for system in self.systems),
            scopes=self.corpus.scopes,
            options=self._options(),
            components=self._components(),
            headline=protocol.headline,
            database=self.database,
            python=platform.python_version(),
            packages=packages(),
            code=self.code,
            machine=machine(),
            gates=self.gates,
            disclosures=tuple(text for name, text in DISCLOSURES.items() if name == request.embedder_name),
            resources=self._resources(),
            latency=tuple(latency),
            started=self.started,
            finished=datetime.now(UTC),
        )

    def _corpus(self) -> CorpusPins:
        corpus, suite = self.corpus, self.request.suite_parts
        return CorpusPins(
            suite=suite.name,
            title=suite.title,
            granularity=corpus.granularity,
            file=Path(corpus.path).name,
            sha256=corpus.sha256,
            segments=len(corpus.segments),
            questions=len(corpus.questions),
            clustered=corpus.clustered,
            shape=corpus.shape,
        )

    def _options(self) -> Options:
        request = self.request
        return Options(
            mode=request.recall_mode,
            k=request.k,
            limit=request.limit,
            types=request.types,
            allow_unregistered_corpus=request.allow_unregistered_corpus,
        )

    def _resources(self) -> Resources:
        vectors, watch = self.vectors, self.watch
        return Resources(
            load_seconds=round(watch["load"], 2),
            embed_seconds=round(watch["embed"], 2),
            ingest_seconds=round(watch["ingest"], 2),
            recall_seconds=round(watch["recall"], 2),
            score_seconds=round(watch["score"], 2),
            wall_seconds=round(watch.wall, 2),
            peak_memory_mb=peak_memory_mb(),
            vectors_cached=vectors.cached if vectors else 0,
            vectors_embedded=vectors.embedded if vectors else 0,
        )

    def _components(self) -> dict[str, str]:
        """Which parts of the score have something to act on in this corpus, in this mode."""
        segments, mode = self.corpus.segments, self.request.recall_mode
        idle = {
            "cosine": "keyword mode" if mode == "keyword" else "",
            "bm25": "vector mode" if mode == "vector" else "",
            "recency": "no times" if len({s.occurred_at for s in segments}) < 2 else "",
            "importance": "every importance is the same" if len({s.importance for s in segments}) < 2 else "",
            "graph": "" if self.corpus.edges else "the corpus has no edges",
        }
        return {name: f"inactive: {why}" if why else "active" for name, why in idle.items()}
