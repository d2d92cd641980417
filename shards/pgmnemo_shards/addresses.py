"""Connection strings of servers, and passwords, which are read privately and stored as SCRAM verifiers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgmnemo.errors import UsageError, os_errors
from pgmnemo.postgres.server_checks import Session

SECRET = "PGMNEMO_SHARD_SECRET"
PATIENCE = (
    "5"  # seconds that router and commands wait for a connection to a shard; an address may set another limit
)
PASSWORDS = ("password", "sslpassword")
PASSFILE = "write it to a passfile (~/.pgpass, or what PGPASSFILE names) that only its user can read"


def parse(text: str, what: str) -> dict[str, Any]:
    """Return an address as libpq's parameters.

    Raise UsageError if it cannot be read; the message does not repeat the address.
    """
    try:
        return conninfo_to_dict(text)
    except ProgrammingError:
        raise UsageError(f"{what} cannot be read: write libpq's words, as host=… dbname=…") from None


def router_address(text: str, what: str = "--address") -> str:
    """Return a shard's address for the router.

    Raise UsageError if it names a user, because each caller logs in.
    """
    given = _without_password(text, what)
    if "user" in given:
        raise UsageError(f"{what} names a user, but the router logs in as whoever calls; leave it out")
    return make_conninfo("", **{"connect_timeout": PATIENCE, **given})


def operator_address(text: str, what: str = "--operator") -> str:
    """Return the address of a shard for the operator; the directory stores it."""
    return make_conninfo("", **_without_password(text, what))


def from_command_line(text: str, what: str) -> dict[str, Any]:
    """Return an address from a command line; raise UsageError if it contains a password.

    Every user who can list processes could read the password.
    """
    return _without_password(text, what, "every list of processes shows")


def _without_password(
    text: str, what: str, exposure: str = "the directory would keep in clear"
) -> dict[str, Any]:
    given = parse(text, what)
    if any(word in given for word in PASSWORDS):
        raise UsageError(f"{what} has a password in it, which {exposure}; {PASSFILE}")
    return given


def read_secret(file: Path | None) -> str | None:
    """Return the password of the logins on a shard, from a file (`-`: standard input), else the
    environment.
    """
    if file is None:
        return os.environ.get(SECRET) or None
    if str(file) == "-":
        text = sys.stdin.readline()
    else:
        with os_errors(f"{file} cannot be read ({{why}})", UsageError):
            if file.stat().st_mode & 0o077:
                raise UsageError(f"{file} can be read by others; run chmod 600 {file}")
            text = file.read_text(encoding="utf-8")
    if not (text := text.rstrip("\r\n")):
        raise UsageError(f"{file} holds no password; write it on one line")
    return text


def scram_verifier(session: Session, password: str | None) -> str | None:
    """Return the SCRAM verifier of a password; None for None.

    It is computed here, so that no statement and no log contains the password.
    """
    if password is None:
        return None
    return session.pgconn.encrypt_password(password.encode(), b"", b"scram-sha-256").decode()
