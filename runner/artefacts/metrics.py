"""metrics.json: the pins of the run and every figure, computed from the raw rankings alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runner.artefacts.canonical import METRIC_DIGITS, significant, tabular
from runner.artefacts.storage import write_file
from runner.records import Difference, Json, Score

METRICS = "metrics.json"
SCHEMA = "pgmnemo/metrics/1"
FIGURES = ("value", "ci95_low", "ci95_high")


def metrics_document(
    run: Mapping[str, Any],
    results: Iterable[Score],
    differences: Iterable[Difference],
    *,
    metric_code: str,
    definitions: Mapping[str, str],
    intervals: Mapping[str, str],
) -> Json:
    """The document of metrics.json.

    `run` is the document of run.json, whose pins it repeats; `metric_code` names the version of the metric
    code; `definitions` gives one sentence a metric, `intervals` what each kind of interval is made by.
    Figures are fractions, rounded to 10 significant digits: the order of a sum cannot be seen in them.
    """
    return {
        "schema": SCHEMA,
        "protocol_version": run["protocol"]["version"],
        "protocol_sha256": run["protocol"]["sha256"],
        "pgmnemo_version": run["pgmnemo_version"],
        "guc_state": run["guc_state"],
        "seed": run["seed"],
        "corpus": run["corpus"],
        "embedder": run["embedder"],
        "verdict": run["verdict"],
        "headline": run["headline"],
        "metric_code": metric_code,
        "definitions": dict(definitions),
        "intervals": dict(intervals),
        "results": [_row(score) for score in results],
        "differences": [_row(difference) for difference in differences],
    }


def _row(record: Score | Difference) -> Json:
    row = asdict(record)
    what = " ".join(str(value) for value in row.values() if isinstance(value, str))
    return row | {name: significant(row[name], METRIC_DIGITS, f"{what}: {name}") for name in FIGURES}


def write_metrics(folder: Path, document: Json) -> None:
    """Write metrics.json into `folder`, one figure a line."""
    write_file(folder / METRICS, tabular(document, ("results", "differences")))
