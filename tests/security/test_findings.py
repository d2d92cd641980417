"""Each finding of the review of 0.3.1: the attack finds nothing any more."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from contextlib import ExitStack
from time import perf_counter
from typing import Any

import psycopg
import pytest
from psycopg import errors

from pgmnemo.paths import SQL_FOLDER
from tests.security.attacked import OURS, PROJECT, A, B, Server, Site, attempt, estimate, vector

Make = Callable[..., Site]
TABLES = ("lesson", "passage", "posting", "lesson_edge")


def restored(site: Site) -> tuple[int, str]:
    """How many lessons a dump of the site brings back, and what psql said."""
    text = site.server.dump(site.name)
    site.server.create("restored")
    with site.server.connect("restored") as root:
        root.execute("DROP EXTENSION vector")
    text = re.sub(r"(CREATE EXTENSION IF NOT EXISTS pgmnemo [^;]*)", rf"\1 VERSION '{site.version}'", text)
    said = site.server.program("psql", "restored", "-q", given=text)
    with site.server.connect("restored") as root:
        count = root.execute("SELECT count(*) FROM pgmnemo.lesson").fetchall()[0][0]
    with site.server.connect("postgres") as root:
        root.execute("DROP DATABASE restored WITH (FORCE)")
    return count, said


# A text search configuration's name, what it is made of, and what becomes of it once a lesson is stored.
TRICKS = {
    "temporary": ("pg_temp.c", "COPY = pg_catalog.english", None),
    "dropped": ("alice.c", "COPY = pg_catalog.english", "DROP TEXT SEARCH CONFIGURATION alice.c"),
    "grown": ("alice.c", "PARSER = pg_catalog.default",
              "ALTER TEXT SEARCH CONFIGURATION alice.c ADD MAPPING FOR asciiword, numword WITH simple"),
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_d2_no_tenant_makes_a_dump_unrestorable(site: Site, trick: str) -> None:
    name, made_of, after = TRICKS[trick]
    site.run("CREATE SCHEMA alice AUTHORIZATION alice", "GRANT USAGE ON SCHEMA alice TO PUBLIC")
    site.store(site.connect("bob", B), B, "kept", "the river")
    words = " ".join(f"word{n}" for n in range(120_000)) if trick == "grown" else "her lesson"
    with site.connect("alice", A) as alice:
        alice.execute(f"CREATE TEXT SEARCH CONFIGURATION {name} ({made_of})")
        alice.execute(f"SET pgmnemo.text_config = '{name}'")
        with contextlib.suppress(errors.InvalidParameterValue):
            site.store(alice, A, "bomb", words)
        if after:
            alice.execute(after)
    count, said = restored(site)
    site.holds([] if count == site.rows("SELECT count(*) FROM pgmnemo.lesson")[0][0] else said)


def test_d2_no_name_of_a_configuration_breaks_more_than_its_own_call(site: Site) -> None:
    """0.3.1 gave XX000, 42501 and 42601, some of them in every later call."""
    site.run("CREATE SCHEMA secret", "CREATE TEXT SEARCH CONFIGURATION secret.c (COPY = simple)")
    alice, states = site.connect("alice", A), set()
    site.store(alice, A, "kept", "the river")
    for name in ("0", "-", "999999", "a.b.c.d", "pg_temp.c", "pg_temp_3.c", "secret.c", '"', "english; DROP"):
        alice.execute("SELECT set_config('pgmnemo.text_config', %s, false)", (name,))
        for act in (
            lambda: site.store(alice, A, "x", "a river"),
            lambda: site.recall(alice, A, "river"),
            lambda: alice.execute("SELECT * FROM pgmnemo.list_settings()").fetchall(),
            lambda: site.check(alice, A),
        ):
            try:
                act()
            except psycopg.Error as error:
                states.add(error.sqlstate)
        alice.execute("RESET pgmnemo.text_config")
        assert site.recall(alice, A, "river")[:1]
    site.holds(states - {"22023"})


def test_d2_no_lesson_is_too_large_for_a_dump(site: Site) -> None:
    """jsonb keeps 1e131000 in a few bytes, and writes it out in 131,001."""
    alice = site.connect("alice", A)
    site.store(site.connect("bob", B), B, "kept", "the river")
    numbers = "[" + ", ".join(["1e131000"] * 4500) + "]"
    metadata = f'{{"a": {numbers}, "b": {numbers}}}'
    refusal = None
    try:
        site.store(alice, A, "bomb", "small", metadata=metadata)
    except errors.InvalidParameterValue as error:
        refusal = str(error)
    except errors.ProgramLimitExceeded:
        pass
    assert refusal is None or "beyond 1e308" in refusal
    said = site.server.program("pg_dump", site.name, "-f", "/dev/null")
    site.holds([line for line in said.splitlines() if "error" in line])


def test_d3_no_estimate_tells_another_tenants_value(site: Site) -> None:
    bob, mallory, alice = site.connect("bob", B), site.connect("mallory", A), site.connect("alice", A)
    for n in range(30):
        site.store(bob, B, f"key{n}", f"secret word{n}")
        site.store(alice, A, f"mine{n}", f"open word{n}")
    site.run("ANALYZE")
    told = []
    ways = [
        "SELECT FROM pgmnemo.lesson l, generate_series(1::bigint, 1000000000000000) g(x) "
        "WHERE (l.{} < '{}' OR g.x IS NULL)",
        "SELECT FROM pgmnemo.{view} l WHERE l.{} < '{}'",
        "SELECT FROM pgmnemo.calling WHERE '{1}' > '{1}'",
    ]
    probes = {"tenant_id": (str(A), "f" * 32), "content": ("a", "z"), "external_id": ("a", "zz")}
    for client in (mallory, alice):
        for way in ways:
            for column, (low, high) in probes.items():
                text = way.replace("{view}", "lessons")
                estimates = {estimate(client, text.format(column, value)) for value in (low, high)}
                if len(estimates) > 1:
                    told.append((way, column, estimates))
        for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
            seen = attempt(client, f"SELECT * FROM pg_catalog.{view} WHERE schemaname = 'pgmnemo'")
            told += [
                (view, row[1]) for row in seen or () if view != "pg_stats" or row[1].startswith("lesson")
            ]
    site.holds(told)


def test_d3_no_plan_of_a_verb_is_printed(make_site: Make) -> None:
    """debug_print_plan is anyone's, and a plan holds estimates, and as of PostgreSQL 18 arguments."""
    site = make_site(OURS)
    printing = dict.fromkeys(("debug_print_plan", "debug_print_rewritten", "debug_print_parse"), "on")
    printing |= {"client_min_messages": "log", "plan_cache_mode": "force_custom_plan"}
    mallory, alice = (site.connect(role, A, **printing) for role in ("mallory", "alice"))
    said: list[str] = []
    key = site.rows("SELECT key FROM pgmnemo.caller_key")[0][0]
    for client in (mallory, alice):
        client.add_notice_handler(lambda note: said.append(f"{note.message_primary}{note.message_detail}"))
        for what in ("* FROM pgmnemo.calling", "pgmnemo._caller()", "* FROM pgmnemo.list_grants()",
                     "* FROM pgmnemo.lessons"):  # fmt: skip
            client.execute(f"SELECT {what}")
    site.store(alice, A, "mine", "a river")
    site.recall(alice, A, "river")
    alice.execute("SELECT pgmnemo.forget(%s, %s, 'mine')", (A, PROJECT))
    printed = re.sub(r"\s+", " ", " ".join(said))
    plans = [text.split("parse tree:")[0] for text in printed.split("{PLANNEDSTMT")[1:]]
    assert plans, "nothing was printed"
    assert " ".join(str((byte + 128) % 256 - 128) for byte in key) not in printed
    kept = site.rows(
        "SELECT oid::text FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'r' "
        "AND relname <> 'caller_key'"
    )
    assert not [plan for plan in plans if {*kept} & {(oid,) for oid in re.findall(r":relid (\d+)", plan)}]


def test_d4_vectors_are_not_measured(site: Site) -> None:
    """A probe of one's own is found or not, and rows are removed, as foreign vectors are nearer or not."""
    bob, alice = (site.connect(*who, **{"pgmnemo.hnsw_min_vectors": 0}) for who in (("bob", B), ("alice", A)))
    for n in range(40):
        site.store(bob, B, f"b{n}", "his", embedding=vector(1, n / 100))
    site.store(alice, A, "probe", "hers", embedding=vector(0, 1))
    for setting in ("hnsw.ef_search = 1", "hnsw.iterative_scan = off", "hnsw.max_scan_tuples = 1",
                    "pgmnemo.ef_search = 1", "pgmnemo.pool_depth = 1"):  # fmt: skip
        alice.execute(f"SET {setting}")
    near, far = vector(0.01, 1), vector(1, 0.2)
    told: list[object] = []
    if {tuple(site.recall(alice, A, None, question, 1)) for question in (near, far)} != {("probe",)}:
        told.append("the probe is not found")
    alice.execute("SET enable_sort = off; SET enable_seqscan = off; SET enable_bitmapscan = off")
    for table in ("passage", "passages"):
        ordered = (
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) "
            f"SELECT FROM pgmnemo.{table} WHERE indexed AND width = 384 "
            "ORDER BY embedding::halfvec(384) <#> '{}' LIMIT 1"
        )
        plans = [attempt(alice, ordered.format(question[:384])) for question in (near, far)]
        removed = [re.findall(r"Rows Removed by Filter: \d+", str(plan)) for plan in plans]
        if removed[0] != removed[1]:
            told.append(removed)
    site.holds(told)


def counted(site: Site, question: list[float]) -> list[tuple[Any, ...]]:
    """What PostgreSQL counts for everybody of alice's query, in a session of its own.

    Rows that scans of the graphs met.
    """
    settings = {"pgmnemo.hnsw_min_vectors": 0, "pgmnemo.pool_depth": 1}
    with site.connect("alice", A, **settings) as client, client.transaction():
        client.execute("SELECT FROM pgmnemo.recall(%s, %s::real[], 1, mode => 'vector')", (A, question))
        return client.execute(
            "SELECT relname, pg_stat_get_xact_tuples_returned(oid), pg_stat_get_xact_tuples_fetched(oid) "
            "FROM pg_class WHERE relname ~ '^hnsw_[0-9]+' AND pg_stat_get_xact_tuples_returned(oid) > 0 "
            "ORDER BY 1"
        ).fetchall()


def test_d4_counters_measure_no_vectors_of_others(make_site: Make) -> None:
    site = make_site(OURS)
    bob, alice = (site.connect(*who, **{"pgmnemo.hnsw_min_vectors": 0}) for who in (("bob", B), ("alice", A)))
    for n in range(6):
        site.store(alice, A, f"a{n}", "hers", embedding=vector(0, 1, n / 10))
    questions = (vector(0.01, 1), vector(1, 0.2))
    alone = [counted(site, question) for question in questions]
    for n in range(40):
        site.store(bob, B, f"b{n}", "his", embedding=vector(1, n / 100))
    among = [counted(site, question) for question in questions]
    assert among == alone
    assert any(alone)


PLANTED = {
    "cardinality(bigint[])": "integer", "cardinality(text[])": "integer", "unnest(bigint[])": "SETOF bigint",
    "unnest(pgmnemo.lesson_input[])": "SETOF pgmnemo.lesson_input", "unnest(text[])": "SETOF text",
    "format(text, integer, integer)": "text", "format(text, text, name)": "text",
    "format(text, text)": "text", "format(text, uuid)": "text", "concat_ws(text, text, text)": "text",
    "starts_with(name, text)": "boolean", "quote_ident(name)": "text", "to_regclass(name)": "regclass",
    "array_position(text[], text)": "integer", "subvector(halfvec, integer, smallint)": "halfvec",
    "l2_norm(vector)": "double precision", "octet_length(varchar)": "integer",
}  # fmt: skip
OPERATORS = {
    ">=": "float8, numeric", "<=": "float8, numeric", "||": "bigint[], bigint", "=": "name, text",
    "<>": "halfvec[], halfvec[]", "<@": "bigint[], bigint[]",
}  # fmt: skip


def plant(schema: str) -> list[str]:
    """Functions and operators that mallory may make, whose signatures fit calls better than pg_catalog's."""

    def function(name: str, result: str, marked: str) -> str:
        ending = "RETURN" if result.startswith("SETOF") else "RETURN NULL"
        body = f"BEGIN INSERT INTO public.marks VALUES (current_user, '{marked}'); {ending}; END"
        return f"CREATE FUNCTION {schema}.{name} RETURNS {result} LANGUAGE plpgsql AS $${body}$$"

    made = [function(name, result, name) for name, result in PLANTED.items()]
    for number, (operator, sides) in enumerate(OPERATORS.items()):
        left, right = sides.split(", ")
        result = "bigint[]" if operator == "||" else "boolean"
        made.append(function(f"planted{number}({sides})", result, operator))
        made.append(
            f"CREATE OPERATOR {schema}.{operator} "
            f"(LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = {schema}.planted{number})"
        )
    return made


MARKS = (
    "GRANT CREATE ON SCHEMA public TO PUBLIC",
    "CREATE TABLE public.marks (who text, what text)",
    "GRANT ALL ON public.marks TO PUBLIC",
)


@pytest.mark.parametrize("when", ["before", "after"])
def test_d5_nothing_planted_runs(make_site: Make, when: str) -> None:
    guarded = (
        "DO $do$ BEGIN SET LOCAL ROLE mallory; EXECUTE $ex$%s$ex$; "
        "EXCEPTION WHEN insufficient_privilege OR duplicate_function THEN NULL; END $do$"
    )
    statements = [guarded % text for text in plant("public") if when == "after" or "pgmnemo." not in text]
    if when == "before":
        site = make_site(OURS, *MARKS, *statements)
    else:
        site = make_site(OURS, *MARKS)
        site.run(*statements)
    bob = site.connect("bob", B)
    given = {"passages": ["the river", "two"], "passage_embeddings": [str(vector(1))] * 2}
    explain = "SELECT * FROM pgmnemo.explain(%s, %s, 'x', %s::real[], 'river')"
    for act in (
        lambda: site.store(bob, B, "x", "the river", embedding=vector(1), **given),
        lambda: site.recall(bob, B, "the river", vector(1)),
        lambda: site.check(bob, B),
        lambda: attempt(bob, explain, B, PROJECT, vector(1)),
    ):
        act()
    site.holds(site.rows("SELECT DISTINCT who, what FROM public.marks WHERE who <> 'mallory'"))


@pytest.mark.parametrize("installer", ["keeper", None])
def test_d6_a_squatted_schema_is_not_used(server: Server, installer: str | None) -> None:
    server.create(
        "squatted",
        "CREATE SCHEMA pgmnemo AUTHORIZATION mallory",
        "SET ROLE mallory; GRANT ALL ON SCHEMA pgmnemo TO PUBLIC, alice; RESET ROLE",
    )
    overload = "CREATE FUNCTION pgmnemo.version(int) RETURNS text LANGUAGE sql AS 'SELECT 1::text'"
    with server.connect("squatted", installer) as owner, contextlib.suppress(psycopg.Error):
        owner.execute(f"CREATE EXTENSION pgmnemo VERSION '{OURS}'")
    with ExitStack() as stack:
        site = Site(server, OURS, "squatted", stack)
        installed = site.rows("SELECT FROM pg_extension WHERE extname = 'pgmnemo'")
        added = [attempt(site.connect(stranger), overload) for stranger in ("mallory", "alice")]
        site.holds(installed and [one for one in added if one is not None])


def test_d8_staging_is_of_one_role_tenant_and_transaction(site: Site) -> None:
    session = site.connect("dual", A)
    session.execute("SELECT pgmnemo.open_staging()")
    copy = (
        "INSERT INTO lesson_staging (project_id, external_id, content) VALUES (%s, 'staged', 'of tenant A')"
    )
    attempt(session, copy, PROJECT)
    session.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(B),))
    with contextlib.suppress(errors.UndefinedTable):
        session.execute("SELECT * FROM pgmnemo.store_staged()")
    with session.transaction():
        session.execute("SELECT set_config('pgmnemo.tenant_id', %s, true)", (str(A),))
        session.execute("SELECT pgmnemo.open_staging()")
        session.execute(copy, (PROJECT,))
        session.execute("SELECT set_config('pgmnemo.tenant_id', %s, true)", (str(B),))
        session.execute("SELECT * FROM pgmnemo.store_staged()")
    site.holds(site.rows("SELECT content FROM pgmnemo.lesson WHERE tenant_id = %s", B))


def test_d9_a_tenant_switched_within_a_statement_leaves_a_sound_index(site: Site) -> None:
    dual = site.connect("dual")
    for tenant in (A, B):
        site.store(dual, tenant, "one", "the river")
    dual.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(A),))
    switch = "set_config('pgmnemo.tenant_id', %s, false), set_config('pgmnemo.acting_tenant', %s, false)"
    dual.execute(f"SELECT pgmnemo.store(%s, %s, 'one', 'a lantern'), {switch}", (A, PROJECT, str(B), str(B)))
    dual.execute(f"SELECT {switch}, pgmnemo.store(NULL, %s, 'one', 'a lamp')", (str(A), str(B), PROJECT))
    site.holds(site.check(dual, A) + site.check(dual, B))


def test_d10_no_passage_outlives_its_text(site: Site) -> None:
    first, second = site.connect("alice", A), site.connect("alice", A)
    site.store(first, A, "x", "the old text")
    lesson = site.rows("SELECT id FROM pgmnemo.lesson")[0][0]
    add = f"store_passages('{A}', "
    try:
        with first.transaction(), second.transaction():
            for client in (first, second):
                client.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                client.execute("SELECT 1")
            first.execute(f"SELECT pgmnemo.{add}%s, '{{the old text}}')", (lesson,))
            first.execute("COMMIT")
            site.store(second, A, "x", "the new one")
    except (errors.SerializationFailure, errors.NoActiveSqlTransaction, psycopg.ProgrammingError):
        pass
    stale = (
        "SELECT p.content FROM pgmnemo.passage p JOIN pgmnemo.lesson l ON l.id = p.lesson_id "
        "WHERE p.number > 0 AND l.content <> p.content"
    )
    site.holds(site.rows(stale))


def test_d11_a_long_question_on_a_long_lesson_is_answered_in_time(site: Site) -> None:
    words = [f"word{n}" for n in range(20_000)]
    alice = site.connect("alice", A)
    site.store(alice, A, "long", " ".join(words))
    for n in range(5):
        site.store(alice, A, f"other{n}", " ".join(words[n * 100 : n * 100 + 50]))
    times = []
    for _ in range(3):
        begun = perf_counter()
        assert "long" in site.recall(alice, A, " ".join(words[:20_000:10]))
        times.append(perf_counter() - begun)
    site.holds([spent for spent in (min(times),) if spent > 0.5])


def test_d13_a_tail_that_is_zero_at_half_precision_is_no_change(site: Site) -> None:
    alice = site.connect("alice", A)
    embedding = [*vector(1, 1)[:1023], 1e-9]
    site.store(alice, A, "x", "the river", embedding=embedding)
    again = site.store(alice, A, "x", "the river", embedding=embedding)
    site.holds([*([again] if again != "unchanged" else []), *site.check(alice, A)])


def test_d14_the_grant_of_a_role_that_is_gone_is_listed_and_revoked_by_its_number(site: Site) -> None:
    """What a renamed role, and another one under its old name, may reach is in the battery."""
    root = site.connect()
    root.execute("CREATE ROLE newcomer LOGIN; SET ROLE keeper")
    root.execute("SELECT pgmnemo.grant_tenant(%s, 'newcomer')", (A,))
    root.execute("RESET ROLE; DROP ROLE newcomer")
    listed = {row[1] for row in site.rows("SELECT * FROM pgmnemo.list_grants()")}
    (grantee,) = listed - {"alice", "bob", "dual"}
    assert grantee.isdecimal()
    root.execute("SET ROLE keeper")
    assert root.execute("SELECT pgmnemo.revoke_tenant(%s, %s)", (A, grantee)).fetchone() == (True,)


def test_d14_what_failed_oddly(site: Site) -> None:
    alice, states = site.connect("alice", A), set()
    for arguments in ("passages => '{{a,b},{c,d}}'", "occurred_at => '294276-12-31'"):
        try:
            alice.execute(f"SELECT pgmnemo.store(NULL, %s, 'x', 'the river', {arguments})", (PROJECT,))
            alice.execute("SELECT pgmnemo.recall_lessons(query_text => 'river', as_of => '1969-01-01')")
        except psycopg.Error as error:
            states.add(error.sqlstate)
    site.holds(states & {"0A000", "22008"})


def test_what_cannot_be_closed_is_said() -> None:
    said = " ".join((SQL_FOLDER / "README.md").read_text("utf-8").split())
    for phrase in (
        "totals of whole tables", "ALTER ROLE alice SET pgmnemo.gate_strict",
        "DROP EXTENSION leaves the schema", "need CASCADE", "calls in flight", "SERIALIZABLE",
        "with his own rights", "idle in a transaction", "GRANT … ON ALL TABLES IN SCHEMA pgmnemo",
        "SET LOCAL pgmnemo.tenant_id", "a column of type pgmnemo.lesson_input",
    ):  # fmt: skip
        assert phrase in said
