"""What a memory is opened from, and that one sentence says why it is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo import Memory
from pgmnemo.client.location import VARIABLE, dsn_parameters, resolve_location
from pgmnemo.errors import GrantError, PgmnemoError, UsageError
from tests.pgmnemo.client.driving import Place, Shell
from tests.pgmnemo.postgres.embedded.serving import new_base


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("./memory", Path("memory")),
        ("memory", Path("memory")),
        (Path("/a=b"), Path("/a=b")),
        ("postgresql://ada@db/notes", "notes"),
        ("dbname=notes user=ada", "notes"),
    ],
)  # fmt: skip
def test_a_text_is_a_folder_unless_it_is_an_address(place: Any, found: Any) -> None:
    resolved: Any = resolve_location(place, {})
    assert (resolved["dbname"] if isinstance(resolved, dict) else resolved) == found


def test_without_a_place_the_variable_tells_it_else_a_folder_of_the_users_data() -> None:
    assert resolve_location(None, {VARIABLE: "/there"}) == Path("/there")
    found: Any = resolve_location(None, {})
    assert found.is_absolute()
    assert found.parts[-2:] == ("pgmnemo", "memory")


@pytest.mark.parametrize("place", ["", "  ", 7, b"memory", ["memory"], object()])
def test_what_is_no_place_is_wrong_use(place: Any, shell: Shell) -> None:
    with pytest.raises(UsageError, match="folder"):
        shell.open(place)


@pytest.mark.parametrize("dsn", ["postgresql://ada:hunter2@[::1/notes", "host=x password=hunter2 nonsense=1"])
def test_a_dsn_that_cannot_be_read_is_refused_without_its_password(dsn: str, shell: Shell) -> None:
    with pytest.raises(UsageError, match="DSN cannot be read") as raised:
        shell.open(dsn)
    assert "hunter2" not in str(raised.value)


def refused(shell: Shell, place: Any, **given: Any) -> str:
    with pytest.raises(PgmnemoError) as raised:
        shell.open(place, **given)
    sentence = str(raised.value)
    return sentence


def test_a_dsn_at_which_nobody_answers_says_what_to_do(shell: Shell, tmp_path: Path) -> None:
    told = refused(shell, f"host={tmp_path} dbname=notes user=ada password=hunter2", retry_timeout=0)
    assert told.startswith(f"the database at {tmp_path}:5432/notes cannot be reached (")
    assert told.endswith("start it, or correct the DSN")
    assert "hunter2" not in told


def test_an_unknown_database_or_role_is_named(shell: Shell, place: Place) -> None:
    assert "there is no database 'nowhere'" in refused(shell, place.dsn(dbname="nowhere"))
    assert "there is no role 'nobody'" in refused(shell, place.dsn("nobody"))


def test_an_unknown_embedder_is_told_with_those_that_there_are(shell: Shell, place: Place) -> None:
    assert "minilm-int8" in refused(shell, place.dsn(), embedder="word2vec")
    assert "embedder is a name" in refused(shell, place.dsn(), embedder=7)


@pytest.mark.parametrize("connections", [0, -1, 1001])
def test_connections_are_counted_from_one(connections: int, shell: Shell, place: Place) -> None:
    assert "connections is" in refused(shell, place.dsn(), connections=connections)


def test_a_connection_of_the_other_shell_is_refused(shell: Shell, place: Place) -> None:
    async def other() -> Any:
        return await psycopg.AsyncConnection.connect(place.dsn())

    made = psycopg.connect(place.dsn()) if shell.kind == "async" else shell.runner.run(other())
    assert f"{type(made).__name__} does not go with this memory" in refused(shell, made)
    shell.call(made.close)


def test_the_owner_grants_and_others_may_not(shell: Shell, place: Place) -> None:
    owner, alice, name = shell.open(place.dsn("keeper")), shell.open(place.dsn()), f"owner, {shell.kind}"
    with pytest.raises(GrantError):
        alice.grant(name)
    owner.grant(name, "alice")
    assert alice.tenant(name).project("p").add("x", key="k").outcome == "inserted"
    owner.grant(name)
    assert owner.tenant(name).count().lessons == 1


FOREIGN = {
    "PGOPTIONS": "-c statement_timeout=1", "PGCLIENTENCODING": "LATIN1", "PGCHANNELBINDING": "require",
    "PGTARGETSESSIONATTRS": "standby", "PGREQUIREAUTH": "scram-sha-256", "PGGSSENCMODE": "require",
    "PGHOSTADDR": "127.0.0.1", "PGPORT": "1", "PGUSER": "nobody", "PGDATABASE": "other", "PGTZ": "Asia/Tokyo",
    "PGSSLMODE": "require", "PGSERVICE": "nowhere",
}  # fmt: skip


def test_a_folder_is_opened_whatever_libpq_is_told_of_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    with new_base() as base, Memory.open(Path(base) / "memory", embedder=None) as memory:
        scope = memory.tenant("ada").project("kitchen")
        scope.add("It costs 5 €.", key="k")
        assert scope.get("k").text == "It costs 5 €."


def test_an_address_is_read_in_utf_8_unless_it_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "PGCLIENTENCODING", "LATIN1")
    assert dsn_parameters("dbname=a")["client_encoding"] == "UTF8"
    assert dsn_parameters("dbname=a client_encoding=LATIN1")["client_encoding"] == "LATIN1"
