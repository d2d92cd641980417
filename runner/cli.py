"""The command line: one thin function a command.

Results go to standard output, what happens meanwhile to standard error.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from runner.claims.repeat import lines, repeat
from runner.database.releases import SQL_FOLDER
from runner.embedders import EmbedderOptions
from runner.errors import RunnerError
from runner.fetch import fetch
from runner.gates import judge
from runner.options import parser
from runner.pipeline import dry_run
from runner.progress import Progress
from runner.records import Verdict
from runner.report import gate_table, summary_table, to_do
from runner.request import Request

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, *, sql: Path = SQL_FOLDER) -> int:
    """Run one command; the exit code: 0 done, 1 a gate failed, 2 wrong use, 3 environment, 130 interrupted.

    `sql` is the folder with the extension's files and the list of its releases.
    """
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        options = parser().parse_args(arguments)
        if options.command == "bench":
            return bench(options, sql)
        return fetch_corpus(options) if options.command == "fetch" else int(options.handler(options))
    except RunnerError as error:
        _tell(f"{error.kind}: {error}", error)
        return error.code
    except KeyboardInterrupt as error:
        _tell("interrupted", error)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a file or folder that no stage foresaw
        place, why = error.filename or "this machine", error.strerror or str(error)
        _tell(f"error: {place}: {why}; make it readable and writable, or name another", error)
        return RunnerError.code
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _tell(sentence: str, error: BaseException) -> None:
    """The sentence, and how to go on where the run left something to go on with."""
    print("; ".join([sentence, *getattr(error, "__notes__", ())]), file=sys.stderr)


def bench(options: argparse.Namespace, sql: Path = SQL_FOLDER) -> int:
    """`python -m runner SUITE`: a run, or with --dry-run its gates alone."""
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


def fetch_corpus(options: argparse.Namespace) -> int:
    """`python -m runner fetch SUITE`: download a registered corpus and check its hash."""
    place = fetch(options.suite, options.output, Progress(quiet=options.quiet))
    print(place)
    return 0


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
