"""Which server is taken, in which order, and what is said of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo.errors import UsageError
from pgmnemo.server.discovery import find_server
from pgmnemo.server.embedded import embedded_server


@pytest.fixture(scope="module")
def compose(stub: Path) -> Iterator[str]:
    """The port of a server like the compose service's, whose password is not the default one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    settings = {"listen_addresses": "127.0.0.1", "port": port, "cluster_name": "pgmnemo_compose"}
    with embedded_server(stub, "0.2.1", settings=settings) as conninfo:
        hba = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        (Path(conninfo["host"]) / "pg_hba.conf").write_text(hba)
        with psycopg.connect(**conninfo, autocommit=True) as connection:  # type: ignore[arg-type]
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE ROLE pgmnemo LOGIN SUPERUSER PASSWORD 'changed'")
            connection.execute("CREATE DATABASE pgmnemo")
        yield port


def test_the_option_goes_before_the_variable(listener: Any, tmp_path: Path) -> None:
    environ = {"PGMNEMO_DSN": "host=variable.invalid dbname=a"}
    option = find_server("host=option.invalid dbname=b", environ, listener, tmp_path / ".env")
    variable = find_server(None, environ, listener, tmp_path / ".env")
    assert option is not None
    assert variable is not None
    assert (option.origin, option.conninfo["host"]) == ("--dsn", "option.invalid")
    assert (variable.origin, variable.conninfo["host"]) == ("PGMNEMO_DSN", "variable.invalid")
    assert listener.lines == [
        "database: option.invalid:5432/b, given by --dsn",
        "database: variable.invalid:5432/a, given by PGMNEMO_DSN",
    ]


def test_the_variable_goes_before_the_compose_service(listener: Any, compose: str, tmp_path: Path) -> None:
    environ = {"PGMNEMO_DSN": "host=x.invalid", "PGMNEMO_PORT": compose, "PGMNEMO_PASSWORD": "changed"}
    server = find_server(None, environ, listener, tmp_path / ".env")
    assert server is not None
    assert server.origin == "PGMNEMO_DSN"


def test_the_compose_service_is_taken_by_its_marker(listener: Any, compose: str, tmp_path: Path) -> None:
    environ = {"PGMNEMO_PORT": compose, "PGMNEMO_PASSWORD": "changed"}
    server = find_server(None, environ, listener, tmp_path / ".env")
    assert server is not None
    assert server.origin == "compose"
    assert listener.lines == [f"database: the compose service at 127.0.0.1:{compose}/pgmnemo"]


@pytest.mark.parametrize("line", ["PGMNEMO_PASSWORD=changed", "export PGMNEMO_PASSWORD = 'changed'"])
def test_the_password_may_stand_in_the_env_file(
    listener: Any, compose: str, tmp_path: Path, line: str
) -> None:
    (tmp_path / ".env").write_text(f"# for compose\nOTHER=1\n{line}\n")
    server = find_server(None, {"PGMNEMO_PORT": compose}, listener, tmp_path / ".env")
    assert server is not None
    assert server.origin == "compose"


def test_a_refused_compose_password_is_said(listener: Any, compose: str, tmp_path: Path) -> None:
    assert find_server(None, {"PGMNEMO_PORT": compose}, listener, tmp_path / ".env") is None
    assert "refuses the compose service's login: PGMNEMO_PASSWORD?" in listener.lines[0]


def test_another_server_on_the_port_is_left_alone(listener: Any, server: Any, tmp_path: Path) -> None:
    server.run("CREATE ROLE pgmnemo LOGIN PASSWORD 'pgmnemo'", "CREATE DATABASE pgmnemo")
    environ = {"PGMNEMO_PORT": str(server.port)}
    assert find_server(None, environ, listener, tmp_path / ".env") is None
    assert "a PostgreSQL answers that is not our compose service" in listener.lines[0]


def test_something_that_is_no_postgresql_is_left_alone(listener: Any, tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = str(silent.getsockname()[1])
        assert find_server(None, {"PGMNEMO_PORT": port}, listener, tmp_path / ".env") is None


def test_nothing_found_means_embedded_and_says_so(
    listener: Any, nowhere: dict[str, str], tmp_path: Path
) -> None:
    assert find_server(None, nowhere, listener, tmp_path / ".env") is None
    assert listener.lines[0].startswith("database: an embedded PostgreSQL for this run alone (no --dsn")


@pytest.mark.parametrize("environ", [{}, os.environ])
def test_no_test_meets_the_server_that_somebody_runs_here(
    listener: Any, environ: Mapping[str, str], tmp_path: Path
) -> None:
    """One sets the sequence of ids back: on a server in use, a run then ended in a duplicate lesson_pkey."""
    assert find_server(None, environ, listener, tmp_path / ".env") is None
    assert "no PGMNEMO_DSN, and on 127.0.0.1:1 no compose service answers" in listener.lines[0]


@pytest.mark.parametrize("dsn", ["postgres//u:secret@h/d", "postgresql://u:secret@h:5432/d?nonsense=1"])
def test_a_dsn_that_cannot_be_read_is_wrong_use_and_not_repeated(listener: Any, dsn: str) -> None:
    with pytest.raises(UsageError, match="DSN given by --dsn cannot be read") as caught:
        find_server(dsn, {}, listener)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("port", ["x", "5432x"])
def test_a_port_that_is_no_number_is_wrong_use(listener: Any, port: str) -> None:
    with pytest.raises(UsageError, match="PGMNEMO_PORT"):
        find_server(None, {"PGMNEMO_PORT": port}, listener)
