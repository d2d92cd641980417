"""A load of many lessons into a folder is indexed at its end; a database is left to its scheduler."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import psycopg
import pytest

from pgmnemo import AsyncMemory, Memory, calls
from pgmnemo.cli.commands import main
from pgmnemo.client import loads
from pgmnemo.client.loads import Load
from pgmnemo.client.naming import tenant_id
from pgmnemo.postgres.embedded import EmbeddedServer
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.postgres.embedded.serving import connected, new_base

SETTINGS = {"hnsw_min_vectors": 50}
VACUUMED = (
    "SELECT last_vacuum IS NOT NULL, last_vacuum FROM pg_stat_user_tables WHERE relname = 'lesson_vector'"
)


def embed(texts: Sequence[str]) -> Any:
    return np.array([[1.0, len(text), crc32(text.encode()) % 1000] for text in texts])


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(loads, "MANY", 100)
    with new_base() as base:
        yield base / "memory"


@contextmanager
def beside(folder: Path, **other: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of another program to the folder's database."""
    server = EmbeddedServer.open(folder)
    try:
        with connected(server, **other) as connection:
            yield connection
    finally:
        server.close()


def vacuumed(folder: Path) -> tuple[bool, datetime | None]:
    with beside(folder) as connection:
        [row] = connection.execute(VACUUMED.encode()).fetchall()
    return row


def waiting(folder: Path) -> int:
    """The number of Ada's vectors that were not in the index, and are now."""
    with beside(folder) as connection:
        connection.execute("SET pgmnemo.hnsw_min_vectors = 50")
        [[number]] = connection.execute("SELECT pgmnemo.index(%s)", (tenant_id("ada"),)).fetchall()
    return int(number)


def notes(first: int, last: int) -> list[str]:
    return [f"note {number}" for number in range(first, last)]


@pytest.mark.parametrize(
    ("sets", "due", "closing"),
    [
        ([], False, False),
        ([999], False, False),
        ([1000], True, True),
        ([500, 500], True, True),
        ([100_000], True, True),
    ],
)
def test_a_load_is_due_from_a_thousand_lessons_on(sets: list[int], due: bool, closing: bool) -> None:
    load = Load()
    for lessons in sets:
        load.add(lessons)
    assert (load.is_due(), load.is_due(closing=True)) == (due, closing)


def test_in_a_large_memory_an_eighth_waits_and_less_only_until_it_closes() -> None:
    load = Load(stored=80_000)
    load.add(9_999)
    assert (load.is_due(), load.is_due(closing=True)) == (False, True)
    load.add(2_000)
    assert load.is_due()


def test_a_large_set_is_indexed_and_vacuumed_at_its_end(folder: Path) -> None:
    with Memory.open(folder, embedder=embed, settings=SETTINGS) as memory:
        project = memory.tenant("ada").project("p")
        project.add_many(notes(0, 99))
        assert vacuumed(folder) == (False, None)
        project.add_many(notes(99, 100))
        assert vacuumed(folder)[0]
        assert waiting(folder) == 0


def test_an_asynchronous_memory_does_the_same(folder: Path) -> None:
    async def load() -> None:
        async with await AsyncMemory.open(folder, embedder=embed, settings=SETTINGS) as memory:
            await memory.tenant("ada").project("p").add_many(notes(0, 150))
            assert vacuumed(folder)[0]

    asyncio.run(load())


def test_an_import_is_a_load(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    with Memory.open(folder, embedder=embed) as memory:
        memory.tenant("ada").project("p").add_many(notes(0, 120))
        memory.tenant("ada").project("p").export(file)
        _, before = vacuumed(folder)
        memory.tenant("bob").project("p").import_(file)
        assert vacuumed(folder)[1] > before


@pytest.mark.parametrize("interrupted", [False, True])
def test_less_than_an_eighth_is_indexed_when_the_memory_closes_unless_interrupted(
    folder: Path, interrupted: bool
) -> None:
    with suppress(KeyboardInterrupt), Memory.open(folder, embedder=embed, settings=SETTINGS) as memory:
        project = memory.tenant("ada").project("p")
        project.add_many(notes(0, 1600))
        project.add_many(notes(1600, 1750))
        if interrupted:
            raise KeyboardInterrupt
    assert (waiting(folder) > 0) == interrupted


def test_a_fault_of_the_index_loses_no_lesson(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "index", lambda tenant: calls.verb_call("no_such_verb", tenant=tenant))
    with Memory.open(folder, embedder=embed) as memory:
        project = memory.tenant("ada").project("p")
        assert project.add_many(notes(0, 150)).outcomes == {"inserted": 150}
        assert project.count().lessons == 150


def test_doctor_finds_vectors_that_wait_and_upgrade_brings_them_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loads, "MANY", 10_000)
    with Memory.open(folder, embedder=embed) as memory, beside(folder, user="postgres") as root:
        root.execute("ALTER DATABASE memory SET pgmnemo.hnsw_min_vectors = 50")
        memory.tenant("ada").project("p").add_many(notes(0, 1600))
    examined = ["doctor", "--memory", str(folder), "--tenant", "ada", "--embedder", "none"]
    main(examined)
    told = capsys.readouterr().out
    assert re.search(rf"vectors are outside the HNSW index.*mnemo upgrade {folder}", told, re.DOTALL), told
    assert main(["upgrade", str(folder)]) == 0
    assert main(examined) == 0
    assert waiting(folder) == 0


def test_a_database_is_left_to_its_scheduler(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loads, "MANY", 10)
    with Memory.open(place.dsn(), embedder=embed) as memory, place.connect() as root:
        [[_, before]] = root.execute(VACUUMED.encode()).fetchall()
        memory.tenant(place.tenant()).project("p").add_many(notes(0, 20))
        [[_, after]] = root.execute(VACUUMED.encode()).fetchall()
    assert after == before
