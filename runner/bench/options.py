"""The options of a run, as the command line takes them. request.py checks their combinations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from runner.options import FOLDER, NAMES, SYSTEM_NAMES, Numbers
from runner.protocol.templates import TEMPLATES
from runner.runs.config import ALL_SCOPES, BY_TURNS, FULL, HEADLINE_SCOPE, NO_EMBEDDER, OURS
from runner.stages.rerankers import RERANKERS, RerankOptions
from runner.stages.rewriters import REWRITERS, RewriteOptions
from runner.systems import MODES, SYSTEMS
from runner.systems.query_runner import LIMIT
from runner.systems.system import WORKERS

UNDER, WORK, EMBEDDER, REWRITE, RERANK, RUN = (
    Parameter(group=title)
    for title in ("Systems", "Corpus and questions", "Embedder", "Rewriter", "Reranker", "Run")
)
TESTED = f"the one under test: {', '.join(SYSTEMS)}, or another package's"
BASELINE_SCOPES = f"scopes in which the baselines answer: {ALL_SCOPES}, or only the {HEADLINE_SCOPE}'s"
MODE = f"legs of pgmnemo: {', '.join(MODES)} (default: hybrid; keyword without an embedder)"
EMBEDDERS_KNOWN = (
    f"{', '.join(EMBEDDERS)}, or {NO_EMBEDDER} for a keyword-only run (default: the suite's canonical one)"
)
REWRITING = f"ask the words of a rewriter in place of each question: {', '.join(REWRITERS)}"
RERANKING = f"measure every system behind a reranker, too: {', '.join(RERANKERS)}"


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of a run, by the names that the command line gives them.

    Args:
        version: version of pgmnemo (default: the current one)
        baselines: S,S,…: other systems to measure on the same corpus and questions
        set: NAME=VALUE: a setting of the system under test, a labelled deviation; may be repeated
        dsn: PostgreSQL to use (default: PGMNEMO_DSN, the compose service, or an embedded one)
        system_url: address of the system http
        allow_reset: let the system http be emptied for all its users, before and after the run
        time_limit: maximum seconds of a system for one question
        jobs: maximum number of simultaneous calls to systems, models and endpoints
        data: the corpus file or its folder
        granularity: unit of a lesson, such as session or turn (default: the suite's own)
        passages: how a lesson is cut into passages: turns, or their size and overlap in characters, such as 1200/200
        max_chars: maximum number of characters of a lesson (default: no limit)
        k: K,K,…: cutoffs (default: the protocol's)
        limit: ask only N questions, spread evenly over types and projects
        types: T,T,…: ask only questions of these types
        split: ask only the questions of this split, such as development
        scopes: S,S,…: scopes to search (default: the suite's own)
        allow_unregistered_corpus: accept a corpus that the protocol does not register
        cache: folder of the embedding cache (default: the user's own)
        output: folder for results (default: benchmarks/<suite>/local)
        keep: write to benchmarks/<suite>/results, which is committed, and log the run in HISTORY.md
        resume: complete the interrupted run in this .partial folder
    """  # noqa: E501

    system: Annotated[str, UNDER, Parameter(help=TESTED)] = OURS
    version: Annotated[str | None, UNDER] = None
    baselines: Annotated[tuple[str, ...], UNDER, SYSTEM_NAMES] = ()
    set: Annotated[tuple[str, ...], UNDER, Parameter(consume_multiple=False)] = ()
    baseline_scopes: Annotated[str, UNDER, Parameter(help=BASELINE_SCOPES)] = ALL_SCOPES
    mode: Annotated[str | None, UNDER, Parameter(help=MODE)] = None
    dsn: Annotated[str | None, UNDER] = None
    system_url: Annotated[str | None, UNDER] = None
    allow_reset: Annotated[bool, UNDER] = False
    time_limit: Annotated[float, UNDER] = LIMIT
    jobs: Annotated[int, UNDER] = WORKERS
    data: Annotated[Path | None, WORK] = None
    granularity: Annotated[str | None, WORK] = None
    template: Annotated[str, WORK, Parameter(help=f"how a lesson is written: {', '.join(TEMPLATES)}")] = FULL
    passages: Annotated[str, WORK] = BY_TURNS
    max_chars: Annotated[int | None, WORK] = None
    k: Annotated[Numbers, WORK] = ()
    limit: Annotated[int | None, WORK] = None
    types: Annotated[tuple[str, ...], WORK, NAMES] = ()
    split: Annotated[str, WORK] = ""
    scopes: Annotated[tuple[str, ...], WORK, NAMES] = ()
    allow_unregistered_corpus: Annotated[bool, WORK] = False
    embedder: Annotated[str | None, EMBEDDER, Parameter(help=EMBEDDERS_KNOWN)] = None
    embedder_options: Annotated[EmbedderOptions, Parameter(name="*"), EMBEDDER] = EmbedderOptions()  # noqa: RUF009
    cache: Annotated[Path | None, EMBEDDER] = None
    rewrite: Annotated[str | None, REWRITE, Parameter(help=REWRITING)] = None
    rewrite_options: Annotated[RewriteOptions, Parameter(name="*"), REWRITE] = RewriteOptions()  # noqa: RUF009
    rerank: Annotated[str | None, RERANK, Parameter(help=RERANKING)] = None
    rerank_options: Annotated[RerankOptions, Parameter(name="*"), RERANK] = RerankOptions()  # noqa: RUF009
    output: Annotated[Path | None, RUN, FOLDER] = None
    keep: Annotated[bool, RUN] = False
    resume: Annotated[Path | None, RUN] = None
