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
from typing import Any, NoReturn

from rich.console import Console

from runner.embedders import EMBEDDERS, EmbedderOptions
from runner.errors import RunnerError, UsageError
from runner.fetch import fetch
from runner.gates import judge
from runner.pipeline import dry_run, run
from runner.progress import Progress
from runner.records import Verdict
from runner.report import gate_table, summary_table
from runner.request import NO_EMBEDDER, Request
from runner.suites import SUITES
from runner.systems import MODES

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code: 0 done, 1 a gate failed, 2 wrong use, 3 environment."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        options = _parser().parse_args(arguments)
        return int(options.command(options))
    except RunnerError as error:
        print(f"{_kind(error)}: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _terminated(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _kind(error: RunnerError) -> str:
    return {1: "blocked", 2: "wrong use"}.get(error.code, "error")


def bench(options: argparse.Namespace) -> int:
    """`python -m runner SUITE`: a run, or with --dry-run its gates alone."""
    progress, out = Progress(quiet=options.quiet), Console(soft_wrap=False)
    request = _request(options)
    if options.dry_run:
        results = dry_run(request, progress=progress)
        verdict = judge(results)
        out.print(gate_table(results))
        print(f"dry run: the verdict would be {verdict}; nothing was run or written")
        return int(verdict is Verdict.BLOCKED)
    outcome = run(request, progress=progress)
    out.print(summary_table(outcome.metrics, outcome.run))
    for deviation in outcome.run["deviations"]:
        print(f"deviation: {deviation}")
    print(f"artefacts: {outcome.folder}")
    return 0


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


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"--k takes whole numbers with commas between, such as 1,5,10, not {text!r}"
        ) from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


class _Parser(argparse.ArgumentParser):
    """Wrong use is one sentence, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m runner", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.description = "Measure the recall of a version of pgmnemo exactly as PROTOCOL.md says."
    commands = parser.add_subparsers(dest="suite", required=True, metavar="COMMAND")
    for name, suite in SUITES.items():
        _suite_options(commands.add_parser(name, help=f"run {suite.title}"), name)
    getter = commands.add_parser("fetch", help="download a registered corpus and check its hash")
    getter.add_argument("suite", choices=("locomo", "longmemeval"), help="the corpus")
    getter.add_argument("--output", type=Path, help="folder to put it in (default: the user's data folder)")
    getter.add_argument("--quiet", action="store_true", help="say nothing but the result")
    getter.set_defaults(command=fetch_corpus)
    return parser


def _suite_options(parser: argparse.ArgumentParser, suite: str) -> None:
    add: Any = parser.add_argument
    parts = SUITES[suite]
    add("--version", default="v0.2.1", help="version of the extension (default: %(default)s)")
    add("--data", type=Path, help="the corpus file or its folder")
    add("--dsn", help="PostgreSQL to use (default: PGMNEMO_DSN, the compose service, or an embedded one)")
    names = ", ".join([*EMBEDDERS, NO_EMBEDDER])
    add("--embedder", help=f"one of {names} (default: the canonical one; none is a keyword-only run)")
    add("--mode", choices=MODES, help="legs of recall (default: hybrid; keyword without an embedder)")
    add("--granularity", choices=parts.granularities, help="what one lesson is (default: the canonical one)")
    add("--k", type=_numbers, default=(), metavar="K,K,…", help="cutoffs (default: the protocol's)")
    add("--limit", type=int, metavar="N", help="ask the first N questions only")
    add("--types", type=_names, default=(), metavar="T,T,…", help="ask these question types only")
    add("--allow-unregistered-corpus", action="store_true", help="let another corpus through, as unverified")
    add("--dry-run", action="store_true", help="check the gates, write nothing")
    add("--output", type=Path, metavar="DIR", help="folder for results (default: benchmarks/<suite>/results)")
    add("--resume", type=Path, metavar="DIR", help="complete the interrupted run in this .partial folder")
    add("--cache", type=Path, metavar="DIR", help="folder of the embedding cache")
    add("--model", help="local folder of the embedder's model; for endpoint, the model's name")
    add("--endpoint-url", help="OpenAI-compatible service, for the embedder endpoint")
    add("--dimensions", type=int, help="width to ask of an endpoint")
    add("--query-prefix", default="", help="put before every question before it is embedded")
    add("--document-prefix", default="", help="put before every text before it is embedded")
    add("--batch-size", type=int, help="texts embedded at once (default: the protocol's, or the model's)")
    add("--quiet", action="store_true", help="say nothing but the result")
    parser.set_defaults(command=bench, suite=suite)
