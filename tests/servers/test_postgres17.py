"""PostgreSQL 17 by WebAssembly answers as 18 does; its arithmetic moves the last bits of a cosine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.helping import CURRENT
from tests.postgres17.test_postgres17 import HERE, NODE, TENANT, Wasm, install
from tests.servers.asserting import RECALL, answers, first
from tests.servers.bench import FIRST, PROJECT, STORE, Bench
from tests.servers.notes import NOTES, vectors
from tests.servers.ways import anew

CLOSE = 1e-3  # of a score, in which a cosine counts 27 times


def given(query: str) -> str:
    """Return a query whose parameters go to this server as texts."""
    for place, kind in (("$5::real[]", "$5::text::real[]"), ("$2::real[]", "$2::text::real[]")):
        query = query.replace(place, kind)
    return query


def asked(wasm: Wasm, texts: dict[str, str], mode: str) -> dict[str, Any]:
    """Return what each question finds."""
    found = {}
    for (key, text), vector in zip(texts.items(), vectors(list(texts.values())), strict=True):
        values = (None if mode == "keyword" else literal(vector), None if mode == "vector" else text, mode)
        found[key] = wasm.ask(given(RECALL), str(TENANT), *values)
    return found


def literal(vector: list[float]) -> str:
    return "{" + ",".join(map(repr, vector)) + "}"


def test_postgresql_17_answers_as_18_does(
    bench: Bench, record_property: Callable[[str, object], None]
) -> None:
    record_property("cell", "loaded: 17 (WebAssembly), UTF8")
    if NODE is None or not (HERE / "node_modules").is_dir():
        pytest.skip("PostgreSQL 17 comes with npm: install node and npm, and run make servers")
    texts = {note.key: note.text for note in NOTES}
    questions = {note.key: note.question for note in NOTES}
    reference = anew(bench, 18)
    wasm = Wasm()
    try:
        install(wasm.ask, CURRENT)
        for day, (note, vector) in enumerate(zip(NOTES, vectors(list(texts.values())), strict=True)):
            moment = (FIRST + timedelta(day)).isoformat()
            values = (str(TENANT), str(PROJECT), note.key, note.text, literal(vector), moment)
            wasm.ask(given(STORE), *values)
        assert wasm.ask("SELECT problem FROM pgmnemo.check($1)", str(TENANT)) == []
        assert first(asked(wasm, texts, "vector")) == {key: key for key in texts}
        assert first(asked(wasm, questions, "keyword")) == {key: key for key in texts}
        for mode in ("keyword", "vector", "hybrid"):
            wanted = answers(reference, questions, mode)
            for key, rows in asked(wasm, questions, mode).items():
                assert [row[0] for row in rows] == [row[0] for row in wanted[key]]
                for row, other in zip(rows, wanted[key], strict=True):
                    numbers = pytest.approx(other[1:3] + other[4:], abs=0 if mode == "keyword" else CLOSE)
                    assert (*row[1:3], *row[4:]) == numbers
    finally:
        wasm.close()
