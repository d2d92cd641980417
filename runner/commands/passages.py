"""`python -m runner passages`: gives the lessons of a tenant the passages that they lack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated
from uuid import UUID

from cyclopts import Parameter

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.errors import UsageError
from pgmnemo.passages.adding import Added, add_passages
from pgmnemo.progress import Progress
from pgmnemo.server import open_lessons
from runner.options import Quiet
from runner.runs.choice import NO_EMBEDDER

EMBEDDER = (
    f"the one that made the lessons' vectors: {', '.join(EMBEDDERS)}, or {NO_EMBEDDER}: passages are "
    "found by their words alone"
)


def passages_command(
    *,
    tenant: str,
    dsn: str | None = None,
    embedder: Annotated[str, Parameter(help=EMBEDDER)] = NO_EMBEDDER,
    options: Annotated[EmbedderOptions, Parameter(name="*")] = EmbedderOptions(),  # noqa: B008
    quiet: Quiet = False,
) -> int:
    """Give the lessons of a tenant the passages that they lack, as after an upgrade to 0.3.0.

    Args:
        tenant: tenant whose lessons are meant
        dsn: the database that holds the lessons (default: PGMNEMO_DSN)
    """
    owner = _tenant(tenant)
    model = None if embedder == NO_EMBEDDER else EMBEDDERS[embedder](options)
    with open_lessons(dsn, owner, os.environ) as connection:
        done = add_passages(connection, owner, model, Progress(quiet=quiet))
    print(*lines(done, embedder), sep="\n")
    return 0


def _tenant(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise UsageError(f"--tenant takes the uuid of a tenant, not {text!r}") from None


def lines(done: Added, embedder: str) -> Iterator[str]:
    """What was done, for people; a line for each kind of lesson that still has no passages."""
    what = f"passages: {done.passages:,}, vectors: {embedder}"
    yield f"lessons that were given passages: {done.lessons:,} ({what})"
    if done.changed:
        yield f"lessons that somebody else wrote meanwhile: {done.changed:,}; run the command once more"
    if done.wordless:
        yield f"lessons without a word to cut, which stay as they are: {done.wordless:,}"
    if done.long:
        yield f"lessons of more than 1,000 passages, which stay as they are: {done.long:,}"
