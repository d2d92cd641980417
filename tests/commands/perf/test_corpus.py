"""The corpus: decided by its seed, tenants interleaved, real geometry kept; its true neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import pytest

from runner.commands.perf import workload as exact
from runner.commands.perf.generating import RARE_WORDS, Vocabulary, projection
from runner.commands.perf.workload import (
    FIXED_SIZE,
    SMALL_SIZE,
    SPARE,
    Loaded,
    Source,
    Tenant,
    Truth,
    Workload,
    interleaved,
    nearest,
)  # fmt: skip
from runner.systems import Lesson


def test_the_seed_decides_every_text_and_vector(make: Callable[..., Workload], workload: Workload) -> None:
    again, other = make(), make(seed=43)
    assert again.digest == workload.digest != other.digest
    assert np.array_equal(again.vectors, workload.vectors)
    assert [one.text for one in lessons(again, range(50))] == [
        one.text for one in lessons(workload, range(50))
    ]


def lessons(workload: Workload, numbers: Iterable[int]) -> list[Lesson]:
    """With their passages."""
    return [workload.lesson(number, passages=True) for number in numbers]


def test_tenants_have_their_sizes_and_the_spare_rows_are_nobody_s_load(workload: Workload) -> None:
    assert {tenant: workload.size(tenant) for tenant in Tenant} == {
        Tenant.WHOLE: 400, Tenant.SHARE: 20, Tenant.FIXED: FIXED_SIZE, Tenant.SMALL: SMALL_SIZE,
    }  # fmt: skip
    spare = list(islice(workload.spare(), SPARE + 1))
    assert len({lesson.external_id for lesson in spare}) == SPARE + 1
    assert (spare[SPARE].text, spare[SPARE].number) == (spare[0].text, spare[0].number + SPARE)
    later = lessons(workload, range(workload.count, workload.count + 10))
    assert {lesson.project for lesson in later} == {"whole", "share"}


def test_small_tenants_have_a_hundred_rows_each_that_come_one_tenant_after_the_other(
    make: Callable[..., Workload],
) -> None:
    many = make(small_tenants=20)
    assert many.small_tenants == 20
    owners = many.tenants[: many.count]
    small = owners[owners >= Tenant.SMALL]
    assert small.tolist() == [Tenant.SMALL + number // SMALL_SIZE for number in range(20 * SMALL_SIZE)]
    assert Loaded(many, passages=False).projects[-2:] == ["small 18", "small 19"]
    assert many.lesson(int(np.flatnonzero(owners == Tenant.SMALL + 19)[0])).project == "small 19"


@pytest.mark.parametrize("counts", [(1000, 10, 100), (7, 3, 1), (5, 0, 5)])
def test_rows_of_each_tenant_arrive_evenly_spread(counts: tuple[int, ...]) -> None:
    owners = interleaved(counts)
    assert Counter(owners.tolist()) == {number: count for number, count in enumerate(counts) if count}
    for tenant, count in enumerate(counts):
        gaps = np.diff(np.flatnonzero(owners == tenant))
        assert not len(gaps) or gaps.max() <= 2 * len(owners) / count


def test_a_lesson_is_two_passages_of_the_suite_with_rare_words(workload: Workload, source: Source) -> None:
    known = {tuple(passage.split()) for passage in source.passages}
    rare = set(Vocabulary(42).words)
    for lesson in lessons(workload, range(30)):
        assert "".join(lesson.passages) == lesson.text
        for passage in lesson.passages:
            words = passage.split()
            assert len([word for word in words if word in rare]) == RARE_WORDS
            assert tuple(word for word in words if word not in rare) in known


@pytest.mark.parametrize("width", [384, 1024])
def test_vectors_are_unit_rows_and_a_lesson_is_the_mean_of_its_passages(
    make: Callable[..., Workload], width: int
) -> None:
    made = make(dimensions=width)
    rows, parts = np.asarray(made.vectors), np.asarray(made.passage_vectors)
    assert rows.shape[1] == parts.shape[1] == width
    assert made.questions[0].vector is not None
    assert made.questions[0].vector.shape == (width,)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    mean = parts.reshape(len(rows), 2, width).mean(axis=1)
    assert np.allclose(rows, mean / np.linalg.norm(mean, axis=1, keepdims=True), atol=1e-5)
    ends = [np.abs(rows[:, part]).mean() for part in (slice(100), slice(-100, None))]
    assert ends[1] == pytest.approx(ends[0], rel=0.5)  # dense: no zeros at the end


def test_the_projection_keeps_every_cosine(source: Source) -> None:
    turned = source.passage_vectors @ projection(384, 1024, 42)
    assert np.allclose(turned @ turned.T, source.passage_vectors @ source.passage_vectors.T, atol=1e-5)


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
