"""The vectors of a corpus: its segments, questions and passages; each distinct text is embedded once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions
from pgmnemo.embedders.embedding import (
    DOCUMENT,
    QUERY,
    EmbeddedText,
    Group,
    embed,
    rehearse_embedding,
    text_key,
)
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Passage
from runner.protocol.editions import Edition, current
from runner.records import Corpus, CorpusVectors

if TYPE_CHECKING:
    from pgmnemo.records import Matrix


@dataclass(frozen=True, slots=True)
class DistinctTexts:
    """The texts of one kind: their keys in order, and each distinct text at its first occurrence."""

    keys: Sequence[bytes]
    distinct: Group

    @classmethod
    def of(cls, kind: str, noun: str, texts: Iterable[tuple[str, Callable[[], str]]]) -> DistinctTexts:
        """Return the distinct texts of pairs of a text and a function that reads the text again."""
        keys: list[bytes] = []
        first: dict[bytes, EmbeddedText] = {}
        for ordinal, (text, read) in enumerate(texts, start=1):
            keys.append(key := text_key(kind, text))
            if key not in first:
                first[key] = EmbeddedText(kind, key, len(text), read, f"{noun} {ordinal} of the corpus")
        return cls(keys, list(first.values()))


def make_embedder(
    name: str, options: EmbedderOptions | None = None, edition: Edition | None = None
) -> Embedder:
    """Return the embedder with this name, its model not loaded yet.

    Unset options are as the edition pins them.
    """
    pins, given = (edition or current()).embedding, options or EmbedderOptions()
    return EMBEDDERS[name](replace(given, usual_tokens=pins.max_tokens, usual_batch=pins.batch_size))


def embed_corpus(
    corpus: Corpus,
    embedder: Embedder,
    cache_dir: Path | None,
    progress: Progress = QUIET,
    *,
    passages: bool = False,
    jobs: int = 1,
) -> CorpusVectors:
    """Return the vectors of all segments and questions, and of all passages if `passages`.

    Rows are float32 unit vectors at native width. Vectors are read from and kept in the files of `cache_dir`
    (None: no cache), with at most `jobs` calls at once. Raises EmbedderError for an answer that is no unit
    vector.
    """
    segments, questions, pieces = _texts(corpus, passages)
    groups = [texts.distinct for texts in (segments, questions, pieces)]
    vectors, cached = embed(groups, embedder, cache_dir, progress, jobs=jobs)
    identity = embedder.identity

    def rows(keys: Sequence[bytes]) -> Matrix:
        matrix = np.empty((len(keys), identity.dimensions), dtype=np.float32)
        for place, key in enumerate(keys):
            matrix[place] = vectors[key]
        return matrix

    return CorpusVectors(
        identity=identity,
        segments=rows(segments.keys),
        questions=rows(questions.keys),
        cached=cached,
        embedded=len(vectors) - cached,
        passages=rows([text.key for text in pieces.distinct]) if passages else None,
        places={text.key: place for place, text in enumerate(pieces.distinct)},
    )


def estimate_embedding(
    corpus: Corpus,
    embedder: Embedder,
    cache_dir: Path | None,
    progress: Progress = QUIET,
    *,
    passages: bool = False,
) -> None:
    """Print what `embed_corpus` would have to do and how long it would take; download and store nothing.

    Raises EmbedderError for a model that is not available, OutputError if the vectors do not fit on the disk.
    """
    groups = [texts.distinct for texts in _texts(corpus, passages)]
    rehearse_embedding(groups, embedder, cache_dir, progress)


def rows_of(vectors: CorpusVectors, passages: Sequence[Passage]) -> Matrix | None:
    """Return the vectors of some passages, in their order; None without passages or without their vectors."""
    if vectors.passages is None or not passages:
        return None
    return vectors.passages[[vectors.places[text_key(DOCUMENT, one.embedded)] for one in passages]]


def _texts(corpus: Corpus, passages: bool) -> tuple[DistinctTexts, DistinctTexts, DistinctTexts]:
    """Return the distinct texts of segments, questions and passages; the last is empty unless `passages`."""
    segments, questions = corpus.segments, corpus.questions

    def whole(place: int) -> str:
        return segments[place].text

    def piece(place: int, part: int) -> str:
        return segments[place].passages[part].embedded

    return (
        DistinctTexts.of(
            DOCUMENT, "segment", ((one.text, partial(whole, at)) for at, one in enumerate(segments))
        ),
        DistinctTexts.of(QUERY, "question", ((one.text, partial(str, one.text)) for one in questions)),
        DistinctTexts.of(DOCUMENT, "passage", (
            (one.embedded, partial(piece, at, part))
            for at, segment in enumerate(segments if passages else ())
            for part, one in enumerate(segment.passages)
        )),
    )  # fmt: skip
