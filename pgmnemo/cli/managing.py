"""Commands for a memory as a whole: made, opened to others, upgraded, moved."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.cli.opening import memory as opened
from pgmnemo.cli.opening import scope
from pgmnemo.cli.options import LOCAL, STANDARD, Dashed, DryRun, Embedder, Json, Place, Quiet, Whole
from pgmnemo.cli.printing import lessons, note, outcomes, tell

WHOLE = Whole()


def grant(
    tenant: str, /, *, role: str | None = None, memory: Place = None, json: Json = False, quiet: Quiet = False
) -> None:
    """Let a role work for a tenant, in a database; who owns pgmnemo there may do that.

    Args:
        tenant: a name or uuid
        role: a role of the database; else the one that logs in
    """
    with opened(memory, quiet) as here:
        here.grant(tenant, role)
    whom = role or "the role that logs in"
    tell(json, {"tenant": tenant, "role": role}, f"{whom} may work for the tenant {tenant}")


def export(
    file: Annotated[Dashed, Parameter(help="a new file; -: standard output")],
    /,
    *,
    no_vectors: bool = False,
    where: Whole = WHOLE,
) -> None:
    """Write a tenant, or one project, to a new file of JSON lines.

    Args:
        no_vectors: leave vectors out: a smaller file, whose texts are
            embedded when it is read
    """
    from pgmnemo.progress import Progress

    assert file is not None
    to = sys.stdout.buffer if file == STANDARD else file
    with scope(where) as here:
        number = here.export(to, vectors=not no_vectors, progress=Progress(where.quiet))
    if file == STANDARD:
        note(where.quiet, f"wrote {lessons(number)}")
    else:
        tell(where.json, {"lessons": number}, f"wrote {lessons(number)} to {file}")


def import_(
    place: Dashed,
    /,
    *,
    dry_run: DryRun = False,
    where: Whole = WHOLE,
    embedder: Embedder = LOCAL,
) -> None:
    """Store what an export or another program's memory holds.

    Args:
        place: a file or folder; -: an export from standard input
    """
    from pgmnemo.progress import Progress

    assert place is not None
    taken = sys.stdin.buffer if place == STANDARD else place
    with scope(where, embedder, make=True) as here:
        moved = here.import_(taken, dry_run=dry_run, progress=Progress(where.quiet))
    tell(where.json, moved, f"{'would be ' if dry_run else ''}{outcomes(moved.outcomes)}")
