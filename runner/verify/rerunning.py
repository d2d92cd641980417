"""Some questions of a run recalled again: its corpus, its embedder, its pgmnemo, in a database of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.bench.material import Asked, CorpusLessons, Material
from runner.bench.request import Request, selected
from runner.bench.retrieve import Ranker, retrieve
from runner.bench.rewriting import worded
from runner.bench.stopwatch import Stopwatch
from runner.bench.work import Work
from runner.database.scripts import changed
from runner.database.server_files import check_release
from runner.embedders import Embedder, EmbedderOptions, default_cache_dir, embed_corpus
from runner.errors import CorpusError, EmbedderError, RefusedError
from runner.progress import Progress, lasting
from runner.records import Corpus, Retrieval
from runner.rewriters import by_rule
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW, Kept, RawWriter, read_raw
from runner.runs.run import Run
from runner.suites import SUITES
from runner.systems import System, open_system
from runner.systems.asking import Judge, components_of
from runner.systems.pgmnemo import Pgmnemo
from runner.verify.evidence import Evidence

HASH = "hash"  # the embedder whose width is an option


@dataclass(frozen=True, slots=True)
class Again:
    """What was recalled again: the answers of the system under test, of so many questions."""

    questions: int
    rows: tuple[Retrieval, ...]


def recalled(
    evidence: Evidence, number: int, progress: Progress, environ: Mapping[str, str] = os.environ
) -> Again:
    """`number` questions of the run, asked again in its scopes.

    The whole corpus is embedded, through the cache, and ingested into an embedded database. CorpusError,
    EmbedderError, DatabaseError, RefusedError or UsageError where that cannot be.
    """
    run = evidence.run
    request = requested(run)
    check_release(evidence.sql, request.number)
    work = Work(
        request, run, _corpus(evidence, environ), _embedder(request, run), (), evidence.folder, evidence.sql,
        environ, progress, Stopwatch(),
    )  # fmt: skip
    asked = selected(run.choice, work.corpus, run.edition)
    work.asked = drawn(asked, evidence.digest(MANIFEST), number)
    work.corpus, work.asked = worded(work.corpus, work.asked, _words(run, work.asked))
    progress.say(_estimate(run, len(work.asked), len(asked)))
    _embed(work)
    place = replace(work.place(), embedded=True)
    with open_system(str(request.tested), place) as system, TemporaryDirectory() as folder:
        _demand_whole(work, system)
        return Again(len(work.asked), _asked_again(work, system, Path(folder) / RAW))


def drawn(asked: Sequence[Asked], digest: str, number: int) -> tuple[Asked, ...]:
    """So many of the questions as the manifest's SHA-256 draws: those with the least hash beside it."""

    def place(one: Asked) -> bytes:
        return sha256(f"{digest} {one.question.key}".encode()).digest()

    chosen = {one.position for one in sorted(asked, key=place)[:number]}
    return tuple(one for one in asked if one.position in chosen)


def _words(run: Run, asked: Sequence[Asked]) -> dict[str, str]:
    """What was asked in place of each text; nothing where the run had no rewriter."""
    rule = by_rule(run.rewriter) if run.rewriter else None
    return {one.question.text: rule.rewrite(one.question.text).text for one in asked} if rule else {}


def requested(run: Run) -> Request:
    """The run's own request, as far as the system under test needs it: none beside it, and no reranker."""
    choice, identity = run.choice, run.embedder
    options = EmbedderOptions(max_tokens=choice.max_tokens)
    if identity is not None:
        options = replace(
            options,
            dimensions=identity.dimensions if identity.name == HASH else None,
            batch_size=identity.batch_size,
            query_prefix=identity.query_prefix,
            document_prefix=identity.document_prefix,
        )
    return Request(
        choice.suite,
        system=choice.system,
        version=choice.version,
        set=tuple(f"{name}={value}" for name, value in choice.settings.items()),
        mode=choice.mode or None,
        granularity=choice.level,
        text=choice.text,
        passages=choice.passages,
        max_chars=choice.max_chars,
        types=choice.types,
        split=choice.split,
        limit=choice.limit,
        scopes=choice.scopes,
        embedder=choice.embedder,
        embedder_options=options,
    )


def _corpus(evidence: Evidence, environ: Mapping[str, str]) -> Corpus:
    """The corpus that was given, or the one that lies where a run looks for it; CorpusError for another."""
    run = evidence.run
    own = evidence.corpus
    if own is None:
        suite = SUITES[run.choice.suite]
        own = suite.chosen(suite.locate(None, environ), run.choice, run.edition)
    if own.sha256 != run.corpus.sha256:
        raise CorpusError(
            f"{own.path} has sha256 {own.sha256[:12]}…, the corpus of the run {run.corpus.sha256[:12]}…; "
            "name that one with --corpus"
        )
    return own


def _embedder(request: Request, run: Run) -> Embedder | None:
    """The embedder of the run; EmbedderError where the one at hand is another."""
    embedder = request.make_embedder()
    if embedder is not None and embedder.identity != run.embedder:
        raise EmbedderError(
            f"the embedder {request.embedder_name} that is here is not the run's: {embedder.identity}, and "
            f"run.json has {run.embedder}"
        )
    return embedder


def _estimate(run: Run, number: int, of: int) -> str:
    """How long it takes, by the times of the run itself."""
    spent = run.resources
    said = f"rerun: {number:,} of {of:,} questions"
    if spent is None:
        return f"{said}; the run does not say how long it took"
    seconds = spent.load_seconds + spent.ingest_seconds + spent.recall_seconds * number / max(1, of)
    vectors = lasting(spent.embed_seconds)
    return (
        f"{said}, about {lasting(seconds)} by the times of the run, and the start of a database; what the "
        f"cache lacks of its vectors is embedded first (the run took {vectors} for the "
        f"{spent.vectors_embedded:,} that it lacked)"
    )


def _embed(work: Work) -> None:
    if work.embedder is not None:
        cache = default_cache_dir(work.environ)
        passages, jobs = work.request.takes_passages, work.request.jobs
        work.vectors = embed_corpus(
            work.corpus, work.embedder, cache, work.progress, passages=passages, jobs=jobs
        )


def _demand_whole(work: Work, system: System) -> None:
    """RefusedError where this checkout's scripts are not those of the release."""
    embedded = isinstance(system, Pgmnemo) and system.database.facts.origin == "embedded"
    if embedded and (wrong := changed(work.sql, work.request.number)):
        raise RefusedError(wrong)


def _asked_again(work: Work, system: System, raw: Path) -> tuple[Retrieval, ...]:
    """The answers as a raw file holds them, rounded as it does."""
    run = work.run
    material = Material(
        work.corpus, work.vectors, work.asked, CorpusLessons(work.corpus, work.vectors, work.label)
    )
    system.load(material.lessons, work.progress)
    judge = Judge(run.system, material.lessons, components_of(system))
    ranker = Ranker(run.system, system, judge, kept=Kept.ALL, jobs=work.request.jobs)
    with RawWriter(raw) as writer:
        retrieve(writer, material, ranker, run.scopes, run.edition.retrieval.depth, work.progress)
    return tuple(read_raw(raw))
