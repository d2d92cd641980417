"""The truth is what a plain sort says, and recall counts a tie with the k-th neighbour."""

from __future__ import annotations

import numpy as np
import pytest

from runner.perf import exact
from runner.perf.exact import Truth, nearest
from runner.perf.workload import Tenant, Workload


@pytest.mark.parametrize("tenant", [None, *Tenant], ids=lambda tenant: tenant.name if tenant else "all")
def test_the_nearest_are_those_of_a_full_sort(
    workload: Workload, tenant: Tenant | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "ROWS", 77)  # several steps
    truth = nearest(workload, 12, tenant, 10)
    rows = workload.rows(tenant)
    for place in range(12):
        cosines = np.asarray(workload.vectors[rows]) @ workload.questions[place].vector
        expected = rows[np.argsort(-cosines)[:10]]
        assert set(truth.numbers[place]) == set(expected)
        assert truth.recall(place, list(expected), workload) == 1.0


def test_recall_counts_what_is_as_near_as_the_last(workload: Workload) -> None:
    question = workload.questions[0].vector
    cosines = np.asarray(workload.vectors[:3]) @ question
    order = np.argsort(-cosines)
    truth = Truth(np.array([order[:2]]), np.array([cosines[order[:2]]], dtype=np.float32))
    assert truth.recall(0, [int(order[0]), int(order[2])], workload) == 0.5
    assert truth.recall(0, [int(order[1])], workload) == 0.5
    assert truth.recall(0, [], workload) == 0.0


def test_a_tenant_smaller_than_k_has_all_its_rows_as_neighbours(workload: Workload) -> None:
    assert nearest(workload, 1, Tenant.SHARE, 50).numbers.shape == (1, 20)
