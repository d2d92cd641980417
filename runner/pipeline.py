"""The straight line: load, open, gate, embed, ingest, recall, score, gate, write.

Stages do not know one another; this file names them in order.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import runner
from runner.artefacts import (
    RAW,
    TIMINGS,
    RunFolder,
    code,
    folder_name,
    latencies,
    metrics_document,
    pin_plan,
    read_raw,
    read_timings,
    results_base,
    write_blocked,
    write_file,
    write_metrics,
    write_run,
)
from runner.database import Database, database_errors, open_database
from runner.database.releases import SQL_FOLDER, release_fingerprint
from runner.embedders import default_cache_dir, embed_corpus
from runner.errors import EmbedderError, GateError, UsageError
from runner.gates import RunFacts, check_after, check_before
from runner.metrics import METRIC_VERSION, metrics_for, score
from runner.progress import QUIET, Progress
from runner.protocol.history import append_entry, can_append, entry_text
from runner.records import GateResult, Json, Retrieval, Status
from runner.report import render
from runner.request import Request
from runner.results import Progressed
from runner.retrieve import measure, retrieve
from runner.stopwatch import Stopwatch
from runner.systems import Asked, Inputs, build_systems, open_tenant

ROOT = Path(runner.__file__).resolve().parents[1]
WRITTEN = ("raw_retrievals.jsonl", "timings.jsonl", "run.json", "metrics.json", "report.md", "manifest.json")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run: its folder, and the two documents that its report is made from."""

    folder: Path
    metrics: Json
    run: Json


def run(request: Request, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET) -> Outcome:
    """Make the run that is asked for, and write its artefacts.

    Raises GateError when a gate fails, after BLOCKED.md is written; UsageError, CorpusError, DatabaseError,
    EmbedderError or OutputError when the run cannot be made at all.
    """
    _demand_hash_seed(request, environ)
    so_far = _load(request, environ)
    base = results_base(request.suite, request.output, ROOT)
    with open_database(request.number, dsn=request.dsn, environ=environ, progress=progress) as database:
        _look_at(database, so_far)
        so_far.gates = check_before(_facts(so_far, base, environ))
        _refuse(so_far, base)
        with _folder(so_far, base, progress) as folder:
            _embed(so_far, environ, progress)
            _pin(so_far, folder)
            _recall(so_far, database, folder, progress)
            return _finish(so_far, folder, base, environ)


def dry_run(
    request: Request, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET
) -> tuple[GateResult, ...]:
    """Every gate that can be checked before the run, against the real data and database; leaves no trace."""
    _demand_hash_seed(request, environ)
    so_far = _load(request, environ)
    base = results_base(request.suite, request.output, ROOT)
    with open_database(
        request.number, dsn=request.dsn, environ=environ, progress=progress, check_only=True
    ) as database:
        _look_at(database, so_far)
        results = check_before(_facts(so_far, base, environ))
    return tuple(_with_model(result, request) for result in results)


def _demand_hash_seed(request: Request, environ: Mapping[str, str]) -> None:
    seed = str(request.protocol.seed)
    if environ.get("PYTHONHASHSEED") != seed or os.environ.get("PYTHONHASHSEED") != seed:
        raise UsageError(
            f"the protocol demands PYTHONHASHSEED={seed} from the start of Python: run `python -m runner`, "
            f"which sees to it, or start this program with PYTHONHASHSEED={seed}"
        )


def _load(request: Request, environ: Mapping[str, str]) -> Progressed:
    watch, started = Stopwatch(), datetime.now(UTC)
    with watch.stage("load"):
        path = request.suite_parts.locate(request.data, environ)
        corpus = request.suite_parts.load(path, request.level)
    return Progressed(request, corpus, code(ROOT), started, watch, asked=len(request.selected(corpus)))


def _look_at(database: Database, so_far: Progressed) -> None:
    """What the database says of itself, and whether its extension is of this family."""
    so_far.database = database.facts
    so_far.fingerprint = release_fingerprint(SQL_FOLDER, so_far.request.number)
    if database.exists:
        with database.admin() as connection:
            row = connection.execute("SELECT to_regproc('pgmnemo._setting_catalogue') IS NOT NULL").fetchone()
            so_far.ours = bool(row and row[0])


def _facts(so_far: Progressed, base: Path, environ: Mapping[str, str]) -> RunFacts:
    request, history = so_far.request, _history(base)
    return RunFacts(
        protocol=request.protocol,
        corpus=so_far.corpus,
        requested_version=request.version,
        embedder=request.embedder_name,
        hash_seed=environ.get("PYTHONHASHSEED"),
        seed=request.protocol.seed,
        allow_unregistered=request.allow_unregistered_corpus,
        identity=so_far.identity,
        database=so_far.database,
        fingerprint=so_far.fingerprint,
        ours=so_far.ours,
        settings=so_far.settings,
        defaults=so_far.defaults,
        cutoffs=request.cutoffs,
        limit=request.limit,
        types=request.types,
        departures=request.departures(),
        commit=so_far.code.commit,
        dirty=so_far.code.dirty,
        asked=so_far.asked,
        history=history.name,
        history_ready=can_append(history) or not history.parent.exists(),
    )


def _history(base: Path) -> Path:
    """The repository's HISTORY.md for results inside the repository, else one beside the results."""
    return (ROOT if base.is_relative_to(ROOT / "benchmarks") else base) / "HISTORY.md"


def _refuse(so_far: Progressed, base: Path) -> None:
    """Write BLOCKED.md and raise, if a gate failed before anything was run."""
    if any(gate.status is Status.FAILED for gate in so_far.gates):
        with RunFolder.start(base, _name(so_far)) as folder:
            _block(so_far, folder)


def _block(so_far: Progressed, folder: RunFolder) -> None:
    write_blocked(folder.path, so_far.header(folder.name))
    place = folder.finish()
    failed = [gate for gate in so_far.gates if gate.status is Status.FAILED]
    words = "; ".join(f"{gate.gate}: found {gate.found}" for gate in failed)
    raise GateError(f"blocked by {words}. {place / 'BLOCKED.md'} says how to resolve it")


def _name(so_far: Progressed) -> str:
    request = so_far.request
    return folder_name(request.version, so_far.started, request.embedder_name, request.labels())


@contextmanager
def _folder(so_far: Progressed, base: Path, progress: Progress) -> Iterator[RunFolder]:
    """The partial folder of this run, or of the one that goes on; says how to go on when interrupted."""
    resume = so_far.request.resume
    with RunFolder.resume(resume) if resume else RunFolder.start(base, _name(so_far)) as folder:
        try:
            yield folder
        except BaseException:
            if (folder.path / RAW).exists():
                progress.say(f"what is done stands in {folder.path}; go on with --resume {folder.path}")
            raise


def _embed(so_far: Progressed, environ: Mapping[str, str], progress: Progress) -> None:
    request = so_far.request
    with so_far.watch.stage("embed"):
        embedder = request.make_embedder()
        if embedder is not None:
            cache = request.cache or default_cache_dir(environ)
            so_far.vectors = embed_corpus(so_far.corpus, embedder, cache, progress)
            so_far.identity = embedder.identity


def _pin(so_far: Progressed, folder: RunFolder) -> None:
    request = so_far.request
    plan = {
        "suite": request.suite,
        "version": request.number,
        "protocol": request.protocol.version,
        "seed": request.protocol.seed,
        "corpus": so_far.corpus.sha256,
        "granularity": request.level,
        "embedder": repr(so_far.identity),
        "mode": request.recall_mode,
        "limit": request.limit,
        "types": request.types,
    }
    started = pin_plan(folder.path, plan, so_far.started.isoformat())
    so_far.started = datetime.fromisoformat(started)


def _recall(so_far: Progressed, database: Database, folder: RunFolder, progress: Progress) -> None:
    request, protocol, corpus = so_far.request, so_far.request.protocol, so_far.corpus
    inputs = Inputs(corpus, so_far.vectors, protocol.depth, protocol.seed)
    settings = {name: str(value) for name, value in protocol.settings.items()}
    asked = [Asked(position, question) for position, question in request.selected(corpus)]
    with (
        database_errors(f"the database {database.facts.database}"),
        open_tenant(database, inputs, settings, protocol.width) as tenant,
    ):
        with so_far.watch.stage("ingest"):
            tenant.ingest(progress)
        so_far.settings, so_far.defaults = tenant.state(), tenant.defaults()
        so_far.systems = build_systems(tenant, request.recall_mode)
        with so_far.watch.stage("recall"):
            retrieve(folder.path, corpus, asked, so_far.systems, progress)
        measure(folder.path, corpus, asked, so_far.systems[0], protocol.timed_k)


def _finish(so_far: Progressed, folder: RunFolder, base: Path, environ: Mapping[str, str]) -> Outcome:
    request = so_far.request
    with so_far.watch.stage("score"):
        rows = list(read_raw(folder.path / RAW))
        scores = score(
            rows,
            views=request.suite_parts.views,
            clustered=so_far.corpus.clustered,
            cutoffs=request.cutoffs,
        )
    facts = replace(_facts(so_far, base, environ), retrievals=_counts(rows), artefacts=_artefacts(folder))
    so_far.gates = check_after(so_far.gates, facts)
    if any(gate.status is Status.FAILED for gate in so_far.gates):
        _block(so_far, folder)
    latency = latencies(list(read_timings(folder.path / TIMINGS)), request.protocol.timed_k)
    header = write_run(folder.path, so_far.header(folder.name, latency))
    metrics = metrics_document(
        header,
        scores.results,
        scores.differences,
        metric_code=METRIC_VERSION,
        definitions={name: metric.definition for name, metric in metrics_for(request.cutoffs).items()},
        intervals=scores.methods,
    )
    write_metrics(folder.path, metrics)
    write_file(folder.path / "report.md", render(metrics, header))
    place = folder.finish()
    _log(so_far, place, base)
    return Outcome(place, metrics, header)


def _counts(rows: Sequence[Retrieval]) -> dict[tuple[str, str], int]:
    return dict(Counter((row.arm, row.scope) for row in rows))


def _artefacts(folder: RunFolder) -> dict[str, bool]:
    """What stands in the folder, and what the next lines are about to write there."""
    standing = {path.name: True for path in folder.path.iterdir()}
    return {**standing, **dict.fromkeys(WRITTEN, True)}


def _log(so_far: Progressed, place: Path, base: Path) -> None:
    """The run's entry in HISTORY.md, which holds the manifest's hash."""
    header = so_far.header(place.name)
    results = place.relative_to(ROOT) if place.is_relative_to(ROOT) else Path(place.name)
    digest = sha256((place / "manifest.json").read_bytes()).hexdigest()
    day = so_far.started.date()
    entry = entry_text(
        day, so_far.request.suite, results.as_posix(), header.verdict, digest, header.deviations
    )
    append_entry(_history(base), entry)


def _with_model(result: GateResult, request: Request) -> GateResult:
    """The embedder gate of a dry run also asks whether the model is there."""
    if result.gate != "embedder":
        return result
    try:
        embedder = request.make_embedder()
        if embedder is not None:
            assert embedder.identity
    except EmbedderError as error:
        return replace(result, status=Status.FAILED, found="no model", resolve=str(error))
    return result
