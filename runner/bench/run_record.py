"""The record of a run, which run.json holds, made from the request and from the facts of the run."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from pgmnemo.postgres.releases import release_of
from pgmnemo.records import EmbedderIdentity
from runner.bench.request import Request
from runner.bench.run_state import Stopwatch
from runner.naming import SystemName
from runner.records import Corpus, CorpusVectors, Verdict
from runner.runs.config import OURS
from runner.runs.environment import Code, machine, packages, peak_memory_mb
from runner.runs.run import STAGES, Arm, CorpusPins, PassageCounts, ProtocolPins, Resources, Run
from runner.systems import WRAPPERS, base_of, spec_of
from runner.systems.system import NOT_KNOWN, SupportsComponents, System


def new_run_record(
    request: Request,
    corpus: Corpus,
    identity: EmbedderIdentity | None,
    code: Code,
    hash_seed: str | None,
    started: datetime,
) -> Run:
    """Return the record of a run before a system is opened.

    Gates, arms and other results are filled in later.
    """
    edition, suite = request.edition, request.suite_parts
    return Run(
        name="",
        verdict=Verdict.BLOCKED,
        protocol=ProtocolPins(edition.version, edition.sha256, edition.pins_sha256),
        choice=request.choice,
        seed=edition.seed,
        python_hash_seed=hash_seed,
        corpus=_corpus(request, corpus),
        embedder=identity,
        passages=passage_counts(corpus) if request.ours and request.engine.passages else None,
        scopes=corpus.scopes,
        views=suite.views(edition),
        headline=edition.metrics.headline,
        components=_components(request, corpus),
        python=platform.python_version(),
        packages=packages(),
        code=code,
        machine=machine(),
        disclosures=edition.disclosures(request.embedder_name, request.suite),
        started=started,
    )


def _corpus(request: Request, corpus: Corpus) -> CorpusPins:
    pins = request.edition.suites.get(request.suite)
    return CorpusPins(
        title=corpus.title or request.suite_parts.title,
        file=Path(corpus.path).name,
        sha256=corpus.sha256,
        segments=len(corpus.segments),
        questions=len(corpus.questions),
        clustered=corpus.clustered,
        shape=corpus.shape,
        citable=pins.citable if pins else True,  # the verdict `unverified` then forbids citation
        files=corpus.files,
    )


def passage_counts(corpus: Corpus) -> PassageCounts:
    """Return the number of passages of the lessons, and the number of distinct texts to embed among them."""
    count, distinct = 0, set[bytes]()  # digests, to keep the texts out of memory
    for segment in corpus.segments:
        count += len(segment.passages)
        texts = (passage.embedded.encode(errors="surrogatepass") for passage in segment.passages)
        distinct.update(blake2b(text, digest_size=16).digest() for text in texts)
    return PassageCounts(count, len(distinct))


def _components(request: Request, corpus: Corpus) -> dict[str, str]:
    return component_states(request.engine.components, request.recall_mode, corpus) if request.ours else {}


def describe_system(
    name: str, request: Request, sql: Path, system: System | None = None,
    loaded: Mapping[str, float] | None = None, *, words: str = "", failed: str = "",
) -> Arm:  # fmt: skip
    """Return the arm of a system: its kind and version, and its facts if the system was opened."""
    kind, own = spec_of(name), SystemName.of(name)
    facts, said = (dict(system.facts()), system.description()) if system else ({}, "")
    version = str(facts.pop("version", own.version or (request.number if kind.versions else "")))
    disk = sum(system.sizes().values()) if system and loaded is not None else 0
    memory = system.memory() if system and loaded is not None else None
    return Arm(
        name=name,
        words="; ".join((words or said or kind.description, *(WRAPPERS[one].words for one in own.wrappers))),
        role="system",
        title=kind.title,
        version=version,
        tuned_on=tuned_on(request.suite, kind.tuned_on, version if base_of(name).system == OURS else "", sql),
        own_embedder=kind.own_embedder,
        components=system.components if isinstance(system, SupportsComponents) else (),
        facts={str(what): str(value) for what, value in facts.items()},
        load_seconds={step: _plain_number(100 * taken) / 100 for step, taken in (loaded or {}).items()},
        disk_bytes=_plain_number(disk) or None,
        memory_bytes=None if memory is None else _plain_number(memory),
        failed=failed,
    )


def _plain_number(value: float) -> int:
    """Return a number as a Python int, rounded; raise ValueError or TypeError if it is not a number."""
    return int(round(value))  # noqa: RUF046  rounding a number of numpy gives another


def tuned_on(suite: str, said: str, version: str, sql: Path) -> str:
    """Return which part of this suite the defaults of a system were chosen on.

    `version` is a version of pgmnemo; for another system it is empty, and `said` is returned.
    """
    release = release_of(sql, version) if version else None
    if release is None:
        return said or NOT_KNOWN
    return release.tuned_on.get(suite, "never")


def resources(watch: Stopwatch, vectors: CorpusVectors | None) -> Resources:
    """Return the seconds, memory and vector counts of the run so far."""
    return Resources(
        **{f"{stage}_seconds": round(watch[stage], 2) for stage in STAGES},
        wall_seconds=round(watch.wall, 2),
        peak_memory_mb=peak_memory_mb(),
        vectors_cached=vectors.cached if vectors else 0,
        vectors_embedded=vectors.embedded if vectors else 0,
    )


ACTIVE, INACTIVE = "active", "inactive: "
NO_VECTOR, NO_WORDS = "keyword mode", "vector mode"
NO_PASSAGES, NO_TIMES = "the corpus has no passages", "no times"
NO_COMPANIONS = "no two lessons of a project have one time"
NO_POSITIONS, NO_FOLLOWERS = "no positions", "no two lessons follow one another in a session"
ONE_IMPORTANCE, NO_EDGES = "every importance is the same", "the corpus has no edges"
REASONS = frozenset({
    NO_VECTOR, NO_WORDS, NO_PASSAGES, NO_TIMES, NO_COMPANIONS, NO_POSITIONS, NO_FOLLOWERS, ONE_IMPORTANCE,
    NO_EDGES,
})  # fmt: skip


def component_states(names: Iterable[str], mode: str, corpus: Corpus) -> dict[str, str]:
    """Return the state of each score component: `active`, or `inactive: ` and the reason."""
    no_vector = NO_VECTOR if mode == "keyword" else ""
    no_words = NO_WORDS if mode == "vector" else ""
    no_passage = "" if any(s.passages for s in corpus.segments) else NO_PASSAGES
    no_times = NO_TIMES if len({s.occurred_at for s in corpus.heads}) < 2 else ""
    idle = {
        "cosine": no_vector,
        "bm25": no_words,
        "passage_terms": no_words or no_passage,
        "passage_cosine": no_vector or no_passage,
        "pair_cosine": no_vector or no_passage,
        "temporal": no_words or no_times,
        "context": "" if _companions(corpus) else NO_COMPANIONS,
        "neighbours": _no_neighbours(corpus),
        "recency": no_times,
        "importance": ONE_IMPORTANCE if len({s.importance for s in corpus.heads}) < 2 else "",
        "graph": "" if corpus.edges else NO_EDGES,
    }
    return {name: f"{INACTIVE}{idle[name]}" if idle.get(name) else ACTIVE for name in names}


def _companions(corpus: Corpus) -> bool:
    """Return whether any project has two segments with the same time."""
    times = [(s.project, s.occurred_at) for s in corpus.heads if s.occurred_at is not None]
    return len(set(times)) < len(times)


def _no_neighbours(corpus: Corpus) -> str:
    """Return why no segment has a neighbour at the next position of its project; empty if any segment has."""
    places = {(s.project, s.position) for s in corpus.heads if s.position is not None}
    if not places:
        return NO_POSITIONS
    follow = any((project, position + 1) in places for project, position in places)
    return "" if follow else NO_FOLLOWERS
