"""Question rewriting before recall, and candidate reranking after recall.

A reranked arm is the same system with a reranker; both arms are recorded with their costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pgmnemo.errors import ModelError
from pgmnemo.models.concurrent_calls import Failures, run_concurrently
from runner.bench.retrieve import RankedSystem, RetrievalSink, retrieve, time_recall
from runner.bench.run_state import RunState
from runner.bench.workload import IndexedQuestion, Workload
from runner.errors import ResumeFault
from runner.records import Corpus, RerankerIdentity, SearchScope
from runner.runs.record_files import RecordFile, lines_text, read_lines
from runner.runs.run import Arm
from runner.runs.storage import write_file
from runner.runs.timings import RERANKS, REWRITES, SUFFIX, Rerank, Rewrite, Timing, asked_sha256
from runner.stages.rerankers import Reranker
from runner.stages.rerankers.reranked import Reranked, rerank_system
from runner.stages.rewriters import Rewriter, Rewritten
from runner.systems.query_runner import AnswerValidator
from runner.systems.system import Query

LIMIT = 3600.0  # seconds for one question: a service has its own time limit and retries


@dataclass(frozen=True, slots=True)
class Reranking:
    """The reranker of a run and the file of its costs."""

    reranker: Reranker
    writer: RecordFile[Rerank]

    def measure(
        self,
        state: RunState,
        base: RankedSystem,
        arm: Arm,
        workload: Workload,
        raw: RetrievalSink,
        timings: RecordFile[Timing] | None,
    ) -> Arm:
        """Measure the reranked arm of a system: retrieve every question, then time some; return the arm.

        `base` is the system and `arm` its record.
        """
        name, scopes, pins = base.name + SUFFIX, state.run.baseline_scopes, state.run.edition.retrieval
        most = state.request.rerank_options.rerank_failures
        failed = ((one.question, one.scope) for one in self.writer.held if one.arm == name and one.failed)
        before = len(set(failed))  # failures that the resumed run already has
        judge, lessons = AnswerValidator(name, workload.lessons, 0), workload.lessons
        failures = Failures(f"the reranker {self.reranker.identity.name}", "--rerank-failures", most, before)
        wrapped = rerank_system(name, base.system, lessons, self.reranker, failures)
        ranker = replace(base, name=name, system=wrapped, judge=judge, limit=LIMIT)
        noting = replace(
            ranker, on_answer=lambda one, scope, query: self._note(name, wrapped, one, scope, query)
        )
        with state.watch.stage("recall"):
            retrieve(raw, workload, noting, scopes, pins.depth, state.progress)
        if timings is not None:
            fresh = rerank_system(name, base.system, lessons, self.reranker.without_cache(), failures)
            with state.watch.stage("time"):
                timed = replace(ranker, system=fresh)
                time_recall(timings, workload, timed, scopes, pins, state.progress, pins.timed_reranked)
        return self.row(state, arm)

    def row(self, state: RunState, arm: Arm) -> Arm:
        """Return the record of the reranked arm."""
        identity = self.reranker.identity
        return replace(
            arm,
            name=arm.name + SUFFIX,
            words=f"{arm.words}; the first {identity.depth:,} in the order of {describe_reranker(identity)}",
            components=(),
            load_seconds={},
            disk_bytes=None,
            memory_bytes=None,
            remarks=tuple(unaffected_cutoffs(identity, state.run.cutoffs)),
        )

    def _note(
        self, arm: str, wrapped: Reranked, one: IndexedQuestion, scope: SearchScope, query: Query
    ) -> None:
        said = wrapped.told.pop(query.number)
        key = one.question.key
        self.writer.write(Rerank(key, arm, scope.name, said.calls, said.pairs, said.cached, said.failed))


@contextmanager
def open_reranking(state: RunState, folder: Path) -> Iterator[Reranking | None]:
    """Yield the reranker of a run with its file in the run's folder; None without a reranker."""
    if state.reranker is None:
        yield None
        return
    with closing(state.reranker), RecordFile(folder / RERANKS, Rerank) as writer:
        yield Reranking(state.reranker, writer)


def describe_reranker(identity: RerankerIdentity) -> str:
    """Return the name and the model of a reranker: `endpoint (rerank-v3.5)`."""
    return f"{identity.name} ({identity.model})" if identity.model else identity.name


def unaffected_cutoffs(identity: RerankerIdentity, cutoffs: tuple[int, ...]) -> Iterator[str]:
    """Yield a sentence that names the cutoffs which this reranker cannot change.

    A cutoff k cannot change if the first k ranks contain all reranked candidates.
    """
    stuck = [k for k in cutoffs if k >= identity.depth]
    if stuck:
        which = ", ".join(f"recall at k = {k}" for k in stuck)
        yield f"{which} cannot move: {identity.depth:,} candidates are reordered, and k is no smaller"


@dataclass(frozen=True, slots=True)
class RewriteFailure:
    """The reason why a question could not be rewritten."""

    reason: str


def rewrite(state: RunState, folder: Path) -> None:
    """Replace each question's text with the rewriter's, and record the rewrites in the run's folder.

    Raises ResumeFault if a resumed run gets other texts than the interrupted run, and ModelError if the
    rewriter fails on too many questions.
    """
    if state.rewriter is None:
        return
    texts = [one.question.text for one in state.asked]
    path = folder / REWRITES
    before = {line.question: line for line in read_lines(path, Rewrite)} if path.exists() else {}
    with state.watch.stage("embed"), closing(state.rewriter):
        kept = {one.question.text for one in state.asked if _failed_before(before, one)}
        made = _rewrite_texts(state, state.rewriter, Counter(text for text in texts if text not in kept))
    lines = list(_lines(state.asked, made))
    if before:
        _check_same_words(path, lines, before)
    else:
        write_file(path, lines_text(lines))
    words = {text: one.text for text, one in made.items() if isinstance(one, Rewritten)}
    state.corpus, state.asked = with_rewritten_words(state.corpus, state.asked, words)


def _failed_before(before: Mapping[str, Rewrite], one: IndexedQuestion) -> bool:
    """Return whether the interrupted run kept the original question because rewriting it had failed."""
    return one.question.key in before and bool(before[one.question.key].failed)


def _rewrite_texts(
    state: RunState, rewriter: Rewriter, texts: Counter[str]
) -> dict[str, Rewritten | RewriteFailure]:
    """Return the rewrite of each distinct text, or its failure.

    `texts` counts the questions that have each text. Raises ModelError if more questions fail than
    allowed.
    """

    def one(text: str) -> Rewritten | RewriteFailure:
        try:
            return rewriter.rewrite(text)
        except ModelError as error:
            return RewriteFailure(str(error))

    name, most = rewriter.identity.name, state.request.rewrite_options.rewrite_failures
    failures = Failures(f"the rewriter {name}", "--rewrite-failures", most)
    rewriter.load(list(texts), state.progress)
    made: dict[str, Rewritten | RewriteFailure] = {}
    answered = run_concurrently(state.request.jobs, one, texts)
    for text, found in state.progress.track(answered, f"rewriting with {name}", len(texts)):
        made[text] = found
        if isinstance(found, RewriteFailure):
            _count(failures, found.reason, texts[text])
    return made


def _count(failures: Failures, reason: str, times: int) -> None:
    try:
        for _ in range(times):
            failures.count(reason)
    except ModelError as error:
        error.add_note("what was rewritten is kept: the same command goes on with it")
        raise


def _lines(
    asked: Iterable[IndexedQuestion], made: Mapping[str, Rewritten | RewriteFailure]
) -> Iterator[Rewrite]:
    """Yield the record of each question's rewrite; a repeated text counts as cached."""
    seen: set[str] = set()
    for one in asked:
        key, own = one.question.key, one.question.text
        found, again = made.get(own, RewriteFailure("")), own in seen
        seen.add(own)
        if isinstance(found, RewriteFailure):
            yield Rewrite(key, asked_sha256(own), changed=False, failed=found.reason)
        else:
            calls, cached = (0, found.calls + found.cached) if again else (found.calls, found.cached)
            yield Rewrite(key, asked_sha256(found.text), found.text != own, calls, cached)


def _check_same_words(path: Path, lines: Sequence[Rewrite], before: Mapping[str, Rewrite]) -> None:
    for line in lines:
        if before.get(line.question, line).asked_sha256 != line.asked_sha256:
            raise ResumeFault(path, f"has other words for {line.question} than the rewriter gives now")


def with_rewritten_words(
    corpus: Corpus, asked: Sequence[IndexedQuestion], words: Mapping[str, str]
) -> tuple[Corpus, tuple[IndexedQuestion, ...]]:
    """Return the corpus and the questions, with each text that has a rewrite in `words` replaced by it."""
    mine = {one.position for one in asked}
    questions = tuple(
        replace(one, text=words.get(one.text, one.text)) if position in mine else one
        for position, one in enumerate(corpus.questions)
    )
    return replace(corpus, questions=questions), tuple(
        IndexedQuestion(one.position, questions[one.position]) for one in asked
    )
