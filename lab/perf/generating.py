"""The generation of the corpus from a suite: texts with rare words, and noisy vectors, from one seed.

A passage is WINDOW consecutive lines ("Speaker: text") of one session; windows overlap, so that a small suite
gives many passages. A line is cut after LINE_WORDS words, because an assistant's page-long answer is no
memory. The vector of a passage is its real embedding, mapped by a fixed random orthonormal matrix if another
width than the embedder's is requested (dense, no zero padding; cosines stay equal), plus Gaussian noise of
the expected length NOISE, normalised. A lesson's vector is the normalised mean of its two passages' vectors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.perf.request import NATIVE, PerfRequest
from lab.perf.workload import PASSAGES, SPARE, PassageSource, PerfWorkload, TenantSize, interleaved
from pgmnemo.embedders import EmbedderOptions, default_cache_dir
from pgmnemo.errors import os_errors
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.templates.embedding import embed_corpus, make_embedder
from runner.records import Corpus, Question, Segment
from runner.systems import Query

WINDOW = 2
LINE_WORDS = 60
MOST_PASSAGES = 6_000
BLOCK = 10_000  # lessons per block; the seed and the block's number decide every value in it
NOISE = 0.5
RARE_WORDS = 3  # rare words in each passage
SELDOM = 10
WORDS = 200_000
OFFSET = 10.0
ONSETS = (*"bdfgklmnprstvz", "br", "dr", "kr", "pl", "st", "tr")
VOWELS = "aeiou"


def read_source(
    request: PerfRequest, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET
) -> PassageSource:
    """Return passages and questions of a suite with their vectors, chosen by the seed.

    There are at most MOST_PASSAGES passages, and at most as many questions as requested. Raises UsageError
    for an unknown suite or embedder, CorpusError and EmbedderError as their stages do.
    """
    parts, width = SUITES[request.corpus], NATIVE if request.embedder == "hash" else None
    model = make_embedder(request.embedder, EmbedderOptions(dimensions=width))
    corpus = parts.load(parts.locate(request.data, environ))
    chance = np.random.default_rng([request.seed, 2])
    passages = _some(sorted(set(_passages(corpus))), MOST_PASSAGES, chance)
    asked = _some(sorted({question.text for question in corpus.questions}), request.questions, chance)
    if len(passages) < 2 or not asked:
        raise CorpusError(f"{corpus.path} holds too little text to make memories of; name another corpus")
    made = Corpus(
        request.corpus, corpus.path, corpus.sha256, "passage",
        tuple(Segment("perf", str(number), text) for number, text in enumerate(passages)),
        tuple(Question(str(number), "perf", text, "any") for number, text in enumerate(asked)),
        (),
    )  # fmt: skip
    vectors = embed_corpus(made, model, request.cache or default_cache_dir(environ), progress)
    identity = f"{model.identity.model} {model.identity.revision}"
    return PassageSource(
        request.corpus, corpus.sha256, identity, passages, asked, vectors.segments, vectors.questions
    )


def _passages(corpus: Corpus) -> Iterator[str]:
    for segment in corpus.segments:
        lines = [line for line in segment.text.splitlines() if line.strip() and not line.startswith("[")]
        short = [" ".join(line.split()[:LINE_WORDS]) for line in lines]
        for start in range(max(1, len(short) - WINDOW + 1)):
            if window := short[start : start + WINDOW]:
                yield "\n".join(window)


def _some(texts: list[str], most: int, chance: np.random.Generator) -> tuple[str, ...]:
    """Return at most `most` of the texts, in a random order."""
    return tuple(texts[place] for place in chance.permutation(len(texts))[:most])


def generate(
    source: PassageSource, folder: Path, request: PerfRequest, progress: Progress = QUIET
) -> PerfWorkload:
    """Write the corpus into `folder` and open it; raise OutputError if the disk is too small."""
    counts, width = request.sizes(), request.dimensions
    later = np.full(SPARE, TenantSize.WHOLE, dtype=np.int32)
    later[::SELDOM] = TenantSize.SHARE  # few go to SHARE, so that it stays small
    owners = np.concatenate([interleaved(list(counts.values())), later])
    turn = projection(source.passage_vectors.shape[1], width, request.seed)
    starts, cuts = np.zeros(len(owners) + 1, np.int64), np.zeros(len(owners), np.int32)
    digest = sha256(owners.tobytes())
    told = f"the corpus cannot be written to {folder} ({{why}})"
    with os_errors(f"{told}; free some space or name another folder with --scratch"):
        lessons = _map(folder / "vectors", (len(owners), width))
        parts = _map(folder / "passage_vectors", (PASSAGES * len(owners), width))
        with (folder / "texts").open("wb") as file:
            blocks = _blocks(len(owners), source.passages, unit(source.passage_vectors @ turn), request.seed)
            tracked = progress.track(blocks, "blocks of the corpus", -(-len(owners) // BLOCK))
            for first, (pairs, vectors) in zip(range(0, len(owners), BLOCK), tracked, strict=True):
                here = slice(first, first + len(pairs))
                texts = ["\n".join(pair).encode() for pair in pairs]
                starts[first + 1 : here.stop + 1] = starts[first] + np.cumsum([len(text) for text in texts])
                cuts[here] = [len(pair[0]) + 1 for pair in pairs]
                parts[PASSAGES * first : PASSAGES * here.stop] = vectors
                lessons[here] = unit(vectors.reshape(len(pairs), PASSAGES, -1).mean(axis=1))
                digest.update(joined := b"".join(texts))
                file.write(joined)
    questions = unit(source.question_vectors @ turn)
    asked = tuple(
        Query(number, text, row, None)
        for number, (text, row) in enumerate(zip(source.questions, questions, strict=True))
    )
    return PerfWorkload(folder, source, owners, starts, cuts, lessons, parts, asked, digest.hexdigest())


def projection(native: int, wanted: int, seed: int) -> Matrix:
    """Return a matrix (native, wanted) with orthonormal rows; the identity if the widths are equal."""
    if native == wanted:
        return np.eye(native, dtype=np.float32)
    chance = np.random.default_rng([seed, 3])
    columns, _ = np.linalg.qr(chance.standard_normal((wanted, native)))
    return np.ascontiguousarray(columns.T, dtype=np.float32)


def unit(rows: Matrix) -> Matrix:
    """Return each row divided by its length."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _map(path: Path, shape: tuple[int, int]) -> Matrix:
    """Return a matrix in a file, as a plain array, because rows of a `memmap` are slow to read."""
    return np.asarray(np.memmap(path, dtype=np.float32, mode="w+", shape=shape))


def _blocks(
    count: int, texts: Sequence[str], vectors: Matrix, seed: int
) -> Iterator[tuple[list[tuple[str, ...]], Matrix]]:
    """Yield, for blocks of lessons, the passages of each lesson and the vectors of all passages."""
    rare, split = Vocabulary(seed), [text.split(" ") for text in texts]
    for number, start in enumerate(range(0, count, BLOCK)):
        chance = np.random.default_rng([seed, 4, number])
        size = PASSAGES * min(BLOCK, count - start)
        drawn = chance.integers(0, len(split), (size // PASSAGES, PASSAGES)).ravel()
        ranks, places = rare.draw(chance, (size, RARE_WORDS)), chance.random((size, RARE_WORDS))
        noise = chance.standard_normal((size, vectors.shape[1]), dtype=np.float32)
        passages = [
            _with_words(split[passage], [rare.words[rank] for rank in row], where)
            for passage, row, where in zip(drawn, ranks, places, strict=True)
        ]
        found = unit(vectors[drawn] + noise * np.float32(NOISE / np.sqrt(vectors.shape[1])))
        yield list(zip(*(passages[at::PASSAGES] for at in range(PASSAGES)), strict=True)), found


def _with_words(words: list[str], rare: list[str], where: Matrix) -> str:
    """Return the passage with each rare word inserted before a random word."""
    mixed = list(words)
    for word, place in zip(rare, where, strict=True):
        mixed.insert(int(place * len(words)), word)
    return " ".join(mixed)


class Vocabulary:
    """Rare words: WORDS distinct pronounceable strings, in an order that the seed decides.

    They are drawn by Zipf-Mandelbrot, like the words of a language: the word of rank r has a share
    proportional to 1 / (r + OFFSET) (Mandelbrot 1953), so that a few are common, most occur in a handful of
    lessons, and the vocabulary grows with the corpus.
    """

    def __init__(self, seed: int) -> None:
        syllables = np.array([onset + vowel for onset, vowel in product(ONSETS, VOWELS)])
        chance = np.random.default_rng([seed, 1])
        numbers = chance.permutation(len(syllables) ** 3)[:WORDS]
        base = len(syllables)
        parts = (syllables[numbers // base**2], syllables[numbers // base % base], syllables[numbers % base])
        self.words: list[str] = ["".join(triple) + "x" for triple in zip(*parts, strict=True)]
        shares = 1.0 / (np.arange(WORDS) + OFFSET)
        self._below = np.cumsum(shares / shares.sum())

    def draw(self, chance: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.intp]:
        """Return an array of `shape` with ranks (from 0) of words, drawn independently."""
        return np.searchsorted(self._below, chance.random(shape)).clip(max=WORDS - 1)
