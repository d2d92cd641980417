"""SQLite's full-text search needs nothing but Python; a Python without it is told in one sentence."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runner import systems
from runner.errors import SystemAbsent
from runner.systems import Place, open_system, sqlite_fts5

NAME = "sqlite-fts5"


def test_it_answers_where_nothing_is_installed_and_its_clients_in_any_thread(
    tiny: Any, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems, "_installed", lambda package: False)
    monkeypatch.setitem(sys.modules, "apsw", None)
    with open_system(NAME, place) as system, ThreadPoolExecutor(1) as other:
        system.load(tiny)
        [query, _] = tiny.queries()[0]
        client = system.client()  # type: ignore[attr-defined]
        assert other.submit(client.ask, query, 4).result() == system.ask(query, 4) != []
        client.close()


def test_a_python_without_it_is_one_sentence(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_fts5, "TABLE", "CREATE VIRTUAL TABLE memory USING fts0(content)")
    words = "^sqlite-fts5 is without FTS5, which the SQLite of this Python lacks; run another Python"
    with pytest.raises(SystemAbsent, match=words), open_system(NAME, place):
        raise AssertionError("it cannot be opened")
