"""The generated corpus on disk, read in the order of arrival, and the true nearest neighbours in it.

Texts are in one file, vectors in a memory map. WHOLE holds every memory of `--memories`, SHARE one in
`--tenants` of that number, FIXED always FIXED_SIZE; `--small-tenants` tenants hold SMALL_SIZE each, one after
another. Rows arrive interleaved as evenly as the sizes allow, the worst case for the locality of a small
tenant. After them come SPARE rows that are not loaded, but written during reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmnemo.records import Matrix
from runner.systems import Lesson, Lessons, Query

FIXED_SIZE, SMALL_SIZE = 1_000, 100
SPARE = 6_000
LEAST = 100  # first questions, which every system is asked however long they take
PASSAGES = 2  # passages in each lesson
ROWS = 50_000  # rows compared at a time
TIE = 1e-6  # a neighbour this close to the k-th counts, because summation order changes the last digits


@dataclass(frozen=True, slots=True)
class PassageSource:
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


class TenantSize(IntEnum):
    """The tenant of a memory, and of a question's search; SMALL is the first of the small tenants."""

    WHOLE = 0
    SHARE = 1
    FIXED = 2
    SMALL = 3


class Loaded(Lessons):
    """The rows to load, as lessons; `passages`: each has its two passages."""

    def __init__(self, workload: PerfWorkload, passages: bool) -> None:
        self._workload, self.passages = workload, passages

    def __len__(self) -> int:
        return self._workload.count

    @property
    def width(self) -> int:
        return self._workload.width

    @property
    def projects(self) -> list[str]:
        return list(map(name_of, range(TenantSize.SMALL + self._workload.small_tenants)))

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        return self._workload.lesson(position, self.passages)


def name_of(tenant: int) -> str:
    """Return the tenant's name in the results, which is also its project."""
    more = tenant - TenantSize.SMALL
    return f"small {more}" if more > 0 else TenantSize(tenant).name.lower()


def sizes(memories: int, tenants: int, small: int = 1) -> dict[TenantSize, int]:
    """Return the memories of each tenant; SMALL counts those of all `small` tenants."""
    share = max(1, memories // tenants)
    return dict(zip(TenantSize, (memories, share, FIXED_SIZE, SMALL_SIZE * small), strict=True))


def interleaved(counts: Sequence[int]) -> NDArray[np.int32]:
    """Return the tenant of each row in the order of arrival, with every tenant's rows spread evenly.

    The rows of SMALL are divided among the small tenants in consecutive runs.
    """
    places = np.concatenate([(np.arange(count) + 0.5) / count for count in counts])
    owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)[np.argsort(places, kind="stable")]
    small = np.flatnonzero(owners == TenantSize.SMALL)
    owners[small] += np.arange(len(small), dtype=np.int32) // SMALL_SIZE
    return owners


@dataclass(frozen=True)
class PerfWorkload:
    """The corpus in `folder`. `count` rows are loaded; it has `count + SPARE` rows.

    `vectors` has one row per lesson, `passage_vectors` PASSAGES rows per lesson: float32 unit rows. `digest`
    is of texts and tenants, and equal on every machine.
    """

    folder: Path
    source: PassageSource
    tenants: NDArray[np.int32]
    starts: NDArray[np.int64]
    cuts: NDArray[np.int32]
    vectors: Matrix
    passage_vectors: Matrix
    questions: tuple[Query, ...]
    digest: str

    @property
    def count(self) -> int:
        """The number of rows to load."""
        return len(self.tenants) - SPARE

    @property
    def width(self) -> int:
        """The dimensions of every vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def small_tenants(self) -> int:
        """The number of small tenants."""
        return int(self.tenants.max()) - TenantSize.SMALL + 1

    def sample(self, count: int) -> list[str]:
        """Return the names of `count` small tenants, evenly spread; some repeat if there are fewer."""
        return [name_of(TenantSize.SMALL + place * self.small_tenants // count) for place in range(count)]

    def size(self, tenant: TenantSize) -> int:
        """Return the number of loaded rows of `tenant`."""
        return int(np.count_nonzero(self.tenants[: self.count] == tenant))

    def lesson(self, number: int, passages: bool = False) -> Lesson:
        """Return the row `number`, from 0 in the order of arrival, optionally with its `passages`."""
        text = bytes(self._text[self.starts[number] : self.starts[number + 1]]).decode()
        project, cut = name_of(int(self.tenants[number])), int(self.cuts[number])
        lesson = Lesson(number, project, str(number), text, self.vectors[number])
        if not passages:
            return lesson
        parts = self.passage_vectors[PASSAGES * number : PASSAGES * (number + 1)]
        return replace(lesson, passages=(text[:cut], text[cut:]), passage_vectors=parts)

    def spare(self, passages: bool = False) -> Iterator[Lesson]:
        """Yield the rows that are not loaded as new lessons, in order; start again after the last."""
        for number in count(self.count):
            row = self.count + (number - self.count) % SPARE
            yield replace(self.lesson(row, passages), number=number, external_id=str(number))

    def rows(self, tenant: TenantSize | None) -> NDArray[np.intp]:
        """Return the numbers of the loaded rows of `tenant`; None: of all tenants."""
        owners = self.tenants[: self.count]
        return np.arange(len(owners)) if tenant is None else np.flatnonzero(owners == tenant)

    @cached_property
    def _text(self) -> Any:
        return np.asarray(np.memmap(self.folder / "texts", dtype=np.uint8, mode="r"))


@dataclass(frozen=True)
class Truth:
    """The numbers and cosines of the k nearest rows in each question's scope, nearest first."""

    numbers: NDArray[np.int64]
    cosines: Matrix

    def recall(self, question: int, found: Sequence[int], workload: PerfWorkload) -> float:
        """Return the share of the k nearest that are in `found` (at most k used).

        Ties with the k-th count.
        """
        k = int(self.numbers.shape[1])
        if not found:
            return 0.0
        rows = np.asarray(workload.vectors[np.asarray(found[:k])])
        near = rows @ workload.questions[question].vector
        return float(np.count_nonzero(near >= self.cosines[question, -1] - TIE)) / k


def nearest(workload: PerfWorkload, questions: int, tenant: TenantSize | None, k: int) -> Truth:
    """Return the truth of the first `questions` questions over the loaded rows of `tenant` (None: all)."""
    asked = np.stack([one.vector for one in workload.questions[:questions] if one.vector is not None])
    rows = workload.rows(tenant)
    k = min(k, len(rows))
    best = np.full((len(asked), k), -2.0, dtype=np.float32)
    numbers = np.full((len(asked), k), -1, dtype=np.int64)
    for start in range(0, len(rows), ROWS):
        here = rows[start : start + ROWS]
        cosines = np.concatenate([best, asked @ np.asarray(workload.vectors[here]).T], axis=1)
        names = np.concatenate([numbers, np.broadcast_to(here, (len(asked), len(here)))], axis=1)
        places = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        best = np.take_along_axis(cosines, places, axis=1)
        numbers = np.take_along_axis(names, places, axis=1)
    order = np.argsort(-best, axis=1, kind="stable")
    return Truth(np.take_along_axis(numbers, order, axis=1), np.take_along_axis(best, order, axis=1))
