"""The commands on the cluster and its shards; tenant_commands.py has those on tenants.

Results go to standard output, progress to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from cyclopts import Parameter

from pgmnemo.cli_main import dispatch, run_cli
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_checks import value
from pgmnemo.terminal import console, grid
from pgmnemo_shards import addresses, import_existing, installing, local, standby, tenant_commands, upgrading
from pgmnemo_shards.chaos import report, run_chaos
from pgmnemo_shards.demo import run_demo
from pgmnemo_shards.directory import shards
from pgmnemo_shards.installing import NewShard
from pgmnemo_shards.options import Folder, Router, app, remote_router, router_session
from pgmnemo_shards.status import shard_rows
from pgmnemo_shards.temporary_folder import temporary_folder

ADDRESS = Parameter(help="libpq's words for the server as the router reaches it, without user and password")
Address = Annotated[str | None, ADDRESS]
Operator = Annotated[
    str | None,
    Parameter(help="the same as this command reaches it, with the operator's user; else --address"),
]
Capacity = Annotated[int | None, Parameter(help="bytes that it may hold before it takes no other tenant")]
SecretFile = Annotated[
    Path | None,
    Parameter(
        help="file with the password of the logins there (-: standard input); else PGMNEMO_SHARD_SECRET"
    ),
]
InClear = Annotated[str | None, Parameter(show=False)]
assert tenant_commands  # which adds its commands to the program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, as in `pgmnemo.cli_main`."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    return run_cli(lambda: dispatch(app, tokens))


@app.command
def up(*, shards: int = 3, replicas: int = 0, folder: Folder = None, volatile: bool = False) -> None:
    """Start a router and shards on this machine; they outlive the command, until `down`.

    Parameters
    ----------
    shards
        number of shards
    replicas
        number of streaming replicas of each shard
    volatile
        run without fsync: faster, but a crash of the machine loses all data
    """
    cluster = local.up(folder or local.default_folder(), shards, volatile=volatile)
    for name in [name for name in cluster.ports if name != "router"] * replicas:
        cluster = local.add_replica(cluster, name)
    host, port = cluster.sockets, cluster.ports["router"]
    print(f"router and {shards} shards are up in {cluster.folder}")
    print(f"operator: psql 'host={host} port={port} dbname=pgmnemo user=postgres'")


@app.command
def down(*, folder: Folder = None) -> None:
    """Stop every server of the local cluster, and delete the cluster with all its data."""
    where = folder or local.default_folder()
    if not (where / local.FILE).is_file():
        raise DatabaseError(f"there is no cluster in {where}: nothing to take down")
    local.check_own(where)
    local.down(where)
    print(f"nothing is left in {where}")


@app.command
def status(*, folder: Folder = None, router: Router = None) -> None:
    """Show each shard by the directory and by its own answer; end unfinished moves as `recover` does."""
    with router_session(folder, router) as session:
        table = grid("shards")
        for column in ("shard", "pgmnemo", "placed", "held", "MB", "capacity MB", "takes new tenants"):
            table.add_column(column, justify="left" if column in ("shard", "pgmnemo") else "right")
        for row in shard_rows(session):
            table.add_row(*row)
        console(100).print(table)
        tenant_commands.recover_and_print(session)


@app.command
def add(
    name: str, *, address: Address = None, operator: Operator = None, capacity: Capacity = None,
    secret_file: SecretFile = None, secret: InClear = None, folder: Folder = None, router: Router = None,
) -> None:  # fmt: skip
    """Add a shard: a new server of the local cluster, or with --address an existing empty database."""
    if address is None:
        local.add(local.find(folder or local.default_folder()), name, capacity)
    else:
        new = _new(name, address, operator, capacity, secret_file, secret)
        _add_database(new, folder, router, installing.add_shard)
    print(f"shard {name} takes tenants")


@app.command(name="import")
def import_(
    name: str, *, address: Annotated[str, ADDRESS], operator: Operator = None, capacity: Capacity = None,
    secret_file: SecretFile = None, secret: InClear = None, folder: Folder = None, router: Router = None,
) -> None:  # fmt: skip
    """Make a database with tenants a shard, and add the tenants to the directory.

    The logins of the database are created on the router, with their passwords.
    """
    _add_database(
        _new(name, address, operator, capacity, secret_file, secret),
        folder,
        router,
        import_existing.import_database,
    )


@app.command
def rebuild(
    shard: list[str] | None = None, *, keep: list[str] | None = None, folder: Folder = None,
    router: Router = None,
) -> None:  # fmt: skip
    """Fill the empty directory of a router from its shards.

    Parameters
    ----------
    shard
        connection string of each shard for the operator; else the shards of the local cluster
    keep
        TENANT=SHARD: the shard that serves a tenant which two shards hold
    """
    if shard is None:
        cluster = local.find(folder or local.default_folder())
        shard = [cluster.operator(name) for name in cluster.shards]
    conninfo = remote_router(router, folder) or local.find(folder or local.default_folder()).conninfo()
    first = addresses.from_command_line(shard[0], "the address of a shard")
    installing.install_router_for(conninfo, first, default_version())
    with router_session(folder, router) as session:
        for line in import_existing.rebuild(session, shard, dict(map(_parse_keep, keep or []))):
            print(line)


@app.command
def upgrade(*, folder: Folder = None, router: Router = None) -> None:
    """Upgrade the extension on every shard, then the router, to this release, while calls continue."""
    if remote_router(router, folder) is None:
        local.stage_extension_again(local.find(folder or local.default_folder()))
    with router_session(folder, router) as session:
        upgrading.upgrade(session, default_version(), lambda line: print(line, flush=True))


@app.command
def replica(shard: str, *, address: Address = None, folder: Folder = None, router: Router = None) -> None:
    """Add a streaming replica of a shard: a new server here, or with --address an existing one that streams.

    A replica of the local cluster's `router` answers recalls, and replaces it after pg_promote().
    """
    if address is None:
        cluster = local.add_replica(local.find(folder or local.default_folder()), shard)
        name = cluster.replicas[-1]
        print(f"{name} follows {shard}: host={cluster.sockets} port={cluster.ports[name]} dbname=pgmnemo")
        return
    with router_session(folder, router) as session:
        installing.add_replica(session, shard, addresses.router_address(address))
    print(f"recalls that allow some staleness may read a replica of {shard}")


@app.command
def failover(shard: str, *, folder: Folder = None, router: Router = None) -> None:
    """Promote a replica to replace a shard that is down for good."""
    with router_session(folder, router) as session:
        chosen, others = standby.fail_over(session, shard)
    print(f"{chosen} is shard {shard} now")
    if others:
        print(f"no longer in the directory, since they follow nobody: {', '.join(others)}")


@app.command
def mark(name: str, *, folder: Folder = None, router: Router = None) -> None:
    """Create a restore point on all servers, to which their backups can be restored together."""
    with router_session(folder, router) as session:
        standby.create_restore_point(session, name)
    print(f"restore each server to recovery_target_name = '{name}', then run pgmnemo-shards recover")


@app.command
def demo() -> None:
    """Show the main features in some seconds, on a temporary cluster: up, store, recall, move, down."""
    with temporary_folder() as folder:
        run_demo(folder, lambda line: print(line, flush=True))


@app.command
def chaos(*, moves: int = 50, killed: int = 10, routers: int = 0, seed: int = 42) -> None:
    """Move tenants under writers on a temporary cluster, kill processes of the moves, and count lost writes.

    Parameters
    ----------
    moves
        number of moves
    killed
        number of moves with a kill: of mover, router, source, target or a connection, at each step in turn
    routers
        number of further moves in which the router is killed at the switch, every other time with its mover
    seed
        seed of the random tenants, targets and moments
    """
    for name, given, limit in (("killed", killed, moves), ("routers", routers, moves - killed)):
        if not 0 <= given <= limit:
            raise UsageError(
                f"--{name} is {given}, but must be from 0 to {limit}, as there are {moves} moves"
            )
    with temporary_folder() as folder:
        print(report(run_chaos(folder, moves, killed, seed, routers)))


def _new(
    name: str, address: str, operator: str | None, capacity: int | None, file: Path | None, clear: str | None
) -> NewShard:
    if clear is not None:
        raise UsageError(
            "--secret shows the password to everyone who may list processes; write it to a file of yours "
            f"alone and give --secret-file, or set {addresses.SECRET}"
        )
    reached = addresses.operator_address(operator or address, "--operator" if operator else "--address")
    return NewShard(name, addresses.router_address(address), reached, capacity, addresses.read_secret(file))


def _add_database(new: NewShard, folder: Path | None, router: str | None, how: Any) -> None:
    """Make an existing database a shard, with the release of the other shards."""
    if (conninfo := remote_router(router, folder)) is not None:
        installing.install_router_for(conninfo, new.conninfo, default_version())
    with router_session(folder, router) as session:
        version = value(session, "SELECT pgmnemo.version()") if shards(session) else default_version()
        for line in how(session, new, version):
            print(line)


def _parse_keep(text: str) -> tuple[UUID, str]:
    tenant, _, shard = text.partition("=")
    try:
        return UUID(tenant), shard
    except ValueError:
        raise UsageError(
            f"--keep {text!r} cannot be read: write TENANT=SHARD, the tenant as its uuid"
        ) from None
