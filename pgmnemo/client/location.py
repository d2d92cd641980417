"""Resolve the argument `place`: a folder, an address, a connection or a pool."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from pgmnemo.errors import UsageError

VARIABLE = "PGMNEMO_MEMORY"
# Parameters that a DSN may override. A machine that stops answering is given up after a minute.
DEFAULTS = {
    "application_name": "pgmnemo", "client_encoding": "UTF8",
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}  # fmt: skip


def resolve_location(
    place: object, environ: Mapping[str, str] = os.environ
) -> Path | dict[str, Any] | object:
    """Return a folder as a Path, an address as a mapping for psycopg, or the given connection or pool.

    A text with `://` or `=` is an address, any other a folder. None selects PGMNEMO_MEMORY, else a folder
    among the user's data. Raise UsageError for any other type.
    """
    if place is None:
        place = environ.get(VARIABLE) or user_data_path("pgmnemo") / "memory"
    if isinstance(place, str):
        if not place.strip():
            raise UsageError("a memory lies in a folder or in the database of a DSN; the given text is empty")
        return dsn_parameters(place) if "://" in place or "=" in place else Path(place)
    if isinstance(place, os.PathLike):
        return Path(place)
    if hasattr(place, "execute") or hasattr(place, "getconn"):
        return place
    raise UsageError(
        "a memory is opened from a folder, a DSN, a connection of psycopg or a pool of psycopg_pool, not "
        f"{type(place).__name__}"
    )


def dsn_parameters(dsn: str) -> dict[str, Any]:
    """Return a DSN as psycopg's parameters; raise UsageError without the password if it cannot be read."""
    from pgmnemo.postgres.connections import read_dsn

    return {**DEFAULTS, **read_dsn(dsn, otherwise=", or name a folder")}
