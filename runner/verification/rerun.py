"""The rerun of a run's questions with its corpus, embedder, systems and reranker, in separate databases."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pgmnemo.embedders import Embedder, EmbedderOptions, default_cache_dir, unit_rows
from pgmnemo.errors import EmbedderError, PgmnemoError
from pgmnemo.postgres.releases import changed_script
from pgmnemo.postgres.server_files import check_release
from pgmnemo.progress import Progress, format_duration
from pgmnemo.records import Matrix
from runner.bench.measurement import measure_baselines, measure_under_test
from runner.bench.request import Request, selected
from runner.bench.run_state import RunState, Stopwatch
from runner.bench.stages import open_reranking, with_rewritten_words
from runner.bench.workload import CorpusLessons, IndexedQuestion, Workload
from runner.errors import CorpusError, SystemAbsent
from runner.protocol.templates.embedding import embed_corpus
from runner.records import Corpus, Retrieval
from runner.runs.comparability import postgres_major
from runner.runs.config import OURS
from runner.runs.manifest import MANIFEST
from runner.runs.raw import KeptFields, Key
from runner.runs.run import Arm, Run
from runner.runs.timings import SUFFIX
from runner.stages.rerankers import CHARACTERS, RERANKERS, Reranker, RerankOptions
from runner.stages.rewriters import rule_rewriter
from runner.systems import base_of, missing_parts, open_system, spec_of
from runner.systems.pgmnemo import Pgmnemo
from runner.verification.context import RunContext

AS_CHOSEN = (
    "system", "version", "baseline_scopes", "template", "passages", "max_chars", "types", "split", "limit",
    "scopes", "embedder",
)  # fmt: skip  # fields with the same name in a request and in the recorded configuration
HASH = "hash"  # the embedder that has an option for its width
START = 3.0  # seconds to open a system, including its own database
LONG = 60.0  # a system with more seconds of loading is named in the estimate
TIMES = 16  # queries for each question with moved vectors
MOVED = 2e-5  # change of their cosines: slightly above the 1.4e-5 between honest machines


@dataclass(frozen=True, slots=True)
class RerunRows:
    """The answers of every available arm to the questions that were recalled again.

    Scores and components are complete for every rank. `left` maps each arm that was not asked to the reason,
    `versions` each arm to its version here; `postgres` is the major version under pgmnemo.
    """

    questions: int
    rows: tuple[Retrieval, ...]
    left: Mapping[str, str]
    versions: Mapping[str, str]
    postgres: str
    work: RunState

    def moved(self, keys: Collection[Key]) -> dict[Key, list[Retrieval]]:
        """Return other answers that honest machines may give, by asking each question with moved vectors.

        Each question is asked TIMES times. A vector is moved so far that its cosines change by about MOVED.
        The arms are loaded again. The result is empty for a run without vectors.
        """
        vectors = self.work.vectors
        if vectors is None:
            return {}
        names, corpus = {arm for _, arm, _ in keys}, self.work.corpus
        wanted = {question for question, _, _ in keys}
        asked = [one for one in self.work.asked if one.question.key in wanted for _ in range(TIMES)]
        copies = tuple(
            IndexedQuestion(
                len(corpus.questions) + place, replace(one.question, key=f"{one.question.key} {place}")
            )
            for place, one in enumerate(asked)
        )
        known = vectors.questions[[one.position for one in asked]]
        again = replace(
            self.work,
            reranker=reranker_of(self.work.run, {}, self.work.progress),  # the first one was closed
            corpus=replace(corpus, questions=(*corpus.questions, *(one.question for one in copies))),
            asked=copies,
            vectors=replace(
                vectors, questions=np.vstack([vectors.questions, _beside(known, self.work.run.seed)])
            ),
        )
        own = {copy.question.key: one.question.key for copy, one in zip(copies, asked, strict=True)}
        every = product(own, (arm.name for arm in again.run.arms), (scope.name for scope in again.run.scopes))
        others = {one for one in every if (own[one[0]], *one[1:]) not in keys}
        found: dict[Key, list[Retrieval]] = {}
        for row in _answers(again, names, others):
            found.setdefault((own[row.question], row.arm, row.scope), []).append(row)
        return found


def _beside(rows: Matrix, seed: int) -> Matrix:
    """Return unit rows near the given rows, each moved in a direction that the seed decides."""
    drawn = unit_rows(np.random.default_rng(seed).standard_normal(rows.shape, dtype=np.float32))
    return unit_rows(rows + MOVED * rows.shape[1] ** 0.5 * drawn)


@dataclass(slots=True)
class RowCollector:
    """A sink that keeps complete rows in memory; keys in `done` are not asked."""

    rows: list[Retrieval] = field(default_factory=list)
    done: set[Key] = field(default_factory=set)

    def write(self, retrieval: Retrieval, *, kept: KeptFields) -> None:
        self.rows.append(retrieval)

    def forget(self, arm: str) -> None:
        self.rows = [row for row in self.rows if row.arm != arm]


def rerun_questions(
    context: RunContext, number: int, progress: Progress, environ: Mapping[str, str] = os.environ
) -> RerunRows:
    """Recall `number` questions of the run again in its scopes, with the code of a run.

    The whole corpus is embedded, through the cache, and loaded into a separate database for each system.
    Raises PgmnemoError if the system under test cannot be opened here; another system is then in `left`.
    """
    run = context.run
    left = dict(missing_systems(context, environ))
    if why := left.get(run.system):
        raise SystemAbsent(f"{run.system} is {why}")
    request = original_request(run, left)
    reranker = reranker_of(run, left, progress)
    state = RunState(
        request, run, _corpus(context), embedder_of(request, run), (), context.folder, context.sql,
        environ, progress, Stopwatch(), reranker=reranker, embedded=True,
    )  # fmt: skip
    asked = selected(run.choice, state.corpus, run.edition)
    state.asked = draw_questions(asked, context.digest(MANIFEST), number)
    state.corpus, state.asked = with_rewritten_words(state.corpus, state.asked, _words(run, state.asked))
    names = {arm.name for arm in run.arms if not (arm.failed or {arm.name, _base(arm.name)} & set(left))}
    progress.say(_estimate(run, names, len(state.asked), len(asked)))
    _embed(state)
    rows = _answers(state, names)
    left |= {arm.name: arm.failed for arm in state.run.arms if arm.failed}
    return RerunRows(
        len(state.asked), tuple(rows), left, {arm.name: arm.version for arm in state.run.arms},
        postgres_major(state.run), replace(state, run=run),
    )  # fmt: skip


def _base(arm: str) -> str:
    """Return the name of the arm that a reranked arm reorders."""
    return arm.removesuffix(SUFFIX)


def _answers(state: RunState, names: Collection[str], done: Collection[Key] = ()) -> list[Retrieval]:
    """Return the rows of the named arms, except those with keys in `done`; other arms' rows may be included.

    Failures are recorded in the run.
    """
    lessons = CorpusLessons(state.corpus, state.vectors, state.label)
    material, answers = (
        Workload(state.corpus, state.vectors, state.asked, lessons),
        RowCollector(done=set(done)),
    )
    wanted, others = {_base(name) for name in names}, [one.name for one in answering_baselines(state.run)]
    others = [name for name in others if name in wanted]
    state.update(arms=(), database=None)
    with TemporaryDirectory() as folder, open_reranking(state, Path(folder)) as reranks:
        if wanted - set(others):
            with open_system(str(state.request.tested), state.system_context()) as system:
                if isinstance(system, Pgmnemo):
                    state.update(database=system.database.facts)
                measure_under_test(state, system, material, answers, None, reranks)
        measure_baselines(state, others, material, answers, None, reranks)
    return answers.rows


def draw_questions(asked: Sequence[IndexedQuestion], digest: str, number: int) -> tuple[IndexedQuestion, ...]:
    """Return `number` questions, drawn by the hash of the manifest's SHA-256 and the question's key."""

    def place(one: IndexedQuestion) -> bytes:
        return sha256(f"{digest} {one.question.key}".encode()).digest()

    chosen = {one.position for one in sorted(asked, key=place)[:number]}
    return tuple(one for one in asked if one.position in chosen)


def _words(run: Run, asked: Sequence[IndexedQuestion]) -> dict[str, str]:
    """Return the rewrite of each question, by the question's text; empty if the run had no rewriter."""
    rule = rule_rewriter(run.rewriter) if run.rewriter else None
    return {one.question.text: rule.rewrite(one.question.text).text for one in asked} if rule else {}


def _corpus(context: RunContext) -> Corpus:
    """Return the corpus of the run; raise CorpusError if it is not available."""
    if context.corpus is None:
        raise CorpusError(context.lacking)
    return context.corpus


def _estimate(run: Run, names: Collection[str], number: int, of: int) -> str:
    """Return the expected duration, from the run's own times; systems that take minutes to load are named."""
    spent = run.resources
    said = f"rerun: {number:,} of {of:,} questions"
    if spent is None:
        return f"{said}; the run does not say how long it took"
    loading = {
        arm.name: sum(arm.load_seconds.values()) for arm in answering_baselines(run) if arm.name in names
    }
    waits = sum(
        one.p50_ms / 1000 * number for one in run.latency if one.arm in names and one.arm != run.system
    )
    seconds = spent.load_seconds + spent.ingest_seconds + spent.recall_seconds * number / max(1, of)
    seconds += sum(loading.values()) + waits + START * (1 + len(loading))
    long = "".join(
        f", {format_duration(one)} of it to load {name}" for name, one in loading.items() if one > LONG
    )
    return (
        f"{said}, about {format_duration(seconds)} by the times of the run{long}; what the cache lacks of "
        f"its vectors is embedded first (the run took {format_duration(spent.embed_seconds)} for the "
        f"{spent.vectors_embedded:,} that it lacked)"
    )


def _embed(state: RunState) -> None:
    if state.embedder is not None:
        cache = default_cache_dir(state.environ)
        passages, jobs = state.request.takes_passages, state.request.jobs
        state.vectors = embed_corpus(
            state.corpus, state.embedder, cache, state.progress, passages=passages, jobs=jobs
        )


def answering_baselines(run: Run) -> list[Arm]:
    """Return the baselines that answered, without reranked arms."""
    return [one for one in run.systems[1:] if not (one.failed or one.name.endswith(SUFFIX))]


def missing_systems(context: RunContext, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the systems of the run that cannot be opened here, each with the reason."""
    for arm in (context.run.arms[0], *answering_baselines(context.run)):
        if why := _missing(arm.name, context, environ):
            yield arm.name, why


def _missing(name: str, context: RunContext, environ: Mapping[str, str]) -> str:
    try:
        kind, own = spec_of(name), base_of(name)
        if kind.address is not None:
            kind.address(None)
        if own.system != OURS:
            return missing_parts(kind, environ)
        version = own.version or context.run.choice.version
        check_release(context.sql, version)
        return changed_script(context.sql, version) or ""
    except PgmnemoError as error:
        return str(error)


def reranker_of(run: Run, left: dict[str, str], progress: Progress) -> Reranker | None:
    """Return the run's reranker, loaded; None if it had none, or if it is not available here.

    In the second case the reason is added to `left` for the reranked arms.
    """
    identity = run.reranker
    if identity is None:
        return None
    options = RerankOptions(rerank_depth=identity.depth, rerank_chars=identity.characters or CHARACTERS)
    try:
        made = RERANKERS[identity.name](options)
        made.load(progress)
        if replace(made.identity, note=identity.note) == identity:
            return made
        why = f"the reranker {identity.name} that is here is not the run's"
    except PgmnemoError as error:
        why = str(error)
    left |= {arm.name: why for arm in run.systems if arm.name.endswith(SUFFIX)}
    return None


def original_request(run: Run, left: Collection[str] = ()) -> Request:
    """Return the request of the run, without the baselines in `left`."""
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
    same = {name: getattr(choice, name) for name in AS_CHOSEN}
    return Request(
        choice.suite,
        **same,
        baselines=tuple(name for name in choice.baselines if name not in left),
        rerank=choice.rerank or None,
        set=tuple(f"{name}={value}" for name, value in choice.settings.items()),
        mode=choice.mode or None,
        granularity=choice.level,
        embedder_options=options,
    )


def embedder_of(request: Request, run: Run) -> Embedder | None:
    """Return the embedder of the run; raise EmbedderError if the embedder here differs."""
    embedder = request.make_embedder()
    if embedder is not None and embedder.identity != run.embedder:
        raise EmbedderError(
            f"the embedder {request.embedder_name} that is here is not the run's: {embedder.identity}, and "
            f"run.json has {run.embedder}"
        )
    return embedder
