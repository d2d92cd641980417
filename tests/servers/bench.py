"""Servers of the major versions that the packages bring, in one folder, and databases that hold the notes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo

from pgmnemo.errors import DatabaseError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.server_files import PIXELTABLE, installation, stage_extension, stage_server
from pgmnemo.postgres.server_process import SETTINGS, SUPERUSER, ServerProcess, give_to_server, identity
from tests.helping import CURRENT
from tests.servers.notes import WIDTH, Note, vectors, writable

TENANT, PROJECT = UUID(int=42 << 64), UUID(int=43)
OWNER = "keeper"
MAJORS = (16, 18)
LOGICAL = {"wal_level": "logical", "max_wal_senders": "10"}
LOCALES = {"en": "en_US", "de": "de_DE", "tr": "tr_TR"}
FIRST = datetime(2026, 5, 1, tzinfo=UTC)
STORE = """
SELECT pgmnemo.store($1, $2, $3, $4, embedding => $5::real[], passages => ARRAY[$4], occurred_at => $6)
"""
Rows = list[tuple[Any, ...]]


class Absent(Exception):
    """What the machine lacks for a cell, in one sentence."""


@dataclass(frozen=True)
class Database:
    """A database at an address, the role that owns pgmnemo in it, and the notes that it holds."""

    place: Mapping[str, str]
    notes: tuple[Note, ...]
    owner: str = OWNER

    @contextmanager
    def connect(self, user: str | None = None) -> Iterator[psycopg.Connection[Any]]:
        options = "-c pgmnemo.gate_strict=off -c pgmnemo.bypass_notice=off"
        place = {**self.place, "user": user or self.owner, "client_encoding": "UTF8", "options": options}
        with psycopg.connect(**place, autocommit=True, cursor_factory=psycopg.RawCursor) as connection:
            yield connection

    def ask(self, query: str, *values: object, user: str | None = None) -> Rows:
        """Return the rows of a query by the owner or another role."""
        with self.connect(user) as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def run(self, *statements: str, user: str | None = None) -> None:
        with self.connect(user) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def dsn(self, user: str = SUPERUSER) -> str:
        return make_conninfo("", **{**self.place, "user": user})

    def holding(self, other: Database) -> Database:
        """Return the same database, which is to hold the notes of another."""
        return replace(self, notes=other.notes)

    def load(self, width: int = WIDTH) -> Database:
        """Store the notes in their order, with vectors of a width; ours puts them into an HNSW index."""
        known = [one + [0.0] * (width - WIDTH) for one in vectors([note.text for note in self.notes])]
        self.ask("SELECT pgmnemo.grant_tenant($1, current_user::text)", TENANT)
        with self.connect() as connection:
            for day, (note, vector) in enumerate(zip(self.notes, known, strict=True)):
                values = (TENANT, PROJECT, note.key, note.text, vector, FIRST + timedelta(day))
                connection.execute(STORE, values)
            if connection.execute("SELECT pgmnemo.version()").fetchone() == (CURRENT,):
                connection.execute("SET pgmnemo.hnsw_min_vectors = 0")
                connection.execute("SELECT pgmnemo.index($1)", (TENANT,))
        return self


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL of a major version."""

    major: int
    place: Mapping[str, str]

    def database(
        self,
        name: str,
        encoding: str = "UTF8",
        ctype: str | None = None,
        vector: str = "public",
        builtin: str = "",
    ) -> Database:
        """Make a database with pgvector in a schema and without pgmnemo; another encoding has locale C."""
        ctype = ctype or ("C.UTF-8" if encoding == "UTF8" else "C")
        root = Database(self.place, ())
        root.run(
            f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)',
            f"CREATE DATABASE \"{name}\" OWNER {OWNER} TEMPLATE template0 ENCODING '{encoding}' "
            + (
                f"BUILTIN_LOCALE '{builtin}' LOCALE_PROVIDER builtin LC_COLLATE 'C' LC_CTYPE 'C'"
                if builtin
                else f"LC_COLLATE 'C' LC_CTYPE '{ctype}'"
            ),
            user=SUPERUSER,
        )
        made = Database({**self.place, "dbname": name}, writable(encoding))
        made.run(
            f"CREATE SCHEMA IF NOT EXISTS {vector}", f"GRANT USAGE ON SCHEMA {vector} TO PUBLIC",
            f"CREATE EXTENSION vector SCHEMA {vector}", user=SUPERUSER,
        )  # fmt: skip
        return made

    def installed(self, name: str, version: str | None = None, **options: str) -> Database:
        """Make a database with pgmnemo in a version, and nothing in it."""
        made = self.database(name, **options)
        made.run("CREATE EXTENSION pgmnemo" + (f" VERSION '{version}'" if version else ""))
        return made


@dataclass
class Bench:
    """A folder for servers; each is started when it is first asked for."""

    folder: Path
    stack: ExitStack
    servers: dict[int, Server] = field(default_factory=dict)
    ports: Iterator[int] = field(default_factory=lambda: iter(range(5401, 5500)))

    def home(self, major: int) -> Path:
        """Copy an installation once, with every program and the extension's files; return the copy."""
        folder = self.folder / f"postgresql-{major}"
        home = folder / PIXELTABLE.module / PIXELTABLE.installations[major]
        if not home.exists():
            original = package_installation(major)
            stage_server(original, folder, PIXELTABLE, [one.name for one in (original / "bin").iterdir()])
            stage_extension(SQL_FOLDER, home / PIXELTABLE.extensions)
        return home

    def cluster(self, major: int, *options: str) -> tuple[ServerProcess, Server]:
        """Make a cluster; its server is not started."""
        settings = {**SETTINGS, **LOGICAL, "port": str(next(self.ports))}
        process = ServerProcess(
            self.home(major), self.folder, self.folder, settings, data=f"data-{settings['port']}"
        )
        process.initdb("--auth=trust", "--locale=C", "--no-sync", *options)
        with (process.data / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.write(process.configuration())
        place = {"host": str(self.folder), "hostaddr": "", "port": settings["port"], "dbname": "postgres"}
        return process, Server(major, place)

    def server(self, major: int) -> Server:
        """Return the server of a major version that the cells share."""
        if major not in self.servers:
            process, server = self.cluster(major)
            self.stack.enter_context(process.running())
            Database(server.place, ()).run(f"CREATE ROLE {OWNER} LOGIN", user=SUPERUSER)
            self.servers[major] = server
        return self.servers[major]

    def program(self, major: int, name: str, *arguments: str, given: bytes | None = None) -> bytes:
        """Return what a program of PostgreSQL prints, which runs as the server's user."""
        command = [str(self.home(major) / "bin" / name), *arguments]
        told = {**identity(), "cwd": self.folder}
        done = subprocess.run(command, input=given, capture_output=True, check=False, **told)
        assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")
        return done.stdout

    def locale(self, language: str) -> str:
        """Return the name of a UTF-8 locale, made by localedef if need be; Absent where it makes none."""
        name = f"{LOCALES[language]}.UTF-8"
        made = self.folder / "locales" / name
        if not made.exists():
            if shutil.which("localedef") is None:
                raise Absent(f"the locale {name} needs the program localedef")
            made.parent.mkdir(exist_ok=True)
            command = ["localedef", "-i", LOCALES[language], "-f", "UTF-8", str(made)]
            subprocess.run(command, capture_output=True, check=False)
            if not (made / "LC_CTYPE").is_file():
                raise Absent(f"localedef makes no {name}: install Debian's package locales")
        return name


def package_installation(major: int) -> Path:
    """Return the installation of a major version that a package brings; Absent without one."""
    try:
        return installation(major)
    except DatabaseError as error:
        raise Absent(str(error)) from None


@contextmanager
def opened(folder: Path) -> Iterator[Bench]:
    """Open a bench in a folder that anybody may enter; its servers find the locales that it makes."""
    if os.geteuid() == 0:
        give_to_server(folder)
    before = os.environ.get("LOCPATH")
    os.environ["LOCPATH"] = f"{folder}/locales:/usr/lib/locale"
    try:
        with ExitStack() as stack:
            yield Bench(folder, stack)
    finally:
        os.environ.pop("LOCPATH")
        if before is not None:
            os.environ["LOCPATH"] = before
