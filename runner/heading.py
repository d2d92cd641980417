"""The header of a run, which run.json holds, from its state."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from runner.artefacts import (
    Arm,
    CorpusPins,
    Latency,
    Options,
    PassageCounts,
    ProtocolPins,
    Resources,
    RunHeader,
    machine,
    packages,
    peak_memory_mb,
)
from runner.gates import deviations, judge
from runner.state import RunState

DISCLOSURES = {
    "bge-m3": "bge-m3 stands in for the paper's Stella V5 (PROTOCOL.md §3.1)",
    "dragon-plus": "DRAGON+ vectors of 768 dimensions are zero-padded to 1,024 and ranked by cosine",
}


def heading(state: RunState, name: str, latency: Iterable[Latency] = ()) -> RunHeader:
    """The header as of now, for the results folder `name`; its verdict is that of the gates so far."""
    request, protocol = state.request, state.request.protocol
    return RunHeader(
        name=name,
        verdict=judge(state.gates),
        deviations=deviations(state.gates),
        protocol=ProtocolPins(protocol.version, protocol.sha256),
        pgmnemo_version=request.number,
        guc_state=state.settings or {},
        seed=protocol.seed,
        python_hash_seed=state.hash_seed,
        corpus=_corpus(state),
        embedder=state.identity,
        arms=tuple(Arm(system.name, system.words) for system in state.systems),
        scopes=state.corpus.scopes,
        options=_options(state),
        components=_components(state),
        headline=protocol.headline,
        database=state.database,
        python=platform.python_version(),
        packages=packages(),
        code=state.code,
        machine=machine(),
        gates=state.gates,
        disclosures=tuple(text for name, text in DISCLOSURES.items() if name == request.embedder_name),
        resources=_resources(state),
        latency=tuple(latency),
        views=tuple(request.suite_parts.views.values()),
        guc_defaults=state.defaults,
        passages=_passages(state),
        started=state.started,
        finished=datetime.now(UTC),
    )


def _corpus(state: RunState) -> CorpusPins:
    corpus, suite = state.corpus, state.request.suite_parts
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
        citable=suite.citable,
    )


def _options(state: RunState) -> Options:
    request = state.request
    return Options(
        mode=request.recall_mode,
        k=request.k,
        limit=request.limit,
        types=request.types,
        allow_unregistered_corpus=request.allow_unregistered_corpus,
    )


def _resources(state: RunState) -> Resources:
    vectors, watch = state.vectors, state.watch
    return Resources(
        load_seconds=round(watch["load"], 2),
        check_seconds=round(watch["check"], 2),
        embed_seconds=round(watch["embed"], 2),
        ingest_seconds=round(watch["ingest"], 2),
        recall_seconds=round(watch["recall"], 2),
        time_seconds=round(watch["time"], 2),
        score_seconds=round(watch["score"], 2),
        wall_seconds=round(watch.wall, 2),
        peak_memory_mb=peak_memory_mb(),
        vectors_cached=vectors.cached if vectors else 0,
        vectors_embedded=vectors.embedded if vectors else 0,
    )


def _passages(state: RunState) -> PassageCounts | None:
    if not state.request.engine.passages:
        return None
    texts = [passage.embedded for segment in state.corpus.segments for passage in segment.passages]
    return PassageCounts(len(texts), len(set(texts)))


def _components(state: RunState) -> dict[str, str]:
    """Which parts of the score have something to act on in this corpus, in this mode."""
    segments, mode = state.corpus.segments, state.request.recall_mode
    no_vector = "keyword mode" if mode == "keyword" else ""
    no_words = "vector mode" if mode == "vector" else ""
    no_passage = "" if any(s.passages for s in segments) else "the corpus has no passages"
    no_times = "no times" if len({s.occurred_at for s in segments}) < 2 else ""
    idle = {
        "cosine": no_vector,
        "bm25": no_words,
        "passage_terms": no_words or no_passage,
        "passage_cosine": no_vector or no_passage,
        "pair_cosine": no_vector or no_passage,
        "temporal": no_words or no_times,
        "context": "" if _companions(state) else "no two lessons of a project have one time",
        "recency": no_times,
        "importance": "every importance is the same" if len({s.importance for s in segments}) < 2 else "",
        "graph": "" if state.corpus.edges else "the corpus has no edges",
    }
    return {
        name: f"inactive: {idle[name]}" if idle[name] else "active"
        for name in state.request.engine.components
    }


def _companions(state: RunState) -> bool:
    """Whether any two segments of one project occurred at one time."""
    times = [(s.project, s.occurred_at) for s in state.corpus.segments if s.occurred_at is not None]
    return len(set(times)) < len(times)
