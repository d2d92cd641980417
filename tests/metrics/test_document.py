"""metrics.json follows from the raw rankings and the record of the run alone, by the run's own edition."""

from __future__ import annotations

from pathlib import Path

import pytest

import runner
from runner.errors import UsageError
from runner.metrics.document import metrics_of
from runner.runs.reading import Results

SAMPLES = sorted((Path(runner.__file__).parents[1] / "benchmarks" / "sample" / "results").iterdir())


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
def test_a_committed_run_gives_its_own_figures_again(folder: Path) -> None:
    results = Results(folder)
    document = metrics_of(results.run, list(results.detailed()))
    assert document == results.metrics
    assert list(document) == list(results.metrics)
    assert list(document["corpus"]) == list(results.metrics["corpus"])


@pytest.fixture(scope="module")
def former() -> Results:
    return Results(SAMPLES[0])


def test_another_metric_code_moves_the_intervals_of_differences_alone(former: Results) -> None:
    own, other = (metrics_of(former.run, former.rows, code) for code in ("1.0.0", "1.1.0"))
    assert own == former.metrics
    assert other["metric_code"] == "1.1.0"
    assert other["intervals"] != own["intervals"]
    assert other["results"] == own["results"]
    values = [[row["value"] for row in document["differences"]] for document in (own, other)]
    assert values[0] == values[1]
    assert other["differences"] != own["differences"]


def test_an_unknown_metric_code_lists_the_known_ones(former: Results) -> None:
    with pytest.raises(UsageError, match=r"no version of the metric code named '9'; .*: 1\.0\.0, 1\.1\.0"):
        metrics_of(former.run, former.rows, "9")
