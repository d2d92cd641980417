"""Which scripts install a version, and what is wrong with them; the current release is the control file's."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.releases import (
    changed_script,
    default_version,
    missing_script,
    scripts,
    version_number,
    versions,
)
from pgmnemo.postgres.server_files import check_release
from pgmnemo.postgres.servers import temporary_server

OWN, FIRST, SECOND = "pgmnemo--0.1.sql", "pgmnemo--0.1--0.2.sql", "pgmnemo--0.2--0.3.sql"
CONTROL = "default_version = '0.3'\nschema = 'pgmnemo'\n"
Laid = Callable[..., Path]


@pytest.fixture
def laid(tmp_path: Path) -> Laid:
    """Lays a folder like sql/ with scripts of these names, each of which makes a table of its own."""

    def lay(*names: str) -> Path:
        (tmp_path / "pgmnemo.control").write_text(CONTROL)
        for name in names:
            table = name.removeprefix("pgmnemo--").removesuffix(".sql")
            (tmp_path / name).write_text(f'CREATE TABLE pgmnemo."{table}" ();\n')
        return tmp_path

    return lay


def release(folder: Path) -> None:
    """List 0.1 by its own script, 0.2 and 0.3 by their updates."""
    digest = {name: sha256((folder / name).read_bytes()).hexdigest() for name in (OWN, FIRST, SECOND)}
    (folder / "releases.toml").write_text(
        f'["0.1"]\ninstall_sha256 = "{digest[OWN]}"\n'
        f'["0.2"]\nupgrade_sha256 = {{ "0.1" = "{digest[FIRST]}" }}\n'
        f'["0.3"]\nupgrade_sha256 = {{ "0.2" = "{digest[SECOND]}" }}\n'
    )


WAYS = [
    (["0.1", "0.1--0.2", "0.2--0.3"], ["0.1", "0.1--0.2", "0.2--0.3"]),
    (["0.1", "0.1--0.2", "0.2--0.3", "0.3"], ["0.3"]),
    (["0.1", "0.1--0.3", "0.2", "0.2--0.3", "0.3--0.1"], ["0.2", "0.2--0.3"]),
    (["0.1", "0.1--0.2a", "0.1--0.2b", "0.2b--0.3", "0.2a--0.3"], ["0.1", "0.1--0.2a", "0.2a--0.3"]),
]


@pytest.mark.parametrize(("there", "run"), WAYS)
def test_the_scripts_of_a_version_are_those_that_postgresql_runs(
    laid: Laid, there: list[str], run: list[str]
) -> None:
    folder, version = laid(*(f"pgmnemo--{name}.sql" for name in there)), run[-1].split("--")[-1]
    assert [path.name for path in scripts(folder, version)] == [f"pgmnemo--{name}.sql" for name in run]
    with temporary_server(folder, version) as conninfo, psycopg.connect(**conninfo) as connection:
        connection.execute(f"CREATE EXTENSION pgmnemo VERSION '{version}'")
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'pgmnemo'")
        assert {name for (name,) in tables} == set(run)


def test_a_version_that_nothing_leads_to_has_no_scripts(laid: Laid) -> None:
    folder = laid(FIRST, SECOND, "pgmnemo--0.3--0.2.sql")
    assert scripts(folder, "0.3") == versions(folder) == []
    with pytest.raises(DatabaseError, match=r"is installed by pgmnemo--0\.3\.sql, which is not in"):
        check_release(folder, "0.3")  # the version in development
    assert missing_script(folder, "0.2") is None
    with pytest.raises(
        UsageError, match=r"there is no release '0\.2' of pgmnemo in .*; choose one of: \(none\)"
    ):
        check_release(folder, "0.2")


@pytest.mark.parametrize("name", [OWN, SECOND])
def test_a_script_that_is_missing_is_named(laid: Laid, name: str) -> None:
    folder = laid(OWN, FIRST, SECOND)
    release(folder)
    check_release(folder, "0.3")
    assert (missing_script(folder, "0.3"), versions(folder)) == (None, ["0.1", "0.2", "0.3"])
    (folder / name).unlink()
    with pytest.raises(DatabaseError, match=rf"^pgmnemo 0\.3 is installed by {name}, which is not in "):
        check_release(folder, "0.3")


@pytest.mark.parametrize("name", [OWN, FIRST, SECOND])
def test_a_script_that_is_changed_is_named(laid: Laid, name: str) -> None:
    folder = laid(OWN, FIRST, SECOND)
    assert changed_script(folder, "0.3") is None  # nothing is released yet
    release(folder)
    assert changed_script(folder, "0.3") is None
    (folder / name).write_text("SELECT 1;")
    found = sha256(b"SELECT 1;").hexdigest()
    target = name.removesuffix(".sql").split("--")[-1]
    sentence = changed_script(folder, "0.3")
    assert sentence.startswith(f"{name} is not that of release {target}: its sha256 is {found}, not ")


def test_a_script_beside_those_of_a_release_is_none_of_it(laid: Laid) -> None:
    folder = laid(OWN, FIRST, SECOND, "pgmnemo--0.3.sql")
    release(folder)
    assert changed_script(folder, "0.3") == "pgmnemo--0.3.sql is no script of release 0.3"
    assert changed_script(folder, "0.2") is None


def test_the_current_release_is_read_from_the_control_file(laid: Laid) -> None:
    folder = laid()
    assert default_version(folder) == "0.3"
    assert (version_number("v0.1"), version_number("0.1"), version_number(None)) == (
        "0.1", "0.1", default_version(),
    )  # fmt: skip
    (folder / "pgmnemo.control").write_text("schema = 'pgmnemo'\n")
    with pytest.raises(DatabaseError, match=r"pgmnemo\.control has no default_version: restore it as it is"):
        default_version(folder)
    (folder / "pgmnemo.control").unlink()
    with pytest.raises(
        DatabaseError, match=r"pgmnemo\.control cannot be read \(No such file or directory\): run"
    ):
        default_version(folder)
