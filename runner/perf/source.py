"""What the corpus is made of: passages and questions of a suite, and their embeddings.

A passage is WINDOW consecutive lines ("Speaker: text") of one session; windows overlap, so that a small suite
gives many. A line is cut after LINE_WORDS words: an assistant's page-long answer is no memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from runner.embedders import EMBEDDERS, EmbedderOptions, default_cache_dir, embed_corpus
from runner.errors import CorpusError
from runner.progress import QUIET, Progress
from runner.records import Corpus, Matrix, Question, Segment
from runner.suites import SUITES

WINDOW = 2
LINE_WORDS = 60
MOST_PASSAGES = 6_000
NATIVE_HASH = 384  # the width of the embedder `hash`, which tests use


@dataclass(frozen=True, slots=True)
class Source:
    """Passages and questions with unit vectors (rows, float32, the embedder's width).

    `sha256` is of the suite's file; `embedder` names model and revision.
    """

    suite: str
    sha256: str
    embedder: str
    passages: tuple[str, ...]
    questions: tuple[str, ...]
    passage_vectors: Matrix
    question_vectors: Matrix


def read_source(
    suite: str, data: Path | None, embedder: str, *, seed: int, questions: int, cache: Path | None,
    environ: Mapping[str, str] = os.environ, progress: Progress = QUIET,
) -> Source:  # fmt: skip
    """Passages and questions of `suite`, at most MOST_PASSAGES and `questions`, chosen by the seed.

    Raises UsageError for an unknown suite or embedder, CorpusError and EmbedderError as their stages do.
    """
    parts = SUITES[suite]
    model = EMBEDDERS[embedder](EmbedderOptions(dimensions=NATIVE_HASH if embedder == "hash" else None))
    corpus = parts.load(parts.locate(data, environ))
    chance = np.random.default_rng([seed, 2])
    passages = _some(sorted(set(_passages(corpus))), MOST_PASSAGES, chance)
    asked = _some(sorted({question.text for question in corpus.questions}), questions, chance)
    if len(passages) < 2 or not asked:
        raise CorpusError(f"{corpus.path} holds too little text to make memories of; name another corpus")
    made = Corpus(
        suite, corpus.path, corpus.sha256, "passage",
        tuple(Segment("perf", str(number), text) for number, text in enumerate(passages)),
        tuple(Question(str(number), "perf", text, "any") for number, text in enumerate(asked)),
        (),
    )  # fmt: skip
    vectors = embed_corpus(made, model, cache or default_cache_dir(environ), progress)
    identity = f"{model.identity.model} {model.identity.revision}"
    return Source(suite, corpus.sha256, identity, passages, asked, vectors.segments, vectors.questions)


def _passages(corpus: Corpus) -> Iterator[str]:
    for segment in corpus.segments:
        lines = [line for line in segment.text.splitlines() if line.strip() and not line.startswith("[")]
        short = [" ".join(line.split()[:LINE_WORDS]) for line in lines]
        for start in range(max(1, len(short) - WINDOW + 1)):
            if window := short[start : start + WINDOW]:
                yield "\n".join(window)


def _some(texts: list[str], most: int, chance: np.random.Generator) -> tuple[str, ...]:
    """At most `most` of the texts, in a random order."""
    return tuple(texts[place] for place in chance.permutation(len(texts))[:most])
