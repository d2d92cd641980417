"""Every question in the words of a rewriter, before anything is embedded or asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from runner.bench.material import Asked
from runner.bench.work import Work
from runner.errors import ModelError, UsageError
from runner.models.at_once import at_once
from runner.models.failures import Failures
from runner.records import Corpus
from runner.rewriters import Rewriter, Rewritten
from runner.runs.rewrites import REWRITES, Rewrite, asked_sha256, read_rewrites, write_rewrites


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a question could not be rewritten."""

    reason: str


def rewrite(work: Work, folder: Path) -> None:
    """Put the rewriter's words in the place of each question that is asked, and say so in the run's folder.

    A run that goes on asks what it asked before; UsageError where the rewriter gives other words now.
    ModelError where it fails on more questions than may.
    """
    if work.rewriter is None:
        return
    texts = [one.question.text for one in work.asked]
    path = folder / REWRITES
    before = {line.question: line for line in read_rewrites(path)} if path.exists() else {}
    with work.watch.stage("embed"), closing(work.rewriter):
        kept = {one.question.text for one in work.asked if _stands(before, one)}
        made = _made(work, work.rewriter, Counter(text for text in texts if text not in kept))
    lines = list(_lines(work.asked, made))
    if before:
        _demand_same(lines, before)
    else:
        write_rewrites(path, lines)
    words = {text: one.text for text, one in made.items() if isinstance(one, Rewritten)}
    work.corpus, work.asked = worded(work.corpus, work.asked, words)


def _stands(before: Mapping[str, Rewrite], one: Asked) -> bool:
    """Whether the run that goes on asked a question as it stands, since it could not be rewritten."""
    return one.question.key in before and bool(before[one.question.key].failed)


def _made(work: Work, rewriter: Rewriter, texts: Counter[str]) -> dict[str, Rewritten | Failed]:
    """What becomes of each text, which so many questions have; ModelError where more fail than may."""

    def one(text: str) -> Rewritten | Failed:
        try:
            return rewriter.rewrite(text)
        except ModelError as error:
            return Failed(str(error))

    name, most = rewriter.identity.name, work.request.rewrite_options.rewrite_failures
    failures = Failures(f"the rewriter {name}", "--rewrite-failures", most)
    rewriter.load(list(texts), work.progress)
    made: dict[str, Rewritten | Failed] = {}
    answered = at_once(work.request.jobs, one, texts)
    for text, found in work.progress.track(answered, f"rewriting with {name}", len(texts)):
        made[text] = found
        if isinstance(found, Failed):
            _count(failures, found.reason, texts[text])
    return made


def _count(failures: Failures, reason: str, times: int) -> None:
    try:
        for _ in range(times):
            failures.count(reason)
    except ModelError as error:
        error.add_note("what was rewritten is kept: the same command goes on with it")
        raise


def _lines(asked: Iterable[Asked], made: Mapping[str, Rewritten | Failed]) -> Iterator[Rewrite]:
    """A line for each question; of two in the same words the second had them from the cache."""
    seen: set[str] = set()
    for one in asked:
        key, own = one.question.key, one.question.text
        found, again = made.get(own, Failed("")), own in seen
        seen.add(own)
        if isinstance(found, Failed):
            yield Rewrite(key, asked_sha256(own), changed=False, failed=found.reason)
        else:
            calls, cached = (0, found.calls + found.cached) if again else (found.calls, found.cached)
            yield Rewrite(key, asked_sha256(found.text), found.text != own, calls, cached)


def _demand_same(lines: Sequence[Rewrite], before: Mapping[str, Rewrite]) -> None:
    for line in lines:
        if before.get(line.question, line).asked_sha256 != line.asked_sha256:
            raise UsageError(
                f"--resume: the interrupted run asked {line.question} in other words than the rewriter gives "
                "now; start anew, without --resume"
            )


def worded(
    corpus: Corpus, asked: Sequence[Asked], words: Mapping[str, str]
) -> tuple[Corpus, tuple[Asked, ...]]:
    """Corpus and questions with those words in the place of a text, where there are any."""
    mine = {one.position for one in asked}
    questions = tuple(
        replace(one, text=words.get(one.text, one.text)) if position in mine else one
        for position, one in enumerate(corpus.questions)
    )
    return replace(corpus, questions=questions), tuple(
        Asked(one.position, questions[one.position]) for one in asked
    )
