"""The fit of the linear reranker: the one optimum, whatever the order of the questions."""

from __future__ import annotations

import numpy as np
import pytest

from runner.commands.train.logit import PENALTY, fit

TRUE = np.array([2.0, -1.0, 0.5])


def drawn(number: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Questions of 20 candidates whose gold is drawn by softmax(features · TRUE)."""
    generator = np.random.default_rng(42)
    features, marks = [], []
    for _ in range(number):
        rows = generator.random((20, 3))
        chances = np.exp(rows @ TRUE)
        mark = np.zeros(20)
        mark[generator.choice(20, p=chances / chances.sum())] = 1.0
        features.append(rows)
        marks.append(mark)
    return features, marks


def test_weights_that_drew_the_gold_are_found_again() -> None:
    assert fit(*drawn(4_000)) == pytest.approx(TRUE, abs=0.2)


def test_at_the_optimum_nothing_is_gained_by_any_step() -> None:
    features, marks = drawn(200)
    weights = fit(features, marks)
    gradient = PENALTY * weights
    for rows, mark in zip(features, marks, strict=True):
        chances = np.exp(rows @ weights)
        gradient += rows.T @ (chances / chances.sum() - mark)
    assert np.abs(gradient).max() < 1e-4


def test_a_question_without_gold_among_its_candidates_teaches_nothing() -> None:
    features, marks = drawn(50)
    lost = [*features, np.ones((7, 3))], [*marks, np.zeros(7)]
    assert np.array_equal(fit(features, marks), fit(*lost))


def test_a_wide_margin_does_not_send_the_weights_away() -> None:
    rows = np.array([[1.0], [0.0]])
    weights = fit([rows] * 50, [np.array([1.0, 0.0])] * 50)
    assert 0 < weights[0] < 10
