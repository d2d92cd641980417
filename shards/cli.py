"""The command line of the shards; each command is one thin function.

Results go to standard output, what happens meanwhile to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from uuid import UUID

from cyclopts import App, Parameter
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from pgmnemo.ending import carried_out, ended
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.server.connections import database_errors, place
from pgmnemo.server.releases import default_version
from pgmnemo.server.server_checks import Session, value
from pgmnemo.terminal import Plain, console, grid
from shards import installing, local, moving
from shards.directory import shards
from shards.state import state
from shards.temporary import temporary
from shards.torture import report
from shards.torture import torture as tormented
from shards.tour import tour as walk

PROGRAM = "python -m shards"
ROUTER = "PGMNEMO_ROUTER"
Folder = Annotated[
    Path | None, Parameter(help="folder of the local cluster; else one in the temporary folder")
]
Router = Annotated[
    str | None, Parameter(help="libpq's words for a router elsewhere; else PGMNEMO_ROUTER, else local")
]

app = App(
    name=PROGRAM,
    help="Tenants of pgmnemo over several PostgreSQL servers, behind one router (PL/Proxy).",
    help_format="plaintext",
    version_flags=(),
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
    console=Plain(),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is as in `pgmnemo.ending`."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    return ended(lambda: carried_out(app, tokens))


@app.command
def up(*, shards: int = 3, replicas: int = 0, folder: Folder = None, volatile: bool = False) -> None:
    """Start a router and shards on this machine; they outlive the command, until `down`.

    Parameters
    ----------
    shards
        how many
    replicas
        streaming replicas of each
    volatile
        without fsync: faster, and nothing survives a crash of the machine
    """
    cluster = local.up(folder or local.default_folder(), shards, volatile=volatile)
    for name in [name for name in cluster.ports if name != "router"] * replicas:
        cluster = local.add_replica(cluster, name)
    host, port = cluster.sockets, cluster.ports["router"]
    print(f"router and {shards} shards are up in {cluster.folder}")
    print(f"operator: psql 'host={host} port={port} dbname=pgmnemo user=postgres'")


@app.command
def down(*, folder: Folder = None) -> None:
    """Stop every server of the local cluster and delete it, with all that it holds."""
    where = folder or local.default_folder()
    if not (where / local.FILE).is_file():
        raise DatabaseError(f"there is no cluster in {where}: nothing to take down")
    local.down(where)
    print(f"nothing is left in {where}")


@app.command
def status(*, folder: Folder = None, router: Router = None) -> None:
    """The shards as the directory names them and as they answer, and the moves that are not done."""
    with _router(folder, router) as session:
        table = grid("shards")
        for column in ("shard", "pgmnemo", "placed", "held", "MB", "capacity MB", "takes new tenants"):
            table.add_column(column, justify="left" if column in ("shard", "pgmnemo") else "right")
        for row in state(session):
            table.add_row(*row)
        console(100).print(table)
        for left in session.execute("SELECT tenant_id, source, target, state FROM directory.move").fetchall():
            print("move of {} from {} to {}: {}".format(*left))


@app.command
def login(name: str, *, folder: Folder = None, router: Router = None) -> None:
    """Make a login on the router and on every shard."""
    with _router(folder, router) as session:
        session.execute("SELECT pgmnemo.create_login(%s)", (name,))


@app.command
def grant(
    tenant: UUID, login: str, *, shard: str | None = None, folder: Folder = None, router: Router = None
) -> None:
    """Let a login reach a tenant, which is placed on a shard if it is new.

    Parameters
    ----------
    shard
        where a new tenant is placed; else on the open shard with the fewest tenants
    """
    with _router(folder, router) as session:
        where = value(session, "SELECT pgmnemo.place_tenant(%s, %s)", tenant, shard)
        session.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, login))
        print(f"tenant {tenant} lies on {where}")


@app.command
def move(tenant: UUID, shard: str, *, folder: Folder = None, router: Router = None) -> None:
    """Move a tenant to another shard while it is read and written."""
    with _router(folder, router) as session:
        done = moving.move(session, tenant, shard, lambda step: print(step, file=sys.stderr))
        print(f"tenant {tenant} moved from {done.source.name} to {done.target.name}")


@app.command
def recover(*, tenant: UUID | None = None, folder: Folder = None, router: Router = None) -> None:
    """Undo or finish the moves whose commands are gone."""
    with _router(folder, router) as session:
        outcomes = moving.recover(session, tenant)
        for left, outcome in outcomes:
            print(f"move of {left.tenant} from {left.source.name} to {left.target.name}: {outcome}")
        if not outcomes:
            print("no move was left")
        if any(outcome not in moving.OUTCOMES for _, outcome in outcomes):
            raise DatabaseError(
                "not every move could be ended; mend what is named above and run recover again"
            )


@app.command
def add(
    name: str, *, address: str | None = None, operator: str | None = None, capacity: int | None = None,
    secret: str | None = None, folder: Folder = None, router: Router = None,
) -> None:  # fmt: skip
    """Add a shard: a new server of the local cluster, or with --address a database that is there.

    Parameters
    ----------
    address
        libpq's words for the shard as the router reaches it, without user and password
    operator
        the same as this command reaches it, with the operator's user; else --address
    capacity
        bytes that it may hold before it takes no other tenant
    secret
        password of the logins there, which the router's password file has; else they have none
    """
    if address is None:
        local.add(local.find(folder or local.default_folder()), name, capacity)
    else:
        reached = operator or address
        conninfo = _conninfo(router or os.environ.get(ROUTER))
        installing.install_router_for(conninfo, conninfo_to_dict(reached), default_version())
        with _router(folder, router) as session:
            version = default_version()
            for line in installing.add_shard(session, name, address, reached, capacity, version, secret):
                print(line)
    print(f"shard {name} takes tenants")


@app.command
def replica(shard: str, *, address: str | None = None, folder: Folder = None, router: Router = None) -> None:
    """Add a streaming replica of a shard: a new server here, or with --address one that streams.

    Parameters
    ----------
    address
        libpq's words for the replica as the router reaches it, without user and password
    """
    if address is None:
        local.add_replica(local.find(folder or local.default_folder()), shard)
    else:
        with _router(folder, router) as session:
            installing.add_replica(session, shard, address)
    print(f"recalls that allow some staleness may read a replica of {shard}")


@app.command
def tour() -> None:
    """Show all of it in some seconds, on a cluster of its own: up, store, recall, move, down."""
    with temporary() as folder:
        walk(folder, lambda line: print(line, flush=True))


@app.command
def torture(*, moves: int = 50, killed: int = 10, routers: int = 0, seed: int = 42) -> None:
    """Move tenants under writers on a cluster of its own, kill movers and routers, and count what was lost.

    Parameters
    ----------
    moves
        how many
    killed
        movers that are killed at a random moment
    routers
        moves at whose switch the router is killed, every other time with its mover
    seed
        of what is random: tenants, targets, moments
    """
    for name, given, most in (("killed", killed, moves), ("routers", routers, moves - killed)):
        if not 0 <= given <= most:
            raise UsageError(f"--{name} is {given}, but must be from 0 to {most}, as there are {moves} moves")
    with temporary() as folder:
        print(report(tormented(folder, moves, killed, seed, routers)))


@contextmanager
def _router(folder: Path | None, router: str | None) -> Iterator[Session]:
    """The router as the operator: elsewhere, or of the local cluster."""
    given = router or (os.environ.get(ROUTER) if folder is None else None)
    conninfo = _conninfo(given) if given else local.find(folder or local.default_folder()).conninfo()
    where = place(conninfo)
    with installing.open_operator(conninfo) as session, database_errors(f"the router at {where}"):
        if not value(session, installing.HAS_DIRECTORY):
            raise DatabaseError(f"the database at {where} is no router: it has no directory")
        if not shards(session):
            print(f"the directory at {where} names no shard yet", file=sys.stderr)
        yield session


def _conninfo(text: str | None) -> dict[str, str]:
    if not text:
        raise UsageError(f"name the router by --router or {ROUTER}")
    try:
        return {name: str(given) for name, given in conninfo_to_dict(text).items()}
    except ProgrammingError:
        raise UsageError(
            f"the address {text!r} cannot be read: write libpq's words, as host=… dbname=…"
        ) from None
