"""The generated corpus on disk: texts in one file, vectors in a memory map, read in the order of arrival.

Three tenants: WHOLE holds every memory of `--memories`, SHARE one in `--tenants` as many, FIXED always
FIXED_SIZE. Their rows arrive interleaved as evenly as their sizes allow, the worst case for the locality of
the small ones. After them come SPARE rows that nobody loads: what is written while others read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.perf.source import Source
from runner.records import Matrix
from runner.systems import Lesson, Lessons, Query

FIXED_SIZE = 1_000
SPARE = 6_000
PASSAGES = 2  # in each lesson


class Tenant(IntEnum):
    """Whose a memory is, and whose memories a question searches."""

    WHOLE = 0
    SHARE = 1
    FIXED = 2


class Loaded(Lessons):
    """The rows that are loaded, as lessons; `passages`: each comes with its two."""

    def __init__(self, workload: Workload, passages: bool) -> None:
        self._workload, self.passages = workload, passages

    def __len__(self) -> int:
        return self._workload.count

    @property
    def width(self) -> int:
        return self._workload.width

    @property
    def projects(self) -> list[str]:
        return list(map(name_of, Tenant))

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        return self._workload.lesson(position, self.passages)


def name_of(tenant: Tenant) -> str:
    """The tenant's name in the results, and as a project."""
    return tenant.name.lower()


def sizes(memories: int, tenants: int) -> dict[Tenant, int]:
    """Memories of each tenant."""
    return {Tenant.WHOLE: memories, Tenant.SHARE: max(1, memories // tenants), Tenant.FIXED: FIXED_SIZE}


def interleaved(counts: Sequence[int]) -> NDArray[np.int8]:
    """The tenant of each row in the order of arrival: every tenant's rows as evenly spread as can be."""
    places = np.concatenate([(np.arange(count) + 0.5) / count for count in counts])
    owners = np.repeat(np.arange(len(counts), dtype=np.int8), counts)
    return owners[np.argsort(places, kind="stable")]


@dataclass(frozen=True)
class Workload:
    """The corpus in `folder`. `count` rows are loaded; `count + SPARE` stand there.

    `vectors` has a row a lesson, `passage_vectors` PASSAGES rows a lesson: float32 unit rows. `digest` says
    which texts and tenants it holds, whatever the machine.
    """

    folder: Path
    source: Source
    tenants: NDArray[np.int8]
    starts: NDArray[np.int64]
    cuts: NDArray[np.int32]
    vectors: Matrix
    passage_vectors: Matrix
    questions: tuple[Query, ...]
    digest: str

    @property
    def count(self) -> int:
        """Rows that are loaded."""
        return len(self.tenants) - SPARE

    @property
    def width(self) -> int:
        """Dimensions of every vector."""
        return int(self.vectors.shape[1])

    def size(self, tenant: Tenant) -> int:
        """Loaded rows of `tenant`."""
        return int(np.count_nonzero(self.tenants[: self.count] == tenant))

    def lesson(self, number: int, passages: bool = False) -> Lesson:
        """The row `number`, from 0 in the order of arrival; with its `passages` where they are wanted."""
        text = bytes(self._text[self.starts[number] : self.starts[number + 1]]).decode()
        cut = int(self.cuts[number])
        return Lesson(
            number=number,
            project=name_of(Tenant(int(self.tenants[number]))),
            external_id=str(number),
            text=text,
            vector=self.vectors[number],
            passages=(text[:cut], text[cut:]) if passages else (),
            passage_vectors=self.passage_vectors[PASSAGES * number : PASSAGES * (number + 1)]
            if passages
            else None,
        )

    def spare(self, passages: bool = False) -> Iterator[Lesson]:
        """Rows that are not loaded, in order."""
        return (self.lesson(number, passages) for number in range(self.count, len(self.tenants)))

    def rows(self, tenant: Tenant | None) -> NDArray[np.intp]:
        """Numbers of the loaded rows of `tenant`; None: of all."""
        owners = self.tenants[: self.count]
        return np.arange(len(owners)) if tenant is None else np.flatnonzero(owners == tenant)

    @cached_property
    def _text(self) -> Any:
        return np.asarray(np.memmap(self.folder / "texts", dtype=np.uint8, mode="r"))
