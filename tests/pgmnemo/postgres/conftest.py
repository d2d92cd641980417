"""A stub of the extension, an address where nothing answers, and a server of the kind that --dsn names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.postgres.servers import temporary_server
from tests.helping import Listener, free_port, readable
from tests.pgmnemo.postgres.memories import memories
from tests.security.attacked import Server

CONTROL = """comment = 'a stub'
default_version = '0.2.1'
requires = 'vector'
schema = 'pgmnemo'
relocatable = false
superuser = false
"""
SCRIPT = """
CREATE TABLE pgmnemo.lesson (id bigint PRIMARY KEY);
CREATE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0.2.1' $$;
CREATE FUNCTION pgmnemo.near(embedding vector, k int DEFAULT 10) RETURNS SETOF bigint
    LANGUAGE sql STABLE SET search_path = pg_catalog AS $$ SELECT 1::bigint $$;
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
"""


@dataclass(frozen=True)
class GivenServer:
    """A PostgreSQL on a TCP port that wants passwords; `admin` logs in over its socket."""

    port: int
    socket: dict[str, str]

    def dsn(self, user: str, database: str = "postgres", password: str = "secret") -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def admin(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(make_conninfo(**{**self.socket, "dbname": database}), autocommit=True)

    def run(self, *statements: str, database: str = "postgres") -> None:
        with self.admin(database) as connection:
            for statement in statements:
                connection.execute(statement)

    def names(self) -> dict[str, set[object]]:
        """What a trace would be left in."""
        with self.admin() as connection:
            return {
                catalogue: {row[0] for row in connection.execute(f"SELECT {name} FROM {catalogue}")}
                for catalogue, name in (("pg_database", "datname"), ("pg_roles", "rolname"),
                                        ("pg_extension", "extname"), ("pg_namespace", "nspname"))
            }  # fmt: skip


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like sql/ that holds a very small pgmnemo 0.2.1."""
    folder = tmp_path_factory.mktemp("stub")
    (folder / "pgmnemo.control").write_text(CONTROL)
    (folder / "pgmnemo--0.2.1.sql").write_text(SCRIPT)
    return folder


@pytest.fixture
def nowhere() -> dict[str, str]:
    """An environment in which no compose service answers."""
    return {"PGMNEMO_PORT": str(free_port())}


@pytest.fixture(scope="session")
def readable_folder() -> Iterator[Path]:
    """A folder that a server of another user can read, unlike pytest's own."""
    with readable() as folder:
        yield folder


@contextmanager
def listening(stub: Path, **settings: str) -> Iterator[GivenServer]:
    """A server on a free port; whoever does not come by the socket needs a password."""
    port = free_port()
    given = {"listen_addresses": "127.0.0.1", "port": str(port), **settings}
    with temporary_server(stub, "0.2.1", settings=given) as conninfo:
        rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        (Path(conninfo["host"]) / "pg_hba.conf").write_text(rules)
        server = GivenServer(port, conninfo)
        server.run("SELECT pg_reload_conf()")
        yield server


@pytest.fixture(scope="session")
def shared_server(stub: Path) -> Iterator[GivenServer]:
    with listening(stub) as server:
        server.run("CREATE ROLE boss LOGIN SUPERUSER PASSWORD 'secret'")
        yield server


@pytest.fixture
def server(shared_server: GivenServer) -> Iterator[GivenServer]:
    """The given server, tidied up after the test."""
    before = shared_server.names()
    yield shared_server
    after = shared_server.names()
    drop = [f'DROP DATABASE "{name}" WITH (FORCE)' for name in after["pg_database"] - before["pg_database"]]
    drop += [f'DROP OWNED BY "{name}"' for name in after["pg_roles"] - before["pg_roles"]]
    drop += [f'DROP ROLE "{name}"' for name in after["pg_roles"] - before["pg_roles"]]
    shared_server.run(*drop)


@pytest.fixture
def make_role(server: GivenServer) -> Callable[..., str]:
    """Make a role with a password and return its DSN."""

    def make(name: str, attributes: str = "", *settings: str) -> str:
        server.run(f"CREATE ROLE {name} LOGIN PASSWORD 'secret' {attributes}",
                   *(f"ALTER ROLE {name} SET {setting}" for setting in settings))  # fmt: skip
        return server.dsn(name)

    return make


class Servers(dict[int, Server]):
    """Started when they are first asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack

    def __missing__(self, postgres: int) -> Server:
        self[postgres] = self.stack.enter_context(memories(postgres))
        return self[postgres]


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """PostgreSQL by its major version, with the extension's files."""
    with ExitStack() as stack:
        yield Servers(stack)
