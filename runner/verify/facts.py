"""The facts that the gates look at, from the artefacts instead of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner.database.releases import release_fingerprint
from runner.gates import Facts
from runner.records import Corpus, Question, Segment
from runner.records import Evidence as Cited
from runner.runs.run import Run
from runner.verify.evidence import Evidence


def facts(evidence: Evidence, corpus: Corpus | None = None) -> Facts:
    """Every fact that run.json and the raw rankings hold.

    Without a `corpus` a stand-in has the counts that run.json records, and no text.
    """
    run = evidence.run
    return Facts(
        run=run,
        corpus=corpus or stand_in(run),
        fingerprint=release_fingerprint(evidence.sql, run.choice.version),
        asked=len({line["question"] for line in evidence.raw}),
        retrievals=evidence.counts,
        artefacts=dict.fromkeys(evidence.names, True),
        history_ready=True,  # whether the entry stands there is a check of its own
    )


def stand_in(run: Run) -> Corpus:
    """A corpus of placeholders, as many of each kind as run.json counts: all that a count can be taken of."""
    pins, shape = run.corpus, run.corpus.shape
    projects = [str(number) for number in range(shape["projects"])]
    segments = (Segment(project, "", "") for project in projects)
    more = (Segment(projects[-1], "", "") for _ in range(pins.segments - len(projects)))
    return Corpus(
        suite=run.choice.suite,
        path=pins.file,
        sha256=pins.sha256,
        granularity=run.choice.level,
        segments=(*segments, *more),
        questions=tuple(_questions(shape)),
        scopes=run.scopes,
        clustered=pins.clustered,
        shape=shape,
        files=pins.files,
    )


COUNTS = ("projects", "segments", "questions", "scored", "answerable", "turns", "edges")


def _questions(shape: Mapping[str, int]) -> Iterator[Question]:
    """As many of each type as the shape has; those beyond its number of scored questions cite nothing."""
    cited = (Cited("", ""),)
    types = {kind: number for kind, number in shape.items() if kind not in COUNTS}
    if sum(types.values()) > shape["questions"]:  # LongMemEval counts abstention beside the types
        types.pop("abstention", None)
    kinds = [kind for kind, number in types.items() for _ in range(number)]
    for number, kind in enumerate(kinds):
        yield Question("", "", "", kind, cited if number < shape["scored"] else ())
