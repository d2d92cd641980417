"""The fingerprint changes with whatever a function does, and with nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pgmnemo.postgres import fingerprint, open_database

NEAR = "pgmnemo.near(vector, int)"
VERSION = "CREATE OR REPLACE FUNCTION pgmnemo.version() RETURNS text IMMUTABLE LANGUAGE"
PATCHES = {
    "body": f"{VERSION} sql AS $$ SELECT '' $$",
    "language": f"{VERSION} plpgsql AS $$ BEGIN RETURN '0.2.1'; END $$",
    "default": """CREATE OR REPLACE FUNCTION pgmnemo.near(embedding vector DEFAULT NULL, k int DEFAULT 10)
                  RETURNS SETOF bigint LANGUAGE sql STABLE SET search_path = pg_catalog
                  AS $$ SELECT 1::bigint $$""",
    "volatility": f"ALTER FUNCTION {NEAR} VOLATILE",
    "parallel safety": f"ALTER FUNCTION {NEAR} PARALLEL SAFE",
    "strictness": f"ALTER FUNCTION {NEAR} STRICT",
    "rights": f"ALTER FUNCTION {NEAR} SECURITY DEFINER",
    "leakproofness": f"ALTER FUNCTION {NEAR} LEAKPROOF",
    "setting": f"ALTER FUNCTION {NEAR} SET search_path = public",
    "name": f"ALTER FUNCTION {NEAR} RENAME TO far",
    "one more": "CREATE FUNCTION pgmnemo.near(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "one less": "ALTER EXTENSION pgmnemo DROP FUNCTION pgmnemo.version(); DROP FUNCTION pgmnemo.version()",
}  # fmt: skip


@pytest.fixture(scope="module")
def admin(stub: Path) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with (
        open_database("0.2.1", environ={"PGMNEMO_PORT": "1"}, sql=stub) as database,
        database.admin() as connection,
    ):
        yield connection


@pytest.mark.parametrize("patch", PATCHES)
def test_a_patch_changes_it(admin: psycopg.Connection[tuple[object, ...]], patch: str) -> None:
    before = fingerprint(admin)
    with admin.transaction(force_rollback=True):
        admin.execute(PATCHES[patch].encode())
        assert fingerprint(admin) != before
    assert fingerprint(admin) == before


def test_data_comments_rights_and_places_do_not(admin: psycopg.Connection[tuple[object, ...]]) -> None:
    before = fingerprint(admin)
    with admin.transaction(force_rollback=True):
        admin.execute("INSERT INTO pgmnemo.lesson VALUES (1)")
        admin.execute("COMMENT ON FUNCTION pgmnemo.version() IS 'x'")
        admin.execute("REVOKE ALL ON FUNCTION pgmnemo.version() FROM public")
        admin.execute("SET LOCAL search_path = pgmnemo")
        admin.execute("CREATE FUNCTION public.near(int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
        assert fingerprint(admin) == before


def test_no_extension_has_an_empty_one(admin: psycopg.Connection[tuple[object, ...]]) -> None:
    with admin.transaction(force_rollback=True):
        admin.execute("DROP EXTENSION pgmnemo")
        assert fingerprint(admin) == ""


def test_it_is_the_same_on_both_major_versions(
    admin: psycopg.Connection[tuple[object, ...]], stub: Path
) -> None:
    with open_database("0.2.1", environ={"PGMNEMO_PORT": "1"}, sql=stub, postgres=16) as database:
        assert database.facts.fingerprint == fingerprint(admin)
