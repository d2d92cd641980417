"""The install script: built from src/, one object a file, the public ones described; a release is frozen."""

from __future__ import annotations

import re
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo.postgres.releases import changed_script
from tests.helping import CURRENT
from tests.sql.assembling import assemble

SQL = Path(__file__).resolve().parents[2] / "sql"
RELEASES = tomllib.loads((SQL / "releases.toml").read_text(encoding="utf-8"))
LAYERS = [line.split()[0] for line in (SQL / "src" / "LAYERS").read_text(encoding="utf-8").splitlines()]
FILES = sorted((SQL / "src").glob("*/*.sql"))
BARE = {"guard", "rights"}  # layers whose files make no object of the schema
OBJECT = re.compile(
    r"^CREATE (?:UNIQUE )?(FUNCTION|PROCEDURE|TABLE|TYPE|INDEX|VIEW|SEQUENCE) (?:pgmnemo\.)?(\w+)",
    re.MULTILINE,
)
LONGEST = 120
FORMER = ("0.6.1", "1.0.0")  # the releases from which databases are updated
ENTERS = {  # by whether the verb may change anything
    True: "tenant := pgmnemo._enter(tenant, caller, 'write');",
    False: "tenant := pgmnemo._enter(tenant, caller);",
}
# Run with the rights of whoever calls, beside the verbs; rights/rights.sql says why.
LENT = {"_caller", "_session_tenant", "_setting_catalogue", "_setting_range", "_setting_valid",
        "_stored_settings", "_config", "_zone", "_form_roots", "_times", "_time_patterns", "_time_span",
        "_calendar_span", "_month", "_small_number", "_time_words", "_times_in_english",
        "_without_accents", "_name_uuid", "_sha1", "_nfc", "_nfc_unicode"}  # fmt: skip
# The statements that are put together. What they splice is a role's name, names that rights.sql quoted as it
# read them, a regprocedure, and a literal: nothing that a caller gives.
SPLICED = {
    "hnsw/revoke_row_type.sql": ["format('REVOKE ALL ON TYPE pgmnemo.%I FROM PUBLIC', relation);"],
    "hnsw/hnsw_drop_table.sql": [
        "format('LOCK TABLE pgmnemo.%I IN ACCESS EXCLUSIVE MODE NOWAIT', hnsw_table);",
        "format('DROP TABLE pgmnemo.%I', hnsw_table);"],
    "hnsw/hnsw_index_after_insert.sql": ["format('ALTER TABLE pgmnemo.%I OWNER TO %I', NEW.name, keeper);"],
    "hnsw/hnsw_build.sql": [
        "format('ALTER TABLE pgmnemo.%I ADD PRIMARY KEY (lesson_id, number)', hnsw_table);",
        "format('CREATE INDEX %I ON pgmnemo.%I (project_id)', hnsw_table || '_project', hnsw_table);",
        "format('CREATE INDEX %I ON pgmnemo.%I USING hnsw"],
    "hnsw/hnsw_insert.sql": ["format('INSERT INTO pgmnemo.%I (lesson_id, number, project_id, embedding) '"],
    "hnsw/hnsw_create_table.sql": [
        "format('CREATE TABLE pgmnemo.%I (lesson_id bigint NOT NULL, number smallint NOT NULL, '",
        "format('ALTER TABLE pgmnemo.%I OWNER TO %I,",
        "format('CREATE POLICY acting_tenant ON pgmnemo.%I USING ((SELECT pgmnemo._acting_hnsw_table(%L)))',",
        "format('REVOKE ALL ON pgmnemo.%I FROM %s CASCADE', made, other);"],
    "hnsw/hnsw_rebuild.sql": [
        "format('INSERT INTO pgmnemo.%I (lesson_id, number, project_id, embedding) '",
        "format('UPDATE pgmnemo.lesson_vector v SET indexed = true FROM pgmnemo.%I g '",
        "format('DELETE FROM pgmnemo.%I g WHERE NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v '"],
    "hnsw/lesson_vector_after_change.sql": [
        "format('DELETE FROM pgmnemo.%I WHERE lesson_id = $1 AND number = $2', hnsw_table)"],
    "guard/schema_rights.sql": [
        "format('REVOKE CREATE ON SCHEMA pgmnemo FROM %I CASCADE', pg_get_userbyid(other));"],
    "rights/autovacuum.sql": ["format('ALTER TABLE %s SET (autovacuum_vacuum_scale_factor = 0.05, '",],
    "rights/rights.sql": ["format('REVOKE ALL ON %s FROM %s CASCADE', item.name, item.holder);",
                          "format('ALTER FUNCTION %s SET debug_print_plan = off', item.name);",
                          "format('ALTER FUNCTION %s SET standard_conforming_strings = on', item.name);"],
    "maintenance/hnsw_problems.sql": ["format("],
    "vectors/hnsw_rows.sql": ["format('SELECT array_agg(n.lesson_id), array_agg(n.distance)'"],
    "verbs/open_staging.sql": ["format('COMMENT ON TABLE pg_temp.lesson_staging IS %L',"],
}  # fmt: skip
# May be called with the rights of the extension's owner alone.
KEPT = {"grant_tenant", "renew_caller_key", "revoke_tenant", "maintain", "maintain_all"}


def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def test_every_script_is_ascii_for_the_server_reads_it_in_the_encoding_of_its_database() -> None:
    scripts = [*SQL.glob("pgmnemo*"), *FILES]
    assert len(scripts) > 100
    assert [path.name for path in scripts if not path.read_bytes().isascii()] == []


def test_the_scripts_of_the_version_are_what_the_sources_make() -> None:
    made = dict(assemble().scripts(CURRENT))
    updates = [f"{former}--{CURRENT}" for former in FORMER]
    scripts = {f"pgmnemo--{name}.sql" for name in (*FORMER, CURRENT, *updates)}
    assert {path.name for path in made} == {"META.json", *scripts}
    assert {path: source(path) for path in made} == made


def test_every_file_has_its_layer() -> None:
    assert sorted({path.parent.name for path in FILES}) == sorted(LAYERS)
    assert list((SQL / "src").glob("*.sql")) == []
    full = source(SQL / f"pgmnemo--{CURRENT}.sql")
    in_order = [path for layer in LAYERS for path in FILES if path.parent.name == layer]
    places = [full.find(source(path).replace("@version@", CURRENT)) for path in in_order]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("version", RELEASES)
def test_the_scripts_of_a_release_are_those_that_are_listed(version: str) -> None:
    found = {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in SQL.glob("pgmnemo--*.sql")
        if path.stem.split("--")[-1] == version
    }
    release = RELEASES[version]
    listed = {
        f"pgmnemo--{source}--{version}.sql": digest
        for source, digest in release.get("upgrade_sha256", {}).items()
    }
    if "install_sha256" in release:
        listed[f"pgmnemo--{version}.sql"] = release["install_sha256"]
    assert found == listed
    assert changed_script(SQL, version) is None


def test_each_former_release_has_a_way_to_the_current_version(owner: psycopg.Connection[Any]) -> None:
    ways = owner.execute("SELECT source FROM pg_extension_update_paths('pgmnemo') "
                         "WHERE target = %s AND path IS NOT NULL ORDER BY source",
                         (CURRENT,)).fetchall()  # fmt: skip
    assert ways == [(former,) for former in FORMER]


def test_a_source_file_holds_the_object_it_is_named_after_in_lines_that_are_not_too_long() -> None:
    for path in FILES:
        made = OBJECT.findall(source(path))
        if path.parent.name in BARE:
            assert made == [], name(path)
        elif path.stem.endswith("_indexes"):
            assert {kind for kind, _ in made} == {"INDEX"}, name(path)
            assert all(found.startswith(path.stem.removesuffix("indexes")) for _, found in made), name(path)
        else:
            assert [found.removeprefix("_") for _, found in made] == [path.stem], name(path)
        # but a COMMENT's line is kept as it is written
        code = re.sub(r"^COMMENT ON .*?';$", "", source(path), flags=re.MULTILINE | re.DOTALL)
        assert [line for line in code.splitlines() if len(line) > LONGEST] == [], name(path)


def test_every_public_object_is_described(owner: psycopg.Connection[Any]) -> None:
    bare = owner.execute(
        "SELECT proname::text FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND proname !~ '^_' "
        "AND obj_description(oid, 'pg_proc') IS NULL UNION ALL "
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind IN ('r', 'v') "
        "AND relname !~ '^hnsw_[0-9]+$' AND obj_description(oid, 'pg_class') IS NULL UNION ALL "
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'c' "
        "AND obj_description(reltype, 'pg_type') IS NULL UNION ALL "
        "SELECT attrelid::regclass || '.' || attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid "
        "WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped "
        "AND relname !~ '^hnsw_[0-9]+$' "
        "AND col_description(attrelid, attnum) IS NULL"
    ).fetchall()  # fmt: skip
    assert bare == []


def test_a_verb_with_a_tenant_has_the_owners_rights_and_nothing_else_has(
    owner: psycopg.Connection[Any],
) -> None:
    """Either it names the tenant and proves its caller, or it runs with the rights of whoever calls.

    But for a trigger that runs when a transaction ends, as whoever commits.
    """
    rows = owner.execute(
        "SELECT proname, proname !~ '^_' AND 'caller' = ANY (proargnames), proconfig FROM pg_proc "
        "WHERE pronamespace = 'pgmnemo'::regnamespace AND prosecdef IS NOT FALSE"
    ).fetchall()
    assert rows
    assert {config for _, _, (config, *_) in rows} == {"search_path=pg_catalog, pg_temp"}
    assert [found for found, proves, _ in rows if not proves] == ["_hnsw_index_after_change"]
    asking = owner.execute(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND NOT prosecdef "
        "AND proname !~ '^_' AND proargnames && '{tenant,caller}'"
    ).fetchall()
    # project_uuid computes, and reads no row
    assert {found for (found,) in asking} == {"open_staging", "grant_tenant", "revoke_tenant", "project_uuid"}


def test_every_verb_with_a_tenant_enters_before_it_reads_and_leaves_at_every_end() -> None:
    for path in FILES:
        code = source(path)
        if "SECURITY DEFINER" not in code or "tenant " not in code.partition("RETURNS")[0]:
            continue
        before, _, body = code.partition("\nBEGIN\n")
        lines = [line.strip() for line in body.partition("\nEND\n")[0].splitlines()]
        ends = [place for place, line in enumerate(lines) if re.match("RETURN (?!QUERY)", line)]
        assert lines[0] == ENTERS[" VOLATILE " in before], name(path)
        assert {lines[place - 1] for place in ends or [len(lines)]} == {"PERFORM pgmnemo._leave();"}, name(
            path
        )
        assert "pgmnemo.lesson " not in before, name(path)


def test_functions_that_run_statements_fix_their_search_path(owner: psycopg.Connection[Any]) -> None:
    """All but those in SQL that must be inlined, pure scoring and the candidate queries, and a procedure
    that commits, which SETs its own."""
    free = {found for (found,) in owner.execute(
        "SELECT proname FROM pg_proc JOIN pg_language l ON l.oid = prolang "
        "WHERE pronamespace = 'pgmnemo'::regnamespace AND proconfig IS NULL "
        "AND (lanname <> 'sql' OR provolatile = 'v' OR proname !~ '^_')")}  # fmt: skip
    # the verbs that call these pin theirs
    assert free == {"version", "_passes_filter_call", "_superseded_then", "maintain_all"}
    paths = owner.execute(
        "SELECT DISTINCT c FROM pg_proc, unnest(proconfig) c WHERE pronamespace = 'pgmnemo'::regnamespace "
        "AND c LIKE 'search_path=%'"
    ).fetchall()
    assert paths == [("search_path=pg_catalog, pg_temp",)]


def test_no_statement_is_put_together_from_values() -> None:
    """But of names: what is spliced in was read from the catalogue, or is quoted as a literal.

    SPLICED lists every such statement.
    """
    spliced = re.compile(r"EXECUTE\s+(?!FUNCTION\b|ON\b)")
    found = {name(path): len(spliced.findall(source(path))) for path in FILES}
    assert {path: count for path, count in found.items() if count} == {
        path: len(statements) for path, statements in SPLICED.items()}  # fmt: skip
    for path, statements in SPLICED.items():
        code = source(SQL / "src" / path)
        assert [statement for statement in statements if f"EXECUTE {statement}" not in code] == []


def test_every_body_can_be_read(owner: psycopg.Connection[Any]) -> None:
    """CREATE EXTENSION does not look: what cannot be read would fail when it is first called."""
    with owner.transaction():
        owner.execute("SET LOCAL check_function_bodies = on")
        owner.execute(
            "SELECT CASE lanname WHEN 'sql' THEN fmgr_sql_validator(p.oid) ELSE plpgsql_validator(p.oid) "
            "END FROM pg_proc p JOIN pg_language l ON l.oid = prolang "
            "WHERE pronamespace = 'pgmnemo'::regnamespace"
        )


def test_no_error_is_caught_unseen() -> None:
    """But where one tenant's rows must not stop the others': while a dump is loaded, and in maintenance."""
    caught = [name(path) for path in FILES if re.search(r"\bWHEN OTHERS\b", source(path))]
    assert caught == ["maintenance/maintain_one.sql", "writing/lesson_before_write.sql"]
    for path in caught:
        code = source(SQL / "src" / path)
        assert len(re.findall(r"WHEN OTHERS THEN\s+RAISE WARNING", code)) == code.count("WHEN OTHERS"), path


def test_what_everybody_may_call(owner: psycopg.Connection[Any]) -> None:
    rows = owner.execute(
        "SELECT proname, has_function_privilege('public', oid, 'EXECUTE') FROM pg_proc "
        "WHERE pronamespace = 'pgmnemo'::regnamespace"
    ).fetchall()
    assert {found for found, may in rows if may and found.startswith("_")} == LENT
    assert {found for found, may in rows if not may and not found.startswith("_")} == KEPT


def test_nobody_has_a_right_on_a_table_a_sequence_or_a_type(owner: psycopg.Connection[Any]) -> None:
    """What everybody may do: read the views, and go into the schema. One view is for monitoring."""
    rights = (
        "SELECT c.relkind::text, c.relname, "
        "concat(a.privilege_type, nullif(' by ' || grantee::regrole, ' by -')) FROM pg_class c, "
        "aclexplode(coalesce(relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::\"char\", "
        "relowner))) a "
        "WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind IN ('r', 'v', 'S') AND grantee <> relowner "
        "UNION ALL SELECT 'T', t.typname, a.privilege_type FROM pg_type t, "
        "aclexplode(coalesce(typacl, acldefault('T', typowner))) a "
        "WHERE typnamespace = 'pgmnemo'::regnamespace AND typtype <> 'b' AND grantee <> typowner "
        "AND NOT EXISTS (SELECT FROM pg_class v WHERE v.oid = typrelid AND v.relkind = 'v') "
        "UNION ALL SELECT 'n', nspname, a.privilege_type FROM pg_namespace, aclexplode(nspacl) a "
        "WHERE nspname = 'pgmnemo' AND grantee <> nspowner ORDER BY 1, 2, 3"
    )
    views = ("calling", "edges", "health", "lessons", "passages", "postings", "vectors")
    may = {"health": "SELECT by pg_monitor"}
    assert owner.execute(rights).fetchall() == [
        ("n", "pgmnemo", "USAGE"), *(("v", view, may.get(view, "SELECT")) for view in views)]  # fmt: skip
