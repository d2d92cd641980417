"""The pipeline of a run: load, open, gate, rewrite, embed, ingest, recall, baselines, score, gate, write.

Stages do not import each other; this file calls them in order.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pgmnemo.embedders import default_cache_dir
from pgmnemo.errors import ModelError, OutputError, UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import changed_script, release_fingerprint
from pgmnemo.postgres.server_files import check_release
from pgmnemo.progress import QUIET, Progress
from runner.bench.finish import RunResult, append_history, raise_if_blocked, write_artefacts
from runner.bench.measurement import (
    check_kept_rows,
    count_answers,
    measure_baselines,
    measure_under_test,
    systems_without_answers,
    with_short_answer_remarks,
)
from runner.bench.request import Request, selected
from runner.bench.run_record import describe_system, new_run_record
from runner.bench.run_state import RunState, Stopwatch, former_duration
from runner.bench.stages import describe_reranker, open_reranking, rewrite, unaffected_cutoffs
from runner.bench.workload import CorpusLessons, Workload
from runner.errors import ResumeFault
from runner.paths import ROOT
from runner.protocol.gates import check_after, check_before
from runner.protocol.metrics.document import metrics_of
from runner.protocol.templates.embedding import embed_corpus, estimate_embedding
from runner.records import GateResult
from runner.runs.environment import code
from runner.runs.folder import (
    PLAN,
    RunFolder,
    interrupted,
    partial_folder,
    pin_plan,
    result_bases,
    results_base,
)
from runner.runs.history import check_log
from runner.runs.raw import RAW, RawWriter, read_raw
from runner.runs.record_files import RecordFile, drop_torn_line
from runner.runs.run import EMPTY
from runner.runs.timings import RERANKS, REWRITES, TIMINGS, Rerank, Rewrite, Timing
from runner.systems import System, missing_parts, open_system, spec_of
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.query_runner import wrap_errors

# `write_artefacts` writes them after the last gate.
WRITTEN = ("run.json", "metrics.json", "report.md", "manifest.json")


def run(
    request: Request,
    *,
    environ: Mapping[str, str] = os.environ,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> RunResult:
    """Make the run that `request` describes, and write its artefacts. `sql` holds the extension's files.

    Raises GateError when a gate fails, after BLOCKED.md is written; UsageError, CorpusError,
    DatabaseError, EmbedderError, SystemFault or OutputError when the run cannot be made at all.
    """
    work = _begin(request, environ, progress, sql)
    with ExitStack() as stack:
        system = stack.enter_context(open_system(str(request.tested), work.system_context()))
        _check(work, system)
        raise_if_blocked(work)
        _load_reranker(work)
        if former := former_duration(result_bases(work.base), work.run):
            progress.say(former)
        with _folder(work, system) as folder:
            rewrite(work, folder.path)
            _embed(work)
            with (
                RawWriter(folder.path / RAW) as raw,
                RecordFile(folder.path / TIMINGS, Timing) as timings,
                open_reranking(work, folder.path) as reranks,
            ):
                workload = Workload(
                    work.corpus,
                    work.vectors,
                    work.asked,
                    CorpusLessons(work.corpus, work.vectors, work.label),
                )
                with progress.total("all answers", count_answers(work, system)):
                    measure_under_test(work, system, workload, raw, timings, reranks)
                    stack.close()  # only one system is open on the machine at a time
                    measure_baselines(work, work.baseline_arms, workload, raw, timings, reranks)
            rows = list(read_raw(folder.path / RAW))
            depth = work.run.edition.retrieval.depth
            work.update(arms=with_short_answer_remarks(work.run.arms, rows, depth, workload.joined))
            for name in systems_without_answers(work.run.arms, rows):
                progress.say(f"{name}: {EMPTY}")
            with work.watch.stage("score"):
                metrics = metrics_of(work.run, rows)
            _check_again(work, Counter((row.arm, row.scope) for row in rows), folder)
            raise_if_blocked(work, folder)
            return append_history(work, write_artefacts(work, folder, metrics, rows))


def dry_run(
    request: Request,
    *,
    environ: Mapping[str, str] = os.environ,
    progress: Progress = QUIET,
    sql: Path = SQL_FOLDER,
) -> tuple[GateResult, ...]:
    """Check every gate that can be checked before a run, with the real corpus and database.

    Leaves nothing behind. Prints which systems, model files or disk space are missing, and how long a run
    takes as far as that can be known. Returns the results of the gates. Raises what `run` would raise if the
    run could not be made.
    """
    work = _begin(request, environ, progress, sql)
    with open_system(str(request.tested), work.system_context(rehearsal=True)) as system:
        _check(work, system)
    for name in request.baselines:
        if lacking := missing_parts(spec_of(name)):
            progress.say(f"{name} is {lacking}; its row would say so")
    if work.embedder is not None:
        cache = request.cache or default_cache_dir(environ)
        with _another_named(request):
            estimate_embedding(work.corpus, work.embedder, cache, progress, passages=request.takes_passages)
    if work.reranker is not None and (size := work.reranker.to_download()):
        progress.say(
            f"a run downloads {describe_reranker(work.reranker.identity)} first ({size / 1e9:.1f} GB)"
        )
    if former := former_duration(result_bases(work.base), work.run):
        progress.say(former)
    return work.run.gates


def _begin(request: Request, environ: Mapping[str, str], progress: Progress, sql: Path) -> RunState:
    """Return the state of a run before a database is opened: corpus, embedder identity, commit."""
    watch, started = Stopwatch(), datetime.now(UTC)
    hash_seed = _hash_seed(request, environ)
    for version in request.versions:
        check_release(sql, version)
    base = results_base(request.suite, request.output, ROOT, request.keep)
    if request.resume:
        base = partial_folder(request.resume).parent  # a wrong folder fails before minutes of loading
    elif left := interrupted(base):
        names = ", ".join(place.name for place in left)
        progress.say(f"interrupted runs stand in {base}: {names}; --resume goes on with one, or delete them")
    embedder, rewriter, reranker = request.make_embedder(), request.make_rewriter(), request.make_reranker()
    with watch.stage("load"):
        suite = request.suite_parts
        path = suite.locate(request.data, environ)
        corpus = suite.chosen(path, request.choice, request.edition)
    identity = embedder.identity if embedder else None
    record = new_run_record(request, corpus, identity, code(ROOT), hash_seed, started)
    record = replace(record, rewriter=rewriter.identity if rewriter else None)
    asked = selected(request.choice, corpus, request.edition)
    state = RunState(
        request, record, corpus, embedder, asked, base, sql, environ, progress, watch, rewriter, reranker
    )
    check_log(state.history)
    return state


def _load_reranker(state: RunState) -> None:
    """Load the reranker's model, or call its service once; warn about cutoffs that it cannot change."""
    if state.reranker is None:
        return
    with state.watch.stage("load"):
        state.reranker.load(state.progress)
    state.update(reranker=state.reranker.identity)
    for words in unaffected_cutoffs(state.reranker.identity, state.run.cutoffs):
        state.progress.say(f"warning: {words} (--rerank-depth)")


def _hash_seed(request: Request, environ: Mapping[str, str]) -> str:
    """Return the PYTHONHASHSEED that the protocol demands.

    Raises UsageError if Python runs with another seed.
    """
    seed = str(request.edition.seed)
    if environ.get("PYTHONHASHSEED") != seed or os.environ.get("PYTHONHASHSEED") != seed:
        raise UsageError(
            f"the protocol demands PYTHONHASHSEED={seed} from the start of Python: run `python -m runner`, "
            f"which sees to it, or start this program with PYTHONHASHSEED={seed}"
        )
    return seed


def _check(state: RunState, system: System) -> None:
    """Check the gates before the run, with the facts that the system under test reports."""
    with state.watch.stage("check"), wrap_errors(state.request.system):
        state.update(arms=(describe_system(state.request.system, state.request, state.sql, system),))
        if isinstance(system, Pgmnemo):
            state.fingerprint = release_fingerprint(state.sql, state.request.number)
            state.recognised = system.recognised
            if system.database.facts.origin == "embedded":  # a given server has files of its own
                state.changed = changed_script(state.sql, state.request.number)
            state.update(database=system.database.facts)
        state.record_gates(check_before(state.facts()))


@contextmanager
def _folder(state: RunState, system: System) -> Iterator[RunFolder]:
    """Yield the partial folder of this run, or of the run to resume, whose files are checked.

    If the run is interrupted or fails after a first retrieval, the folder is kept, and the error gets a
    note on how to resume, unless its files are at fault.
    """
    resume = state.request.resume
    with RunFolder.resume(resume) if resume else RunFolder.start(state.base, state.name) as folder:
        started = pin_plan(folder.path, state.plan(), state.run.started.isoformat())
        state.update(name=folder.name, started=datetime.fromisoformat(started))
        (folder.path / TIMINGS).unlink(missing_ok=True)
        _check_kept(state, system, folder.path)
        try:
            yield folder
        except ResumeFault:
            raise
        except BaseException as error:
            if resume or _retrieved(folder) or not isinstance(error, Exception):
                if folder.path.exists():
                    error.add_note(f"--resume {folder.path} goes on where it stopped")
            else:
                for name in (PLAN, REWRITES, RAW, TIMINGS, RERANKS):
                    (folder.path / name).unlink(missing_ok=True)
            raise


def _check_kept(state: RunState, system: System, folder: Path) -> None:
    """Check the files of an interrupted run; raise ResumeFault for what would end every resumption."""
    try:
        for name, kind in ((REWRITES, Rewrite), (RERANKS, Rerank)):
            if (folder / name).exists():
                RecordFile[Any](folder / name, kind).close()
        if (folder / RAW).exists():
            drop_torn_line(folder / RAW)
            check_kept_rows(state, system, read_raw(folder / RAW))
    except OutputError as error:
        raise ResumeFault(folder, f"cannot be completed: {error}") from error


def _retrieved(folder: RunFolder) -> bool:
    raw = folder.path / RAW
    return raw.exists() and raw.stat().st_size > 0


def _embed(state: RunState) -> None:
    if state.embedder is None:
        return
    with state.watch.stage("embed"), _another_named(state.request):
        cache = state.request.cache or default_cache_dir(state.environ)
        state.vectors = embed_corpus(
            state.corpus, state.embedder, cache, state.progress,
            passages=state.request.takes_passages, jobs=state.request.jobs,
        )  # fmt: skip


@contextmanager
def _another_named(request: Request) -> Iterator[None]:
    """Add the name of an embedder that works here to a ModelError, if the request names none."""
    try:
        yield
    except ModelError as error:
        if request.embedder is None and (other := request.other_embedder) != request.embedder_name:
            error.add_note(f"--embedder {other} works here, as a labelled deviation")
        raise


def _check_again(state: RunState, counts: Mapping[tuple[str, str], int], folder: RunFolder) -> None:
    """Check the gates after the run, with the counts of the raw rows and the files of the finished folder."""
    standing = {path.name: True for path in folder.path.iterdir()}
    facts = state.facts(dict(counts), {**standing, **dict.fromkeys(WRITTEN, True)})
    state.record_gates(check_after(state.run.gates, facts))
