"""Making the corpus: texts of two passages and rare words, vectors with noise, all from one seed, in blocks.

A passage's vector is its real embedding, turned by a fixed random orthonormal map where another width than
the embedder's is wanted (dense, no zero padding; cosines stay as they were), plus Gaussian noise of the
expected length NOISE, normalised. A lesson's vector is the normalised mean of its two passages'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runner.errors import os_errors
from runner.perf.source import Source
from runner.perf.vocabulary import Vocabulary
from runner.perf.workload import PASSAGES, SPARE, Tenant, Workload, interleaved, sizes
from runner.progress import QUIET, Progress
from runner.records import Matrix
from runner.systems import Query

BLOCK = 10_000  # lessons made at once: the seed and the block's number decide every value in it
NOISE = 0.5
RARE_WORDS = 3  # in each passage
SELDOM = 10


@dataclass(frozen=True, slots=True)
class Block:
    """Lessons made together: texts, where the second passage begins, vectors of lessons and passages."""

    texts: list[str]
    cuts: list[int]
    vectors: Matrix
    passage_vectors: Matrix


def generate(
    source: Source, folder: Path, *, memories: int, tenants: int, dimensions: int, seed: int,
    progress: Progress = QUIET,
) -> Workload:  # fmt: skip
    """Write the corpus into `folder` and open it; OutputError where the disk does not take it."""
    counts = sizes(memories, tenants)
    owners = np.concatenate([interleaved([counts[t] for t in Tenant]), _spare_owners()])
    turn = projection(source.passage_vectors.shape[1], dimensions, seed)
    passages = unit(source.passage_vectors @ turn)
    starts, cuts = np.zeros(len(owners) + 1, np.int64), np.zeros(len(owners), np.int32)
    digest = sha256(owners.tobytes())
    told = f"the corpus cannot be written to {folder} ({{why}})"
    with os_errors(f"{told}; free some space or name another folder with --scratch"):
        lessons = _map(folder / "vectors", (len(owners), dimensions))
        parts = _map(folder / "passage_vectors", (PASSAGES * len(owners), dimensions))
        with (folder / "texts").open("wb") as file:
            blocks = _blocks(len(owners), source.passages, passages, seed)
            labelled = progress.track(blocks, "blocks of the corpus", -(-len(owners) // BLOCK))
            for number, block in enumerate(labelled):
                first = number * BLOCK
                here = slice(first, first + len(block.texts))
                encoded = [text.encode() for text in block.texts]
                starts[first + 1 : here.stop + 1] = starts[first] + np.cumsum([len(text) for text in encoded])
                cuts[here] = block.cuts
                lessons[here] = block.vectors
                parts[PASSAGES * first : PASSAGES * here.stop] = block.passage_vectors
                joined = b"".join(encoded)
                digest.update(joined)
                file.write(joined)
    questions = unit(source.question_vectors @ turn)
    asked = tuple(
        Query(number, text, row, None)
        for number, (text, row) in enumerate(zip(source.questions, questions, strict=True))
    )
    return Workload(folder, source, owners, starts, cuts, lessons, parts, asked, digest.hexdigest())


def projection(native: int, wanted: int, seed: int) -> Matrix:
    """A matrix (native, wanted) with orthonormal rows; the identity where the widths agree."""
    if native == wanted:
        return np.eye(native, dtype=np.float32)
    chance = np.random.default_rng([seed, 3])
    columns, _ = np.linalg.qr(chance.standard_normal((wanted, native)))
    return np.ascontiguousarray(columns.T, dtype=np.float32)


def unit(rows: Matrix) -> Matrix:
    """Each row divided by its length."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _spare_owners() -> NDArray[np.int8]:
    """What is written later goes to the two measured tenants, seldom to the small one: it stays small."""
    owners = np.full(SPARE, Tenant.WHOLE, dtype=np.int8)
    owners[::SELDOM] = Tenant.SHARE
    return owners


def _map(path: Path, shape: tuple[int, int]) -> Matrix:
    """A matrix in a file, as a plain array: rows of a `memmap` are slow to take."""
    return np.asarray(np.memmap(path, dtype=np.float32, mode="w+", shape=shape))


def _blocks(count: int, texts: Sequence[str], vectors: Matrix, seed: int) -> Iterator[Block]:
    vocabulary = Vocabulary(seed)
    split = [text.split(" ") for text in texts]
    for number, start in enumerate(range(0, count, BLOCK)):
        chance = np.random.default_rng([seed, 4, number])
        yield _block(min(BLOCK, count - start), split, vectors, vocabulary, chance)


def _block(
    size: int, split: list[list[str]], vectors: Matrix, vocabulary: Vocabulary, chance: np.random.Generator
) -> Block:
    pairs = chance.integers(0, len(split), (size, PASSAGES))
    ranks = vocabulary.draw(chance, (size * PASSAGES, RARE_WORDS))
    places = chance.random((size * PASSAGES, RARE_WORDS))
    noise = chance.standard_normal((size * PASSAGES, vectors.shape[1]), dtype=np.float32)
    parts = unit(vectors[pairs.ravel()] + noise * np.float32(NOISE / np.sqrt(vectors.shape[1])))
    lessons = unit(parts.reshape(size, PASSAGES, -1).mean(axis=1))
    texts, cuts = [], []
    passages = [
        _with_words(split[passage], [vocabulary.words[rank] for rank in row], where)
        for passage, row, where in zip(pairs.ravel(), ranks, places, strict=True)
    ]
    for first, second in zip(passages[::2], passages[1::2], strict=True):
        texts.append(f"{first}\n{second}")
        cuts.append(len(first) + 1)
    return Block(texts, cuts, lessons, parts)


def _with_words(words: list[str], rare: list[str], where: Matrix) -> str:
    """The passage with each rare word put before a randomly chosen word of it."""
    mixed = list(words)
    for word, place in zip(rare, where, strict=True):
        mixed.insert(int(place * len(words)), word)
    return " ".join(mixed)
