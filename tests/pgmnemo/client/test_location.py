"""What a memory is opened from, and that one sentence says why it is not."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo.client.location import VARIABLE, resolve_location
from pgmnemo.errors import GrantError, PgmnemoError, UsageError
from tests.pgmnemo.client.driving import Place, Shell


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
    assert "\n" not in sentence
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


def test_a_memory_that_is_closed_can_be_closed_again(shell: Shell, place: Place) -> None:
    memory = shell.open(place.dsn())
    memory.close()
    memory.close()


VERBS: dict[str, Callable[[Any], Any]] = {
    "add": lambda scope: scope.add("x"), "add_many": lambda scope: scope.add_many(["x"]),
    "recall": lambda scope: scope.recall("x"), "get": lambda scope: scope.get("x"),
    "list": lambda scope: list(scope.list()), "count": lambda scope: scope.count(),
    "forget": lambda scope: scope.forget("x"), "facts": lambda scope: scope.facts(),
    "link": lambda scope: scope.link("x", "y"), "stats": lambda scope: scope.stats(),
    "export": lambda scope: scope.export(io.BytesIO()),
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_a_role_without_a_grant_is_told_so_by_every_verb(verb: str, shell: Shell, place: Place) -> None:
    scope = shell.open(place.dsn("mallory")).tenant("somebody else's").project("kitchen")
    with pytest.raises(GrantError, match="grant") as raised:
        VERBS[verb](scope)
    assert "\n" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_the_owner_grants_and_others_may_not(shell: Shell, place: Place) -> None:
    owner, alice, name = shell.open(place.dsn("keeper")), shell.open(place.dsn()), f"owner, {shell.kind}"
    with pytest.raises(GrantError):
        alice.grant(name)
    owner.grant(name, "alice")
    assert alice.tenant(name).project("p").add("x", key="k").outcome == "inserted"
    owner.grant(name)
    assert owner.tenant(name).count().lessons == 1
