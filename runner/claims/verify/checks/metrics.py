"""Is every figure of metrics.json what the raw rankings give, to the byte? (§4)"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from runner.artefacts.canonical import tabular
from runner.artefacts.metrics import METRICS
from runner.claims.verify.check import Wrong
from runner.claims.verify.checks.schema import TABLES
from runner.claims.verify.evidence import Evidence
from runner.claims.verify.versions import METRIC_CODES
from runner.records import Json


def metrics(evidence: Evidence) -> str:
    """Computed anew by the metric code that the file names."""
    found, run = evidence.metrics, evidence.run
    if (code := found["metric_code"]) not in METRIC_CODES:
        raise Wrong(f"{METRICS} names metric code {code}; known here: {', '.join(METRIC_CODES)}")
    cutoffs = run["options"]["k"] or evidence.protocol.cutoffs
    wanted = METRIC_CODES[code](run, evidence.rows, cutoffs)
    if evidence.text(METRICS) != tabular(wanted, TABLES):
        raise Wrong(_difference(found, wanted))
    figures = len(found["results"]) + len(found["differences"])
    return f"{figures:,} figures and their intervals follow from the raw rankings (metric code {code})"


def _difference(found: Json, wanted: Json) -> str:
    """The first thing that is not as computed."""
    for name, value in wanted.items():
        if name in TABLES and (row := _row(found[name], value)):
            return f"{METRICS}, {name}: {row}"
        if found[name] != value:
            return f"{METRICS}: {name} is not what run.json and the metric code say"
    return f"{METRICS} holds what was computed, but in another form"


def _row(found: Sequence[Json], wanted: Sequence[Json]) -> str | None:
    for one, other in zip_longest(found, wanted):
        if one is None or other is None:
            return f"{len(found):,} rows, and not {len(wanted):,}"
        for name, value in other.items():
            if one[name] != value:
                texts = [text for text in other.values() if isinstance(text, str)]
                return f"{', '.join(texts)}: {name} is {one[name]}, the raw rankings give {value}"
    return None
