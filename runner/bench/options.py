"""The options of a run as the command line takes them; what they mean together, request.py checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from runner.options import Numbers, listed, systems_listed
from runner.protocol.texts import TEXTS
from runner.runs.choice import ALL_SCOPES, BY_TURNS, FULL, HEADLINE_SCOPE, NO_EMBEDDER, OURS
from runner.stages.rerankers import RERANKERS, RerankOptions
from runner.stages.rewriters import REWRITERS, RewriteOptions
from runner.systems import MODES, SYSTEMS
from runner.systems.asking import LIMIT
from runner.systems.system import WORKERS

SYSTEMS_UNDER, WORK, EMBEDDER, RESULTS = "Systems", "Corpus and questions", "Embedder", "Run"  # of --help
REWRITE, RERANK = "Rewriter", "Reranker"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a run takes besides its suite: the options of the command line, by their names."""

    system: Annotated[
        str,
        Parameter(
            group=SYSTEMS_UNDER, help=f"the one under test: {', '.join(SYSTEMS)}, or another package's"
        ),
    ] = OURS
    version: Annotated[
        str | None, Parameter(group=SYSTEMS_UNDER, help="version of pgmnemo (default: the current one)")
    ] = None
    systems: Annotated[
        tuple[str, ...],
        systems_listed("S,S,…: others, measured beside it on the same work", group=SYSTEMS_UNDER),
    ] = ()
    set: Annotated[
        tuple[str, ...],
        Parameter(
            group=SYSTEMS_UNDER,
            consume_multiple=False,
            help="NAME=VALUE: a setting of the system under test, a labelled deviation; may be repeated",
        ),
    ] = ()
    beside: Annotated[
        str,
        Parameter(
            group=SYSTEMS_UNDER,
            help=f"scopes in which those others answer: {ALL_SCOPES}, or the {HEADLINE_SCOPE}'s alone",
        ),
    ] = ALL_SCOPES
    mode: Annotated[
        str | None,
        Parameter(
            group=SYSTEMS_UNDER,
            help=f"legs of pgmnemo: {', '.join(MODES)} (default: hybrid; keyword without an embedder)",
        ),
    ] = None
    dsn: Annotated[
        str | None,
        Parameter(
            group=SYSTEMS_UNDER,
            help="PostgreSQL to use (default: PGMNEMO_DSN, the compose service, or an embedded one)",
        ),
    ] = None
    system_url: Annotated[str | None, Parameter(group=SYSTEMS_UNDER, help="address of the system http")] = (
        None
    )
    allow_reset: Annotated[
        bool,
        Parameter(
            group=SYSTEMS_UNDER,
            help="let the system http be emptied for all its users, before and after the run",
        ),
    ] = False
    time_limit: Annotated[
        float, Parameter(group=SYSTEMS_UNDER, help="seconds that a system may take for one question")
    ] = LIMIT
    jobs: Annotated[
        int,
        Parameter(group=SYSTEMS_UNDER, help="calls at once to systems, models and endpoints, at the most"),
    ] = WORKERS
    data: Annotated[Path | None, Parameter(group=WORK, help="the corpus file or its folder")] = None
    granularity: Annotated[
        str | None,
        Parameter(group=WORK, help="what a lesson is, such as session or turn (default: the suite's own)"),
    ] = None
    text: Annotated[str, Parameter(group=WORK, help=f"how a lesson is written: {', '.join(TEXTS)}")] = FULL
    passages: Annotated[
        str,
        Parameter(
            group=WORK,
            help="how a lesson is cut into passages: turns, or their size and overlap in characters, such as "
            "1200/200",
        ),
    ] = BY_TURNS
    max_chars: Annotated[
        int | None, Parameter(group=WORK, help="characters that a lesson keeps (default: all of them)")
    ] = None
    k: Annotated[Numbers, Parameter(group=WORK, help="K,K,…: cutoffs (default: the protocol's)")] = ()
    limit: Annotated[
        int | None, Parameter(group=WORK, help="ask N questions only, spread evenly over types and projects")
    ] = None
    types: Annotated[tuple[str, ...], listed("T,T,…: ask these question types only", group=WORK)] = ()
    split: Annotated[
        str, Parameter(group=WORK, help="ask the questions of this split only, such as development")
    ] = ""
    scopes: Annotated[
        tuple[str, ...], listed("S,S,…: scopes to search (default: the suite's own)", group=WORK)
    ] = ()
    allow_unregistered_corpus: Annotated[
        bool, Parameter(group=WORK, help="let a corpus through that the protocol does not register")
    ] = False
    embedder: Annotated[
        str | None,
        Parameter(
            group=EMBEDDER,
            help=f"{', '.join(EMBEDDERS)}, or {NO_EMBEDDER} for a keyword-only run (default: the suite's "
            "canonical one)",
        ),
    ] = None
    embedder_options: Annotated[EmbedderOptions, Parameter(name="*", group=EMBEDDER)] = field(
        default_factory=EmbedderOptions
    )
    cache: Annotated[
        Path | None, Parameter(group=EMBEDDER, help="folder of the embedding cache (default: the user's own)")
    ] = None
    rewrite: Annotated[
        str | None,
        Parameter(
            group=REWRITE,
            help=f"ask the words of a rewriter in place of each question: {', '.join(REWRITERS)}",
        ),
    ] = None
    rewrite_options: Annotated[RewriteOptions, Parameter(name="*", group=REWRITE)] = field(
        default_factory=RewriteOptions
    )
    rerank: Annotated[
        str | None,
        Parameter(group=RERANK, help=f"measure every system behind a reranker, too: {', '.join(RERANKERS)}"),
    ] = None
    rerank_options: Annotated[RerankOptions, Parameter(name="*", group=RERANK)] = field(
        default_factory=RerankOptions
    )
    output: Annotated[
        Path | None, Parameter(group=RESULTS, help="folder for results (default: benchmarks/<suite>/local)")
    ] = None
    keep: Annotated[
        bool,
        Parameter(
            group=RESULTS,
            help="write to benchmarks/<suite>/results, which is committed, and log the run in HISTORY.md",
        ),
    ] = False
    resume: Annotated[
        Path | None, Parameter(group=RESULTS, help="complete the interrupted run in this .partial folder")
    ] = None
