"""Choose the server of a run: --dsn, PGMNEMO_DSN, the project's compose service, else an embedded server."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.paths import CHECKOUT
from pgmnemo.postgres.connections import connect, dsn_label, read_dsn
from pgmnemo.progress import Progress

# The compose service: docker-compose.yml and sql/Dockerfile have the same values, which a test compares.
COMPOSE_HOST = "127.0.0.1"
COMPOSE_PORT = "54329"
COMPOSE_USER = "pgmnemo"
COMPOSE_DATABASE = "pgmnemo"
COMPOSE_PASSWORD = "pgmnemo"
COMPOSE_MARKER = "pgmnemo_compose"  # the image's cluster_name
ENV_FILE = CHECKOUT / ".env"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server to use: its origin, and its login parameters.

    `str` shows no password.
    """

    origin: str  # "--dsn", "PGMNEMO_DSN", "compose", "embedded"
    conninfo: Mapping[str, Any]

    def __str__(self) -> str:
        return f"the server at {dsn_label(self.conninfo)}"

    @property
    def where(self) -> str:
        """Return the name of the server for messages about a database in it."""
        return "the embedded PostgreSQL" if self.origin == "embedded" else str(self)


def find_server(
    dsn: str | None, environ: Mapping[str, str], progress: Progress, env_file: Path = ENV_FILE
) -> ServerAddress | None:
    """Return the server that a run uses, or None for the embedded server; report the choice and its reason.

    Raise UsageError for a DSN that cannot be read. No connection to a given server is tried.
    """
    if given := given_server(dsn, environ):
        progress.say(f"database: {dsn_label(given.conninfo)}, given by {given.origin}")
        return given
    compose, why = _compose(environ, env_file)
    if compose:
        progress.say(f"database: the compose service at {dsn_label(compose.conninfo)}")
        return compose
    progress.say(f"database: an embedded PostgreSQL for this run alone ({why})")
    return None


def given_server(dsn: str | None, environ: Mapping[str, str]) -> ServerAddress | None:
    """Return the server that --dsn names, or else PGMNEMO_DSN; raise UsageError for an unreadable DSN."""
    for origin, value in (("--dsn", dsn), ("PGMNEMO_DSN", environ.get("PGMNEMO_DSN"))):
        if value:
            return ServerAddress(origin, read_dsn(value, f"the DSN given by {origin}"))
    return None


def _compose(environ: Mapping[str, str], env_file: Path) -> tuple[ServerAddress | None, str]:
    """Return the compose service if it answers and has the project's marker, else None and the reason."""
    port = environ.get("PGMNEMO_PORT") or COMPOSE_PORT
    no_dsn = f"no --dsn, no PGMNEMO_DSN, and on {COMPOSE_HOST}:{port} "
    try:
        socket.create_connection((COMPOSE_HOST, int(port)), timeout=1.0).close()
    except ValueError:
        raise UsageError(f"PGMNEMO_PORT is {port!r}; it must be the number of a port") from None
    except (OSError, OverflowError):
        return None, no_dsn + "no compose service answers"
    conninfo = {
        "host": COMPOSE_HOST, "hostaddr": "", "port": port, "user": COMPOSE_USER, "dbname": COMPOSE_DATABASE,
        "password": environ.get("PGMNEMO_PASSWORD") or _from_file(env_file) or COMPOSE_PASSWORD,
        "connect_timeout": "2",
    }  # fmt: skip
    try:
        with connect(conninfo) as connection:
            row = connection.execute("SELECT current_setting('cluster_name')").fetchone()
    except DatabaseError:
        return None, no_dsn + "something answers but refuses the compose service's login: PGMNEMO_PASSWORD?"
    if row is None or row[0] != COMPOSE_MARKER:
        return None, no_dsn + "a PostgreSQL answers that is not our compose service"
    return ServerAddress("compose", conninfo), ""


def _from_file(env_file: Path) -> str | None:
    """Return PGMNEMO_PASSWORD from an `.env` file; None if it has none."""
    try:
        lines = env_file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines)
    values = [value.strip().strip("'\"") for name, _, value in pairs if name.strip() == "PGMNEMO_PASSWORD"]
    return values[-1] if values else None
