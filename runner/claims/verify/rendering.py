"""report.html from the artefacts of a run, as the run itself renders it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from runner.claims.verify.evidence import Evidence
from runner.records import Hit, Retrieval
from runner.report.html import Compared, Texts, render_page


def page(evidence: Evidence, *, compared_with: Compared | None = None, texts: Texts | None = None) -> str:
    """The text of report.html. Raises Unreadable where an artefact is missing or not of its schema."""
    timings = ((timing.arm, timing.scope, timing.seconds) for timing in evidence.timings)
    return render_page(
        evidence.metrics,
        evidence.run,
        detailed(evidence),
        timings,
        compared_with=compared_with,
        texts=texts,
    )


def detailed(evidence: Evidence) -> Iterator[Retrieval]:
    """The raw lines as records, with scores and components where a rank has both."""
    for row, line in zip(evidence.rows, evidence.raw, strict=True):
        full = [Hit(rank[0], rank[1], tuple(rank[2])) for rank in takewhile(_is_full, line["ranking"])]
        yield replace(row, ranking=(*full, *row.ranking[len(full) :])) if full else row


def _is_full(rank: object) -> bool:
    return isinstance(rank, list) and len(rank) == 3
