"""Behind the real PgBouncer, whose clients share connections to the server.

What the README says of each pool mode, with Debian's PgBouncer 1.18, which knows no prepared statements in
transaction mode. A connection to the server is told by its process number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Barrier
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from tests.pooling import Pool
from tests.security.attacked import OURS, PROJECT, A, B, Server

Connection = psycopg.Connection[Any]
Start = Callable[..., Pool]  # with a mode, and how many connections to the server a login has
NAME = "pooled"
LOGINS = ("alice", "bob", "dual", "mallory", "app")
WORDS = {A: "heron", B: "otter"}
STORE = "SELECT pgmnemo.store(%s, %s, %s, %s, commit_sha => 'c0ffee')"
RECALL = "SELECT external_id, content FROM pgmnemo.recall(%s, query_text => %s, k => 50)"
PID = "SELECT pg_backend_pid()"
LINK = "SELECT pgmnemo.link(%s, %s, %s, %s, 'follows')"
FORGET = "SELECT pgmnemo.forget(%s, %s, %s)"
EXPLAIN = "SELECT * FROM pgmnemo.explain(%s, %s, %s, query_text => %s)"
UNPROVEN = "SELECT pgmnemo.store(%s, %s, %s, %s)"
STORE_LESSON = "SELECT pgmnemo.store(NULL, %s, %s, %s, commit_sha => 'c0ffee')"
LEFT = {"tenant_id": A, "gate_strict": "warn", "acting_tenant": A}
STAGED = "SELECT * FROM pgmnemo.store_staged()"
COLUMNS = "project_id, external_id, content, commit_sha"
CALLING = (
    "SELECT count(*) FROM pgmnemo.recall(%s, query_text => 'heron', caller => ROW(%s, %s)::pgmnemo.caller)"
)
SESSION_VERBS = (
    f"SELECT pgmnemo.store(NULL, '{PROJECT}', 'k', 'The heron', commit_sha => 'c0ffee')",
    "SELECT * FROM pgmnemo.recall_lessons(query_text => 'heron')",
    "SELECT pgmnemo.forget_all(NULL)",
    "SELECT * FROM pgmnemo.check()",
)
TENANT = "SELECT current_setting('pgmnemo.tenant_id', true)"
ACTING = "SELECT coalesce(current_setting('pgmnemo.acting_tenant', true), '')"
ROUNDS = 12
DEADLINE = 120  # seconds that a client waits for the others of its round
WITHIN = "importance|k is 0|no lesson|weight"  # errors that come after the grant was asked
FAILING = (
    f"pgmnemo.store('{A}', '{PROJECT}', 'k', 'The heron', importance => 9, commit_sha => 'c0ffee')",
    f"pgmnemo.recall('{A}', query_text => 'heron', k => 0)",
    f"pgmnemo.link('{A}', '{PROJECT}', 'none', 'neither', 'follows')",
)


def value(client: Connection, query: str, *values: object) -> Any:
    return client.execute(query, values or None).fetchall()[0][0]


def refused(client: Connection, query: str, *values: object) -> type[Exception] | None:
    """The kind of the error, None where there is none; what it did is rolled back."""
    try:
        with client.transaction(force_rollback=True):
            client.execute(query, values or None)
    except psycopg.Error as error:
        return type(error)
    return None


@pytest.fixture(scope="module")
def memory(server: Server) -> Iterator[Server]:
    """alice holds tenant A, bob tenant B, dual both; app has no grant, but may become alice or bob."""
    server.install(NAME, OURS)
    with server.connect(NAME) as root:
        root.execute("CREATE ROLE app LOGIN; GRANT alice, bob TO app WITH INHERIT FALSE, SET TRUE")
    yield server
    with server.connect("postgres") as root:
        root.execute(f"DROP DATABASE {NAME} WITH (FORCE)")
        root.execute("DROP ROLE app")


@pytest.fixture
def pool(bouncer: str, memory: Server) -> Iterator[Start]:
    """Call it with a mode, and how many connections to the server a login has, for a PgBouncer of its own."""
    with memory.connect(NAME, "dual") as client:
        client.execute("SELECT pgmnemo.forget_all(%s), pgmnemo.forget_all(%s)", (A, B))
    with ExitStack() as stack:

        def start(mode: str, size: int = 1, **settings: object) -> Pool:
            databases = {"own": {}, "shared": {"user": "app"}}
            told = {"pool_mode": mode, "default_pool_size": size, **settings}
            return Pool.start(bouncer, stack, {**memory.conninfo, "dbname": NAME}, databases, LOGINS, told)

        yield start


@dataclass
class Client:
    """An agent: of a login of its own, or of one that it shares and in which each call takes its role."""

    connection: Connection
    tenant: UUID
    name: str
    role: str | None = None
    alone: bool = False  # holds no other tenant
    seen: list[str] = field(default_factory=list)
    servers: set[int] = field(default_factory=set)

    @property
    def other(self) -> UUID:
        return B if self.tenant == A else A

    def call(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """In a transaction of its own."""
        if self.role is None:
            return self.connection.execute(query, values or None).fetchall()
        with self.connection.transaction():
            self.connection.execute(f"SET LOCAL ROLE {self.role}")
            return self.connection.execute(query, values or None).fetchall()

    def expect(self, answer: object, query: str, *values: object) -> None:
        found = self.call(query, *values)[0][0]
        assert found == answer, (query, values, found)

    def expect_refusal(self, query: str, *values: object) -> None:
        with pytest.raises(errors.InsufficientPrivilege):
            self.call(query, *values)

    def work(self, rounds: int, start: Barrier) -> None:
        """Use the same keys as the other tenant: what crosses is another answer, or a word that is not ours.

        No client begins a round before all have ended the last, so that the calls of a round interleave.
        """
        word, keys = WORDS[self.tenant], [f"{self.name}/{number}" for number in range(rounds)]
        for key, before in zip(keys, [None, *keys], strict=False):
            start.wait(DEADLINE)
            self.servers.add(self.call(PID)[0][0])
            self.expect("inserted", STORE, self.tenant, PROJECT, key, f"The {word} of {key} by the river")
            if before is not None:
                self.expect("inserted", LINK, self.tenant, PROJECT, key, before)
                self.expect(True, FORGET, self.tenant, PROJECT, before)
            found = self.call(RECALL, self.tenant, "river")
            assert key in [row[0] for row in found]
            why = self.call(EXPLAIN, self.tenant, PROJECT, key, "river")
            if self.alone:
                self.expect_refusal(RECALL, self.other, "river")
            self.seen += [row[1] for row in found] + [str(row) for row in why]

    def kept_apart(self) -> bool:
        own, foreign = WORDS[self.tenant], WORDS[self.other]
        return any(own in text for text in self.seen) and not any(foreign in text for text in self.seen)


def together(clients: Sequence[Client], rounds: int) -> None:
    """Let the clients work at the same time, round by round; raise what the first to fail raised."""
    start = Barrier(len(clients))
    with ThreadPoolExecutor(len(clients)) as threads:
        ended, _ = wait(
            [threads.submit(client.work, rounds, start) for client in clients], None, FIRST_EXCEPTION
        )
        start.abort()  # the others wait for the one that failed
        for done in ended:
            done.result()


@pytest.mark.parametrize("how", ["a login each", "one login of both", "one login that takes roles"])
def test_transaction_mode_never_crosses_interleaved_calls(pool: Start, how: str) -> None:
    started = pool("transaction")
    logins = {
        "a login each": (("alice", None), ("bob", None)),
        "one login of both": (("dual", None), ("dual", None)),
        "one login that takes roles": (("app", "alice"), ("app", "bob")),
    }[how]
    clients = [
        Client(started.connect(login), tenant, name, role, alone=login != "dual")
        for name in ("one", "two")
        for tenant, (login, role) in zip((A, B), logins, strict=True)
    ]
    together(clients, ROUNDS)
    assert len(set.union(*(client.servers for client in clients))) == (2 if how == "a login each" else 1)
    for client in clients:
        assert client.kept_apart()


def become(client: Connection, role: str) -> None:
    client.execute(f"SET LOCAL ROLE {role}")


def test_transaction_mode_a_tenant_left_behind_is_asked_for_its_grant(pool: Start) -> None:
    started = pool("transaction")
    first, second = started.connect("app", "shared"), started.connect("app", "shared")
    with first.transaction():
        become(first, "alice")
        value(first, STORE, A, PROJECT, "secret", "The heron by the river")
        first.execute(f"SET pgmnemo.tenant_id = '{A}'")
    for role, granted in (("bob", False), ("app", False), ("alice", True)):
        with second.transaction():
            become(second, role)
            assert value(second, TENANT) == str(A)
            assert value(second, "SELECT pgmnemo.current_tenant()") == (A if granted else None)
            assert value(second, "SELECT count(*) FROM pgmnemo.lessons") == granted
            kinds = {refused(second, query) for query in SESSION_VERBS}
            assert kinds == ({None} if granted else {errors.InsufficientPrivilege})


def leave(client: Connection) -> None:
    """What a careless client leaves to the next: a role, a setting, held rows, a table in the way."""
    client.execute(
        f"SET ROLE alice; SET pgmnemo.tenant_id = '{A}';"
        f"SELECT pgmnemo.store('{A}', '{PROJECT}', 'secret', 'The heron', commit_sha => 'c0ffee');"
        f"DECLARE held CURSOR WITH HOLD FOR SELECT content FROM pgmnemo.list_lessons('{A}');"
        "CREATE TEMPORARY TABLE lesson_staging (content text)"
    )


def test_transaction_mode_a_careless_client_leaves_its_session_to_the_next_of_its_login(pool: Start) -> None:
    """Why the README says: a login for each agent, SET LOCAL, no cursors held."""
    started = pool("transaction")
    leave(started.connect("app", "shared"))
    client = started.connect("app", "shared")
    assert value(client, "SELECT current_user") == "alice"
    assert refused(client, RECALL, B, "river") == errors.InsufficientPrivilege
    with client.transaction():
        become(client, "bob")
        assert value(client, "FETCH ALL FROM held") == "The heron"
        assert refused(client, "SELECT pgmnemo.open_staging(%s)", B) == errors.InsufficientPrivilege
    assert value(started.connect("alice"), "SELECT count(*) FROM pg_cursors") == 0  # another login's session


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_reset_query_that_always_runs_clears_what_is_left(pool: Start, mode: str) -> None:
    started = pool(mode, server_reset_query_always=1)
    leave(started.connect("app", "shared"))
    client = started.connect("app", "shared")
    assert value(client, "SELECT current_user") == "app"
    assert not value(client, TENANT)
    assert value(client, "SELECT count(*) FROM pg_cursors") == 0
    assert value(client, "SELECT to_regclass('pg_temp.lesson_staging')") is None


def test_transaction_mode_a_prepared_statement_left_behind_asks_who_runs_it(pool: Start) -> None:
    started = pool("transaction")
    first, second = started.connect("app", "shared"), started.connect("app", "shared")
    query = f"SELECT content FROM pgmnemo.recall('{A}', query_text => 'heron')"
    with first.transaction():
        become(first, "alice")
        value(first, STORE, A, PROJECT, "secret", "The heron by the river")
        first.execute(f"SET LOCAL plan_cache_mode = force_generic_plan; PREPARE mine AS {query}")
        assert first.execute("EXECUTE mine").fetchall() == [("The heron by the river",)]
    with second.transaction():
        become(second, "bob")
        second.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        assert refused(second, "EXECUTE mine") == errors.InsufficientPrivilege


def test_transaction_mode_local_settings_hold_for_the_call(pool: Start) -> None:
    client = pool("transaction").connect("alice")
    with client.transaction():
        assert value(client, UNPROVEN, A, PROJECT, "k", "The heron") == "inserted"
        client.execute("SET LOCAL pgmnemo.gate_strict = enforce")
        client.execute(f"SET LOCAL pgmnemo.tenant_id = '{A}'")
        assert value(client, STORE_LESSON, PROJECT, "l", "Another heron") == "inserted"
        assert client.execute(RECALL, (A, "heron")).fetchall() == [("l", "Another heron")]
    assert refused(client, STORE_LESSON, PROJECT, "m", "The heron") == errors.InvalidParameterValue
    assert {key for key, _ in client.execute(RECALL, (A, "heron"))} == {"k", "l"}


def staged(client: Connection, tenant: UUID, *keys: str, table: str = "lesson_staging") -> None:
    """Within a transaction: a staging table of these lessons."""
    client.execute("SELECT pgmnemo.open_staging(%s)", (tenant,))
    with client.cursor().copy(f"COPY {table} ({COLUMNS}) FROM STDIN") as copy:
        for key in keys:
            copy.write_row((PROJECT, key, f"The {WORDS[tenant]} of {key}", "c0ffee"))


def test_transaction_mode_staging_ends_with_its_transaction(pool: Start) -> None:
    started = pool("transaction")
    first, second = started.connect("dual"), started.connect("dual")
    with first.transaction():
        staged(first, A, "a", "b")
        assert first.execute(STAGED).fetchall() == [("inserted", 2)]
        staged(first, A, "never stored")
    for client in (first, second):
        assert value(client, "SELECT to_regclass('pg_temp.lesson_staging')") is None
        assert refused(client, STAGED) == errors.UndefinedTable
    with second.transaction():
        staged(second, B, "c")
        assert second.execute(STAGED).fetchall() == [("inserted", 1)]
    found = [second.execute(RECALL, (tenant, "heron otter")).fetchall() for tenant in (A, B)]
    assert [sorted(key for key, _ in rows) for rows in found] == [["a", "b"], ["c"]]


def test_transaction_mode_staging_is_one_roles(pool: Start) -> None:
    client = pool("transaction").connect("app", "shared")
    with client.transaction():
        become(client, "alice")
        staged(client, A, "a")
        become(client, "bob")
        assert refused(client, STAGED) == errors.UndefinedTable
        assert refused(client, "TABLE lesson_staging") == errors.InsufficientPrivilege
        assert refused(client, "SELECT pgmnemo.open_staging(%s)", B) == errors.InsufficientPrivilege
        become(client, "alice")
        assert client.execute(STAGED).fetchall() == [("inserted", 1)]


def test_transaction_mode_a_search_path_left_behind_misleads_short_names_alone(
    pool: Start, memory: Server
) -> None:
    """Why the README says: write pg_temp.lesson_staging."""
    with memory.connect(NAME) as root:
        columns = COLUMNS.replace(",", " text,")
        root.execute(f"CREATE SCHEMA trap CREATE TABLE lesson_staging ({columns} text)")
        root.execute("GRANT USAGE ON SCHEMA trap TO PUBLIC; GRANT ALL ON trap.lesson_staging TO PUBLIC")
    started = pool("transaction")
    client = started.connect("app", "shared")
    started.connect("app", "shared").execute("SET search_path = trap, pg_temp")
    for table, stored in (("lesson_staging", []), ("pg_temp.lesson_staging", [("inserted", 1)])):
        with client.transaction():
            become(client, "alice")
            staged(client, A, "a", table=table)
            assert client.execute(STAGED).fetchall() == stored
    assert value(client, "SELECT count(*) FROM trap.lesson_staging") == 1


def test_transaction_mode_may_run_the_prepared_statement_of_another_client(pool: Start) -> None:
    """Worse than an error: the other client's query runs, in silence. Within one login only."""
    started = pool("transaction", 2)
    first, second, third = (started.connect("dual", prepare=prepare) for prepare in (0, 0, None))
    value(third, STORE, B, PROJECT, "k", "The otter")
    query = "SELECT content FROM pgmnemo.recall('{}', query_text => %s)"
    with second.transaction():
        assert second.execute(query.format(B), ("otter",)).fetchall() == [("The otter",)]
        with first.transaction():
            assert first.execute(query.format(A), ("otter",)).fetchall() == []
    assert first.execute(query.format(A), ("otter",)).fetchall() == [("The otter",)]


def test_transaction_mode_a_proof_is_worth_nothing_in_another_transaction(pool: Start) -> None:
    started = pool("transaction")
    first, second = started.connect("app", "shared"), started.connect("app", "shared")
    with first.transaction():
        become(first, "alice")
        server = value(first, PID)
        name, proof = first.execute("SELECT name, proof FROM pgmnemo.calling").fetchone()
        assert name == "alice"
        assert value(first, CALLING, A, "alice", proof) == 0
    for role in ("app", "bob", "alice"):
        with second.transaction():
            become(second, role)
            assert value(second, PID) == server
            assert refused(second, CALLING, A, "alice", proof) == errors.InsufficientPrivilege
            assert refused(second, CALLING, A, role, proof) == errors.InsufficientPrivilege


def by_the_transaction(client: Connection, query: str) -> None:
    with pytest.raises(psycopg.Error, match=WITHIN), client.transaction():
        client.execute(f"SELECT {query}")


def by_a_savepoint(client: Connection, query: str) -> None:
    with client.transaction():
        by_the_transaction(client, query)
        assert value(client, ACTING) == ""


def by_a_block(client: Connection, query: str) -> None:
    caught = "EXCEPTION WHEN OTHERS THEN SET LOCAL pgmnemo.caught = 1"
    with client.transaction():
        client.execute(f"DO $$ BEGIN PERFORM {query}; {caught}; END $$")
        assert value(client, "SELECT current_setting('pgmnemo.caught')") == "1"
        assert value(client, ACTING) == ""


def test_transaction_mode_an_error_within_a_verb_leaves_no_acting_tenant(pool: Start) -> None:
    started = pool("transaction")
    client, other = started.connect("alice"), started.connect("alice")
    for caught in (by_the_transaction, by_a_savepoint, by_a_block):
        for query in FAILING:
            caught(client, query)
            assert [value(client, ACTING), value(other, ACTING)] == ["", ""]


def test_transaction_mode_a_cursor_that_has_begun_leaves_no_acting_tenant(pool: Start) -> None:
    client = pool("transaction").connect("alice")
    with client.transaction():
        for key in ("k", "l"):
            value(client, STORE, A, PROJECT, key, "The heron")
        client.execute(f"DECLARE begun CURSOR FOR SELECT * FROM pgmnemo.list_lessons('{A}')")
        client.execute("FETCH 1 FROM begun")
        assert value(client, ACTING) == ""


@pytest.mark.parametrize("prepare", [None, 0, 5])
def test_session_mode_lets_everything_work(pool: Start, prepare: int | None) -> None:
    client = pool("session").connect("dual", prepare=prepare)
    for tenant in (A, B):
        client.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(tenant),))
        for number in range(6):  # psycopg prepares after five times
            assert value(client, STORE_LESSON, PROJECT, f"k{number}", f"The {WORDS[tenant]}") == "inserted"
            recall = "SELECT content FROM pgmnemo.recall_lessons(query_text => %s)"
            found = client.execute(recall, ("heron, otter",)).fetchall()
            assert {row[0] for row in found} == {f"The {WORDS[tenant]}"}
        with client.transaction():
            staged(client, tenant, "staged")
            assert client.execute(STAGED).fetchall() == [("inserted", 1)]


def test_session_mode_clears_what_a_client_leaves(pool: Start) -> None:
    started = pool("session")
    with started.connect("dual") as client:
        server = value(client, PID)
        client.execute(RECALL, (A, "river"), prepare=True)
        for name, left in LEFT.items():
            client.execute(f"SET pgmnemo.{name} = '{left}'")
        client.execute("CREATE TEMPORARY TABLE lesson_staging (content text)")
        client.execute("DECLARE held CURSOR WITH HOLD FOR SELECT 1")
    client = started.connect("dual")
    assert value(client, PID) == server
    for name in LEFT:
        assert not value(client, f"SELECT current_setting('pgmnemo.{name}', true)")
    for left in ("pg_prepared_statements", "pg_cursors", "pg_class WHERE relpersistence = 't'"):
        assert value(client, f"SELECT count(*) FROM {left}") == 0
    for query in SESSION_VERBS:
        assert refused(client, query) == errors.InvalidParameterValue


def test_statement_mode_takes_single_calls(pool: Start) -> None:
    started = pool("statement")
    clients = [Client(started.connect("dual"), tenant, "one") for tenant in (A, B)]
    together(clients, ROUNDS)
    assert len(clients[0].servers | clients[1].servers) == 1
    for client in clients:
        assert client.kept_apart()


def test_statement_mode_refuses_transactions_and_so_staging(pool: Start) -> None:
    started = pool("statement")
    client = started.connect("alice")
    with pytest.raises(psycopg.OperationalError, match="blocks not allowed in statement pooling mode"):
        client.execute("BEGIN")
    assert client.closed  # by PgBouncer
    client = started.connect("alice")
    client.execute("SELECT pgmnemo.open_staging(%s)", (A,))
    with pytest.raises(errors.UndefinedTable):
        client.execute("TABLE lesson_staging")
    with pytest.raises(errors.UndefinedTable, match="has no staging table in this transaction"):
        client.execute(STAGED)


def test_statement_mode_takes_one_string_of_several_statements(pool: Start) -> None:
    """PostgreSQL makes one transaction of it. It can have no parameters."""
    client = pool("statement").connect("alice")
    row = f"'{PROJECT}', 'k', 'The heron'"
    client.execute(
        f"SET LOCAL pgmnemo.gate_strict = warn; SELECT pgmnemo.open_staging('{A}');"
        f"INSERT INTO lesson_staging (project_id, external_id, content) VALUES ({row}); {STAGED}"
    )
    assert value(client, f"SELECT external_id FROM pgmnemo.list_lessons('{A}')") == "k"
    gate = "SELECT value FROM pgmnemo.list_settings() WHERE name = 'pgmnemo.gate_strict'"
    assert value(client, gate) == "off"
