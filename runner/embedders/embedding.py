"""A corpus to vectors: each distinct text once, in fixed batches, through the store on disk.

A text is known by its key and read again when it is embedded: no more than a batch of them is in memory here.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from runner.embedders.embedder import Embedder
from runner.embedders.store import VectorStore, file_name, text_key
from runner.errors import EmbedderError, OutputError, RunnerError
from runner.models.at_once import at_once
from runner.models.torch_runtime import first_line
from runner.progress import QUIET, Progress, expected
from runner.records import Corpus, EmbedderIdentity, Vectors

if TYPE_CHECKING:
    from runner.records import Matrix

OVERHEAD = 100  # bytes that a vector takes on disk besides its numbers
LONG = 10.0  # seconds from which an estimate is worth a line
CHARACTERS_A_TOKEN = 4.5  # for estimates only
UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Text:
    """One distinct text: its key in the store, its characters, how it is read, and where it stands, such as
    `segment 3 of the corpus`."""

    key: bytes
    size: int
    read: Callable[[], str]
    where: str


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one kind: the keys in their order, and each distinct text where it first stands."""

    keys: Sequence[bytes]
    distinct: Sequence[Text]

    @classmethod
    def of(cls, kind: str, noun: str, texts: Iterable[tuple[str, Callable[[], str]]]) -> Texts:
        """Of each text and of what reads it again."""
        keys: list[bytes] = []
        first: dict[bytes, Text] = {}
        for ordinal, (text, read) in enumerate(texts, start=1):
            keys.append(key := text_key(kind, text))
            if key not in first:
                first[key] = Text(key, len(text), read, f"{noun} {ordinal} of the corpus")
        return cls(keys, list(first.values()))


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts that go through the model together, and the call that takes them."""

    texts: tuple[Text, ...]
    embed: Callable[[Sequence[str]], Matrix]


def embed_corpus(
    corpus: Corpus,
    embedder: Embedder,
    cache_dir: Path | None,
    progress: Progress = QUIET,
    *,
    passages: bool = False,
    jobs: int = 1,
) -> Vectors:
    """Vectors of all segments and questions, and with `passages` of those: float32 unit rows, native width.

    Each distinct text is embedded once and kept under `cache_dir` (None: nowhere), batch by batch, so
    that an interruption loses one batch at most. A batch's make-up moves the last bits of a vector; so
    batches are cut from the whole corpus, longest text first, whatever the store already holds: a run
    that was interrupted ends with the very bytes of one that was not, and a rerun reads them all. The
    model is loaded only if a vector is missing. Of an embedder that says it is `concurrent`, `jobs` batches
    are asked for at once. EmbedderError for an answer that is no unit vector.
    """
    identity, (segments, questions, pieces) = embedder.identity, _texts(corpus, passages)
    batches = _batches(embedder, segments, questions, pieces)
    with VectorStore(cache_dir, identity, progress) as store:
        vectors, missing = _found(batches, store)
        cached = len(vectors)
        if missing:
            vectors.update(_embed(missing, embedder, store, progress, jobs))
    return Vectors(
        identity=identity,
        segments=_rows(segments.keys, vectors, identity),
        questions=_rows(questions.keys, vectors, identity),
        cached=cached,
        embedded=len(vectors) - cached,
        passages=_rows([text.key for text in pieces.distinct], vectors, identity) if passages else None,
        places={text.key: place for place, text in enumerate(pieces.distinct)},
    )


def rehearse(
    corpus: Corpus,
    embedder: Embedder,
    cache_dir: Path | None,
    progress: Progress = QUIET,
    *,
    passages: bool = False,
) -> None:
    """Say what `embed_corpus` would have to do and how long it would take; nothing is downloaded or kept.

    Loads the model and times one batch where anything is missing. Raises EmbedderError for a model that
    cannot be had, OutputError where the vectors do not fit on the disk.
    """
    identity = embedder.identity
    batches = _batches(embedder, *_texts(corpus, passages))
    texts = sum(len(batch.texts) for batch in batches)
    kept = cache_dir if cache_dir is not None and (cache_dir / file_name(identity)).exists() else None
    with VectorStore(kept, identity, progress) as store:
        vectors, missing = _found(batches, store)
    progress.say(f"{len(vectors):,} of {texts:,} vectors of {identity.name} are in the cache")
    if not missing:
        return
    if cache_dir is not None:
        demand_space(cache_dir, (texts - len(vectors)) * (4 * identity.dimensions + OVERHEAD))
    if size := embedder.to_download():
        progress.say(f"a run downloads {identity.model} first ({size / 1e9:.1f} GB)")
        return
    embedder.load(progress)
    middle = [missing[len(missing) // 2]]
    for _ in range(2):  # the first warms up
        began = time.perf_counter()
        _call(middle[0], identity)
    seconds = (time.perf_counter() - began) / _load(middle[0], identity)
    _estimate(seconds * sum(_load(batch, identity) for batch in missing), progress, at_least=0)


def demand_space(folder: Path, needed: int) -> None:
    """OutputError where the disk of `folder`, which need not exist yet, has not `needed` bytes free."""
    place = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if (free := shutil.disk_usage(place).free) < needed:
        raise OutputError(
            f"{place} has {free / 1e9:,.1f} GB free and {needed / 1e9:,.1f} GB are needed; free some "
            "space, or set PGMNEMO_CACHE_DIR to another disk"
        )


def _texts(corpus: Corpus, passages: bool) -> tuple[Texts, Texts, Texts]:
    """Those of segments, questions and passages; of passages none unless they are wanted."""
    segments, questions = corpus.segments, corpus.questions

    def whole(place: int) -> str:
        return segments[place].text

    def piece(place: int, part: int) -> str:
        return segments[place].passages[part].embedded

    return (
        Texts.of("document", "segment", ((one.text, partial(whole, at)) for at, one in enumerate(segments))),
        Texts.of("query", "question", ((one.text, partial(str, one.text)) for one in questions)),
        Texts.of("document", "passage", (
            (one.embedded, partial(piece, at, part))
            for at, segment in enumerate(segments if passages else ())
            for part, one in enumerate(segment.passages)
        )),
    )  # fmt: skip


def _batches(embedder: Embedder, segments: Texts, questions: Texts, pieces: Texts) -> list[Batch]:
    """Every distinct text of the corpus and of its passages, in batches."""
    size = embedder.identity.batch_size
    whole = {text.key for text in segments.distinct}
    parts = [text for text in pieces.distinct if text.key not in whole]
    return [
        *_cut(segments.distinct, size, embedder.embed_documents),
        *_cut(questions.distinct, size, embedder.embed_queries),
        *_cut(parts, size, embedder.embed_documents),
    ]


def _found(batches: Sequence[Batch], store: VectorStore) -> tuple[dict[bytes, Matrix], list[Batch]]:
    """The vectors that are kept, and what is missing of each batch."""
    vectors = store.read([text.key for batch in batches for text in batch.texts])
    return vectors, [lacking for batch in batches if (lacking := _lacking(batch, vectors)).texts]


def embed_texts(texts: Mapping[str, str], embedder: Embedder) -> dict[str, Matrix]:
    """The float32 unit row of each text, kept nowhere; `texts` says where each stands, for what goes wrong.

    EmbedderError for an answer that is no unit vector.
    """
    distinct = [
        Text(text_key("document", text), len(text), partial(str, text), where)
        for text, where in texts.items()
    ]
    rows: dict[str, Matrix] = {}
    for batch in _cut(distinct, embedder.identity.batch_size, embedder.embed_documents):
        matrix = _checked(_call(batch, embedder.identity), batch, embedder.identity)
        rows.update(zip((text.read() for text in batch.texts), matrix, strict=True))
    return rows


def _cut(texts: Sequence[Text], size: int, embed: Callable[[Sequence[str]], Matrix]) -> Iterator[Batch]:
    """Texts of like length together, so that little is spent on padding."""
    ordered = sorted(texts, key=lambda text: (-text.size, text.key))
    for start in range(0, len(ordered), size):
        yield Batch(tuple(ordered[start : start + size]), embed)


def _lacking(batch: Batch, vectors: dict[bytes, Matrix]) -> Batch:
    return Batch(tuple(text for text in batch.texts if text.key not in vectors), batch.embed)


def _embed(
    batches: list[Batch], embedder: Embedder, store: VectorStore, progress: Progress, jobs: int
) -> dict[bytes, Matrix]:
    """Load the model, embed the batches, and keep each as soon as it is there."""
    name = embedder.identity.name
    vectors: dict[bytes, Matrix] = {}
    progress.say(f"embedding {sum(len(batch.texts) for batch in batches):,} texts with {name}")
    embedder.load(progress)
    side_by_side = jobs if getattr(embedder, "concurrent", False) else 1
    for batch, rows in _embedded(batches, embedder.identity, progress, side_by_side):
        keys = [text.key for text in batch.texts]
        store.write(keys, rows)
        vectors.update(zip(keys, rows, strict=True))
    return vectors


def _embedded(
    batches: list[Batch], identity: EmbedderIdentity, progress: Progress, jobs: int
) -> Iterator[tuple[Batch, Matrix]]:
    """Each batch with its checked rows; after the first, the time that the rest will take."""
    loads = [_load(batch, identity) for batch in batches]
    answered = at_once(jobs, lambda batch: _checked(_call(batch, identity), batch, identity), batches)
    started = time.perf_counter()
    for number, one in enumerate(progress.track(answered, f"{identity.name} batches", len(batches))):
        if number == 0:
            _estimate((time.perf_counter() - started) / loads[0] * sum(loads[1:]) / jobs, progress)
        yield one


def _load(batch: Batch, identity: EmbedderIdentity) -> float:
    """How much work a batch is: characters that the model will see, plus a little for each text."""
    most = identity.max_tokens * CHARACTERS_A_TOKEN if identity.max_tokens else float("inf")
    return sum(min(text.size, most) + 10 for text in batch.texts)


def _estimate(seconds: float, progress: Progress, at_least: float = LONG) -> None:
    if seconds >= at_least:
        progress.say(f"the embedding will take {expected(seconds)}")


def _call(batch: Batch, identity: EmbedderIdentity) -> Matrix:
    try:
        return batch.embed([text.read() for text in batch.texts])
    except RunnerError:
        raise
    except Exception as error:  # whatever a model library throws: out of memory, a text it cannot read
        raise EmbedderError(
            f"{identity.name} failed on the batch that begins with {batch.texts[0].where} "
            f"({type(error).__name__}: {first_line(error)}); try a smaller batch size or another device"
        ) from error


def _checked(rows: Matrix, batch: Batch, identity: EmbedderIdentity) -> Matrix:
    """`rows` as they are; EmbedderError that names the first text whose row is no unit vector."""
    shape = (len(batch.texts), identity.dimensions)
    if rows.shape != shape:
        raise EmbedderError(
            f"{identity.name} answered a matrix of {rows.shape} for {batch.texts[0].where}, "
            f"expected {shape}; check the model's dimensions"
        )
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    for text, length in zip(batch.texts, lengths, strict=True):
        if not abs(length - 1.0) <= UNIT_TOLERANCE:  # so written, NaN fails too
            raise EmbedderError(
                f"{identity.name} answered no usable vector for {text.where} (its length is "
                f"{length:g}, not 1); look at that text, or take another model"
            )
    return rows


def _rows(keys: Sequence[bytes], vectors: dict[bytes, Matrix], identity: EmbedderIdentity) -> Matrix:
    matrix = np.empty((len(keys), identity.dimensions), dtype=np.float32)
    for place, key in enumerate(keys):
        matrix[place] = vectors[key]
    return matrix
