"""CrewAI: the storage answers as CrewAI's own LanceDBStorage, and serves its unified memory."""

from __future__ import annotations

import asyncio
import math
import os
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import Memory, Scope
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.integrations.scopes import user_scope
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.integrations.conftest import needs
from tests.pgmnemo.integrations.isolation import Who, check_isolation

needs("crewai")
os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

with warnings.catch_warnings(action="ignore"):  # of CrewAI's own modules
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
    from crewai.memory.storage.lancedb_storage import LanceDBStorage
    from crewai.memory.types import MemoryRecord
    from crewai.memory.unified_memory import Memory as CrewMemory

    from pgmnemo.integrations.crewai import PgmnemoStorage

SEQUENCES = int(os.environ.get("PGMNEMO_SEQUENCES", "1"))
CALLS = 1_000
WIDTH = 4
BEGIN = datetime(2026, 5, 1)
SCOPES = ("/", "/a", "/a/b", "/a/b/c", "/z%", "/z%/x", "/\u00e9", "/q'q", "/B")
CATEGORIES, VALUES = ("one", "two", "d\u00e9j\u00e0"), (1, "1", True, None, 2.5, [1], {"x": "y"})


def unit(rolled: random.Random) -> list[float]:
    row = [rolled.gauss(0, 1) for _ in range(WIDTH)]
    length = math.hypot(*row)
    return [one / length for one in row]


def a_record(rolled: random.Random, number: int, id: str = "") -> MemoryRecord:
    return MemoryRecord(
        id=id or f"{number}{rolled.choice(['', chr(39), ' ', '%'])}",
        content=rolled.choice(["a text", "", "x" * 99]),
        scope=rolled.choice(SCOPES), categories=rolled.sample(CATEGORIES, rolled.randrange(3)),
        metadata={"n": rolled.choice(VALUES), "a.b": rolled.choice(VALUES)} if rolled.random() < 0.7 else {},
        importance=rolled.random(), created_at=BEGIN + timedelta(seconds=number),
        last_accessed=BEGIN, embedding=unit(rolled), source=rolled.choice([None, "ada"]),
        private=rolled.random() < 0.3,
    )  # fmt: skip


def told(answer: Any) -> Any:
    """An answer without embeddings and times of access."""
    if isinstance(answer, list | tuple):
        return [told(one) for one in answer]
    if isinstance(answer, MemoryRecord):
        return answer.model_dump(exclude={"embedding", "last_accessed"})
    return answer


def a_call(rolled: random.Random, number: int, ids: list[str]) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """A call that LanceDBStorage answers as the protocol says; the page names what it answers otherwise."""
    place = rolled.choice([None, *SCOPES])
    verb = rolled.choice([
        "save", "save", "save", "update", "search", "search", "get_record", "list_records", "get_scope_info",
        "list_scopes", "list_categories", "count", "delete", "delete", "touch_records",
    ])  # fmt: skip
    if verb == "save":
        made = [a_record(rolled, number * 10 + n) for n in range(rolled.choice([0, 1, 2, 5]))]
        ids += [record.id for record in made]
        return verb, (made,), {}
    if verb == "update":
        return verb, (a_record(rolled, number * 10, rolled.choice(ids)),), {}
    if verb == "search":
        more = rolled.choice([{}, {"categories": [rolled.choice(CATEGORIES)]}, {"metadata_filter": {"n": 1}}])
        return (
            verb,
            (unit(rolled),),
            {"scope_prefix": place, "limit": 400, "min_score": rolled.random(), **more},
        )
    if verb in ("get_record", "touch_records"):
        named = rolled.choice([*ids, "unknown"])
        return verb, (named if verb == "get_record" else [named],), {}
    if verb == "list_records":
        return verb, (place, rolled.choice([-1, 0, 1, 7, 200]), rolled.choice([-1, 0, 3])), {}
    if verb in ("get_scope_info", "list_scopes"):
        return verb, (place or "/",), {}
    if verb == "delete":
        given: list[dict[str, Any]] = [
            {"record_ids": rolled.sample(ids, min(len(ids), 3))},
            {"scope_prefix": "/a/b", "categories": ["one"]},
            {"metadata_filter": {"n": rolled.choice(VALUES)}},
            {"older_than": BEGIN + timedelta(seconds=number)},
            {"categories": ["two"], "older_than": BEGIN + timedelta(seconds=number * 5)},
        ]  # fmt: skip
        return verb, (), rolled.choice(given)
    return verb, (place,), {}


def check_hits(mine: list[Any], other: list[Any], least: float) -> None:
    """Assert that two searches found the same records with scores that differ by rounding only."""
    assert [score for _, score in mine] == sorted((score for _, score in mine), reverse=True)
    ours, theirs = ({record["id"]: (record, score) for record, score in some} for some in (mine, other))
    for name in {*ours} | {*theirs}:
        if name in ours and name in theirs:
            assert ours[name][0] == theirs[name][0]
            assert ours[name][1] == pytest.approx(theirs[name][1], abs=0.005)
        else:
            assert (ours | theirs)[name][1] == pytest.approx(least, abs=0.005)


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_random_sequences_answer_as_crewais_own_storage(scope: Scope, tmp_path: Path, seed: int) -> None:
    rolled, done, ids = random.Random(seed), Counter[str](), ["first"]
    ours, theirs = PgmnemoStorage(scope), LanceDBStorage(tmp_path, vector_dim=WIDTH, compact_every=0)
    for number in range(1, CALLS + 1):
        verb, given, named = a_call(rolled, number, ids)
        mine, other = (told(getattr(one, verb)(*given, **named)) for one in (ours, theirs))
        if verb == "search":
            check_hits(mine, other, named["min_score"])
        else:
            assert mine == other, (verb, given, named)
        done[verb] += 1
    assert len(done) == 11
    assert told(ours.list_records(limit=9_999)) == told(theirs.list_records(limit=9_999))


def embed(texts: list[str]) -> list[list[float]]:
    """Vectors of 64 numbers, by the words of a text."""
    rows = []
    for text in texts:
        row = [0.0] * 64
        for word in text.casefold().split():
            row[sum(word.encode()) % 64] += 1.0
        rows.append([one / math.hypot(*row) for one in row])
    return rows


@pytest.fixture
def opened() -> Iterator[Callable[..., CrewMemory]]:
    """Return a function that opens CrewAI's memory over a storage, closed with the test."""
    made: list[CrewMemory] = []

    def open_it(storage: Any, **given: Any) -> CrewMemory:
        made.append(CrewMemory(storage=storage, embedder=embed, **given))
        return made[-1]

    yield open_it
    for memory in made:
        memory.close()


GIVEN: dict[str, Any] = {"categories": ["home"], "metadata": {"by": "ada"}, "importance": 0.9}


def test_crewais_memory_remembers_recalls_updates_and_forgets(
    scope: Scope, opened: Callable[..., CrewMemory]
) -> None:
    storage = PgmnemoStorage(scope, language="en")
    assert isinstance(storage, StorageBackend)
    memory = opened(storage)
    record = memory.remember("I moved to Lisbon in May.", scope="/users/ada", **GIVEN)
    memory.remember("My cat is called Miso.", scope="/users/ada", **GIVEN)
    assert record is not None
    [first, *_] = memory.recall("I moved to Lisbon", depth="shallow", scope="/users")
    assert (first.record.content, first.record.metadata) == ("I moved to Lisbon in May.", {"by": "ada"})
    assert first.record.last_accessed == record.last_accessed  # read before the search touches it
    touched = storage.get_record(record.id)
    assert touched
    assert touched.last_accessed > record.last_accessed
    memory.update(record.id, metadata={"by": "eve"})
    [again, *_] = memory.recall("I moved to Lisbon", depth="shallow")
    assert again.record.metadata == {"by": "eve"}  # an update without a new text keeps the vector
    assert memory.info("/users").child_scopes == ["/users/ada"]
    [lesson] = [one for one in scope.list() if "Lisbon" in one.text]
    assert (lesson.topic, lesson.importance, lesson.language) == ("/users/ada/", 5, "english")
    scope.forget(lesson.key)
    assert storage.get_record(record.id) is None
    assert memory.forget(scope="/users") == 1
    assert storage.count() == 0


def test_two_users_never_see_each_other(open_memory: Callable[..., Memory], place: Place) -> None:
    memory = open_memory()

    def storage(who: Who) -> PgmnemoStorage:
        return PgmnemoStorage(user_scope(memory, who.user, f"crewai {who.agent}"))  # type: ignore[arg-type]

    def write(who: Who, text: str) -> None:
        record = MemoryRecord(content=text, scope=f"/{who.user}/{who.session}".replace("\ud800", "x").replace(
            "\ud801", "y"), embedding=embed([text])[0])  # fmt: skip
        storage(who).save([record])

    def read(who: Who, question: str) -> str:
        own = storage(who)
        found = own.search(embed([question])[0], limit=1_000)
        own.delete(record_ids=[question, "unknown"])
        return str((found, own.list_records(), own.list_scopes(), own.list_categories()))

    check_isolation(place, write, read)


def test_what_differs_from_crewais_own_storage_is_as_the_page_says(scope: Scope, tmp_path: Path) -> None:
    def both(**given: Any) -> list[Any]:
        made = [MemoryRecord(id=f"{number}", content="x", scope=path, embedding=[1.0, 0.0, 0.0, 0.0],
                             created_at=BEGIN, last_accessed=BEGIN)
                for number, path in enumerate(["/", "/a", "/ab", "/a!"])]  # fmt: skip
        ours, theirs = PgmnemoStorage(scope), LanceDBStorage(tmp_path, vector_dim=WIDTH, compact_every=0)
        for one in (ours, theirs):
            one.reset()
            one.save([*made, made[0]])
        return [ours, theirs]

    ours, theirs = both()
    assert (ours.count(), theirs.count()) == (4, 5)  # an id that is saved twice
    assert (ours.count("/a"), theirs.count("/a")) == (1, 3)  # /a and /ab are two scopes
    assert (ours.delete("/a"), theirs.delete("/a")) == (1, 5)  # records of the root are not below /a
    ours, theirs = both()
    assert (ours.delete("/ab", record_ids=["1"]), theirs.delete("/ab", record_ids=["1"])) == (0, 1)
    ours.save([MemoryRecord(id="no vector", content="x")])
    assert "no vector" not in {record.id for record, _ in ours.search([1.0, 0.0, 0.0, 0.0])}


def test_errors_are_value_errors(scope: Scope, place: Place) -> None:
    storage = PgmnemoStorage(scope)
    storage.save([MemoryRecord(content="x", embedding=[1.0, 0.0])])
    for mismatch in (
        lambda: storage.save([MemoryRecord(content="y", embedding=[1.0])]),
        lambda: storage.update(MemoryRecord(content="y", embedding=[1.0] * 3)),
        lambda: storage.search([1.0] * 3),
    ):
        with pytest.raises(EmbeddingDimensionMismatchError) as wrong:
            mismatch()
        assert wrong.value.args
    assert storage.count() == 1
    for other in (
        lambda: PgmnemoStorage("ada"),  # type: ignore[arg-type]
        lambda: PgmnemoStorage(scope._memory.tenant("ada")),
        lambda: storage.save([MemoryRecord(content="y", scope="/" + "x" * 20_000)]),
        lambda: storage.save([MemoryRecord(content="y", metadata={"x": "y" * 1_000_000})]),
        lambda: storage.search([0.0, 0.0]),
    ):
        with pytest.raises(ValueError) as raised:  # noqa: PT011  # the framework's own class
            other()
        assert isinstance(raised.value, UsageError)
    asyncio.run(storage.asave([MemoryRecord(content="z\0", embedding=[0.0, 1.0])]))
    found = asyncio.run(storage.asearch([0.0, 1.0], limit=1))
    assert found[0][0].content == "z\0"
    assert asyncio.run(storage.adelete(older_than=datetime.now(UTC))) == 2
    assert storage.get_record("x" * 5_000) is None
    with Memory.open(place.dsn(), embedder=None) as closed:
        late = PgmnemoStorage(closed.tenant(scope._name).project("p"))
    with pytest.raises((DatabaseError, UsageError)):
        late.count()
