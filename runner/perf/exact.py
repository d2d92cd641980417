"""The true nearest neighbours, by comparing every vector: what a vector leg's recall is counted against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.perf.workload import Tenant, Workload
from runner.records import Matrix

ROWS = 50_000  # compared at once
TIE = 1e-6  # a neighbour as near as the k-th counts, whatever the order of summation made of it


@dataclass(frozen=True)
class Truth:
    """For each question the numbers and cosines of the k nearest rows that it may see, nearest first."""

    numbers: NDArray[np.int64]
    cosines: Matrix

    def recall(self, question: int, found: Sequence[int], workload: Workload) -> float:
        """Share of the k nearest that are among `found` (of at most k); ties with the k-th count."""
        k = int(self.numbers.shape[1])
        if not found:
            return 0.0
        rows = np.asarray(workload.vectors[np.asarray(found[:k])])
        near = rows @ workload.questions[question].vector
        return float(np.count_nonzero(near >= self.cosines[question, -1] - TIE)) / k


def nearest(workload: Workload, questions: int, tenant: Tenant | None, k: int) -> Truth:
    """The truth for the first `questions` questions over the loaded rows of `tenant` (None: of all)."""
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
