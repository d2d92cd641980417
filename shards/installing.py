"""Makes a database a shard, and another the router."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.places import SQL_FOLDER
from pgmnemo.server.bench_database import create, exists
from pgmnemo.server.connections import connect, database_errors, place
from pgmnemo.server.extension import install, installed
from pgmnemo.server.releases import release_fingerprint
from pgmnemo.server.server_checks import Session, check_available, check_server, value
from shards.doors import door
from shards.names import DATABASE, ROUTER_ROLE, SQL, STRIDE
from shards.routes import composite, route
from shards.verbs import composites, settings, verbs

Conninfo = Mapping[str, Any]
NAME = re.compile("[a-z][a-z0-9_-]{0,62}")
HAS_DOORS = "SELECT to_regclass('pgmnemo_shard.identity') IS NOT NULL"
HAS_DIRECTORY = "SELECT to_regclass('directory.shard') IS NOT NULL"
UNBOUND = """
SELECT o.rolname FROM pg_extension e JOIN pg_roles o ON o.oid = e.extowner
 WHERE e.extname = 'pgmnemo' AND (o.rolsuper OR o.rolbypassrls)
"""
LOGINS = "SELECT rolname FROM pg_roles WHERE rolcanlogin AND NOT rolsuper AND rolname <> %s ORDER BY 1"


def open_operator(conninfo: Conninfo) -> Session:
    """A connection as the operator, who is a superuser on the router and on every shard."""
    session = connect(conninfo, mend="start it, or correct its address")
    if not value(session, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"):
        login = session.info.user
        session.close()
        raise DatabaseError(f"{login} is no superuser at {place(conninfo)}; the operator of shards is one")
    return session


def make_database(server: Conninfo) -> dict[str, Any]:
    """The database of ours on a server, made if it is missing; its conninfo."""
    with connect(server) as login:
        if not exists(login, DATABASE):
            create(login, DATABASE, place(server))
    return {**server, "dbname": DATABASE}


def install_shard(conninfo: Conninfo, name: str, number: int, version: str, secret: str | None) -> None:
    """Extension and doors in the database at `conninfo`; ids of lessons from number * 2^40 + 1 on."""
    where = place(conninfo)
    with open_operator(conninfo) as session, database_errors(where):
        check_server(session, where)
        if value(session, HAS_DOORS):
            known = value(session, "SELECT name FROM pgmnemo_shard.identity")
            raise DatabaseError(f"the database at {where} is shard {known} already; name another database")
        if installed(session).pgmnemo is None:
            check_available(session, where, version, SQL_FOLDER)
            install(session, version)
        _check_release(session, where, version)
        with session.transaction():
            _make_router_login(session, secret)
            session.execute(_filled("shard.sql", session, name=name, secret=secret).encode())
            for verb in verbs(session):
                session.execute(door(verb).encode())
            if number:
                start = f"ALTER TABLE pgmnemo.lesson ALTER COLUMN id RESTART WITH {number * STRIDE + 1}"
                session.execute(start.encode())


def install_router(conninfo: Conninfo, shard: Conninfo) -> None:
    """Directory and functions in the database at `conninfo`, for the verbs that `shard` has."""
    where = place(conninfo)
    with open_operator(shard) as example, open_operator(conninfo) as session, database_errors(where):
        if value(session, HAS_DIRECTORY):
            return
        with session.transaction():
            if not value(session, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", ROUTER_ROLE):
                session.execute(f"CREATE ROLE {ROUTER_ROLE} NOLOGIN".encode())
            session.execute(_filled("router.sql", example).encode())
            for name, attributes in composites(example).items():
                session.execute(composite(name, attributes).encode())
            for verb in verbs(example):
                session.execute(route(verb).encode())
            version = value(example, "SELECT pgmnemo.version()")
            session.execute(
                f"CREATE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql IMMUTABLE "
                f"AS $$ SELECT '{version}' $$".encode()
            )


def add_shard(
    router: Session, name: str, address: str, operator: str, capacity: int | None, version: str,
    secret: str | None = None,
) -> list[str]:  # fmt: skip
    """A new shard in the directory, with every login that the router has; what its operator must know."""
    check_new(router, name)
    number = value(router, "SELECT coalesce(max(number) + 1, 0) FROM directory.shard")
    install_shard(conninfo_to_dict(operator), name, number, version, secret)
    with psycopg.connect(operator, autocommit=True) as shard:
        told = _found(shard, name)
        for (login,) in router.execute(LOGINS, (ROUTER_ROLE,)).fetchall():
            shard.execute("SELECT pgmnemo_shard.create_login(%s)", (login,))
    router.execute(
        "INSERT INTO directory.shard (name, number, address, operator, capacity) VALUES (%s, %s, %s, %s, %s)",
        (name, number, address, operator, capacity),
    )
    return told


def check_new(router: Session, name: str) -> None:
    """Raise where the directory names a shard `name`, or may not."""
    if value(router, "SELECT EXISTS (SELECT FROM directory.shard WHERE name = %s)", name):
        raise UsageError(f"the directory names a shard {name} already; give this one another name")
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name of a shard: write a-z first, then a-z, 0-9, - and _, 63 at most"
        )


def install_router_for(router: Conninfo, shard: Conninfo, version: str) -> None:
    """The router's own objects, where they are missing, after the extension of its first shard."""
    with open_operator(router) as session:
        there = bool(value(session, HAS_DIRECTORY))
    if not there:
        with open_operator(shard) as session:
            if installed(session).pgmnemo is None:
                check_available(session, place(shard), version, SQL_FOLDER)
                install(session, version)
        install_router(router, shard)


def add_replica(router: Session, shard: str, address: str) -> None:
    """A replica that streams from a shard already, in the directory."""
    number = value(router, "SELECT count(*) + 1 FROM directory.replica WHERE shard = %s", shard)
    router.execute(
        "INSERT INTO directory.replica VALUES (%s, %s, %s)", (f"{shard}-replica{number}", shard, address)
    )


def _found(shard: Session, name: str) -> list[str]:
    """What is not as in a database that we made: an owner whom no policy binds, tenants that are there."""
    told = []
    owner = value(shard, UNBOUND)
    if owner is not None:
        told.append(
            f"the extension on shard {name} is owned by {owner}, whom row-level security does not bind: only "
            "the tenant that each statement names keeps tenants apart there; to have both walls, install it "
            "as an ordinary role in a new database (sql/README.md)"
        )
    tenants = value(shard, "SELECT tenants FROM pgmnemo_shard.state()")
    if tenants:
        told.append(
            f"shard {name} holds tenants already ({tenants}), of which the directory knows nothing: "
            f"place each there, by python -m shards grant TENANT LOGIN --shard {name}"
        )
    return told


def _check_release(session: Session, where: str, version: str) -> None:
    found = installed(session)
    if found.pgmnemo != version:
        raise DatabaseError(
            f"{where} holds pgmnemo {found.pgmnemo}, and the other shards {version}: "
            "run ALTER EXTENSION pgmnemo UPDATE where it is older"
        )
    release = release_fingerprint(SQL_FOLDER, version)
    if release is not None and found.fingerprint != release:
        raise DatabaseError(f"{where} holds another extension named pgmnemo, or a patched copy of {version}")


def _make_router_login(session: Session, secret: str | None) -> None:
    if not value(session, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", ROUTER_ROLE):
        password = sql.SQL(" PASSWORD {}").format(secret) if secret else sql.SQL("")
        session.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(ROUTER_ROLE)) + password)


def _filled(file: str, extension: Session, name: str = "", secret: str | None = None) -> str:
    """A script of ours with what it leaves open, as literals."""
    text = (SQL / file).read_text(encoding="utf-8")
    names = "{" + ",".join(settings(extension)) + "}"
    given = {"names": names, "name": name, "secret": secret}
    for key, literal in given.items():
        text = text.replace("{" + key + "}", sql.Literal(literal).as_string(extension))
    return text.replace("{router}", ROUTER_ROLE)
