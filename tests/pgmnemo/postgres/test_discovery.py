"""Which server is taken, in which order, and what is said of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.postgres.discovery import find_server
from tests.pgmnemo.postgres.conftest import listening

Find = Callable[..., tuple[str, str]]
CHANGED = {"PGMNEMO_PASSWORD": "changed"}


@pytest.fixture(scope="module")
def compose(stub: Path) -> Iterator[str]:
    """The port of a server like the compose service's, whose password is not the default one."""
    with listening(stub, cluster_name="pgmnemo_compose") as server:
        server.run("CREATE ROLE pgmnemo LOGIN SUPERUSER PASSWORD 'changed'", "CREATE DATABASE pgmnemo")
        yield str(server.port)


@pytest.fixture
def find(listener: Any, tmp_path: Path) -> Find:
    """Where the server that is found comes from, "" for none, and the first thing that is said of it."""

    def origin(environ: Mapping[str, str], dsn: str | None = None) -> tuple[str, str]:
        listener.lines.clear()
        server = find_server(dsn, environ, listener, tmp_path / ".env")
        return server.origin if server else "", listener.lines[0]

    return origin


def test_the_option_goes_before_the_variable_and_that_before_the_compose_service(
    find: Find, compose: str
) -> None:
    environ = {"PGMNEMO_DSN": "host=x.invalid dbname=a", "PGMNEMO_PORT": compose, **CHANGED}
    assert find(environ, "host=y.invalid dbname=b") == (
        "--dsn", "database: y.invalid:5432/b, given by --dsn",
    )  # fmt: skip
    assert find(environ) == ("PGMNEMO_DSN", "database: x.invalid:5432/a, given by PGMNEMO_DSN")


def test_the_compose_service_is_taken_by_its_marker(find: Find, compose: str) -> None:
    told = f"database: the compose service at 127.0.0.1:{compose}/pgmnemo"
    assert find({"PGMNEMO_PORT": compose, **CHANGED}) == ("compose", told)


@pytest.mark.parametrize("line", ["PGMNEMO_PASSWORD=changed", "export PGMNEMO_PASSWORD = 'changed'"])
def test_the_password_may_stand_in_the_env_file(find: Find, compose: str, tmp_path: Path, line: str) -> None:
    (tmp_path / ".env").write_text(f"# for compose\nOTHER=1\n{line}\n")
    assert find({"PGMNEMO_PORT": compose})[0] == "compose"


def test_a_refused_compose_password_is_said(find: Find, compose: str) -> None:
    origin, said = find({"PGMNEMO_PORT": compose})
    assert not origin
    assert "refuses the compose service's login: PGMNEMO_PASSWORD?" in said


def test_another_server_on_the_port_is_left_alone(find: Find, server: Any) -> None:
    server.run("CREATE ROLE pgmnemo LOGIN PASSWORD 'pgmnemo'", "CREATE DATABASE pgmnemo")
    origin, said = find({"PGMNEMO_PORT": str(server.port)})
    assert not origin
    assert "a PostgreSQL answers that is not our compose service" in said


def test_something_that_is_no_postgresql_is_left_alone(find: Find) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert not find({"PGMNEMO_PORT": str(silent.getsockname()[1])})[0]


@pytest.mark.parametrize("environ", [{}, os.environ])
def test_no_test_meets_the_server_that_somebody_runs_here(find: Find, environ: Mapping[str, str]) -> None:
    """One sets the sequence of ids back: on a server in use, a run then ended in a duplicate lesson_pkey."""
    origin, said = find(environ)
    assert not origin
    assert said.startswith("database: an embedded PostgreSQL for this run alone (no --dsn")
    assert "no PGMNEMO_DSN, and on 127.0.0.1:1 no compose service answers" in said


@pytest.mark.parametrize("dsn", ["postgres//u:secret@h/d", "postgresql://u:secret@h:5432/d?nonsense=1"])
def test_a_dsn_that_cannot_be_read_is_wrong_use_and_not_repeated(listener: Any, dsn: str) -> None:
    with pytest.raises(UsageError, match="DSN given by --dsn cannot be read") as caught:
        find_server(dsn, {}, listener)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("port", ["x", "5432x"])
def test_a_port_that_is_no_number_is_wrong_use(listener: Any, port: str) -> None:
    with pytest.raises(UsageError, match="PGMNEMO_PORT"):
        find_server(None, {"PGMNEMO_PORT": port}, listener)
