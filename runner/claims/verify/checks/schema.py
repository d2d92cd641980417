"""Is every file of the schema that it names, in the one form in which the runner writes it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import zip_longest

from runner.artefacts.canonical import compact, pretty, tabular
from runner.artefacts.manifest import MANIFEST
from runner.artefacts.metrics import METRICS
from runner.artefacts.raw import RAW
from runner.artefacts.timings import TIMINGS
from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import REPORT, RUN, Evidence
from runner.claims.verify.versions import TEMPLATES

TABLES = ("results", "differences")  # of metrics.json: one row a line


def schema(evidence: Evidence) -> str:
    """Every file against its published schema, then against its text as written anew from what was read."""
    written = {
        MANIFEST: pretty(evidence.manifest),
        RUN: pretty(evidence.run),
        METRICS: tabular(evidence.metrics, TABLES),
        RAW: _lines(evidence.raw),
        TIMINGS: _lines(asdict(timing) for timing in evidence.timings),
    }
    for name, text in written.items():
        if (found := evidence.text(name)) != text:
            raise Wrong(
                f"{name}, line {differing_line(found, text)}, is not in the form that the runner writes"
            )
    _known(evidence, {*written, REPORT})
    lines = len(evidence.raw) + len(evidence.timings)
    return f"every file is of the schema that it names ({lines:,} lines, {len(written) - 2} documents)"


def _known(evidence: Evidence, checked: set[str]) -> None:
    """No file besides, and the report by a template that is known."""
    if (template := evidence.schemas.get(REPORT)) not in TEMPLATES:
        raise Wrong(f"{REPORT} names the template {template}; known here: {', '.join(TEMPLATES)}")
    strange = [name for name in evidence.schemas if name not in checked]
    if strange:
        raise Wrong(f"{', '.join(strange)} is no artefact that is known here")


def _lines(documents: Iterable[object]) -> str:
    return "".join(compact(document) + "\n" for document in documents)


def differing_line(found: str, wanted: str) -> int:
    """Number, from 1, of the first line in which two texts differ."""
    pairs = zip_longest(found.split("\n"), wanted.split("\n"))
    return next(number for number, (one, other) in enumerate(pairs, start=1) if one != other)
