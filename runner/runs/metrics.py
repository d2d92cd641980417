"""metrics.json on the disk."""

from __future__ import annotations

from pathlib import Path

from runner.records import Json
from runner.runs.canonical import tabular
from runner.runs.storage import write_file

METRICS = "metrics.json"
TABLES = ("results", "differences", "readings", "anchored")  # one row a line


def metrics_text(document: Json) -> str:
    """The text of metrics.json, one figure a line."""
    return tabular(document, TABLES)


def write_metrics(folder: Path, document: Json) -> None:
    """Write metrics.json into `folder`."""
    write_file(folder / METRICS, metrics_text(document))
