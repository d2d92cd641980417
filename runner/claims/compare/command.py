"""`python -m runner compare A B`: two runs, or two versions run on the spot."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.errors import UsageError

if TYPE_CHECKING:
    from runner.request import Request

NAME = "compare"
WIDTH = 118  # of the tables where nobody looks at a terminal


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "compare two runs question by question, with a statistical verdict"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument(
        "folders", nargs="*", type=Path, metavar="DIR", help="results folders: the baseline, the candidate"
    )
    add_decision_options(parser)
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    _add_run_options(parser)
    parser.set_defaults(command=NAME, handler=handle)


def add_decision_options(parser: argparse.ArgumentParser) -> None:
    """What decides whether a comparison is made and how it ends; `gate` takes them too."""
    parser.add_argument(
        "--despite", type=_names, default=(), metavar="C,C,…",
        help="compare although these conditions differ, and label the result",
    )  # fmt: skip
    parser.add_argument(
        "--max-drop", type=_limit, action="append", default=[], metavar="METRIC=DROP",
        help="a larger fall of this metric is a regression, whatever its interval; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 when the comparison is inconclusive, too"
    )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("two versions, run on the spot")
    group.add_argument("--versions", nargs=2, metavar="VERSION", help="the baseline, the candidate")
    group.add_argument("--suite", metavar="SUITE", help="suite to run")
    for name, words in (("data", "the corpus file or its folder"), ("output", "folder for results"),
                        ("cache", "folder of the embedding cache")):  # fmt: skip
        group.add_argument(f"--{name}", type=Path, metavar="PATH", help=words)
    group.add_argument("--dsn", metavar="DSN", help="PostgreSQL to use")
    group.add_argument("--embedder", metavar="NAME", help="as of the suite's own command")
    group.add_argument("--mode", metavar="MODE", help="as of the suite's own command")
    group.add_argument("--granularity", metavar="LEVEL", help="as of the suite's own command")
    group.add_argument("--limit", type=int, metavar="N", help="ask the first N questions only")
    group.add_argument("--types", type=_names, default=(), metavar="T,T,…", help="ask these types only")
    group.add_argument(
        "--allow-unregistered-corpus", action="store_true", help="let an unregistered corpus through"
    )
    group.add_argument("--quiet", action="store_true", help="say nothing but the result")


def handle(options: argparse.Namespace) -> int:
    """Print the comparison; 0 improved, equivalent or inconclusive, 1 regressed (see --strict)."""
    from runner.artefacts.canonical import tabular  # the parser alone loads no stage
    from runner.claims.compare.comparing import compare
    from runner.claims.compare.terminal import show
    from runner.terminal import console

    before, after = _folders(options)
    comparison = compare(before, after, despite=options.despite, max_drop=dict(options.max_drop))
    if options.json:
        print(tabular(comparison.document(), ("rows", "questions", "changes")), end="")
    else:
        show(comparison, console(WIDTH))
    return comparison.exit_code(strict=options.strict)


def _folders(options: argparse.Namespace) -> Sequence[Path]:
    if options.versions is None:
        if len(options.folders) != 2:
            raise UsageError(
                f"compare takes two results folders, not {len(options.folders)}, or --versions and --suite"
            )
        folders: list[Path] = options.folders
        return folders
    if options.folders:
        raise UsageError("compare takes two results folders or --versions, not both")
    if options.suite is None:
        raise UsageError("--versions needs a --suite to run both on")
    from runner.claims.compare.versions import run_versions
    from runner.progress import Progress

    before, after = options.versions
    return run_versions(before, after, _request(options), progress=Progress(quiet=options.quiet))


def _request(options: argparse.Namespace) -> Request:
    from runner.request import Request

    return Request(
        suite=options.suite,
        data=options.data,
        dsn=options.dsn,
        embedder=options.embedder,
        mode=options.mode,
        granularity=options.granularity,
        limit=options.limit,
        types=options.types,
        allow_unregistered_corpus=options.allow_unregistered_corpus,
        output=options.output,
        cache=options.cache,
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _limit(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise UsageError(f"--max-drop takes METRIC=DROP, such as recall_any@10=0.01, not {text!r}") from None
