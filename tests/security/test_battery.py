"""The battery: thousands of attempts by every role to reach, change, measure, hold up or trap another tenant.

Each attempt runs in a transaction that is rolled back. It leaks if what it returns, or says in an error or a
notice, holds a secret of a tenant that the role was not granted; if it changes what that tenant holds; if the
tenant's own recall and store then wait; or if a planted object runs in another's name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from tests.security.attacked import OURS, PROJECT, A, B, Site, vector
from tests.security.test_findings import MARKS, plant
from tests.security.verbs import by_argument, by_setting

HNSW_TABLES = ("hnsw_2", "hnsw_4", "hnsw_6")  # of A, B and C
TABLES = ("lesson", "passage", "posting", "lesson_edge", "tenant", "tenant_grant", "caller_key",
          "lesson_vector", "embedding_space", "hnsw_index", "segment", "segment_lesson", "segment_project",
          "segment_term", *HNSW_TABLES)  # fmt: skip
VIEWS = ("lessons", "passages", "vectors", "edges", "postings", "calling")
MODES = ("ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "EXCLUSIVE",
         "SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE")  # fmt: skip
C = UUID(int=0xC3 << 80)  # granted to crew, of which heir inherits and bare does not
OPEN = ("CREATE SCHEMA mallory AUTHORIZATION mallory", "GRANT ALL ON SCHEMA mallory TO PUBLIC")
SECRETS = {A: ("alpharetta", "key-of-a"), B: ("bratislava", "key-of-b"), C: ("casablanca", "key-of-c")}
ROLES = ("alice", "bob", "dual", "mallory", "crew", "heir", "bare", "veteran", "newcomer", "revenant")
HOLDERS = {A: ("alice", "dual", "veteran"), B: ("bob", "dual"), C: ("crew", "heir")}
OWNERS = {tenant: holders[0] for tenant, holders in HOLDERS.items()}
REACHES = {role: {tenant for tenant, holders in HOLDERS.items() if role in holders} for role in ROLES}
# What a role has besides its tenants is the same for all: these three stand for them where no grant decides.
TYPICAL = ("alice", "dual", "mallory")
SETTINGS = (
    "search_path = mallory, public, pg_temp, pg_catalog", "search_path = ''", "row_security = off",
    "hnsw.ef_search = 1", "hnsw.iterative_scan = off", "hnsw.max_scan_tuples = 1",
    "standard_conforming_strings = off", "quote_all_identifiers = on", "work_mem = '64kB'",
    "plan_cache_mode = force_custom_plan", "plan_cache_mode = force_generic_plan", "enable_indexscan = off",
    "enable_bitmapscan = off", "enable_seqscan = off", "enable_sort = off", "DateStyle = 'SQL, DMY'",
    "bytea_output = escape", "client_min_messages = debug5", "debug_print_plan = on",
    "debug_parallel_query = on", "default_text_search_config = 'pg_catalog.simple'", "array_nulls = off",
    "transform_null_equals = on", "TimeZone = 'Asia/Kathmandu'", "extra_float_digits = -15",
    "lock_timeout = 1", "maintenance_work_mem = '64kB'", "default_tablespace = 'pg_global'",
    "default_table_access_method = 'heap'", "max_parallel_maintenance_workers = 0",
    "pgmnemo.vector_recall = 0.999",
    "default_transaction_isolation = serializable", "default_transaction_read_only = on",
    "plpgsql.extra_errors = 'all'", "plpgsql.variable_conflict = use_variable", "track_functions = 'all'",
    "session_replication_role = replica", "jit = on", "constraint_exclusion = on",
    "pgmnemo.acting_tenant = '{victim}'", "pgmnemo.tenant_id = '{victim}'", "pgmnemo.gate_strict = 'x'",
    "pgmnemo.text_config = 'pg_temp.c'", "pgmnemo.statistics_scope = 'tenant'",
    "pgmnemo.hnsw_min_vectors = 0", "pgmnemo.ef_search = 1", "pgmnemo.pool_depth = 1",
    "pgmnemo.pool_depth = 'NaN'", "pgmnemo.bm25_k1 = 'Infinity'", "pgmnemo.graph_seeds = -1",
    "pgmnemo.bypass_notice = off", "pgmnemo.caller = '(bob,x)'", "pgmnemo.upgrading_role = 'keeper'",
)  # fmt: skip


@dataclass
class Battery:
    """What is counted, and against what every attempt is held."""

    site: Site
    hnsw_tables: tuple[str, ...] = HNSW_TABLES
    tried: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    leaks: list[tuple[str, str, str, str]] = field(default_factory=list)
    clients: dict[str, psycopg.Connection[Any]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    sprung: set[str] = field(default_factory=set)
    refused: dict[str, Counter[str | None]] = field(default_factory=lambda: defaultdict(Counter))

    def client(self, role: str) -> psycopg.Connection[Any]:
        if role not in self.clients:
            client = self.site.connect(role, statement_timeout="3s", application_name="battery")
            client.add_notice_handler(
                lambda notice: self.said.append(f"{notice.message_primary} {notice.message_detail}")
            )
            self.clients[role] = client
        return self.clients[role]

    def attack(
        self, kind: str, role: str, statements: list[str], *, held: bool = False, all_of_it: bool = False
    ) -> None:
        """Run them as the role, in one transaction; the first failure ends it unless `all_of_it`."""
        client = self.client(role)
        self.tried[kind] += 1
        self.said.clear()
        found: list[Any] = []
        try:
            with client.transaction(force_rollback=True):
                for statement in statements:
                    try:
                        with client.transaction():
                            found += rows(client, statement)
                    except psycopg.Error as error:
                        if not all_of_it:
                            raise
                        found.append(str(error))
                self.passed[kind] += 1
                if held:
                    self.hold(kind, role, statements[-1])
        except psycopg.Error as error:
            diagnostic = error.diag
            self.refused[kind][error.sqlstate] += 1
            found += [str(error), diagnostic.message_detail, diagnostic.context]
        told = f"{found} {' '.join(self.said)}"
        asked = " ".join(statements)
        for secret in (secret for tenant in tenants_of_others(role) for secret in SECRETS[tenant]):
            if secret in told and secret not in asked:
                self.leaks.append((kind, role, asked, f"told {secret}"))

    def hold(self, kind: str, role: str, statement: str) -> None:
        """Whether the victims can still recall and store while the attacker's transaction stands."""
        for victim, tenant in (("bob", B), ("alice", A)):
            if tenant in REACHES[role]:
                continue
            client = self.client(victim)
            try:
                with client.transaction(force_rollback=True):
                    self.site.recall(client, tenant, SECRETS[tenant][0])
                    self.site.store(
                        client, tenant, "during", "stored during an attack", embedding=vector(1, 2)
                    )
            except errors.LockNotAvailable:
                self.leaks.append((kind, role, statement, f"holds {victim} up"))

    def tell(self, capsys: pytest.CaptureFixture[str]) -> None:
        counts = ", ".join(f"{kind} {count}" for kind, count in self.tried.most_common())
        with capsys.disabled():
            print(f"\nattempts: {self.tried.total()} ({counts}); leaks: {len(self.leaks)}")

    def state(self) -> list[tuple[Any, ...]]:
        """A digest of what each tenant holds, of the grants, the keys and the objects."""
        kept = {"lesson": "id", "passage": "lesson_id, number", "posting": "project_id, lexeme, lesson_ids",
                "lesson_edge": "source_id, target_id", "lesson_vector": "lesson_id, number",
                "segment_term": "lexeme", "embedding_space": "generation",
                "hnsw_index": "generation"}  # fmt: skip
        queries = [
            f"SELECT '{table}', tenant_id, md5(string_agg(r::text, ',' ORDER BY {key})) "
            f"FROM pgmnemo.{table} r GROUP BY 2"
            for table, key in kept.items()
        ]
        queries += [
            f"SELECT '{table}', NULL, md5(string_agg(r::text, ',' ORDER BY lesson_id, number)) "
            f"FROM pgmnemo.{table} r"
            for table in self.hnsw_tables
        ] + [
            "SELECT 'grant', NULL, md5(string_agg(g::text, ',' ORDER BY g)) FROM pgmnemo.tenant_grant g",
            "SELECT 'key', NULL, md5(key::text) FROM pgmnemo.caller_key",
            "SELECT 'objects', NULL, md5(string_agg(pg_describe_object(classid, objid, objsubid), ',' "
            "ORDER BY classid, objid)) FROM pg_depend WHERE refobjid = 'pgmnemo'::regnamespace",
        ]
        return self.site.rows(" UNION ALL ".join(queries) + " ORDER BY 1, 2")


def rows(client: psycopg.Connection[Any], statement: str) -> list[Any]:
    """What a statement gives, as it comes: DateStyle and bytea_output are among the settings tried."""
    if statement.startswith("COPY ") and "STDOUT" in statement:
        with client.cursor().copy(statement.encode()) as copy:
            return [bytes(block) for block in copy]
    result = client.execute(statement.encode()).pgresult
    assert result is not None
    return [
        result.get_value(row, column) for row in range(result.ntuples) for column in range(result.nfields)
    ]


def seal(root: psycopg.Connection[Any], tenant: UUID) -> None:
    """Pieces of four lessons, as pgmnemo.merge_postings makes them of thousands."""
    with root.transaction():
        root.execute("SET LOCAL ROLE keeper")
        root.execute("SELECT set_config('pgmnemo.acting_tenant', %s, true)", (str(tenant),))
        root.execute("SELECT pgmnemo._lock_tenant(%s), pgmnemo._merge_segments(%s, 4)", (tenant, tenant))


def fill(site: Site, client: psycopg.Connection[Any], tenant: UUID) -> None:
    """Four lessons with its secrets, and a link between the first two."""
    word, key = SECRETS[tenant]
    for n in range(4):
        site.store(
            client, tenant, f"{key}-{n}", f"the {word} river {n}", embedding=vector(n, 1, 2),
            passages=[f"the {word}", f"river {n}"],
            passage_embeddings=[str(vector(n, 2)), str(vector(2, n, 1))],
        )  # fmt: skip
    link = "SELECT pgmnemo.link(%s, %s, %s, %s, 'follows')"
    client.execute(link, (tenant, PROJECT, f"{key}-0", f"{key}-1"))


@pytest.fixture
def battery(make_site: Callable[..., Site]) -> Iterator[Battery]:
    site = make_site(OURS, *MARKS, *OPEN)
    root = site.connect()
    none_of_these = f"DROP ROLE IF EXISTS {', '.join(ROLES[4:])}"
    root.execute(none_of_these)
    for role in ("crew", "heir", "bare", "newcomer", "revenant"):
        root.execute(f"CREATE ROLE {role} LOGIN")
    root.execute("GRANT crew TO heir WITH INHERIT TRUE, SET FALSE")
    root.execute("GRANT crew TO bare WITH INHERIT FALSE, SET FALSE")
    root.execute("SET ROLE keeper")
    for tenant, role in ((C, "crew"), (A, "newcomer"), (A, "revenant")):
        root.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, role))
    root.execute("RESET ROLE")
    root.execute("ALTER ROLE newcomer RENAME TO veteran")
    root.execute("DROP ROLE revenant")
    root.execute("CREATE ROLE newcomer LOGIN; CREATE ROLE revenant LOGIN")
    for role, tenant in (("alice", A), ("bob", B), ("crew", C)):
        with site.connect(role, tenant, **{"pgmnemo.hnsw_min_vectors": 0}) as client:
            fill(site, client, tenant)
        seal(root, tenant)
    named = "SELECT name::text FROM pgmnemo.hnsw_index WHERE pgmnemo._hnsw_table_exists(name) ORDER BY 1"
    assert [name for (name,) in root.execute(named)] == [*HNSW_TABLES]
    root.execute("ANALYZE")
    yield Battery(site)
    root.execute(none_of_these)


def on_tables(role: str) -> Iterator[tuple[str, list[str], bool]]:
    """Every kind of statement on every table and view."""
    for table in (*TABLES, *VIEWS):
        name, own = f"pgmnemo.{table}", f"mallory.copy_{role}"
        for tenant in tenants_of_others(role):
            setting = f"SET LOCAL pgmnemo.acting_tenant = '{tenant}'"
            yield "SELECT", [setting, f"SELECT * FROM {name}"], False
        for statement in (
            f"SELECT * FROM {name} FOR UPDATE",
            f"SELECT * FROM {name} TABLESAMPLE SYSTEM (100)",
            f"COPY {name} TO STDOUT",
            f"INSERT INTO {name} SELECT * FROM {name}",
            f"DELETE FROM {name}",
            f"TRUNCATE {name} CASCADE",
            f"MERGE INTO {name} t USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE",
            f"EXPLAIN ANALYZE SELECT * FROM {name}",
            f"EXPLAIN (VERBOSE, FORMAT JSON) DELETE FROM {name}",
            f"CREATE TRIGGER t BEFORE INSERT ON {name} FOR EACH ROW "
            "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
            f"CREATE RULE r AS ON INSERT TO {name} DO ALSO NOTHING",
            f"CREATE INDEX ON {name} ((1))",
            f"CREATE STATISTICS mallory.s_{role} ON (1), (2) FROM {name}",
            f"CREATE POLICY p ON {name} USING (true)",
            f"CREATE TABLE {own} (LIKE {name} INCLUDING ALL)",
            f"CREATE TABLE {own} () INHERITS ({name})",
            f"CREATE TABLE {own} (y {name})",
            f"CREATE FUNCTION {own}(x {name}) RETURNS int LANGUAGE sql AS 'SELECT 1'",
            f"CREATE VIEW {own} AS SELECT NULL::{name} AS x",
            f"COMMENT ON TABLE {name} IS 'mine'",
            f"ALTER TABLE {name} SET (autovacuum_enabled = off)",
            f"CLUSTER {name}",
            f"CREATE VIEW {own} AS SELECT * FROM {name}; SELECT * FROM {own}",
            f"CREATE MATERIALIZED VIEW {own} AS SELECT * FROM {name}",
            f"CREATE TABLE {own} (t uuid, i bigint, FOREIGN KEY (t, i) REFERENCES {name})",
            f"ALTER TABLE {name} DISABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {name} OWNER TO {role}",
            f"ALTER TABLE {name} DISABLE TRIGGER ALL",
            f"ALTER TABLE {name} SET (security_barrier = false)",
            f"DROP TABLE {name} CASCADE",
            f"GRANT ALL ON {name} TO {role}",
            f"REASSIGN OWNED BY keeper TO {role}",
            f"ANALYZE {name}",
            f"REINDEX TABLE {name}",
            f"SELECT pg_catalog.query_to_xml('TABLE {name}', true, false, '')",
            f"DECLARE c CURSOR WITH HOLD FOR TABLE {name}; FETCH ALL FROM c",
            f"PREPARE p_{table} AS TABLE {name}",
        ):
            yield statement.split()[0], list(statement.split("; ")), True
        for mode in MODES:
            yield "LOCK", [f"LOCK TABLE {name} IN {mode} MODE NOWAIT"], True


FORGED = (
    "(SELECT ROW('{owner}', c.proof)::pgmnemo.caller FROM pgmnemo.calling c)",
    "pgmnemo._caller()",
    "ROW('{owner}', mallory.lend())::pgmnemo.caller",
)
HELPERS = (
    "_enter", "_leave", "_has_grant", "_verified_role", "_lock_tenant", "_store", "_settings",
    "_add_postings", "_remove_postings", "_scanned_vectors", "_keyword_leg", "_scope", "_lesson_id",
    "_acting_tenant", "_acting_hnsw_table", "_hnsw_insert", "_hnsw_rebuild", "_hnsw_create_table",
    "_hnsw_drop_table", "_hnsw_drop_orphans", "_hnsw_insert_waiting", "_hnsw_rows", "_merge_postings",
    "_merge_segments", "_segment_postings", "_segment_leg", "_drop_segments", "_unindexed_count",
    "_try_lock_tenant", "_revoke_row_type", "_hnsw_index_after_change", "_hnsw_index_after_insert",
    "_lesson_vector_after_change",
)  # fmt: skip


def tenants_of_others(role: str) -> list[UUID]:
    return [tenant for tenant in HOLDERS if tenant not in REACHES[role]]


def on_verbs(role: str) -> Iterator[tuple[str, list[str], bool]]:
    """Every verb for every other tenant, by argument and by setting, as whoever one may pretend to be."""
    for tenant in tenants_of_others(role):
        key, other = (f"{SECRETS[tenant][1]}-{n}" for n in (0, 1))
        for call in by_argument(tenant, PROJECT, key, other):
            yield "verb by argument", [f"SELECT * FROM pgmnemo.{call}"], True
            explain = f"EXPLAIN (ANALYZE, VERBOSE, BUFFERS) SELECT * FROM pgmnemo.{call}"
            yield "EXPLAIN of a verb", [explain], False
            for forged in FORGED if role == "mallory" else ():
                caller = forged.replace("{owner}", OWNERS[tenant])
                with_caller = f"{call.removesuffix(')')}, caller => {caller})"
                yield "verb by forged caller", [f"SELECT * FROM pgmnemo.{with_caller}"], False
        settings = [f"SET LOCAL pgmnemo.{name} = '{tenant}'" for name in ("tenant_id", "acting_tenant")]
        more = ("current_tenant()", "list_grants()", "open_staging()", "store_staged()", "list_settings()")
        for call in (*by_setting(PROJECT, key, other), *more):
            yield "verb by setting", [*settings, f"SELECT * FROM pgmnemo.{call}"], False
        for view in VIEWS:
            yield "view by setting", [*settings, f"SELECT * FROM pgmnemo.{view}"], False
        owner = OWNERS[tenant]
        for become in (
            f"SET ROLE {owner}", f"SET SESSION AUTHORIZATION {owner}", "SET ROLE keeper", "RESET ROLE",
            "SET ROLE NONE",
        ):  # fmt: skip
            yield "another role", [become, f"SELECT * FROM pgmnemo.list_lessons('{tenant}')"], False
        left = (
            f"DO $$ BEGIN PERFORM pgmnemo.recall('{tenant}', query_text => 'x'); "
            "EXCEPTION WHEN OTHERS THEN NULL; END $$"
        )
        yield "after an error", [settings[1], left, "TABLE pgmnemo.lesson"], False
        staged = [
            "CREATE TEMPORARY TABLE lesson_staging AS SELECT (NULL::pgmnemo.lesson_input).* LIMIT 0",
            f"COMMENT ON TABLE pg_temp.lesson_staging IS '{tenant}'",
            "INSERT INTO lesson_staging (project_id, external_id, content) "
            f"VALUES ('{PROJECT}', 'key', 'planted')",
            "SELECT * FROM pgmnemo.store_staged()",
        ]
        yield "staging by hand", staged, False
    for helper in HELPERS:
        for count in range(5):
            yield "helper", [f"SELECT pgmnemo.{helper}({', '.join(['NULL'] * count)})"], False
    for tenant in HOLDERS:
        for call in (
            f"grant_tenant('{tenant}', '{role}')", f"revoke_tenant('{tenant}', 'bob')",
            "maintain()", "maintain(1)",
        ):  # fmt: skip
            yield "the owner's verbs", [f"SELECT pgmnemo.{call}"], True


def on_catalogues(role: str) -> Iterator[tuple[str, list[str], bool]]:
    """What PostgreSQL itself knows of rows, and the objects of the extension."""
    for view in (
        "pg_stats", "pg_stats_ext", "pg_stats_ext_exprs", "pg_statistic", "pg_statistic_ext_data", "pg_locks",
        "pg_stat_activity", "pg_prepared_statements", "pg_cursors", "pg_sequences", "pg_policies",
        "pg_description", "pg_stat_xact_user_functions", "pg_db_role_setting",
    ):  # fmt: skip
        secret = "x::text ~ 'alpharetta|bratislava|casablanca|key-of'"
        yield "catalogue", [f"SELECT x::text FROM pg_catalog.{view} x WHERE {secret}"], False
    for statement in (
        "SELECT nextval('pgmnemo.lesson_id_seq')",
        "SELECT setval('pgmnemo.lesson_id_seq', 1)",
        "SELECT last_value FROM pgmnemo.lesson_id_seq",
        "ALTER SEQUENCE pgmnemo.lesson_id_seq RESTART",
        "ALTER EXTENSION pgmnemo UPDATE",
        "DROP EXTENSION pgmnemo CASCADE",
        "DROP SCHEMA pgmnemo CASCADE",
        "CREATE FUNCTION pgmnemo.recall(text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE OR REPLACE FUNCTION pgmnemo._caller() RETURNS pgmnemo.caller "
        "LANGUAGE sql AS 'SELECT NULL::pgmnemo.caller'",
        "CREATE TABLE pgmnemo.mine ()",
        "CREATE OPERATOR pgmnemo.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = uuid_eq)",
        "CREATE CAST (text AS pgmnemo.caller) WITH INOUT AS IMPLICIT",
        "ALTER FUNCTION pgmnemo.recall SECURITY INVOKER",
        "ALTER FUNCTION pgmnemo._caller() SET search_path = mallory",
        "DROP FUNCTION pgmnemo._enter",
        "CREATE TABLE mallory.x (y pgmnemo.caller)",
        "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION mallory.trap()",
        "ALTER DEFAULT PRIVILEGES FOR ROLE keeper GRANT ALL ON TABLES TO PUBLIC",
        "CREATE ROLE made IN ROLE bob",
        "GRANT bob TO CURRENT_USER",
        "LOAD 'auto_explain'",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "CREATE OPERATOR CLASS mallory.o DEFAULT FOR TYPE halfvec USING btree AS OPERATOR 1 <",
        "CREATE PUBLICATION p FOR TABLE pgmnemo.lesson",
        "VACUUM pgmnemo.lesson",
    ):
        yield "objects", [statement], True


def with_settings(role: str) -> Iterator[tuple[str, list[str], bool]]:
    """Verbs for one's own tenants and for others', under settings of every kind."""
    for setting in SETTINGS:
        for victim in tenants_of_others(role):
            first = f"SET LOCAL {setting}".replace("{victim}", str(victim))
            recall = f"SELECT * FROM pgmnemo.recall('{victim}', query_text => 'river')"
            views = [f"SELECT * FROM pgmnemo.{view}" for view in ("lessons", "list_grants()", "calling")]
            yield "setting", [first, recall], False
            yield "setting", [first, *views], False
        for own in sorted(REACHES[role], key=str):
            numbers = f"'{{{','.join(map(str, vector(1, 2)))}}}'::real[]"
            own_work = [
                f"SET LOCAL {setting}".replace("{victim}", str(B if own != B else A)),
                f"SELECT * FROM pgmnemo.recall('{own}', {numbers}, query_text => 'the river', k => 100)",
                f"SELECT pgmnemo.store('{own}', '{PROJECT}', 'mine', 'my river', {numbers})",
                f"SELECT * FROM pgmnemo.check('{own}')", f"SELECT * FROM pgmnemo.list_passages('{own}')",
                f"SELECT * FROM pgmnemo.list_vectors('{own}')", f"SELECT pgmnemo.index('{own}')",
                f"SELECT pgmnemo.merge_postings('{own}')", f"SELECT pgmnemo.repair('{own}')",
                f"SELECT pgmnemo.forget_all('{own}')",
            ]  # fmt: skip
            yield "setting, own tenant", own_work, False


@pytest.fixture
def planted(battery: Battery) -> Battery:
    """mallory's traps: in public, her schema and temporary ones, and a function that lends her proof."""
    site = battery.site
    guarded = "DO $do$ BEGIN EXECUTE $ex$%s$ex$; EXCEPTION WHEN OTHERS THEN NULL; END $do$"
    with site.connect("mallory") as mallory:
        for schema in ("public", "mallory"):
            for text in plant(schema):
                mallory.execute((guarded % text).encode())
        mallory.execute(
            "CREATE FUNCTION mallory.lend() RETURNS bytea LANGUAGE sql SECURITY DEFINER "
            "AS 'SELECT proof FROM pgmnemo.calling'"
        )
    return battery


TRAP = """
CREATE FUNCTION mallory.spring(what text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE tenant uuid;
BEGIN
    INSERT INTO public.marks VALUES (current_user, what);
    FOREACH tenant IN ARRAY '{{{}}}'::uuid[] LOOP
        BEGIN
            PERFORM pgmnemo.forget_all(tenant);
            INSERT INTO public.marks VALUES (current_user, what || ' forgot ' || tenant);
        EXCEPTION WHEN OTHERS THEN
            NULL;
        END;
    END LOOP;
    RETURN 1;
END $$;
CREATE TABLE mallory.bait (x int);
INSERT INTO mallory.bait SELECT generate_series(1, 10);
CREATE FUNCTION mallory.silent(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE INDEX bait_x ON mallory.bait (mallory.silent(x));
CREATE OR REPLACE FUNCTION mallory.silent(x int) RETURNS int LANGUAGE sql
AS $$ SELECT mallory.spring('index') $$;
CREATE FUNCTION mallory.lent() RETURNS int LANGUAGE sql SECURITY DEFINER
AS $$ SELECT mallory.spring('definer') $$;
CREATE VIEW mallory.view AS SELECT mallory.lent();
CREATE TABLE mallory.filled (x int, y int DEFAULT mallory.lent());
CREATE FUNCTION mallory.trap() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN PERFORM mallory.spring('trigger'); RETURN NEW; END $$;
CREATE TRIGGER trap BEFORE INSERT ON mallory.filled FOR EACH ROW EXECUTE FUNCTION mallory.trap();
CREATE RULE rule AS ON INSERT TO mallory.bait DO ALSO SELECT mallory.lent();
GRANT ALL ON ALL TABLES IN SCHEMA mallory TO PUBLIC;
""".format(",".join(map(str, (A, B, C))))


def attempts(role: str) -> Iterator[tuple[str, list[str], bool]]:
    """What a role tries; where no grant decides, the typical ones try for all."""
    yield from on_verbs(role)
    for generate in (on_tables, on_catalogues, with_settings) if role in TYPICAL else ():
        yield from generate(role)


def test_the_battery(planted: Battery, capsys: pytest.CaptureFixture[str]) -> None:
    battery = planted
    before = battery.state()
    for role in REACHES:
        for kind, statements, held in attempts(role):
            battery.attack(kind, role, statements, held=held, all_of_it=kind.startswith("setting"))
    spring_traps(battery)
    after = battery.state()
    if before != after:
        battery.leaks.append(("state", "anyone", "all of it", str(set(before) ^ set(after))))
    battery.tell(capsys)
    assert not battery.leaks
    assert battery.tried.total() > 3000
    assert battery.passed["setting, own tenant"] > 100
    # refused for the right reason, not for a slip in the attempt
    for kind in ("verb by argument", "verb by forged caller", "EXPLAIN of a verb", "the owner's verbs"):
        assert battery.refused[kind].keys() == {"42501"}
        assert not battery.passed[kind]


def spring_traps(battery: Battery) -> None:
    """What runs of a stranger's in a statement of the superuser, the owner or bob runs as the stranger."""
    site = battery.site
    with site.connect("mallory") as mallory:
        mallory.execute(TRAP.encode())
    store = f"SELECT pgmnemo.store('{B}', '{PROJECT}', 'key-of-b-0', 'x' || mallory.lent())"
    for role, statements in {
        None: (
            "ANALYZE mallory.bait", "REINDEX TABLE mallory.bait", "VACUUM FULL mallory.bait",
            "CLUSTER mallory.bait USING bait_x", "ANALYZE", "VACUUM pgmnemo.lesson", "TABLE mallory.view",
            "INSERT INTO mallory.filled VALUES (1)",
        ),
        "keeper": ("ANALYZE pgmnemo.lesson", "TABLE mallory.view", "REINDEX TABLE pgmnemo.passage"),
        "bob": (
            "TABLE mallory.view", "INSERT INTO mallory.filled VALUES (1)", "SELECT mallory.lent()",
            f"SELECT pgmnemo.recall('{B}', query_text => 'river') ORDER BY mallory.lent()",
            f"SELECT *, mallory.lent() FROM pgmnemo.list_lessons('{B}')", store,
        ),
    }.items():  # fmt: skip
        with site.connect(role, B) as client:
            for statement in statements:
                battery.tried["traps"] += 1
                undone = role == "bob" and "VACUUM" not in statement
                try:
                    with client.transaction(force_rollback=True) if undone else nullcontext():
                        client.execute(statement)
                        marks = client.execute("SELECT who, what FROM public.marks").fetchall()
                except psycopg.Error:
                    continue
                battery.passed["traps"] += 1
                battery.sprung |= {what for _, what in marks}
                battery.leaks += [
                    ("planted", who, what, statement)
                    for who, what in marks
                    if who != "mallory" or "forgot" in what
                ]
    assert battery.sprung >= {"index", "definer", "trigger"}


def test_the_battery_would_see_a_leak(planted: Battery) -> None:
    """With rights that nobody should give."""
    site = planted.site
    site.run(
        "GRANT ALL ON ALL TABLES IN SCHEMA pgmnemo TO mallory",
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pgmnemo TO mallory",
    )
    for kind, statements, held in on_tables("mallory"):
        if kind in ("SELECT", "LOCK", "COPY") and "pgmnemo.lesson " in f"{statements[-1]} ":
            planted.attack(kind, "mallory", statements, held=held)
    reasons = {leak[3] for leak in planted.leaks}
    assert reasons >= {"told bratislava", "told alpharetta", "holds bob up"}
