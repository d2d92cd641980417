"""The facts that the gates look at, from the artefacts instead of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner.claims.verify.evidence import Evidence
from runner.database.releases import release_fingerprint
from runner.gates import RunFacts
from runner.records import Corpus, DatabaseFacts, Json, Question, SearchScope, Segment
from runner.records import Evidence as Cited


def facts(evidence: Evidence, corpus: Corpus | None = None) -> RunFacts:
    """Every fact that run.json and the raw rankings hold.

    Without a `corpus` a stand-in has the counts that run.json records, and no text.
    """
    run, request = evidence.run, evidence.request
    number = run["pgmnemo_version"]
    return RunFacts(
        protocol=evidence.protocol,
        corpus=corpus or stand_in(run, request.suite_parts.types),
        requested_version=number,
        embedder=request.embedder_name,
        hash_seed=run["python_hash_seed"],
        seed=run["seed"],
        allow_unregistered=request.allow_unregistered_corpus,
        identity=evidence.identity,
        database=DatabaseFacts(**run["database"]),
        fingerprint=release_fingerprint(evidence.sql, number),
        settings=run["guc_state"],
        defaults=run["guc_defaults"],
        cutoffs=request.cutoffs,
        limit=request.limit,
        types=request.types,
        departures=request.departures(),
        commit=run["code"]["commit"],
        dirty=run["code"]["dirty"],
        asked=len({line["question"] for line in evidence.raw}),
        history_ready=True,  # whether the entry stands there is a check of its own
        retrievals=evidence.counts,
        artefacts={path.name: True for path in evidence.folder.iterdir()},
    )


def stand_in(run: Json, types: Sequence[str]) -> Corpus:
    """A corpus of placeholders, as many of each kind as run.json counts: all that a count can be taken of."""
    pins, shape = run["corpus"], run["corpus"]["shape"]
    projects = [str(number) for number in range(shape["projects"])]
    segments = (Segment(project, "", "") for project in projects)
    more = (Segment(projects[-1], "", "") for _ in range(pins["segments"] - len(projects)))
    return Corpus(
        suite=pins["suite"],
        path=pins["file"],
        sha256=pins["sha256"],
        granularity=pins["granularity"],
        segments=(*segments, *more),
        questions=tuple(_questions(shape, types)),
        scopes=tuple(SearchScope(**scope) for scope in run["scopes"]),
        clustered=pins["clustered"],
        shape=shape,
    )


def _questions(shape: Mapping[str, int], types: Sequence[str]) -> Iterator[Question]:
    """As many of each type as the shape has; those beyond its number of scored questions cite nothing."""
    cited = (Cited("", ""),)
    kinds = [kind for kind in types for _ in range(shape.get(kind, 0))]
    for number, kind in enumerate(kinds):
        yield Question("", "", "", kind, cited if number < shape["scored"] else ())
