"""A change of embedder: new vectors come beside the old ones, which serve until one call switches."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import errors

OLD, NEW = 8, 12
SECONDS = float(os.environ.get("PGMNEMO_SECONDS", "1.5"))  # of writers at once; 60 is a long run
WORDS = ["kettle", "violin", "lantern", "harbour", "garden", "letter", "winter", "copper", "river", "window"]
GONE = "SELECT pgmnemo.forget(%s, %s, %s, true)"


def made(text: str, dims: int, model: str = "a") -> list[float]:
    """What a model of so many dimensions answers."""
    seed = int.from_bytes(sha256(f"{model} {dims} {text}".encode()).digest()[:8], "big")
    row = np.random.default_rng(seed).standard_normal(dims).astype(np.float32)
    return [float(number) for number in row]


def literal(row: Iterable[float]) -> str:
    return "[" + ",".join(map(repr, row)) + "]"


def text(number: int) -> str:
    return f"The {WORDS[number % 10]} of the {WORDS[number // 10 % 10]}, note {number}."


def fill(tenant: Any, dims: int, count: int = 30, model: str = "a") -> None:
    """Lessons, each third with two passages; some are superseded, forgotten or expired."""
    for number in range(count):
        parts = [f"{text(number)} First.", f"{text(number)} Second."] if number % 3 == 0 else []
        given = {"passages": parts, "passage_embeddings": [made(one, dims, model) for one in parts]}
        expires = "2020-01-01Z" if number == 5 else None
        tenant.store(
            f"l{number:03}", text(number), embedding=made(text(number), dims, model), expires_at=expires,
            occurred_at=f"2026-01-{number % 28 + 1:02} 00:00Z", **(given if parts else {}),
        )  # fmt: skip
    tenant.value(
        "SELECT pgmnemo.supersede(%s, %s, 'l003', 'l004', at => '2026-02-01Z')", tenant.id, tenant.project
    )
    tenant.value("SELECT pgmnemo.forget(%s, %s, 'l006')", tenant.id, tenant.project)


def begin(tenant: Any, dims: int = NEW, name: str | None = None) -> int:
    return int(tenant.value("SELECT pgmnemo.begin_reembedding(%s, %s, %s)", tenant.id, dims, name))


def due(tenant: Any, after: int = 0, most: int = 10_000, hold: bool = False) -> list[tuple[Any, ...]]:
    return list(
        tenant.rows("SELECT * FROM pgmnemo.reembedding_due(%s, %s, %s, %s)", tenant.id, after, most, hold)
    )


def give(tenant: Any, rows: list[tuple[Any, ...]], dims: int = NEW, model: str = "a", **given: Any) -> int:
    """Vectors of these rows of `due`."""
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]
    told = {
        "ids": columns[0], "numbers": columns[1], "marks": columns[3],
        "vectors": [literal(made(one, dims, model)) for one in columns[2]], **given,
    }  # fmt: skip
    return int(tenant.value(
        "SELECT pgmnemo.reembed(%s, %s::bigint[], %s::smallint[], %s::vector[], %s::bigint[])",
        tenant.id, *(told[name] for name in ("ids", "numbers", "vectors", "marks")),
    ))  # fmt: skip


def finish(tenant: Any) -> bool:
    return bool(tenant.value("SELECT pgmnemo.finish_reembedding(%s)", tenant.id))


def cancel(tenant: Any) -> bool:
    return bool(tenant.value("SELECT pgmnemo.cancel_reembedding(%s)", tenant.id))


def change(tenant: Any, dims: int = NEW, model: str = "a") -> None:
    begin(tenant, dims)
    while rows := due(tenant, most=7):
        give(tenant, rows, dims, model)
    assert finish(tenant)


def generations(tenant: Any) -> dict[int, int]:
    """How many vectors there are of each."""
    query = "SELECT generation, count(*) FROM pgmnemo.list_vectors(%s) GROUP BY 1 ORDER BY 1"
    return dict(tenant.rows(query, tenant.id))


def answers(tenant: Any, dims: int, model: str = "a") -> list[Any]:
    """Everything that recalls say, but ids."""
    found = []
    for number in range(0, 40, 7):
        for more in ({}, {"mode": "vector"}, {"valid_at": "2026-01-15Z", "as_of": "2019-01-01Z"}):
            given = {"as_of": "2026-03-01 00:00Z", "k": 20, **more}
            for row in tenant.recall(text(number), made(text(number), dims, model), **given):
                found.append({name: value for name, value in row.items() if name != "lesson_id"})
    assert len(found) > 100
    return found


def sound(tenant: Any) -> None:
    assert problems(tenant) == set()


def of_their_texts(tenant: Any, dims: int) -> None:
    """Assert that each vector is what the model makes of the text that it is of."""
    for content, vector in tenant.rows(
        "SELECT coalesce(p.content, l.content), v.embedding::vector::real[] FROM pgmnemo.vectors v "
        "JOIN pgmnemo.lessons l ON l.id = v.lesson_id LEFT JOIN pgmnemo.passages p USING (lesson_id, number)"
    ):
        row = np.array(made(content, dims), dtype=np.float32)
        assert np.allclose(vector, row / np.linalg.norm(row), atol=1e-3), content


def problems(tenant: Any) -> set[str]:
    return {row[0] for row in tenant.rows("SELECT problem FROM pgmnemo.check()")}


def hnsw_tables(tenant: Any) -> dict[int, str]:
    """The name of each of its generations."""
    query = "SELECT generation, name::text FROM pgmnemo.hnsw_index WHERE tenant_id = %s ORDER BY 1"
    return dict(tenant.look(query, tenant.id))


@pytest.fixture
def changed(tenant: Any) -> Any:
    """A tenant whose embedder is being changed."""
    fill(tenant, OLD)
    begin(tenant)
    return tenant


@pytest.mark.parametrize("limit", [10_000, 10], ids=["exact", "graph"])
@pytest.mark.parametrize(("dims", "model"), [(NEW, "a"), (OLD, "b"), (4000, "a")])
def test_after_the_switch_all_is_as_if_loaded_so_from_the_start(
    dims: int, model: str, limit: int, make_tenant: Callable[[], Any]
) -> None:
    tenant, fresh = make_tenant(), make_tenant()
    fresh.project = tenant.project
    for one in (tenant, fresh):
        one.set(hnsw_min_vectors=limit)
    fill(tenant, OLD)
    fill(fresh, dims, model=model)
    before = answers(tenant, OLD)
    total = sum(generations(tenant).values())
    assert begin(tenant, dims) == total == 30 + 20
    rows = due(tenant)
    assert [row[:2] for row in rows] == sorted(row[:2] for row in rows)
    assert give(tenant, rows, dims, model) == total
    assert answers(tenant, OLD) == before
    tenant.value("SELECT pgmnemo.index(%s)", tenant.id)
    fresh.value("SELECT pgmnemo.index(%s)", fresh.id)
    assert answers(tenant, OLD) == before
    sound(tenant)
    assert finish(tenant)
    assert answers(tenant, dims, model) == answers(fresh, dims, model)
    assert generations(tenant) == {2: total}
    sound(tenant)
    assert len(hnsw_tables(tenant)) == int(limit == 10)
    assert (finish(tenant), cancel(tenant)) == (False, False)


def test_a_second_change_and_many_more_follow(tenant: Any) -> None:
    fill(tenant, OLD, 10)
    tenant.alter("UPDATE pgmnemo.embedding_space SET generation = 32766 WHERE tenant_id = %s", tenant.id)
    tenant.alter("UPDATE pgmnemo.lesson_vector SET generation = 32766 WHERE tenant_id = %s", tenant.id)
    for dims, number in ((4, 32767), (5, 1), (6, 2)):
        change(tenant, dims)
        assert list(generations(tenant)) == [number]
        assert tenant.ids(None, made(text(1), dims), mode="vector")[0] == "l001"
    sound(tenant)


def test_texts_come_in_pages_of_whole_lessons(changed: Any) -> None:
    seen, after = [], 0
    while rows := due(changed, after, 4):
        lessons = [row[0] for row in rows]
        assert len(rows) < 4 + 3
        assert after < lessons[0]
        seen += rows
        after = lessons[-1]
    assert seen == due(changed)
    contents = {row[0]: row[1] for row in changed.rows("SELECT id, content FROM pgmnemo.lessons")}
    assert all(contents[row[0]] in row[2] for row in seen)
    assert [row[1] for row in seen][:5] == [0, 1, 2, 0, 0]


def test_it_goes_on_where_it_was_cut_off(changed: Any) -> None:
    total = begin(changed)
    for done in range(0, total, 10):
        assert begin(changed) == total - done
        with pytest.raises(errors.ObjectNotInPrerequisiteState) as refused:
            finish(changed)
        assert f"{total - done} texts of tenant" in str(refused.value)
        assert "reembedding_due" in str(refused.value.diag.message_hint)
        rows = due(changed)[:10]
        assert give(changed, rows) == len(rows) == give(changed, rows)  # again: overwritten
        sound(changed)
    assert due(changed) == []
    assert finish(changed)


REFUSED: dict[str, tuple[str, str, str]] = {
    "no dimension": ("begin_reembedding(%s, 0)", "22023", "dimensions is 0, but must be from 1 to 4000"),
    "beyond an index": ("begin_reembedding(%s, 4001)", "22023", "dimensions is 4001, but must be"),
    "NULL": ("begin_reembedding(%s, NULL)", "22023", "dimensions is NULL"),
    "another dimension": ("begin_reembedding(%s, 13)", "55000", "changed already, for 12 dimensions by 'b'"),
    "another model": ("begin_reembedding(%s, 12, 'c')", "55000", "is being changed already"),
    "a blank name": ("begin_reembedding(%s, 12, ' ')", "22023", "the name of an embedder has 1 bytes"),
    "a name too long": ("set_embedder(%s, repeat('x', 1001))", "22023", "has 1001 bytes, but must have 1 to"),
    "no name": ("set_embedder(%s, NULL)", "22023", "the name of an embedder has 0 bytes"),
    "another name": ("set_embedder(%s, 'z')", "55000", "are of 8 dimensions, by 'a', and not of 8, by 'z'"),
    "another width": ("set_embedder(%s, 'a', 9)", "55000", "are of 8 dimensions, by 'a', and not of 9"),
    "none due at once": ("reembedding_due(%s, 0, 0)", "22023", "most is 0"),
    "one list short": ("reembed(%s, '{1}', '{0}', '{}', '{1}')", "22023", "must have as many elements each"),
    "a list NULL": ("reembed(%s, '{1}', '{0}', NULL, '{1}')", "22023", "must have as many elements each"),
    "too many": (
        "reembed(%s, array_fill(1, '{10001}')::bigint[], array_fill(0, '{10001}')::smallint[], "
        "array_fill('[1]'::vector, '{10001}'), array_fill(1, '{10001}')::bigint[])",
        "22023", "at most 10000",
    ),
    "a vector NULL": ("reembed(%s, '{1}', '{0}', '{NULL}', '{1}')", "22023", "vector 1 of the set, lacks"),
    "one twice": (
        "reembed(%s, '{1,1}', '{0,0}', array_fill(array_fill(1::real, '{12}')::vector, '{2}'), '{1,1}')",
        "22023", "vector 2 of the set, is another one of text 0 of lesson 1",
    ),
    "the old dimension": (
        "reembed(%s, '{1}', '{0}', ARRAY[array_fill(1::real, '{8}')::vector], '{1}')",
        "22023", "vector 1 of the set, has 8 dimensions, and is to have 12",
    ),
    "no direction": (
        "reembed(%s, '{1}', '{0}', ARRAY[array_fill(0::real, '{12}')::vector], '{1}')",
        "22023", "vector 1 of the set, must have a norm from 1e-15 to 1e15",
    ),
    "vectors of another": (
        "reembed(%s, '{}', '{}', '{}', '{}', 'c')", "55000", "are by 'b', and not by 'c'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(what: str, tenant: Any) -> None:
    call, state, sentence = REFUSED[what]
    fill(tenant, OLD, 7)
    assert tenant.value("SELECT pgmnemo.set_embedder(%s, 'a')", tenant.id)
    begin(tenant, NEW, "b")
    with pytest.raises(psycopg.Error) as refused:
        tenant.rows(f"SELECT * FROM pgmnemo.{call}", tenant.id)
    assert refused.value.sqlstate == state
    assert sentence in str(refused.value)
    assert refused.value.diag.message_hint


def test_without_vectors_or_a_change_there_is_nothing_to_go_on_with(tenant: Any) -> None:
    told = "SELECT * FROM pgmnemo.embedder(%s)"
    assert tenant.rows(told, tenant.id) == []
    assert (due(tenant), finish(tenant), cancel(tenant)) == ([], False, False)
    for call in (lambda: begin(tenant), lambda: give(tenant, []),
                 lambda: tenant.value("SELECT pgmnemo.set_embedder(NULL, 'a')")):  # fmt: skip
        with pytest.raises(errors.ObjectNotInPrerequisiteState):
            call()
    assert tenant.value("SELECT pgmnemo.set_embedder(NULL, 'a', 8)") is True
    assert tenant.value("SELECT pgmnemo.set_embedder(NULL, 'a', 8)") is False
    assert tenant.rows(told, tenant.id) == [("a", 8, 1, None, None)]
    assert begin(tenant, 9, "b") == 0
    assert tenant.rows(told, None) == [("a", 8, 1, "b", 9)]
    assert finish(tenant)
    assert tenant.rows(told, tenant.id) == [("b", 9, 2, None, None)]
    with pytest.raises(errors.InvalidParameterValue, match="has a vector of 8 dimensions"):
        tenant.store("x", "x", embedding=made("x", 8))
    assert tenant.store("x", "x", embedding=made("x", 9)) == "inserted"


def test_a_change_may_be_given_up_at_any_time(changed: Any) -> None:
    before, rows = answers(changed, OLD), due(changed)
    total = len(rows)
    for done in (0, 10, total):
        begin(changed)
        give(changed, rows[:done])
        assert cancel(changed)
        assert generations(changed) == {1: total}
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="is not being changed"):
        give(changed, rows)
    assert answers(changed, OLD) == before
    assert begin(changed, 5) == total
    assert due(changed) == rows


WRITERS: dict[str, Callable[[Any], Any]] = {
    "another text": lambda t: t.store("l001", "Other words.", embedding=made("Other words.", OLD)),
    "another text without a vector": lambda t: t.store("l001", "Other words."),
    "no vector": lambda t: t.store("l001", text(1), clear=["embedding"]),
    "another vector": lambda t: t.store("l001", text(1), embedding=made("x", OLD)),
    "other passages": lambda t: t.store("l000", text(0), passages=["z"], passage_embeddings=[made("z", OLD)]),
    "passages without vectors": lambda t: t.store("l000", text(0), passages=["z"]),
    "no passages": lambda t: t.store("l000", text(0), clear=["passages"]),
    "forgotten": lambda t: t.value("SELECT pgmnemo.forget(%s, %s, 'l001')", t.id, t.project),
    "deleted": lambda t: t.value(GONE, t.id, t.project, "l001"),
    "a new one": lambda t: t.store("new", "New.", embedding=made("New.", OLD)),
    "a project moved": lambda t: t.alter(
        "UPDATE pgmnemo.lesson SET project_id = gen_random_uuid() "
        "WHERE external_id = 'l000' AND tenant_id = %s", t.id),
    "swept": lambda t: t.value("SELECT pgmnemo.delete_expired(%s)", t.id),
    "all gone": lambda t: t.value("SELECT pgmnemo.forget_all(%s, %s)", t.id, t.project),
}  # fmt: skip


@pytest.mark.parametrize("when", ["embedding", "stored"])
@pytest.mark.parametrize("what", WRITERS)
def test_no_vector_of_a_former_text_gets_through(what: str, when: str, changed: Any) -> None:
    """A writer comes while texts are being embedded, or once their vectors are there."""
    rows = due(changed)
    if when == "stored":
        give(changed, rows)
    WRITERS[what](changed)
    give(changed, rows)
    sound(changed)
    while rest := due(changed):
        give(changed, rest)
    finish(changed)
    sound(changed)
    of_their_texts(changed, NEW)
    assert changed.rows("SELECT count(*) FROM pgmnemo.vectors WHERE generation <> 2") == [(0,)]


def test_forgetting_everything_takes_both_and_the_change(changed: Any) -> None:
    rows = due(changed)
    give(changed, rows[:10])
    changed.value("SELECT pgmnemo.forget_all(%s)", changed.id)
    assert changed.rows("SELECT * FROM pgmnemo.embedder(NULL)") == []
    with pytest.raises(errors.ObjectNotInPrerequisiteState):
        give(changed, rows)
    assert changed.store("x", "x", embedding=made("x", 5)) == "inserted"


def test_a_vector_of_the_next_dimension_is_refused_with_the_reason(changed: Any) -> None:
    with pytest.raises(errors.InvalidParameterValue) as refused:
        changed.store("x", "x", embedding=made("x", NEW))
    assert "has a vector of the 12 dimensions to which tenant" in str(refused.value)
    assert "Until pgmnemo.finish_reembedding vectors of 8" in str(refused.value.diag.message_hint)
    with pytest.raises(errors.InvalidParameterValue, match="has a vector of 5 dimensions, but those"):
        changed.store("x", "x", embedding=made("x", 5))
    with pytest.raises(errors.InvalidParameterValue, match="has an embedding of 12 dimensions"):
        changed.recall("x", made("x", NEW))


def test_vectors_by_another_of_the_same_dimension_are_refused_where_it_is_said(tenant: Any) -> None:
    fill(tenant, OLD)
    tenant.value("SELECT pgmnemo.set_embedder(%s, 'a')", tenant.id)
    tenant.set(embedder="a")
    begin(tenant, OLD, "b")
    give(tenant, due(tenant), OLD, "b")
    assert tenant.store("x", "x", embedding=made("x", OLD)) == "inserted"
    give(tenant, due(tenant), OLD, "b")
    assert finish(tenant)
    told = "are by 'b', and this one is by 'a'"
    rows = np.array([made("z", OLD)], dtype=np.float32)
    calls: list[Callable[[], Any]] = [
        lambda: tenant.store("x", "y", embedding=made("y", OLD)), lambda: tenant.recall("x", made("x", OLD)),
        lambda: tenant.store_many({"z": "z"}, rows),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(errors.InvalidParameterValue, match=told):
            call()
    assert tenant.store("x", "y") == "unembedded"
    assert tenant.ids("note", k=1)
    tenant.set(embedder="b")
    assert tenant.store("x", "y", embedding=made("y", OLD, "b")) == "updated"


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_change_does_not_end_under_an_older_snapshot(level: str, changed: Any) -> None:
    give(changed, due(changed))
    for ends in (finish, cancel, lambda tenant: due(tenant, hold=True)):
        with (  # noqa: PT012
            pytest.raises(errors.FeatureNotSupported, match=f"cannot end under {level}"),
            changed.client.transaction(),
        ):
            changed.client.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            ends(changed)
    assert finish(changed)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_older_snapshot_stores_no_vector_of_a_former_text(level: str, changed: Any) -> None:
    rows = due(changed)
    other = changed.connect()
    with pytest.raises(errors.SerializationFailure), changed.client.transaction():  # noqa: PT012
        changed.client.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        changed.rows("SELECT count(*) FROM pgmnemo.lessons")
        other.execute("SELECT pgmnemo.store(NULL, %s, 'l001', 'Other.')", (changed.project,))
        give(changed, rows)
    assert generations(changed) == {1: 49}


def test_a_reader_of_an_older_snapshot_goes_on_with_the_old_ones(changed: Any) -> None:
    changed.set(hnsw_min_vectors=10)
    changed.value("SELECT pgmnemo.index(%s)", changed.id)
    give(changed, due(changed))
    before = answers(changed, OLD)
    other = changed.connect()
    with changed.client.transaction():
        changed.client.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        changed.rows("SELECT count(*) FROM pgmnemo.lessons")
        other.execute("SELECT pgmnemo.finish_reembedding(%s)", (changed.id,))
        assert answers(changed, OLD) == before
    assert answers(changed, NEW)


@pytest.fixture
def upkept(owner: Any) -> Callable[[], int]:
    return lambda: int(owner.execute("SELECT pgmnemo.maintain(100000)").fetchone()[0])


def test_a_large_tenant_gets_the_new_hnsw_index_while_the_old_one_serves(changed: Any, upkept: Any) -> None:
    changed.set(hnsw_min_vectors=10)
    changed.value("SELECT pgmnemo.index(%s)", changed.id)
    [old] = hnsw_tables(changed).values()
    give(changed, due(changed))
    assert list(hnsw_tables(changed)) == [1, 2]
    upkept()
    before = answers(changed, OLD)
    inside = "SELECT count(*) FROM pgmnemo.vectors WHERE generation = 2 AND indexed"
    assert changed.value(inside) == 50
    assert answers(changed, OLD) == before
    [(number, content)] = changed.rows("SELECT id, content FROM pgmnemo.lessons WHERE external_id = 'l001'")
    mark = changed.look("SELECT pgmnemo._text_hash(%s)", content)[0][0]
    assert give(changed, [(number, 0, content, mark)]) == 1  # one that the HNSW index holds leaves it
    sound(changed)
    assert finish(changed)
    [(generation, new)] = hnsw_tables(changed).items()
    assert (generation, new != old) == (2, True)
    assert changed.rows("SELECT to_regclass('pgmnemo.' || %s)", old) == [(None,)]
    sound(changed)


def test_who_indexes_both_and_a_writer_do_not_wait_in_a_circle(changed: Any) -> None:
    changed.set(hnsw_min_vectors=10)
    changed.value("SELECT pgmnemo.index(%s)", changed.id)
    give(changed, due(changed))
    changed.store("tail", "New.", embedding=made("New.", OLD))
    writer = changed.connect()
    with ThreadPoolExecutor(1) as pool, writer.transaction():
        writer.execute(GONE, (changed.id, changed.project, "l001"))
        indexing = pool.submit(changed.value, "SELECT pgmnemo.index(%s)", changed.id)
        while writer.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount == 0:
            pass
        writer.execute(GONE, (changed.id, changed.project, "tail"))
    assert indexing.result() == 49
    sound(changed)


def test_an_hnsw_index_that_is_being_merged_at_the_switch_goes_by_upkeep(changed: Any, upkept: Any) -> None:
    changed.set(hnsw_min_vectors=10)
    changed.value("SELECT pgmnemo.index(%s)", changed.id)
    give(changed, due(changed))
    changed.value("SELECT pgmnemo.index(%s)", changed.id)
    merging = changed.connect()
    with changed.acting(merging):
        merging.execute("SELECT pgmnemo._hnsw_lock(%s, 1::smallint)", (changed.id,))
        assert finish(changed)
    sound(changed)
    assert list(hnsw_tables(changed)) == [1, 2]
    upkept()
    assert list(hnsw_tables(changed)) == [2]
    sound(changed)


def test_what_is_wrong_with_new_vectors_is_found_and_mended(changed: Any) -> None:
    give(changed, due(changed))
    where = "WHERE tenant_id = %s AND generation = 2 AND number = 0"
    changed.alter(f"UPDATE pgmnemo.lesson_vector SET project_id = gen_random_uuid() {where}", changed.id)
    assert problems(changed) == {"vector in another project"}
    changed.value("SELECT pgmnemo.repair(%s)", changed.id)
    sound(changed)
    changed.alter(f"UPDATE pgmnemo.lesson_vector SET generation = 7 {where}", changed.id)
    assert problems(changed) == {"vector of another dimension"}
    changed.value("SELECT pgmnemo.repair(%s)", changed.id)
    sound(changed)
    assert len(due(changed)) == 30
    give(changed, due(changed))
    assert finish(changed)


LEVELS = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("limit", [10_000, 10], ids=["exact", "graph"])
def test_writers_forgetters_and_changers_at_once_lose_nothing(tenant: Any, level: str, limit: int) -> None:
    """Two embed, one ends the change again and again, one gives it up now and then; three write."""
    fill(tenant, OLD, 20)
    tenant.set(hnsw_min_vectors=limit)
    tenant.value("SELECT pgmnemo.index(%s)", tenant.id)
    ends, faults, switches = threading.Event(), [], []

    def run(work: Callable[[Any, np.random.Generator], None], seed: int) -> threading.Thread:
        connection = tenant.connect()
        connection.execute("SELECT set_config('pgmnemo.hnsw_min_vectors', %s, false)", (str(limit),))
        ends_change = seed == 9  # that is not done under an older snapshot
        connection.execute(f"SET default_transaction_isolation = '{LEVELS[0] if ends_change else level}'")

        def loop() -> None:
            chance = np.random.default_rng(seed)
            one = type("One", (), {})()
            one.id, one.project = tenant.id, tenant.project
            one.rows = lambda query, *given: connection.execute(query, given).fetchall()
            one.value = lambda query, *given: one.rows(query, *given)[0][0]
            while not ends.is_set():
                try:
                    work(one, chance)
                except (errors.SerializationFailure, errors.DeadlockDetected,
                        errors.ObjectNotInPrerequisiteState, errors.InvalidParameterValue):  # fmt: skip
                    continue
                except Exception as error:
                    faults.append(error)
                    return

        thread = threading.Thread(target=loop)
        thread.start()
        return thread

    def write(one: Any, chance: np.random.Generator) -> None:
        name, content = f"w{chance.integers(20)}", text(int(chance.integers(100)))
        serving = one.value("SELECT dimensions FROM pgmnemo.embedder(%s)", one.id)
        given = (one.id, one.project, name, content, made(content, serving))
        one.rows("SELECT pgmnemo.store(%s, %s, %s, %s, %s::real[])", *given)
        if chance.random() < 0.2:
            one.value("SELECT pgmnemo.forget(%s, %s, %s, true)", one.id, one.project, name)

    def embed(one: Any, chance: np.random.Generator) -> None:
        [(serving, coming)] = one.rows("SELECT dimensions, next_dimensions FROM pgmnemo.embedder(%s)", one.id)
        if coming is None:
            begin(one, OLD + NEW - serving)
        elif rows := due(one, most=int(chance.integers(1, 30))):
            give(one, rows, coming)

    def end(one: Any, chance: np.random.Generator) -> None:
        if cancel(one) if chance.random() < 0.02 else finish(one):
            switches.append(1)

    threads = [run(write, seed) for seed in range(3)] + [run(embed, seed) for seed in (7, 8)]
    threads += [run(end, 9)]
    ends.wait(SECONDS)
    late = time.monotonic() + 60
    while len(switches) < 3 and not faults and time.monotonic() < late:  # a machine may be busy
        ends.wait(0.1)
    ends.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert switches
    sound(tenant)
    while rows := due(tenant):
        give(tenant, rows, tenant.value("SELECT next_dimensions FROM pgmnemo.embedder(%s)", tenant.id))
    finish(tenant)
    sound(tenant)
    serving = tenant.value("SELECT dimensions FROM pgmnemo.embedder(%s)", tenant.id)
    of_their_texts(tenant, serving)
    assert tenant.rows(
        "SELECT count(*) FROM pgmnemo.lessons l WHERE NOT EXISTS ("
        "SELECT FROM pgmnemo.vectors v WHERE v.lesson_id = l.id AND v.number = 0)") == [(0,)]  # fmt: skip
