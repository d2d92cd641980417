"""How long the reranker `linear` takes for a question on one core.

    python benchmarks/performance/linear_reranker.py

The candidates are turns of LoCoMo's conversations, drawn at random with the seed of the protocol, 100 a
question unless `--candidates` says otherwise; the corpus is found as a run finds it (LOCOMO_DATA_DIR).
Processor time is told, so that other work on the machine counts little: once for lessons that are read for
the first time, once for lessons that are known already, as in a service that has answered before.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as `python benchmarks/…` is called

from runner.bench.workload import CorpusLessons
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.stages.rerankers import Candidate, LessonIndex, Pool, Reranker, RerankOptions
from runner.stages.rerankers.linear import Linear
from runner.systems.system import Query


def main() -> None:
    """Print a line for lessons read for the first time, and one for those that are known."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--candidates", type=int, default=100)
    options.add_argument("--questions", type=int, default=500)
    asked = options.parse_args()
    pools = list(drawn(asked.candidates, asked.questions))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    reranker = Linear(RerankOptions(rerank_depth=asked.candidates))
    for what in ("read for the first time", "known already"):
        times = sorted(timed(reranker, pools))
        median, high = times[len(times) // 2], times[int(0.95 * len(times))]
        print(
            f"{asked.candidates} candidates, {len(times)} questions, lessons {what}: "
            f"p50 {1000 * median:.2f} ms, p95 {1000 * high:.2f} ms of processor time"
        )


def drawn(candidates: int, questions: int) -> Sequence[Pool]:
    """Return questions with as many turns of their own conversation, in a random order."""
    parts, generator = SUITES["locomo"], random.Random(current().seed)
    corpus = parts.load(parts.locate(None, os.environ), "turn")
    lessons = CorpusLessons(corpus, None)
    shelf = LessonIndex(lessons)
    by_project: dict[str, list[int]] = {}
    for lesson in lessons:
        by_project.setdefault(lesson.project, []).append(lesson.number)
    made = []
    for place, question in enumerate(generator.sample(corpus.questions, questions)):
        project = lessons.name(question.project)
        numbers = generator.sample(by_project[project], candidates)
        found = tuple(
            Candidate(shelf.lesson(number), rank, 1 / rank) for rank, number in enumerate(numbers, start=1)
        )
        made.append(Pool(Query(place, question.text, None, project), found, shelf))
    return made


def timed(reranker: Reranker, pools: Sequence[Pool]) -> list[float]:
    """Return seconds of processor time of each."""
    seconds = []
    for pool in pools:
        began = time.process_time()
        reranker.rerank(pool)
        seconds.append(time.process_time() - began)
    return seconds


if __name__ == "__main__":
    main()
