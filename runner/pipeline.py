"""The straight line: load, open, gate, embed, ingest, recall, score, gate, write.

Stages do not know one another; this file names them in order.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from runner.artefacts import (
    PLAN,
    RAW,
    RunFolder,
    code,
    partial_folder,
    pin_plan,
    read_raw,
    results_base,
)
from runner.conclusion import Outcome, log, publish, refuse
from runner.database import Database, database_errors, open_database
from runner.database.releases import SQL_FOLDER, release_fingerprint
from runner.database.server_files import check_release
from runner.embedders import default_cache_dir, embed_corpus
from runner.errors import UsageError
from runner.gates import check_after, check_before
from runner.metrics import Scores, score
from runner.progress import QUIET, Progress
from runner.records import GateResult, Retrieval
from runner.request import Request
from runner.retrieve import retrieve, time_recall
from runner.state import ROOT, RunState
from runner.stopwatch import Stopwatch
from runner.systems import Asked, Inputs, build_systems, open_tenant

WRITTEN = ("run.json", "metrics.json", "report.md", "manifest.json")  # by `publish`, after the last gate


def run(
    request: Request,
    *,
    environ: Mapping[str, str] = os.environ,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> Outcome:
    """Make the run that is asked for, with the extension's files in `sql`, and write its artefacts.

    Raises GateError when a gate fails, after BLOCKED.md is written; UsageError, CorpusError, DatabaseError,
    EmbedderError or OutputError when the run cannot be made at all.
    """
    state = _begin(request, environ, sql)
    with open_database(
        request.number, dsn=request.dsn, environ=environ, progress=progress, sql=sql
    ) as database:
        _check(state, database, sql)
        refuse(state)
        with _folder(state) as folder:
            _embed(state, environ, progress)
            _recall(state, database, folder, progress)
            rows = list(read_raw(folder.path / RAW))
            scores = _score(state, rows)
            _check_again(state, rows, folder)
            refuse(state, folder)
            outcome = publish(state, folder, scores)
            log(state, outcome)
            return outcome


def dry_run(
    request: Request,
    *,
    environ: Mapping[str, str] = os.environ,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> tuple[GateResult, ...]:
    """Every gate that can be checked before the run, against the real data and database; leaves no trace."""
    state = _begin(request, environ, sql)
    with open_database(
        request.number, dsn=request.dsn, environ=environ, progress=progress, sql=sql, check_only=True
    ) as database:
        _check(state, database, sql)
    return state.gates


def _begin(request: Request, environ: Mapping[str, str], sql: Path) -> RunState:
    """What can be known without a database: the corpus, the embedder's identity, the code's commit."""
    watch, started = Stopwatch(), datetime.now(UTC)
    hash_seed = _hash_seed(request, environ)
    check_release(sql, request.number)
    base = results_base(request.suite, request.output, ROOT)
    if request.resume:
        partial_folder(request.resume)  # nonsense is told at once, not after minutes of loading
    embedder = request.make_embedder()
    with watch.stage("load"):
        path = request.suite_parts.locate(request.data, environ)
        corpus = request.suite_parts.load(path, request.level)
    asked = len(request.selected(corpus))
    return RunState(request, corpus, embedder, base, code(ROOT), hash_seed, started, watch, asked)


def _hash_seed(request: Request, environ: Mapping[str, str]) -> str:
    """PYTHONHASHSEED as the protocol demands it, or UsageError."""
    seed = str(request.protocol.seed)
    if environ.get("PYTHONHASHSEED") != seed or os.environ.get("PYTHONHASHSEED") != seed:
        raise UsageError(
            f"the protocol demands PYTHONHASHSEED={seed} from the start of Python: run `python -m runner`, "
            f"which sees to it, or start this program with PYTHONHASHSEED={seed}"
        )
    return seed


def _check(state: RunState, database: Database, sql: Path) -> None:
    """The gates before the run, with what the database says of itself and of its extension."""
    with state.watch.stage("check"):
        state.database = database.facts
        state.fingerprint = release_fingerprint(sql, state.request.number)
        if database.exists:
            with database_errors(f"the database {database.facts.database}"), database.admin() as connection:
                row = connection.execute(
                    "SELECT to_regproc('pgmnemo._setting_catalogue') IS NOT NULL"
                ).fetchone()
                state.ours = bool(row and row[0])
        state.gates = check_before(state.facts())


@contextmanager
def _folder(state: RunState) -> Iterator[RunFolder]:
    """The partial folder of this run, or of the one that goes on.

    It stays when the run is interrupted or has retrieved something; the error then notes how to go on.
    """
    resume = state.request.resume
    with RunFolder.resume(resume) if resume else RunFolder.start(state.base, state.name) as folder:
        started = pin_plan(folder.path, state.plan(), state.started.isoformat())
        state.started = datetime.fromisoformat(started)
        try:
            yield folder
        except BaseException as error:
            if resume or (folder.path / RAW).exists() or not isinstance(error, Exception):
                if folder.path.exists():
                    error.add_note(f"--resume {folder.path} goes on where it stopped")
            else:
                (folder.path / PLAN).unlink(missing_ok=True)
            raise


def _embed(state: RunState, environ: Mapping[str, str], progress: Progress) -> None:
    if state.embedder is None:
        return
    with state.watch.stage("embed"):
        cache = state.request.cache or default_cache_dir(environ)
        passages = state.request.engine.passages
        state.vectors = embed_corpus(state.corpus, state.embedder, cache, progress, passages=passages)


def _recall(state: RunState, database: Database, folder: RunFolder, progress: Progress) -> None:
    """Ingest the corpus into a tenant of its own; every arm answers; the first one is timed."""
    request, protocol, corpus, watch = state.request, state.request.protocol, state.corpus, state.watch
    inputs = Inputs(corpus, state.vectors, protocol.depth, protocol.seed)
    settings = {name: str(value) for name, value in protocol.settings.items()}
    asked = [Asked(position, question) for position, question in request.selected(corpus)]
    with (
        database_errors(f"the database {database.facts.database}"),
        open_tenant(database, inputs, settings, protocol.width) as tenant,
    ):
        with watch.stage("ingest"):
            tenant.ingest(progress)
        state.settings, state.defaults = tenant.state(), tenant.defaults()
        state.systems = build_systems(tenant, request.recall_mode)
        with watch.stage("recall"):
            retrieve(folder.path, corpus, asked, state.systems, progress)
        with watch.stage("time"):
            time_recall(folder.path, corpus, asked, state.systems[0], protocol.timed_k, progress)


def _score(state: RunState, rows: Sequence[Retrieval]) -> Scores:
    """Every figure, from the raw rankings alone."""
    request = state.request
    with state.watch.stage("score"):
        return score(
            rows,
            views=request.suite_parts.views,
            clustered=state.corpus.clustered,
            cutoffs=request.cutoffs,
        )


def _check_again(state: RunState, rows: Sequence[Retrieval], folder: RunFolder) -> None:
    """The gates after the run, with what was retrieved and what stands in the folder, or is about to."""
    counts = dict(Counter((row.arm, row.scope) for row in rows))
    standing = {path.name: True for path in folder.path.iterdir()}
    state.gates = check_after(state.gates, state.facts(counts, {**standing, **dict.fromkeys(WRITTEN, True)}))
