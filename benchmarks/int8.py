"""How near `minilm-int8` is to the float model `minilm`, and how quick each is here.

    python benchmarks/int8.py [locomo locomo:turn realtalk …] [--timed N]

A word is a suite, or a suite and what a lesson of it is. Prints, for each:

    cosine        of the two vectors of a text, lessons and questions: mean and least
    ten nearest   of a question among all lessons of the corpus: the share that both embedders find, with a
                  95 % interval over questions, widened where they share a conversation
    texts/CPU s   lessons a second of one processor, in batches of the runner's size, float then int8
    ms            a question alone by the clock, median, float then int8

Vectors are taken from the user's cache, or put there. What is timed is embedded anew, by both in turn after a
batch that warms them up: N lessons and as many questions, drawn evenly.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from floor import shares
from numpy.typing import NDArray

from pgmnemo.embedders import BATCH, default_cache_dir
from pgmnemo.records import Matrix
from runner.markdown import table
from runner.protocol.datasets import SUITES
from runner.protocol.templates.embedding import embed_corpus, make_embedder
from runner.records import Corpus

Seconds = NDArray[np.float64]
NAMES, NEAREST = ("minilm", "minilm-int8"), 10
HEAD = ("corpus", "lessons", "questions", "cosine", "least", "ten nearest", "texts/CPU s", "ms")


def nearest(questions: Matrix, lessons: Matrix) -> list[set[int]]:
    """Return the ten lessons of the highest cosine, for each question."""
    return [set(np.argpartition(-(lessons @ question), NEAREST)[:NEAREST].tolist()) for question in questions]


def drawn(texts: Iterable[str], count: int) -> list[str]:
    """At most `count` of the distinct texts, at even distances, shortest first."""
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    return [
        distinct[place] for place in np.linspace(0, len(distinct) - 1, min(count, len(distinct)), dtype=int)
    ]


def taken(
    clock: Callable[[], float],
    calls: Sequence[Callable[[Sequence[str]], Matrix]],
    batches: Sequence[Sequence[str]],
) -> Seconds:
    """Return seconds of each batch (rows) with each call (columns), in turn, so that other work meets both
    alike.
    """
    seconds = np.empty((len(batches), len(calls)))
    for place in np.ndindex(seconds.shape):
        began = clock()
        calls[place[1]](batches[place[0]])
        seconds[place] = clock() - began
    return seconds


def row_of(corpus: Corpus, timed: int) -> tuple[str, ...]:
    """Return the figures of one corpus."""
    embedders = [make_embedder(name) for name in NAMES]
    theirs, ours = (embed_corpus(corpus, one, default_cache_dir(os.environ)) for one in embedders)
    pairs = (theirs.segments, ours.segments), (theirs.questions, ours.questions)
    cosines = np.concatenate([np.einsum("ij,ij->i", *pair) for pair in pairs])
    found = zip(
        nearest(theirs.questions, theirs.segments), nearest(ours.questions, ours.segments), strict=True
    )
    clusters = [one.project for one in corpus.questions] if corpus.clustered else None
    [both] = shares([[len(there & here) / NEAREST] for there, here in found], clusters)
    lessons, questions = (
        drawn((one.text for one in of), timed) for of in (corpus.segments, corpus.questions)
    )
    batches = [lessons[start : start + BATCH] for start in range(0, len(lessons), BATCH)]
    documents, asked = (
        [getattr(one, name) for one in embedders] for name in ("embed_documents", "embed_queries")
    )
    taken(time.process_time, documents, batches[-1:])  # to warm up
    rates = len(lessons) / taken(time.process_time, documents, batches).sum(axis=0)
    waits = 1000 * np.median(taken(time.perf_counter, asked, [[one] for one in questions]), axis=0)
    times = ("{:.0f} / {:.0f}".format(*rates), "{:.1f} / {:.1f}".format(*waits))
    sizes = (f"{len(corpus.segments):,}", f"{len(corpus.questions):,}")
    name = f"{corpus.suite} {corpus.granularity}"
    return (name, *sizes, f"{cosines.mean():.4f}", f"{cosines.min():.4f}", both, *times)


def main() -> None:
    """Print one table."""
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("corpora", nargs="*", default=["locomo", "locomo:turn", "realtalk", "beam"])
    given.add_argument("--timed", type=int, default=400, metavar="N")
    options = given.parse_args()
    rows = []
    for word in options.corpora:
        suite, _, level = word.partition(":")
        path = SUITES[suite].locate(None, os.environ)
        rows.append(row_of(SUITES[suite].load(path, level or None), options.timed))
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
