"""Split a corpus between two tenants at random and measure a recall that spans both.

    python benchmarks/client/span.py SUITE [--share 0.3] [--questions 400]

Prints the MRR at 10 of session-level questions with: one tenant that has all lessons, the first tenant alone,
and the span with its hits merged by score (what the client does), by fit, and by turns. The seed is 42.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from statistics import fmean
from tempfile import TemporaryDirectory

from pgmnemo import Hit, Item, Memory, Scope
from pgmnemo.client.scope_calls import merge_hits
from runner.protocol.datasets import SUITES
from runner.records import Question, Segment

K = 10


def reciprocal_rank(hits: Sequence[Hit], question: Question) -> float:
    """Return 1 over the rank of the first hit that answers a question, 0 if none of the first ten does."""
    ranks = (rank for rank, hit in enumerate(hits[:K], 1) if hit.key in question.gold)
    return 1 / next(ranks, float("inf"))


def store(scope: Scope, segments: Sequence[Segment]) -> None:
    scope.add_many([Item(one.text, key=one.id, at=one.occurred_at) for one in segments])


def fill(memory: Memory, segments: Sequence[Segment], share: float, chance: random.Random) -> None:
    """Store each project whole, and split: `share` of it with the team."""
    projects = defaultdict(list)
    for segment in segments:
        projects[segment.project].append(segment)
    for name, whole in projects.items():
        team = [segment for segment in whole if chance.random() < share]
        store(memory.tenant("whole").project(name), whole)
        store(memory.tenant("team").project(name), team)
        store(memory.tenant("own").project(name), [one for one in whole if one not in team])


def measure(memory: Memory, questions: Sequence[Question]) -> dict[str, float]:
    """Return the mean reciprocal rank of each way to answer."""
    ranks = defaultdict(list)
    for question in questions:
        whole, own, team = (
            memory.tenant(name).project(question.project).recall(question.text, k=K)
            for name in ("whole", "own", "team")
        )
        ways = {
            "undivided": whole,
            "own tenant alone": own,
            "span, by score": merge_hits([own, team], K),
            "span, by fit": sorted((*own, *team), key=lambda hit: -(hit.fit or 0)),
            "span, by turns": [hit for both in zip_longest(own, team) for hit in both if hit],
        }
        for way, hits in ways.items():
            ranks[way].append(reciprocal_rank(hits, question))
    return {way: fmean(found) for way, found in ranks.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--share", type=float, default=0.3, help="part of the lessons that the team has")
    parser.add_argument("--questions", type=int, default=400)
    given = parser.parse_args()
    suite, chance = SUITES[given.suite], random.Random(42)
    corpus = suite.load(suite.locate(None, os.environ))
    scored = [question for question in corpus.questions if question.gold]
    questions = chance.sample(scored, min(given.questions, len(scored)))
    with TemporaryDirectory() as folder, Memory.open(folder, embedder="minilm-int8") as memory:
        os.chmod(folder, 0o755)
        fill(memory, corpus.segments, given.share, chance)
        found = measure(memory, questions)
    print(f"{given.suite}, n = {len(questions)}, {given.share:.0%} with the team")
    for way, value in found.items():
        print(f"{way:18} {value:.3f}")


if __name__ == "__main__":
    main()
