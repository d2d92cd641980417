"""What simulated feedback does to recall on LoCoMo: given by half of the questions, measured on the rest.

    python -m benchmarks.feedback [--seed N] [--embedder NAME] [--k K]

Each conversation is a project, each session a lesson. The questions of each conversation are split in two by
the seed. A simulated user reads the first K hits of each question of one half: a session that the corpus
names as evidence is `used`, a first hit that it does not name is `wrong`. The table has MRR and the share of
questions with evidence in the first hit, with 95 % intervals over conversations: before and after, on the
half that gave feedback and on the other half. No person gave this feedback: a real user errs.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.chats.measure import open_memory
from pgmnemo import Item, Memory, Scope
from pgmnemo.postgres.releases import default_version
from runner.markdown import table
from runner.protocol.datasets import SUITES
from runner.protocol.statistics.single import mean_interval
from runner.records import Corpus, Question

DEPTH = 50


def stored(memory: Memory, corpus: Corpus) -> Scope:
    """Store every session under its id, in the project of its conversation."""
    memory.grant("locomo")
    scope = memory.tenant("locomo")
    for project in dict.fromkeys(one.project for one in corpus.segments):
        items = [
            Item(one.text, one.id, at=one.occurred_at, passages=[part.text for part in one.passages] or None)
            for one in corpus.segments
            if one.project == project
        ]
        scope.project(project).add_many(items)
    return scope


def halves(questions: Sequence[Question], seed: int) -> tuple[list[Question], list[Question]]:
    """Return the questions that give feedback and those that measure it, half of each conversation."""
    drawn = random.Random(seed).sample(questions, len(questions))
    by_project = sorted(drawn, key=lambda one: one.project)  # stable: the draw's order in each conversation
    return by_project[::2], by_project[1::2]


def give_feedback(scope: Scope, questions: Iterable[Question], k: int) -> Counter[str]:
    """Give feedback on the first `k` hits of each question, and return the number of each verdict."""
    given: Counter[str] = Counter()
    for question in questions:
        here = scope.project(question.project)
        for rank, hit in enumerate(here.recall(question.text, k=k, as_of=question.as_of)):
            if hit.key in question.gold:
                here.used(hit.key)
                given["used"] += 1
            elif rank == 0:
                here.wrong(hit.key)
                given["wrong"] += 1
    return given


def figures(scope: Scope, questions: Sequence[Question]) -> tuple[str, str]:
    """Return MRR and the share of first hits with evidence, each with its interval."""
    rows = []
    for question in questions:
        hits = scope.project(question.project).recall(question.text, k=DEPTH, as_of=question.as_of)
        rank = next((rank for rank, hit in enumerate(hits, 1) if hit.key in question.gold), 0)
        rows.append([1 / rank if rank else 0.0, float(rank == 1)])
    found = mean_interval(np.array(rows, float), [one.project for one in questions])
    mrr, first = (f"{found.value[n]:.3f} [{found.low[n]:.3f}, {found.high[n]:.3f}]" for n in range(2))
    return mrr, first


def main() -> None:
    """Print the table."""
    given = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--embedder", default="minilm-int8")
    given.add_argument("--k", type=int, default=5, help="hits that the simulated user reads")
    options = given.parse_args()
    corpus = SUITES["locomo"].load(SUITES["locomo"].locate(None, os.environ), "session")
    teachers, judges = halves([one for one in corpus.questions if one.gold], options.seed)
    version = default_version()
    with open_memory(version, options.embedder, {}) as memory:
        scope = stored(memory, corpus)
        parts = (("gave feedback", teachers), ("other half", judges))
        before = [figures(scope, part) for _, part in parts]
        counted = give_feedback(scope, teachers, options.k)
        after = [figures(scope, part) for _, part in parts]
        held = Counter(lesson.importance for lesson in scope.list())
    rows = [
        (name, f"{len(part):,}", when, *told)
        for (name, part), *told_of in zip(parts, before, after, strict=True)
        for when, told in zip(("before", "after"), told_of, strict=True)
    ]
    print(f"pgmnemo {version}, locomo session, {options.embedder}, seed {options.seed}, SIMULATED feedback")
    levels = ", ".join(f"{number:,} of {level}" for level, number in sorted(held.items()))
    print(f"{counted['used']:,} used, {counted['wrong']:,} wrong; importance: {levels}\n")
    print(table(("half", "n", "feedback", "MRR", "first hit"), rows, "lrlrr"))


if __name__ == "__main__":
    main()
