"""An older database that is upgraded is one that the full script made: objects, rows and answers."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import count
from threading import Event
from time import perf_counter, sleep
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from psycopg import errors

from pgmnemo.integrations.langgraph_items import key_of, namespace_of, topic_of
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres import fingerprint
from tests.helping import CURRENT

Connection = psycopg.Connection[Any]
RELEASES = tomllib.loads((SQL_FOLDER / "releases.toml").read_text(encoding="utf-8"))
FORMER = "0.6.1"  # the oldest release from which databases are updated
FORMERS = [FORMER, "1.0.0"]
UPGRADE = "ALTER EXTENSION pgmnemo UPDATE"
OWNER, AGENT = "upgrade_owner", "upgrade_agent"
TENANTS = [UUID(int=7 << 64 | n) for n in (1, 2)]
PROJECTS = [UUID(int=9 << 64 | n) for n in (1, 2, 3)]
WORDS = ["went", "go", "children", "child", "written", "mice", "lantern", "harbour", "violin",
         "running", "garden", "film", "the", "one", "teeth",
         "engine", "painted", "bridges", "winter", "market"]  # fmt: skip
QUESTIONS = ["Where did the children go in winter?", "a mouse wrote one letter", "violin", "bridge engines",
             "What was painted in May 2025?", "the of and", "lantern harbour market garden"]  # fmt: skip

# What pg_catalog says of the extension's objects, with nothing in it that counts objects or orders columns.
# Nor with what PostgreSQL 18 says otherwise than 16: there an owner may MAINTAIN a table (m), a column has no
# target in place of -1, and the types of rows and arrays are members of the extension.
CATALOGUE = {
    "functions": "SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid), p.proacl::text, "
    "proowner::regrole::text, obj_description(p.oid, 'pg_proc') FROM pg_proc p WHERE pronamespace = {schema}",
    "relations": "SELECT relname, relkind, reloptions, relrowsecurity, relforcerowsecurity, "
    "replace(relacl::text, 'xtm/', 'xt/'), relowner::regrole::text, relpersistence, "
    "obj_description(oid, 'pg_class') FROM pg_class WHERE relnamespace = {schema}",
    "columns": "SELECT c.relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, "
    "attstorage, attcollation::regcollation::text, attacl::text, nullif(attstattarget, -1), "
    "col_description(c.oid, attnum), CASE WHEN c.relkind = 'c' THEN attnum END, "
    "pg_get_expr(d.adbin, d.adrelid) FROM pg_class c "
    "JOIN pg_attribute a ON attrelid = c.oid LEFT JOIN pg_attrdef d ON adrelid = c.oid AND adnum = attnum "
    "WHERE relnamespace = {schema} AND relkind IN ('r', 'c', 'S', 'v') AND attnum > 0 AND NOT attisdropped",
    "views": "SELECT viewname, viewowner, definition FROM pg_views WHERE schemaname = 'pgmnemo'",
    "types": "SELECT typname, typtype, typowner::regrole::text, typacl::text, "
    "obj_description(oid, 'pg_type') FROM pg_type WHERE typnamespace = {schema}",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated "
    "FROM pg_constraint WHERE connamespace = {schema}",
    "indexes": "SELECT pg_get_indexdef(indexrelid), indisvalid, indisclustered FROM pg_index "
    "JOIN pg_class c ON c.oid = indrelid WHERE relnamespace = {schema}",
    "triggers": "SELECT pg_get_triggerdef(t.oid), tgenabled FROM pg_trigger t JOIN pg_class c "
    "ON c.oid = tgrelid WHERE relnamespace = {schema} AND NOT tgisinternal",
    "policies": "SELECT tablename, policyname, permissive, roles::text, cmd, qual, with_check "
    "FROM pg_policies WHERE schemaname = 'pgmnemo'",
    "members": "SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend d JOIN pg_extension e "
    "ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid "
    "WHERE extname = 'pgmnemo' AND deptype = 'e' AND NOT (classid = 'pg_type'::regclass AND EXISTS ("
    "SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = typrelid "
    "WHERE t.oid = objid AND (typelem <> 0 OR relkind <> 'c')))",
    "dumped": "SELECT t::regclass::text, c, e.extversion, e.extowner::regrole::text FROM pg_extension e, "
    "unnest(extconfig, extcondition) AS x (t, c) WHERE extname = 'pgmnemo'",
    "first rights": "SELECT pg_describe_object(classoid, objoid, objsubid), "
    "replace(initprivs::text, 'xtm/', 'xt/') FROM pg_init_privs WHERE privtype = 'e' "
    "AND pg_describe_object(classoid, objoid, objsubid) ~ 'pgmnemo'",
    "schema": "SELECT nspacl::text, nspowner::regrole::text FROM pg_namespace WHERE oid = {schema}",
}


@pytest.fixture(scope="module")
def templates(database: Any) -> Iterator[Callable[[str], str]]:
    """Call it with a version for a database to copy, in which an ordinary role owns that."""
    made: list[str] = []
    with database.admin() as owner:
        for role in (OWNER, AGENT):
            owner.execute(f"CREATE ROLE {role}")

        def template(version: str) -> str:
            if (name := f"upgrade from {version}") not in made:
                made.append(name)
                owner.execute(f'CREATE DATABASE "{name}" OWNER {OWNER} TEMPLATE template0')
                with psycopg.connect(**{**database.conninfo, "dbname": name}, autocommit=True) as connection:
                    for statement in ("CREATE EXTENSION vector SCHEMA public", f"SET ROLE {OWNER}",
                                      f"CREATE EXTENSION pgmnemo VERSION '{version}'"):  # fmt: skip
                        connection.execute(statement)
                    for tenant in TENANTS:
                        connection.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, AGENT))
            return name

        yield template
        for name in made:
            owner.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        for role in (OWNER, AGENT):
            owner.execute(f"DROP ROLE {role}")


@pytest.fixture
def make_database(database: Any, owner: Connection, templates: Any) -> Iterator[Callable[..., Connection]]:
    """Call it with a version for a superuser's connection to a copy of its template."""
    made: list[Connection] = []

    def make(version: str) -> Connection:
        name = f"upgrade_{len(made)}"
        owner.execute(f'CREATE DATABASE {name} OWNER {OWNER} TEMPLATE "{templates(version)}"')
        made.append(psycopg.connect(**{**database.conninfo, "dbname": name}, autocommit=True))
        return made[-1]

    yield make
    for number, connection in enumerate(made):
        connection.close()
        owner.execute(f"DROP DATABASE upgrade_{number} WITH (FORCE)")


def work_for(connection: Connection, tenant: UUID) -> None:
    connection.execute(f"SET ROLE {AGENT}")
    for name, value in (("tenant_id", tenant), ("gate_strict", "off")):
        connection.execute("SELECT set_config(%s, %s, false)", (f"pgmnemo.{name}", str(value)))


def literal(chance: np.random.Generator) -> str | None:
    """A vector of some width, at any length, or none."""
    width = int(chance.choice([0, 384, 768, 1024]))
    numbers = [*(chance.standard_normal(width) * 3).round(4), *[0.0] * (1024 - width)]
    return "[" + ",".join(f"{number:g}" for number in numbers) + "]" if width else None


def fill(connection: Connection, lessons: int, seed: int = 5, *, passages: bool = False) -> None:
    """Two tenants' lessons of every kind, through the verbs of whichever version it is.

    `passages`: some lessons have two, with vectors or without.
    """
    chance, source = random.Random(seed), np.random.default_rng(seed)
    vectors = [literal(source) for _ in range(400)]
    parts = [None, ("{a violin,the harbour}", None)] + [
        ("{a violin,the harbour}", "{" + f'"{vectors[n] or one}","{one}"' + "}")
        for n, one in enumerate(vectors) if one
    ]  # fmt: skip
    columns = "project_id, external_id, content, topic, role, importance, occurred_at, expires_at, embedding"
    if passages:
        columns += ", passages, passage_embeddings"
    for tenant in TENANTS:
        work_for(connection, tenant)
        for config, limit, size in (("english", 1_000_000, lessons // 3), ("english", 0, lessons // 12),
                                     ("simple", 1_000_000, lessons // 12)):  # fmt: skip
            limits = {"exact_scan_limit": limit, "hnsw_min_vectors": limit}  # before 1.0.0, and since
            for name, value in {"text_config": config, **limits}.items():
                connection.execute("SELECT set_config(%s, %s, false)", (f"pgmnemo.{name}", str(value)))
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute("SELECT pgmnemo.open_staging()")
                with cursor.copy(f"COPY lesson_staging ({columns}) FROM STDIN") as copy:
                    for n in range(size):
                        day = chance.randint(1, 28)
                        copy.write_row((
                            chance.choice(PROJECTS), f"{config} {limit} {n}",
                            " ".join(chance.choices(WORDS, k=chance.randint(1, 40))),
                            chance.choice([None, "children went"]), chance.choice([None, "pilot"]),
                            chance.randint(1, 5), chance.choice([None, f"2025-05-{day:02} 12:00+00"]),
                            chance.choice([None, f"2025-06-{day:02} 12:00+00"]), chance.choice(vectors),
                            *((chance.choice(parts) or (None, None)) if passages else ()),
                        ))  # fmt: skip
                cursor.execute("SELECT pgmnemo.store_staged()")
        connection.execute("RESET ROLE")  # a superuser, whom no version keeps from the table
        own = f"pgmnemo.lesson WHERE tenant_id = '{tenant}'"
        connection.execute(
            "UPDATE pgmnemo.lesson SET stored_at = '2025-01-01Z'::timestamptz "
            f"+ hashtext(external_id) % 100000 * interval '1 s' WHERE tenant_id = '{tenant}'"
        )
        connection.execute(
            f"SELECT pgmnemo.forget('{tenant}', project_id, external_id) FROM {own} AND external_id LIKE '%7'"
        )
        connection.execute(
            f"SELECT pgmnemo.link('{tenant}', project_id, external_id, next, 'follows', 0.5) "
            "FROM (SELECT project_id, external_id, lead(external_id) OVER (PARTITION BY project_id "
            f"ORDER BY external_id) AS next FROM {own}) n WHERE next LIKE '%3'")  # fmt: skip


def upgrade(connection: Connection) -> None:
    connection.execute(f"SET ROLE {OWNER}")
    connection.execute(UPGRADE)
    connection.execute("RESET ROLE")


def catalogue(connection: Connection) -> dict[str, list[str]]:
    connection.execute("SET search_path = pg_catalog")
    schema = "'pgmnemo'::regnamespace"
    return {
        part: sorted(map(repr, connection.execute(query.replace("{schema}", schema)).fetchall()))
        for part, query in CATALOGUE.items()
    }


def objects_sha256(connection: Connection) -> str:
    """Of all that the extension has installed; the same on PostgreSQL 16 and 18.

    Without the constraints NOT NULL, which have names since 18; columns say the same.
    """
    found = catalogue(connection)
    found["constraints"] = [row for row in found["constraints"] if "'NOT NULL " not in row]
    lines = [f"{part}: {row}\n" for part in sorted(found) for row in found[part]]
    return sha256("".join(lines).encode()).hexdigest()


def rows(connection: Connection) -> dict[str, list[Any]]:
    """Everything that is stored, by key in place of id."""
    key = 'l.tenant_id, l.project_id, l.external_id COLLATE "C"'
    names = ", ".join(f"l.{name}" for (name,) in connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'pgmnemo.lesson'::regclass AND attnum > 0 "
        "AND NOT attisdropped AND attname <> 'id' ORDER BY attname"))  # fmt: skip
    join = "FROM pgmnemo.lesson l JOIN pgmnemo"
    queries = {
        "lessons": f"SELECT {names} FROM pgmnemo.lesson l ORDER BY {key}",
        "edges": f"SELECT {key}, m.external_id, kind, weight {join}.lesson_edge e ON e.source_id = l.id "
        f"JOIN pgmnemo.lesson m ON m.id = e.target_id ORDER BY {key}, m.external_id",
        "passages": f"SELECT {key}, p.project_id, p.number, p.content, p.lexemes "
        f"{join}.passage p ON p.lesson_id = l.id AND p.tenant_id = l.tenant_id ORDER BY {key}, p.number",
        "vectors": f"SELECT {key}, v.generation, v.project_id, v.number, v.embedding::text "
        f"{join}.lesson_vector v ON v.lesson_id = l.id AND v.tenant_id = l.tenant_id "
        f"ORDER BY {key}, v.number",
        "spaces": "SELECT * FROM pgmnemo.embedding_space ORDER BY tenant_id",
        "postings": f"SELECT {key}, p.lexeme, x.f, x.t {join}.posting p "
        "ON p.tenant_id = l.tenant_id AND p.project_id = l.project_id "
        "CROSS JOIN LATERAL unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, f, t) "
        f"WHERE x.id = l.id ORDER BY {key}, p.lexeme",
        "statistics": "SELECT tenant_id, project_id, lexeme, sum(lesson_count), sum(token_total), "
        "max(max_frequency), min(min_tokens) FROM pgmnemo.posting GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    }
    return {name: connection.execute(query).fetchall() for name, query in queries.items()}


def answers(connection: Connection, questions: list[str], k: int = 25) -> list[tuple[Any, ...]]:
    """All but the id of recalls in every mode, in one project and in all, with filters and without."""
    found = []
    chance = np.random.default_rng(11)
    vectors = [vector for vector in (literal(chance) for _ in range(40)) if vector][: len(questions)]
    for tenant in TENANTS:
        work_for(connection, tenant)
        for question, vector in zip(questions, vectors, strict=True):
            for mode in ("hybrid", "vector", "keyword"):
                for project, role, moment in ((PROJECTS[0], None, None), (None, "pilot", "2025-05-20Z")):
                    with connection.cursor() as cursor:
                        cursor.execute(
                            "SELECT * FROM pgmnemo.recall_lessons("
                            "%s::vector, %s, %s, %s, '2025-06-30Z', %s, %s, %s)",
                            (vector, k, question, project, moment, role, mode))  # fmt: skip
                        found += [row[1:] for row in cursor.fetchall()]
    connection.execute("RESET ROLE")
    return found


def same_rows(first: Connection, second: Connection) -> None:
    one, other = rows(first), rows(second)
    for part in one:
        assert one[part] == other[part], part
        assert one[part], part


@pytest.mark.parametrize("version", [name for name, one in RELEASES.items() if "install_sha256" in one])
def test_a_release_is_installed_as_it_was_by_its_own_script(
    make_database: Callable[..., Connection], version: str
) -> None:
    installed = make_database(version)
    assert installed.execute("SELECT pgmnemo.version()").fetchone() == (version,)
    assert fingerprint(installed) == RELEASES[version]["fingerprint"]
    assert objects_sha256(installed) == RELEASES[version].get("objects_sha256")


def test_what_somebody_has_set_for_autovacuum_stays(make_database: Callable[..., Connection]) -> None:
    upgraded = make_database(FORMER)
    upgraded.execute("ALTER TABLE pgmnemo.lesson SET (autovacuum_vacuum_scale_factor = 0.5)")
    upgrade(upgraded)
    found = dict(upgraded.execute(
        "SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace "
        "AND relname IN ('lesson', 'posting')"))  # fmt: skip
    ours = ["autovacuum_vacuum_scale_factor=0.05", "autovacuum_analyze_scale_factor=0.05"]
    assert found == {"lesson": [ours[1], "autovacuum_vacuum_scale_factor=0.5"], "posting": ours}


@pytest.mark.parametrize("former", FORMERS)
def test_the_catalogue_is_that_of_the_full_script(
    make_database: Callable[..., Connection], former: str
) -> None:
    upgraded, full = make_database(former), make_database(CURRENT)
    upgrade(upgraded)
    one, other = catalogue(upgraded), catalogue(full)
    for part in CATALOGUE:
        assert set(one[part]) ^ set(other[part]) == set(), part
        assert one[part] == other[part]
        assert one[part], part


@pytest.mark.parametrize("former", FORMERS)
def test_rows_and_answers_are_those_of_the_full_script(
    make_database: Callable[..., Connection], former: str
) -> None:
    upgraded, full = make_database(former), make_database(CURRENT)
    for connection in (upgraded, full):  # so many that lists of postings have several blocks
        fill(connection, 1_200, passages=True)
    upgrade(upgraded)
    assert upgraded.execute("SELECT count(*) FROM pgmnemo.lesson_vector WHERE indexed").fetchone() > (0,)
    same_rows(upgraded, full)
    found = answers(upgraded, QUESTIONS)
    assert len(found) > 1000
    assert found == answers(full, QUESTIONS)
    work_for(upgraded, TENANTS[0])
    stored = upgraded.execute("SELECT pgmnemo.store(NULL, %s, 'new', 'a violin')", (PROJECTS[0],)).fetchone()
    assert stored == ("inserted",)
    for tenant in TENANTS:
        work_for(upgraded, tenant)
        assert upgraded.execute("SELECT * FROM pgmnemo.check()").fetchall() == []


def test_a_superuser_who_upgrades_anothers_extension_owns_nothing_of_it(
    make_database: Callable[..., Connection],
) -> None:
    upgraded, full = make_database(FORMER), make_database(CURRENT)
    fill(upgraded, 60)
    upgraded.execute(UPGRADE)
    assert upgraded.execute("SELECT current_user").fetchone() == ("postgres",)
    for (name,) in upgraded.execute("DELETE FROM pgmnemo.hnsw_index RETURNING name").fetchall():
        upgraded.execute(f"DROP TABLE IF EXISTS pgmnemo.{name}")
    assert catalogue(upgraded) == catalogue(full)
    assert upgraded.execute("SELECT count(*) FROM pgmnemo.lesson").fetchone() != (0,)


def test_rights_that_were_taken_away_stay_taken_away(make_database: Callable[..., Connection]) -> None:
    connection = make_database(FORMER)
    connection.execute("REVOKE ALL ON FUNCTION pgmnemo.forget_all(uuid, uuid, pgmnemo.caller) FROM PUBLIC")
    upgrade(connection)
    held = "SELECT has_function_privilege(%s, 'pgmnemo.forget_all(uuid, uuid, pgmnemo.caller)', 'EXECUTE')"
    assert connection.execute(held, (AGENT,)).fetchone() == (False,)


def place(connection: Connection) -> dict[str, Any]:
    return {key: getattr(connection.info, key) for key in ("host", "port", "user", "dbname")}


def busy(conninfo: dict[str, Any], number: int, over: Event) -> tuple[list[str], list[str], float]:
    """Store and recall, one call after another, until it is over: keys that were stored, what failed, and the
    longest time between two calls that succeeded."""
    stored, failed, longest, last = [], [], 0.0, perf_counter()
    with psycopg.connect(**conninfo, autocommit=True) as connection:
        work_for(connection, TENANTS[0])
        for step in count():
            if over.is_set():
                return stored, failed, longest
            key = f"busy {number} {step}"
            try:
                connection.execute("SELECT pgmnemo.recall_lessons(query_text => 'violin harbour')")
                connection.execute(
                    "SELECT pgmnemo.store(%s, %s, %s, 'a violin')", (TENANTS[0], PROJECTS[0], key)
                )
                stored.append(key)
                longest, last = max(longest, perf_counter() - last), perf_counter()
            except psycopg.Error as error:
                failed.append(str(error))
    raise AssertionError


def through(connection: Connection) -> int:
    """Upgrade, and again where PostgreSQL chose it to end a deadlock; how often."""
    for tries in range(1, 4):
        try:
            upgrade(connection)
            return tries
        except errors.DeadlockDetected:
            sleep(0.1)
    raise AssertionError("three deadlocks")


def test_an_upgrade_goes_through_while_others_write_and_read(
    make_database: Callable[..., Connection], record_property: Callable[[str, object], None]
) -> None:
    """One call under way in each session may fail, and so may the upgrade, which can be tried again; nothing
    that was stored is lost or spoilt.
    """
    connection = make_database(FORMER)
    fill(connection, 2_000)
    over = Event()
    with ThreadPoolExecutor(4) as pool:
        sessions = [pool.submit(busy, place(connection), number, over) for number in range(4)]
        try:
            sleep(0.5)
            began = perf_counter()
            tries = through(connection)
            record_property("upgrade_seconds", perf_counter() - began)
            sleep(0.5)
        finally:
            over.set()
    stored = [key for session in sessions for key in session.result()[0]]
    failed = [session.result()[1] for session in sessions]
    record_property("longest_wait_seconds", max(session.result()[2] for session in sessions))
    record_property("calls", len(stored))
    record_property("failed", sum(map(len, failed)))
    assert all(len(sentences) <= tries for sentences in failed), failed
    work_for(connection, TENANTS[0])
    query = "SELECT external_id FROM pgmnemo.lessons WHERE external_id LIKE 'busy%'"
    held = {key for (key,) in connection.execute(query)}
    assert set(stored) == held
    assert {key.split()[1] for key in stored if int(key.split()[2]) > 0} == {"0", "1", "2", "3"}
    assert connection.execute("SELECT * FROM pgmnemo.check()").fetchall() == []


def test_what_was_prepared_goes_on_where_it_names_columns(make_database: Callable[..., Connection]) -> None:
    connection = make_database(FORMER)
    with psycopg.connect(**place(connection), autocommit=True) as session:
        work_for(session, TENANTS[0])
        for name, columns in (("star", "*"), ("named", "external_id, score")):
            recall = f"SELECT {columns} FROM pgmnemo.recall('{TENANTS[0]}', query_text => 'violin')"
            session.execute(f"PREPARE {name} AS {recall}")
            session.execute(f"EXECUTE {name}")
        upgrade(connection)
        session.execute("EXECUTE named")
        for _ in range(2):
            with pytest.raises(errors.FeatureNotSupported, match="cached plan must not change result type"):
                session.execute("EXECUTE star")
    with psycopg.connect(**place(connection), autocommit=True) as session:
        work_for(session, TENANTS[0])
        session.execute(recall.replace("external_id, score", "*"))


APART = "e\u0301"
MIXED = {
    "chinese": ("我喜欢在公园里喝茶", "喝茶"),
    "thai": ("การประชุมจะจัดขึ้นในวันอังคาร", "วันอังคาร"),
    "ticket": ("PROJ-137 is late, and it costs 1,250.00", "ticket 137"),
    "accents": ("Le café de Zoë", "cafe Zoe"),
    "name": ("We saw The Who in Leeds", "The Who"),
    "long": ("我" * 300_000 + "".join(chr(0x4E00 + n) for n in range(20_000)), None),
}


def test_names_in_capitals_are_found_after_an_upgrade(make_database: Callable[..., Connection]) -> None:
    """1.0.0 cut them away as stop words within a sentence."""
    connection = make_database("1.0.0")
    work_for(connection, TENANTS[0])
    for key, text in (("team", "The IT team has moved"), ("room", "We have a room by the sea")):
        connection.execute(
            "SELECT pgmnemo.store(%s, %s, %s, %s, passages => ARRAY[%s])",
            (TENANTS[0], PROJECTS[0], key, text, text),
        )
    connection.execute("RESET ROLE")
    upgrade(connection)
    work_for(connection, TENANTS[0])
    assert connection.execute("SELECT * FROM pgmnemo.check()").fetchall() == []
    ask = "SELECT external_id FROM pgmnemo.recall_lessons(query_text => 'IT', mode => 'keyword', k => 1)"
    assert connection.execute(ask).fetchall() == [("team",)]


def test_texts_of_other_scripts_are_found_after_an_upgrade(make_database: Callable[..., Connection]) -> None:
    """0.6.1 stored them and did not find them; what cannot be cut whole stops no upgrade."""
    connection = make_database(FORMER)
    work_for(connection, TENANTS[0])
    for key, (text, _) in MIXED.items():
        connection.execute(
            "SELECT pgmnemo.store(%s, %s, %s, %s, passages => ARRAY[left(%s, 1000)])",
            (TENANTS[0], PROJECTS[0], key, text, text),
        )
    ask = "SELECT external_id FROM pgmnemo.recall_lessons(query_text => %s, mode => 'keyword', k => 1)"
    connection.execute("RESET ROLE")
    upgrade(connection)
    work_for(connection, TENANTS[0])
    assert connection.execute("SELECT * FROM pgmnemo.check()").fetchall() == []
    for key, (_, asked) in MIXED.items():
        if asked is not None:
            assert connection.execute(ask, (asked,)).fetchall() == [(key,)], key
    after = 0
    while after is not None:
        [(_, after)] = connection.execute(
            "SELECT * FROM pgmnemo.recut(NULL, after => %s)", (after,)
        ).fetchall()
    told = dict(connection.execute("SELECT external_id, text_config FROM pgmnemo.lessons").fetchall())
    assert told == {"chinese": "simple", "thai": "simple", "long": "simple", "ticket": "english",
                    "accents": "french", "name": "english"}  # fmt: skip
    assert connection.execute("SELECT * FROM pgmnemo.check()").fetchall() == []


def test_names_are_composed_by_an_upgrade_and_keys_that_become_one_are_reported(
    make_database: Callable[..., Connection],
) -> None:
    """Both lessons stay as they are; items of LangGraph are read under the names that they were put by."""
    connection = make_database(FORMER)
    work_for(connection, TENANTS[0])
    store = f"SELECT pgmnemo.store('{TENANTS[0]}', %s, %s, 'a note', role => %s, topic => %s, metadata => %s)"
    long = "\u0958" * 300  # 900 bytes, composed 1,800
    for key in ("caf" + APART, "two\u00e9", "two" + APART, long):
        connection.execute(store, (PROJECTS[1], key, APART, "/" + APART, "{}"))
    spaces = [("home",), (APART, "\u00e9"), (f'"{APART}\\\n\U0001f600\x7f', APART)]
    names = [(space, name) for space in spaces for name in ("k", APART, "\u00e9", APART * 400, APART * 150)]
    for space, name in names:
        told = json.dumps([*space, name], ensure_ascii=False, separators=(",", ":"))
        key = told if len(told.encode()) <= 1000 else f"sha256 {sha256(told.encode()).hexdigest()}"
        topic = "langgraph." + "".join(f"{label}." for label in space)
        connection.execute(store, (PROJECTS[2], key, None, topic, json.dumps({"key": name, "value": {}})))
    fact = "SELECT * FROM pgmnemo.assert_fact(NULL, %s, %s, %s, %s, single => true)"
    connection.execute(fact, (PROJECTS[0], APART, "is in", APART))
    connection.execute("RESET ROLE")
    notices: list[str] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    upgrade(connection)
    warned = [one for one in notices if "keeps its key" in one]
    assert len(warned) == 2
    for part in (str(TENANTS[0]), str(PROJECTS[1]), r'"twoe\u0301"', r'"two\u00e9"'):
        assert part in warned[0] + warned[1]
    work_for(connection, TENANTS[0])
    query = "SELECT external_id, role, topic FROM pgmnemo.lessons WHERE project_id = %s"
    kept = [(key, "\u00e9", "/\u00e9") for key in ("caf\u00e9", "two\u00e9", "two" + APART, long)]
    assert set(connection.execute(query, (PROJECTS[1],))) == set(kept)
    for space, name in names:
        get = "SELECT topic, metadata ->> 'key' FROM pgmnemo.get(NULL, %s, %s)"
        [(topic, key)] = connection.execute(get, (PROJECTS[2], key_of(space, name))).fetchall()
        assert (namespace_of(topic), topic, key) == (space, topic_of(space), name)
    outcome = connection.execute(fact, (PROJECTS[0], "\u00e9", "is in", "Porto")).fetchall()[0][1:]
    assert outcome == ("inserted", 1)
    assert connection.execute("SELECT * FROM pgmnemo.check()").fetchall() == []
