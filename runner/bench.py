"""`python -m runner SUITE`: a run, or with --dry-run its gates alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from runner.claims.repeat import lines, repeat
from runner.database.releases import SQL_FOLDER
from runner.embedders import EmbedderOptions
from runner.gates import judge
from runner.pipeline import dry_run
from runner.progress import Progress
from runner.records import Verdict
from runner.report import gate_table, summary_table, to_do
from runner.request import Request


def bench(options: argparse.Namespace, sql: Path = SQL_FOLDER) -> int:
    """Print what it ended in; the exit code: 1 where a gate failed or repeated runs lie too far apart."""
    progress, out = Progress(quiet=options.quiet), Console(soft_wrap=False)
    request = _request(options)
    if options.dry_run:
        results = dry_run(request, progress=progress, sql=sql)
        verdict = judge(results)
        out.print(gate_table(results))
        for step in to_do(results):
            print(step)
        print(f"dry run: the verdict would be {verdict}; nothing was run or written")
        return int(verdict is Verdict.BLOCKED)
    repeated = repeat(request, options.repeat, progress=progress, sql=sql)
    for outcome in repeated.outcomes:
        out.print(summary_table(outcome.metrics, outcome.run))
        for deviation in outcome.run["deviations"]:
            print(f"deviation: {deviation}")
        print(f"artefacts: {outcome.folder}")
    for line in lines(repeated) if options.repeat > 1 else ():
        print(line)
    return int(not repeated.within)


def _request(options: argparse.Namespace) -> Request:
    return Request(
        suite=options.suite,
        version=options.version,
        data=options.data,
        dsn=options.dsn,
        embedder=options.embedder,
        embedder_options=_embedder_options(options),
        mode=options.mode,
        granularity=options.granularity,
        k=options.k,
        limit=options.limit,
        types=options.types,
        allow_unregistered_corpus=options.allow_unregistered_corpus,
        output=options.output,
        resume=options.resume,
        cache=options.cache,
    )


def _embedder_options(options: argparse.Namespace) -> EmbedderOptions:
    return EmbedderOptions(
        model=options.model,
        endpoint_url=options.endpoint_url,
        dimensions=options.dimensions,
        query_prefix=options.query_prefix,
        document_prefix=options.document_prefix,
        batch_size=options.batch_size,
    )
