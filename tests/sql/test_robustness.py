"""Any question has an answer or a clear error, a cancel works at once, and nothing stays behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Timer
from typing import Any

import numpy as np
import psutil
import psycopg
import pytest
from psycopg import errors

LESSONS = 600
AT_ONCE = 2.0  # seconds, on a busy machine; a call that could not be cancelled takes far longer
SETTINGS = (
    "SELECT name, setting FROM pg_settings WHERE name LIKE 'hnsw.%' OR name LIKE 'enable_%' "
    "OR name IN ('jit', 'plan_cache_mode', 'search_path', 'max_parallel_workers_per_gather') ORDER BY name"
)

QUESTIONS = {
    "empty": "", "white space": " \t\n\u00a0\u2003 ", "stop words": "the of and to in is it was",
    "punctuation": "!!! ... ??? --- ___ ///", "10,000 words": " ".join(f"word{n}" for n in range(10_000)),
    "one word 10,000 times": "river " * 10_000, "one long word": "river" * 20_000,
    "quotes": "'river' \"river\" `river` $$river$$ $1 E'\\n'",
    "operators": "river & ! | <-> <2> :* ( ) @@ && || %s %(x)s {} [] #> ->>",
    "backslashes": r"\ \\ \' \n \x00 \u0000 river\\", "another statement": "'; DROP TABLE pgmnemo.lesson; --",
    "control characters": "".join(map(chr, range(1, 32))) + "\x7f river",
    "right to left and joiners": "\u202eriver\u202c \u200driver\u200b \ufeff",
    "combining": "r\u0301\u0302\u0303" * 1000,
    "other planes": "".join(map(chr, range(0x10021, 0x10FFFF, 0x1011))),
    "plane 0": "".join(chr(code) for code in range(0x21, 0x10000, 0x11) if not 0xD800 <= code < 0xE000),
}  # fmt: skip


@pytest.fixture(scope="module")
def crowd(database: Any, tenant_class: Any) -> Iterator[Any]:
    """600 lessons with vectors that are all in the HNSW index, and edges."""
    rows = np.random.default_rng(1).standard_normal((LESSONS, 1024)).astype(np.float32)
    with ExitStack() as stack:
        tenant = tenant_class(database, stack)
        tenant.set(hnsw_min_vectors=0)
        tenant.store_many({f"l{n:04}": f"river lesson {n} of {n % 7}" for n in range(LESSONS)}, rows)
        for n in range(0, 100, 2):
            tenant.link(f"l{n:04}", f"l{n + 1:04}")
        yield tenant
        tenant.value("SELECT pgmnemo.forget_all(NULL)")


@pytest.fixture
def few(tenant: Any, unit: Any) -> Any:
    tenant.store("a", "river harbour", embedding=unit(1), passages=["river"])
    tenant.store("b", "winter market", embedding=unit(0, 1))
    tenant.client.execute("SET statement_timeout = '60s'")
    return tenant


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_every_question_has_an_answer(few: Any, unit: Any, question: str) -> None:
    rows = few.recall(question, unit(1))
    assert {row["external_id"] for row in rows} == {"a", "b"}
    assert all(np.isfinite(row["score"]) for row in rows)
    assert few.rows("SELECT * FROM pgmnemo.explain(NULL, %s, 'a', query_text => %s)", few.project, question)


TEXTS = {name: text[:2000] for name, text in QUESTIONS.items()}  # to_tsvector cuts no word of more than 2 kB


@pytest.mark.parametrize("question", TEXTS.values(), ids=TEXTS.keys())
def test_every_text_can_be_stored_and_found_by_itself(few: Any, question: str) -> None:
    if not question.strip():
        with pytest.raises(errors.InvalidParameterValue, match="has no text in its content"):
            few.store("own", question)
        return
    few.store("own", question, passages=[question, question])
    assert few.rows("SELECT content FROM pgmnemo.lessons WHERE external_id = 'own'") == [(question,)]
    if few.value("SELECT token_count FROM pgmnemo.lessons WHERE external_id = 'own'"):
        assert few.recall(question, mode="keyword")[0]["bm25"] > 0
    assert few.rows("SELECT * FROM pgmnemo.check()") == []


def test_a_question_of_10_000_words_that_all_occur_has_an_answer_in_time(few: Any) -> None:
    long = QUESTIONS["10,000 words"]
    few.store("own", long)
    few.store_many({f"l{n}": " ".join(long.split()[n::50]) for n in range(50)})
    few.client.execute("SET statement_timeout = '20s'")
    assert few.ids(long, k=1) == ["own"]


def test_operators_are_plain_text(few: Any) -> None:
    """Were one taken for an operator, the lesson would not match."""
    for question in (
        "!river",
        "river & violin",
        "river <-> violin",
        "river:*A",
        "(river",
        "'river",
        "\\river",
    ):
        assert few.ids(question, mode="keyword", k=1) == ["a"]
        assert few.recall(question, mode="keyword", k=1)[0]["bm25"] > 0


def test_tiny_and_huge_embeddings_have_the_direction_that_they_have(few: Any, unit: Any) -> None:
    for factor in (1e-14, 1.0, 1e14):
        rows = few.recall(None, unit(4, 3) * np.float32(factor), mode="vector")
        assert [row["external_id"] for row in rows] == ["a", "b"]
        assert rows[0]["cosine"] == pytest.approx(0.8, abs=1e-3)


def left_behind(tenant: Any, connection: psycopg.Connection[Any]) -> list[Any]:
    """Locks that the session holds, as another one sees them, and its temporary tables."""
    held = tenant.rows("SELECT locktype, mode FROM pg_locks WHERE pid = %s", connection.info.backend_pid)
    tables = "SELECT relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()"
    return [*held, *connection.execute(tables).fetchall()]


MANY = "SELECT count(*) FROM generate_series(1, 100000) n CROSS JOIN LATERAL pgmnemo."
BUSY = {
    "recall": MANY + "recall_lessons(%(vector)s::real[], n %% 7 + 3, query_text => 'river lesson')",
    "a question of 10,000 words": MANY + "recall_lessons(k => n %% 7 + 3, query_text => %(long)s)",
    "explain": MANY + "explain(NULL, %(project)s, 'l0001', %(vector)s::real[], 'river', k => n %% 7 + 3)",
    "check": "SELECT pgmnemo.check() FROM generate_series(1, 1000)",
    "repair": "SELECT pgmnemo.repair() FROM generate_series(1, 1000)",
    "compact": "SELECT pgmnemo.repair(), pgmnemo.merge_postings() FROM generate_series(1, 1000)",
    "store": "SELECT pgmnemo.store(NULL, %(project)s, 'new' || n, 'river', %(vector)s::real[]) "
    "FROM generate_series(1, 1000000) n",
}


def parameters(tenant: Any) -> dict[str, Any]:
    vector = np.random.default_rng(2).standard_normal(1024)
    return {"project": tenant.project, "vector": vector.tolist(), "long": QUESTIONS["10,000 words"]}


@pytest.fixture
def session(crowd: Any) -> Iterator[psycopg.Connection[Any]]:
    """A session of its own, whose HNSW settings are not the defaults; a recall must not change them."""
    connection = crowd.connect()
    connection.execute("SET pgmnemo.hnsw_min_vectors = 0")
    connection.execute("SELECT '[1]'::vector")
    connection.execute("SET hnsw.ef_search = 33")
    connection.execute("SET hnsw.iterative_scan = strict_order")
    yield connection
    connection.close()


def cancelled(connection: psycopg.Connection[Any], query: str, values: dict[str, Any]) -> None:
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(query, values)


@pytest.mark.parametrize("query", BUSY.values(), ids=BUSY.keys())
def test_a_statement_timeout_and_a_cancel_work_at_once(
    crowd: Any, session: psycopg.Connection[Any], query: str
) -> None:
    before = session.execute(SETTINGS).fetchall()
    lessons = crowd.value("SELECT count(*) FROM pgmnemo.lessons")
    for limit in (3, 40, 0):
        session.execute(f"SET statement_timeout = {limit}")
        timer = Timer(0.2, session.cancel_safe)
        start = time.monotonic()
        if not limit:
            timer.start()
        cancelled(session, query, parameters(crowd))
        assert time.monotonic() - start < 0.2 + AT_ONCE
        if not limit:
            timer.join()
        session.execute("RESET statement_timeout")
        assert session.execute(SETTINGS).fetchall() == before
        assert left_behind(crowd, session) == []
    assert crowd.value("SELECT count(*) FROM pgmnemo.lessons") == lessons
    assert len(crowd.ids("lesson 7", parameters(crowd)["vector"])) == 10


def test_a_transaction_goes_on_from_the_savepoint_before_a_cancel(
    crowd: Any, session: psycopg.Connection[Any]
) -> None:
    before = session.execute(SETTINGS).fetchall()
    with session.transaction():
        for limit in (2, 10, 30):
            session.execute(f"SET LOCAL statement_timeout = {limit}")
            with pytest.raises(psycopg.errors.QueryCanceled), session.transaction():
                session.execute(BUSY["recall"], parameters(crowd))
            session.execute("SET LOCAL statement_timeout = 0")
            assert session.execute(SETTINGS).fetchall() == before
        recall = "SELECT count(*) FROM pgmnemo.recall_lessons(%(vector)s::real[])"
        assert session.execute(recall, parameters(crowd)).fetchone() == (10,)
    assert session.execute(SETTINGS).fetchall() == before
    assert left_behind(crowd, session) == []


def test_cancelled_writers_leave_the_index_sound(crowd: Any, session: psycopg.Connection[Any]) -> None:
    for limit, busy in enumerate(("repair", "compact", "store") * 3):
        session.execute(f"SET statement_timeout = {1 + 25 * limit}")
        cancelled(session, BUSY[busy], parameters(crowd))
    assert crowd.rows("SELECT * FROM pgmnemo.check()") == []


RUNS = (
    "a_", "a-1-", "<!--", "\u00fc_", "1-", "x=1&", "a.b@", "%41", "x.y.z", "http://a/b/c?d=", "ab.c@d.org",
    "123,456,", "1,234.50", "1.5x", "1(0)", "DE89:3704:", "a1", "1234567890", "0a1b2c3d4e5f6789", "deadbeef ",
    "1\u00a0000", "a The ", "\u6f22\u5b57", "\u0e01\u0e34", "\u0e01 ", "\ud55c\uad6d", "e\u0301", "a\u200b",
    "\U0001f600", "'", '"', "A'", "c++", "&amp;",
)  # fmt: skip
PROCESSOR = 0.6  # seconds for 100 kB, mostly 0.1; a parser that takes the square of a run needs over 30


def processor_seconds(connection: psycopg.Connection[Any]) -> float:
    """Return what the server's process of a connection has used."""
    times = psutil.Process(connection.info.backend_pid).cpu_times()
    return times.user + times.system


@pytest.mark.parametrize("form", RUNS)
def test_a_run_without_blanks_costs_little(few: Any, form: str) -> None:
    text = (form * 50_000).encode()[:99_000].decode(errors="ignore")
    before = processor_seconds(few.client)
    few.recall(text)
    asked = processor_seconds(few.client)
    few.store("run", f"a{text}")
    stored = processor_seconds(few.client)
    few.store("parts", "river", passages=[text])
    assert max(asked - before, stored - asked, processor_seconds(few.client) - stored) < PROCESSOR


def test_a_word_past_the_last_position_of_a_text_is_stored(few: Any) -> None:
    text = "river went " * 9000 + "to the end"
    few.store("long", text)
    assert few.ids("the end")[0] == "long"
    assert few.ids(text)[0] == "long"


def test_words_of_a_long_run_are_found(few: Any) -> None:
    address = "https://example.org/" + "/".join(f"part{n}" for n in range(400)) + "?ticket=QX-7781"
    few.store("address", address)
    few.store("short", f"See https://example.org/{'a' * 200}?ticket=QX-7782 .")
    assert few.ids("7781")[0] == "address"
    assert few.ids("QX-7782")[0] == "short"


def test_a_long_chain_of_statements_is_read_in_its_length(tenant: Any) -> None:
    few, many = 200, 1600
    tenant.store_many({f"k{n}": f"river {n}" for n in range(many)})
    each = "FROM generate_series(%s::int, %s::int) n"
    chain = f"SELECT count(pgmnemo.supersede(NULL, %s, 'k' || n, 'k' || n + 1)) {each}"
    steps = "SELECT FROM pgmnemo.timeline(NULL, %s, 'k0', %s)"
    costs = []
    for first, last in ((0, few - 2), (few - 1, many - 2)):
        tenant.client.execute(chain, (tenant.project, first, last))
        before = processor_seconds(tenant.client)
        for _ in range(many // (last + 2)):
            for known in (None, "now"):
                assert len(tenant.rows(steps, tenant.project, known)) == last + 2
            tenant.ids("river", known_at="now")
        costs.append(processor_seconds(tenant.client) - before)
    assert costs[1] < 4 * costs[0] + 0.5, costs


def test_a_long_answer_costs_what_its_length_says(tenant: Any) -> None:
    tenant.store_many({f"k{n}": f"river {n} bridge {n * n}" for n in range(6000)})
    recall = "SELECT count(*) FROM pgmnemo.recall(%s, k => %s, query_text => 'river')"
    tenant.rows(recall, tenant.id, 10)
    costs = []
    for k in (1000, 6000):
        before = processor_seconds(tenant.client)
        assert tenant.value(recall, tenant.id, k) == k
        costs.append(processor_seconds(tenant.client) - before)
    assert costs[1] < 10 * costs[0] + 0.3, costs


def test_a_fact_costs_the_same_however_much_is_known_of_its_subject(tenant: Any) -> None:
    state = (
        "SELECT count(*) FROM generate_series(%s::int, %s::int) n, "
        "pgmnemo.assert_fact(NULL, %s, 'ada', 'reads ' || n, 'book ' || n)"
    )
    costs = []
    for first, last in ((1, 100), (101, 1000), (1001, 1100)):
        before = processor_seconds(tenant.client)
        tenant.rows(state, first, last, tenant.project)
        costs.append(processor_seconds(tenant.client) - before)
    assert costs[2] < 1.5 * costs[0] + 0.1, costs


def test_a_turn_comes_after_keys_that_others_took(tenant: Any) -> None:
    tenant.store_many({f"turn/{n}": "river" for n in range(1, 3000)})
    before = processor_seconds(tenant.client)
    query = "SELECT external_id, position FROM pgmnemo.append(NULL, %s, 'winter')"
    found = [tenant.rows(query, tenant.project)[0] for _ in range(10)]
    assert found == [(f"turn/{2999 + n}", n) for n in range(1, 11)]
    assert processor_seconds(tenant.client) - before < 1
