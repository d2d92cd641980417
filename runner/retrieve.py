"""The recall stage: every arm answers every question in every scope, straight into the raw file; then
the system under test is timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner.artefacts import RAW, TIMINGS, RawWriter, TimingsWriter, resume
from runner.progress import QUIET, Progress
from runner.records import Corpus, Question, Retrieval, SearchScope
from runner.systems import Answer, Asked, System, TimedSystem

TIMED = 300  # questions a scope whose recall is timed, with one client


def retrieve(
    folder: Path,
    corpus: Corpus,
    asked: Sequence[Asked],
    systems: Sequence[System],
    progress: Progress = QUIET,
) -> None:
    """Append to the raw file what it lacks, always in the order arm, scope, question.

    A run that goes on after an interruption ends with the bytes of one that was not interrupted: the lines
    of a torn file are a beginning of that order.
    """
    done = resume(folder / RAW)
    sizes = corpus.project_sizes()
    with RawWriter(folder / RAW, detailed={s.name for s in systems if s.detailed}) as writer:
        for system in systems:
            for scope in corpus.scopes:
                left = [one for one in asked if (one.question.key, system.name, scope.name) not in done]
                label = f"{system.name}, {scope.name}"
                answers = progress.track(system.answers(left, scope), label, len(left)) if left else ()
                for one, answer in zip(left, answers, strict=True):
                    size = len(corpus.segments) if scope.pooled else sizes[one.question.project]
                    writer.write(_retrieval(one.question, system, scope, size, answer))


def time_recall(
    folder: Path,
    corpus: Corpus,
    asked: Sequence[Asked],
    system: System,
    k: int,
    progress: Progress = QUIET,
) -> None:
    """Time a system that can be timed, at `k`, with questions spread evenly: TIMED a scope at most."""
    if not isinstance(system, TimedSystem):
        return
    (folder / TIMINGS).unlink(missing_ok=True)
    sample = asked[:: max(1, len(asked) // TIMED)][:TIMED]
    with TimingsWriter(folder / TIMINGS) as writer:
        for scope in corpus.scopes:
            answers = progress.track(system.timed(sample, scope, k), f"timing, {scope.name}", len(sample))
            for one, answer in zip(sample, answers, strict=True):
                line = _retrieval(one.question, system, scope, 0, answer)
                writer.write(replace(line, seconds=answer.seconds))


def _retrieval(
    question: Question, system: System, scope: SearchScope, size: int, answer: Answer
) -> Retrieval:
    return Retrieval(
        question=question.key,
        type=question.type,
        arm=system.name,
        scope=scope.name,
        project=question.project,
        size=size,
        gold=question.gold,
        ranking=answer.ranking,
    )
