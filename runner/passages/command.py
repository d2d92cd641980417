"""`python -m runner passages`: gives the lessons of a tenant the passages that they lack."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any
from uuid import UUID

from runner.embedders import EMBEDDERS, EmbedderOptions
from runner.errors import UsageError
from runner.progress import Progress
from runner.request import NO_EMBEDDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.passages.adding import Added

NAME = "passages"


def add_parser(commands: Any) -> None:
    """The command and its options."""
    words = "give the lessons of a tenant the passages that they lack, as after an upgrade to 0.3.0"
    parser = commands.add_parser(NAME, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.add_argument(
        "--dsn", metavar="DSN", help="the database that holds the lessons (default: PGMNEMO_DSN)"
    )
    parser.add_argument("--tenant", required=True, metavar="UUID", help="tenant whose lessons are meant")
    parser.add_argument(
        "--embedder", default=NO_EMBEDDER, metavar="NAME",
        help=f"the one that made the lessons' vectors: {', '.join(EMBEDDERS)}, or {NO_EMBEDDER}: passages "
        f"are found by their words alone (default: {NO_EMBEDDER})",
    )  # fmt: skip
    for option, words in {
        "--model": "local folder of the embedder's model; for the embedder endpoint, the model's name",
        "--endpoint-url": "OpenAI-compatible service of the embedder endpoint",
        "--document-prefix": "put before every text before it is embedded",
    }.items():
        parser.add_argument(option, metavar="TEXT", help=words)
    for option, words in {
        "--dimensions": "width of the vectors, for the embedders endpoint and hash",
        "--batch-size": "texts embedded at once (default: the protocol's, or the model's)",
    }.items():
        parser.add_argument(option, type=int, metavar="N", help=words)
    parser.add_argument("--quiet", action="store_true", help="say nothing but the result")
    parser.set_defaults(command=NAME, handler=handle)


def handle(options: argparse.Namespace) -> int:
    """Add them and print what was done; 0."""
    from runner.database import open_lessons
    from runner.passages.adding import add_passages

    tenant = _tenant(options.tenant)
    embedder = None if options.embedder == NO_EMBEDDER else EMBEDDERS[options.embedder](_settings(options))
    with open_lessons(options.dsn, tenant, os.environ) as connection:
        done = add_passages(connection, tenant, embedder, Progress(quiet=options.quiet))
    print(*lines(done, options.embedder), sep="\n")
    return 0


def _tenant(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise UsageError(f"--tenant takes the uuid of a tenant, not {text!r}") from None


def _settings(options: argparse.Namespace) -> EmbedderOptions:
    return EmbedderOptions(
        model=options.model,
        endpoint_url=options.endpoint_url,
        dimensions=options.dimensions,
        document_prefix=options.document_prefix or "",
        batch_size=options.batch_size,
    )


def lines(done: Added, embedder: str) -> Iterator[str]:
    """What was done, for people; a line for each kind of lesson that still has no passages."""
    what = f"passages: {done.passages:,}, vectors: {embedder}"
    yield f"lessons that were given passages: {done.lessons:,} ({what})"
    if done.changed:
        yield f"lessons that somebody else wrote meanwhile: {done.changed:,}; run the command once more"
    if done.wordless:
        yield f"lessons without a word to cut, which stay as they are: {done.wordless:,}"
    if done.long:
        yield f"lessons of more than 10,000 passages, which stay as they are: {done.long:,}"
