"""metrics.json follows from the raw rankings and the record of the run alone, by the run's own edition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runner.protocol.metrics.document import metrics_of
from runner.runs.results import Results


@pytest.fixture(scope="module")
def results(finish: Callable[..., Any]) -> Results:
    return Results(finish().folder)


def test_a_run_gives_its_own_figures_again(results: Results) -> None:
    document = metrics_of(results.run, list(results.detailed()))
    assert document == results.metrics
    assert list(document) == list(results.metrics)
    assert list(document["corpus"]) == list(results.metrics["corpus"])


def test_another_metric_code_moves_the_intervals_of_differences_alone(results: Results) -> None:
    own, other = (metrics_of(results.run, list(results.detailed()), code) for code in (None, "1.0.0"))
    assert own == results.metrics
    assert other["metric_code"] == "1.0.0"
    assert other["intervals"] != own["intervals"]
    assert other["results"] == own["results"]
    values = [[row["value"] for row in document["differences"]] for document in (own, other)]
    assert values[0] == values[1]
    assert other["differences"] != own["differences"]
