"""Install a shard or the router in a database; a repeated call updates its objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.bench_database import create, exists
from pgmnemo.postgres.connections import connect, database_errors, dsn_label
from pgmnemo.postgres.extension import install, installed_versions
from pgmnemo.postgres.releases import release_fingerprint
from pgmnemo.postgres.server_checks import Session, check_available, check_server, value
from pgmnemo_shards.addresses import PATIENCE, scram_verifier
from pgmnemo_shards.constants import DATABASE, IDS_PER_SHARD, ROUTER_ROLE, SQL
from pgmnemo_shards.router_functions import (
    create_type_statement,
    remote_function_name,
    router_parameters,
    routing_functions,
    row_type,
)
from pgmnemo_shards.shard_functions import shard_function
from pgmnemo_shards.verbs import Columns, Verb, composites, settings, verbs

Conninfo = Mapping[str, Any]
NAME = re.compile("[a-z][a-z0-9_-]{0,62}")
IS_SHARD = "SELECT to_regclass('pgmnemo_shard.identity') IS NOT NULL"
IS_ROUTER = "SELECT to_regclass('directory.shard') IS NOT NULL"
OWNER_BYPASSES_RLS = """
SELECT o.rolname FROM pg_extension e JOIN pg_roles o ON o.oid = e.extowner
 WHERE e.extname = 'pgmnemo' AND (o.rolsuper OR o.rolbypassrls)
"""
LOGINS = "SELECT rolname FROM pg_roles WHERE rolcanlogin AND NOT rolsuper AND rolname <> %s ORDER BY 1"
OVERLOADS = """
SELECT p.oid::regprocedure::text FROM pg_proc p
 WHERE p.pronamespace = 'pgmnemo'::regnamespace AND p.proname = %s
   AND array(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t) <> %s::text[]
"""
NAMED = """
SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = %s::regnamespace AND p.proname = %s
"""
REMOVED_VERBS = """
SELECT p.oid::regprocedure::text FROM pg_proc p
 WHERE p.pronamespace = 'pgmnemo'::regnamespace AND 'settings' = ANY (p.proargnames) AND p.proname <> ALL (%s)
"""
OBJECT = re.compile(r"^CREATE (SCHEMA|SEQUENCE|INDEX|(?:UNLOGGED )?TABLE) (?!IF NOT)", re.MULTILINE)
CODE = re.compile(r"^CREATE (FUNCTION|TRIGGER) ", re.MULTILINE)
CONNECTION_ERRORS = (
    "connection_exception OR internal_error OR admin_shutdown OR crash_shutdown OR cannot_connect_now"
)
NEXT = """
SELECT setval('directory.number', greatest(nextval('directory.number'), %s,
                                           (SELECT max(number) + 1 FROM directory.shard)))
"""
REGISTER = (
    "INSERT INTO directory.shard (name, number, address, operator, capacity) VALUES (%s, %s, %s, %s, %s)"
)


@dataclass(frozen=True, slots=True)
class NewShard:
    """A shard to install.

    `address` is for the router, `operator` for the operator; `capacity` is in bytes (None: unlimited);
    `secret` is the password of the logins there (None: not needed).
    """

    name: str
    address: str
    operator: str
    capacity: int | None = None
    secret: str | None = None

    @property
    def conninfo(self) -> dict[str, Any]:
        return conninfo_to_dict(self.operator)


def open_operator(conninfo: Conninfo) -> Session:
    """Return a connection as the operator, who is a superuser on the router and on every shard."""
    session = connect({"connect_timeout": PATIENCE, **conninfo}, mend="start it, or correct its address")
    if not value(session, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"):
        login = session.info.user
        session.close()
        raise DatabaseError(
            f"{login} is no superuser at {dsn_label(conninfo)}; the operator of shards is one"
        )
    return session


def make_database(server: Conninfo) -> dict[str, Any]:
    """Create the project's database on a server, unless it exists; return its connection parameters."""
    with connect(server) as login:
        if not exists(login, DATABASE):
            create(login, DATABASE, dsn_label(server))
    return {**server, "dbname": DATABASE}


def install_shard(new: NewShard, number: int, version: str, *, again: bool = False) -> None:
    """Install the extension and the router's functions in the database of `new`.

    Its lesson ids begin at number * 2^40 + 1. Raise DatabaseError if the database is a shard already, except
    the shard `new` itself with `again`.
    """
    where = dsn_label(new.conninfo)
    with open_operator(new.conninfo) as session, database_errors(where):
        check_server(session, where)
        if value(session, IS_SHARD):
            known = value(session, "SELECT name FROM pgmnemo_shard.identity")
            if not again or known != new.name:
                raise DatabaseError(
                    f"the database at {where} is shard {known} already; name another database"
                )
        if installed_versions(session).pgmnemo is None:
            check_available(session, where, version, SQL_FOLDER)
            install(session, version)
        _check_release(session, where, version)
        scram = scram_verifier(session, new.secret)
        with session.transaction():
            session.execute("SET LOCAL lock_timeout = '10s'")
            session.execute(
                "LOCK TABLE pgmnemo.lesson IN SHARE ROW EXCLUSIVE MODE"
            )  # no id is drawn meanwhile
            _make_router_login(session, scram)
            create_shard_objects(
                session, name=new.name, verifier=scram, address=new.address, capacity=new.capacity
            )
            if value(session, "SELECT last_value >> 40 FROM pgmnemo.lesson_id_seq") != number:
                start = (
                    f"ALTER TABLE pgmnemo.lesson ALTER COLUMN id RESTART WITH {number * IDS_PER_SHARD + 1}"
                )
                session.execute(start.encode())


def create_shard_objects(session: Session, **given: object) -> None:
    """Create or replace a shard's objects besides the extension; `given` describes a new shard."""
    identity = {"name": "", "verifier": None, "address": None, "capacity": None, **given}
    session.execute(_script("shard.sql", session, identity).encode())
    for verb in verbs(session):
        _replace(session, shard_function(verb), "pgmnemo_shard", verb.name)


def install_router(conninfo: Conninfo, shard: Conninfo) -> None:
    """Create the directory and the functions for the verbs of `shard` in the database at `conninfo`."""
    where = dsn_label(conninfo)
    with open_operator(shard) as example, open_operator(conninfo) as session, database_errors(where):
        if not value(session, IS_ROUTER):
            with session.transaction():
                if not value(session, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", ROUTER_ROLE):
                    session.execute(f"CREATE ROLE {ROUTER_ROLE} NOLOGIN".encode())
                create_router_objects(session, example)


def create_router_objects(session: Session, example: Session) -> None:
    """Create or replace the router's objects for the verbs of the shard `example`."""
    session.execute(_script("router.sql", example, {}).encode())
    session.execute("SET LOCAL search_path = pg_catalog, public, pg_temp")
    routed = verbs(example)
    rows = dict(found for verb in routed if (found := row_type(verb)))
    _create_types(session, {**composites(example, "lesson_input"), **rows})
    names = [name for verb in routed for name in (verb.name, remote_function_name(verb))]
    for (signature,) in session.execute(REMOVED_VERBS, (names,)).fetchall():
        session.execute(f"DROP FUNCTION {signature}".encode())
    for verb in routed:
        _create_routing_functions(session, verb)
    version = value(example, "SELECT pgmnemo.version()")
    session.execute(
        f"CREATE OR REPLACE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql IMMUTABLE "
        f"AS $$ SELECT '{version}' $$".encode()
    )


def _create_types(session: Session, wanted: Mapping[str, Columns]) -> None:
    there = composites(session)
    for name, attributes in wanted.items():
        if there.get(name) != attributes:
            session.execute(f"DROP TYPE IF EXISTS pgmnemo.{name} CASCADE".encode())
            session.execute(create_type_statement(name, attributes).encode())


def _create_routing_functions(session: Session, verb: Verb) -> None:
    """Create a verb's routing functions, or replace them; drop those with other arguments."""
    types = [kind for _, kind, _ in router_parameters(verb)]
    for name in (remote_function_name(verb), verb.name):
        for (signature,) in session.execute(OVERLOADS, (name, types)).fetchall():
            session.execute(f"DROP FUNCTION {signature}".encode())
    inside, outside, comment = routing_functions(verb)
    _replace(session, inside, "pgmnemo", remote_function_name(verb))
    _replace(session, outside, "pgmnemo", verb.name)
    session.execute(comment.encode())


def _replace(session: Session, statement: str, schema: str, name: str) -> None:
    try:
        with session.transaction():
            session.execute(statement.encode())
    except errors.InvalidFunctionDefinition:  # other result columns, or fewer defaults
        for (signature,) in session.execute(NAMED, (schema, name)).fetchall():
            session.execute(f"DROP FUNCTION {signature}".encode())
        session.execute(statement.encode())


def add_shard(router: Session, new: NewShard, version: str) -> list[str]:
    """Install a shard and add it to the directory, with every login of the router.

    Return notes for its operator.
    """
    check_new(router, new.name)
    with shard_session(new.name, new.operator) as shard:
        there = installed_versions(shard).pgmnemo
        if there and value(
            shard, "SELECT EXISTS (SELECT FROM pgmnemo.tenant_grant) OR EXISTS (SELECT FROM pgmnemo.lesson)"
        ):
            raise UsageError(
                f"the database of {new.name} holds tenants already, of which the directory knows nothing; "
                "pgmnemo-shards import takes it over with all of them"
            )
    number = next_number(router)
    install_shard(new, number, version)
    notes = create_logins(router, new)
    register(router, new, number)
    return notes


def next_number(router: Session, least: int = 0) -> int:
    """Return a number of at least `least` that no shard has or had, because its lesson ids may still be in
    use.
    """
    return int(value(router, NEXT, least))


def register(router: Session, new: NewShard, number: int) -> None:
    """Add an installed shard to the directory."""
    router.execute(REGISTER, (new.name, number, new.address, new.operator, new.capacity))


def create_logins(router: Session, new: NewShard) -> list[str]:
    """Create the router's logins on a shard; return notes for its operator."""
    with shard_session(new.name, new.operator) as shard:
        for (login,) in router.execute(LOGINS, (ROUTER_ROLE,)).fetchall():
            shard.execute("SELECT pgmnemo_shard.create_login(%s)", (login,))
        owner = value(shard, OWNER_BYPASSES_RLS)
    if owner is None:
        return []
    return [
        f"the extension on shard {new.name} is owned by {owner}, whom row-level security does not bind: only "
        "the tenant that each statement names keeps tenants apart there; to have both walls, install it "
        "as an ordinary role in a new database (sql/README.md)"
    ]


def check_new(router: Session, name: str) -> None:
    """Raise UsageError if the directory has a shard `name` already, or the name is invalid."""
    if value(router, "SELECT EXISTS (SELECT FROM directory.shard WHERE name = %s)", name):
        raise UsageError(f"the directory names a shard {name} already; give this one another name")
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name of a shard: write a-z first, then a-z, 0-9, - and _, 63 at most"
        )


def install_router_for(router: Conninfo, shard: Conninfo, version: str) -> None:
    """Create the router's missing objects, by the verbs of its first shard."""
    with open_operator(router) as session:
        there = bool(value(session, IS_ROUTER))
    if not there:
        with open_operator(shard) as session:
            if installed_versions(session).pgmnemo is None:
                check_available(session, dsn_label(shard), version, SQL_FOLDER)
                install(session, version)
        install_router(router, shard)


def add_replica(router: Session, shard: str, address: str) -> None:
    """Add a replica, which already streams from a shard, to the directory."""
    number = value(router, "SELECT count(*) + 1 FROM directory.replica WHERE shard = %s", shard)
    router.execute(
        "INSERT INTO directory.replica VALUES (%s, %s, %s)", (f"{shard}-replica{number}", shard, address)
    )


def _check_release(session: Session, where: str, version: str) -> None:
    found = installed_versions(session)
    if found.pgmnemo != version:
        raise DatabaseError(
            f"{where} holds pgmnemo {found.pgmnemo}, and the other shards {version}: bring the older side up "
            "(pgmnemo-shards upgrade, or ALTER EXTENSION pgmnemo UPDATE there)"
        )
    release = release_fingerprint(SQL_FOLDER, version)
    if release is not None and found.fingerprint != release:
        raise DatabaseError(f"{where} holds another extension named pgmnemo, or a patched copy of {version}")


def _make_router_login(session: Session, scram: str | None) -> None:
    if not value(session, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", ROUTER_ROLE):
        password = sql.SQL(" PASSWORD {}").format(scram) if scram else sql.SQL("")
        session.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(ROUTER_ROLE)) + password)


def _script(file: str, extension: Session, given: Mapping[str, object]) -> str:
    """Return an idempotent form of one of our scripts, with its placeholders replaced by literals."""
    text = (SQL / file).read_text(encoding="utf-8")
    text = CODE.sub(r"CREATE OR REPLACE \1 ", OBJECT.sub(r"CREATE \1 IF NOT EXISTS ", text))
    for key, literal in {"names": "{" + ",".join(settings(extension)) + "}", **given}.items():
        text = text.replace("{" + key + "}", sql.Literal(literal).as_string(extension))
    return text.replace("{router}", ROUTER_ROLE).replace("{silent}", CONNECTION_ERRORS)


def open_shard(name: str, operator: str) -> Session:
    """Return a connection to a shard as its operator; raise DatabaseError with its name if it is down."""
    try:
        return open_operator(conninfo_to_dict(operator))
    except DatabaseError as error:
        raise DatabaseError(f"shard {name} is down: {error}") from None


@contextmanager
def shard_session(name: str, operator: str) -> Iterator[Session]:
    """Yield a session on a shard as its operator; errors in the block name the shard."""
    with open_shard(name, operator) as session, database_errors(f"shard {name}"):
        yield session
