"""Embed each distinct text once, in fixed batches, with a cache file for each embedder's identity.

A text is known by its key and is read when it is embedded, so at most one batch of texts is in memory.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from pgmnemo.embedders import Embedder
from pgmnemo.errors import EmbedderError, OutputError, PgmnemoError
from pgmnemo.models.concurrent_calls import run_concurrently
from pgmnemo.models.runtime import first_line
from pgmnemo.models.store import Store, store_path
from pgmnemo.progress import QUIET, Progress, expected_duration
from pgmnemo.records import EmbedderIdentity, Matrix

DOCUMENT, QUERY = "document", "query"  # the kinds of texts
OVERHEAD = 100  # bytes on disk of a vector, without its numbers
LONG = 10.0  # seconds above which an estimate is reported
CHARACTERS_A_TOKEN = 4.5  # for estimates only
UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A text to embed: its kind, its key on disk, its characters, a reader for it, and its origin, such as
    `segment 3 of the corpus`.
    """

    kind: str
    key: bytes
    size: int
    read: Callable[[], str]
    where: str


Group = Sequence[EmbeddedText]  # distinct texts of one kind, cut into batches
Batch = Sequence[EmbeddedText]  # texts that go through the model together


def text_key(kind: str, text: str) -> bytes:
    """Return the SHA-256 over the kind (`document` or `query`) and the text: 32 bytes."""
    return sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).digest()


class VectorStore:
    """The file of the vectors of one embedder identity in `folder`; None stores nothing.

    A full disk raises OutputError. The identity's note is not part of the file's name, because its wording
    may change.
    """

    def __init__(self, folder: Path | None, identity: EmbedderIdentity, progress: Progress = QUIET) -> None:
        settings = {name: value for name, value in asdict(identity).items() if name != "note"}
        self.path = store_path(folder, identity.name, settings) if folder is not None else None
        self._file = Store(
            self.path, "embedding cache", progress,
            table="vectors", column="vector", size=4 * identity.dimensions,
        )  # fmt: skip
        self.close = self._file.close

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        """Return the vectors of the `keys` in the file; no vectors if any of them is damaged."""
        found = self._file.read(keys)
        return {key: np.frombuffer(found[key], dtype="<f4") for key in keys if key in found}

    def write(self, keys: Sequence[bytes], matrix: Matrix) -> None:
        """Add one vector for each key, all of them or none."""
        self._file.write(keys, [row.tobytes() for row in np.ascontiguousarray(matrix, dtype="<f4")])


def embed(
    groups: Sequence[Group],
    embedder: Embedder,
    folder: Path | None,
    progress: Progress = QUIET,
    *,
    jobs: int = 1,
) -> tuple[dict[bytes, Matrix], int]:
    """Return the vectors by key, float32 unit rows of native width, and the number of vectors from the cache.

    Each distinct text is embedded once and cached in `folder` (None: no cache), batch by batch, so that an
    interruption loses one batch at most. The other texts in a batch change the last bits of a vector; so
    batches are cut from whole groups, longest text first, independent of the cache: an interrupted run ends
    with the same bytes as an uninterrupted run, and a rerun reads them all. The model is loaded only if a
    vector is missing. A `concurrent` embedder gets `jobs` batches at once. Raise EmbedderError for a vector
    that is not a unit vector.
    """
    with VectorStore(folder, embedder.identity, progress) as store:
        vectors, missing = _cached_and_missing(_batches(groups, embedder.identity), store)
        cached = len(vectors)
        if missing:
            progress.say(f"embedding {sum(map(len, missing)):,} texts with {embedder.identity.name}")
            embedder.load(progress)
            for batch, rows in _embed_batches(missing, embedder, progress, jobs):
                keys = [text.key for text in batch]
                store.write(keys, rows)
                vectors.update(zip(keys, rows, strict=True))
    return vectors, cached


def embed_texts(texts: Mapping[str, str], embedder: Embedder) -> dict[str, Matrix]:
    """Return the unit row of each text, without a cache; `texts` maps each text to its origin, for error
    messages.
    """
    group = [
        EmbeddedText(DOCUMENT, text_key(DOCUMENT, text), len(text), partial(str, text), where)
        for text, where in texts.items()
    ]
    vectors, _ = embed([group], embedder, None)
    return {text.read(): vectors[text.key] for text in group}


def rehearse_embedding(
    groups: Sequence[Group], embedder: Embedder, folder: Path | None, progress: Progress = QUIET
) -> None:
    """Report the work of `embed` and its estimated time; nothing is downloaded or kept.

    Load the model and time one batch if any vector is missing. Raise EmbedderError for an unavailable model,
    OutputError if the vectors do not fit on the disk.
    """
    batches, kept = _batches(groups, embedder.identity), VectorStore(folder, embedder.identity).path
    with VectorStore(folder if kept and kept.exists() else None, embedder.identity, progress) as store:
        vectors, missing = _cached_and_missing(batches, store)
    texts = sum(map(len, batches))
    progress.say(f"{len(vectors):,} of {texts:,} vectors of {embedder.identity.name} are in the cache")
    if not missing:
        return
    if folder is not None:
        demand_space(folder, (texts - len(vectors)) * (4 * embedder.identity.dimensions + OVERHEAD))
    if size := embedder.to_download():
        progress.say(f"a run downloads {embedder.identity.model} first ({size / 1e9:.1f} GB)")
        return
    embedder.load(progress)
    middle = missing[len(missing) // 2]
    for _ in range(2):  # the first call warms the model up
        began = time.perf_counter()
        _call(middle, embedder)
    seconds = (time.perf_counter() - began) / _load(middle, embedder.identity)
    _estimate(seconds * sum(_load(batch, embedder.identity) for batch in missing), progress, at_least=0)


def demand_space(folder: Path, needed: int) -> None:
    """Raise OutputError if the disk of `folder`, which need not exist yet, has less than `needed`
    bytes free.
    """
    place = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if (free := shutil.disk_usage(place).free) < needed:
        raise OutputError(
            f"{place} has {free / 1e9:,.1f} GB free and {needed / 1e9:,.1f} GB are needed; free some "
            "space, or set PGMNEMO_CACHE_DIR to another disk"
        )


def _batches(groups: Sequence[Group], identity: EmbedderIdentity) -> list[Batch]:
    """Return texts of similar length together, to save padding; skip texts of an earlier group."""
    batches: list[Batch] = []
    seen: set[bytes] = set()
    for group in groups:
        new = [text for text in group if text.key not in seen]
        seen.update(text.key for text in new)
        ordered = sorted(new, key=lambda text: (-text.size, text.key))
        size = identity.batch_size
        batches += [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return batches


def _cached_and_missing(
    batches: Sequence[Batch], store: VectorStore
) -> tuple[dict[bytes, Matrix], list[Batch]]:
    """Return the cached vectors, and the missing texts of each batch."""
    vectors = store.read([text.key for batch in batches for text in batch])
    lacking = ([text for text in batch if text.key not in vectors] for batch in batches)
    return vectors, [batch for batch in lacking if batch]


def _embed_batches(
    batches: Sequence[Batch], embedder: Embedder, progress: Progress, jobs: int
) -> Iterator[tuple[Batch, Matrix]]:
    """Yield each batch with its checked vectors; after the first, report how long the rest will take."""
    jobs = jobs if getattr(embedder, "concurrent", False) else 1
    loads = [_load(batch, embedder.identity) for batch in batches]
    answered = run_concurrently(
        jobs, lambda batch: _check_unit_rows(_call(batch, embedder), batch, embedder.identity), batches
    )
    started = time.perf_counter()
    label = f"{embedder.identity.name} batches"
    for number, one in enumerate(progress.track(answered, label, len(batches))):
        if number == 0:
            _estimate((time.perf_counter() - started) / loads[0] * sum(loads[1:]) / jobs, progress)
        yield one


def _load(batch: Batch, identity: EmbedderIdentity) -> float:
    """Return the estimated work of a batch: the characters that the model reads, plus a constant for each
    text.
    """
    most = identity.max_tokens * CHARACTERS_A_TOKEN if identity.max_tokens else float("inf")
    return sum(min(text.size, most) + 10 for text in batch)


def _estimate(seconds: float, progress: Progress, at_least: float = LONG) -> None:
    if seconds >= at_least:
        progress.say(f"the embedding will take {expected_duration(seconds)}")


def _call(batch: Batch, embedder: Embedder) -> Matrix:
    ask = embedder.embed_queries if batch[0].kind == QUERY else embedder.embed_documents
    try:
        return ask([text.read() for text in batch])
    except PgmnemoError:
        raise
    except Exception as error:  # any error of a model library: out of memory, an unreadable text
        raise EmbedderError(
            f"{embedder.identity.name} failed on the batch that begins with {batch[0].where} "
            f"({type(error).__name__}: {first_line(error)}); try a smaller batch size or another device"
        ) from error


def _check_unit_rows(rows: Matrix, batch: Batch, identity: EmbedderIdentity) -> Matrix:
    """Return `rows` unchanged; raise EmbedderError that names the first text without a unit vector."""
    shape = (len(batch), identity.dimensions)
    if rows.shape != shape:
        raise EmbedderError(
            f"{identity.name} answered a matrix of {rows.shape} for {batch[0].where}, "
            f"expected {shape}; check the model's dimensions"
        )
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    for text, length in zip(batch, lengths, strict=True):
        if not abs(length - 1.0) <= UNIT_TOLERANCE:  # in this form, NaN also fails
            raise EmbedderError(
                f"{identity.name} answered no usable vector for {text.where} (its length is "
                f"{length:g}, not 1); look at that text, or take another model"
            )
    return rows
