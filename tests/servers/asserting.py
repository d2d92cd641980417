"""What must hold of a memory on whatever server it is."""

from __future__ import annotations

from collections.abc import Mapping

from pgmnemo.postgres.doctor import OK, diagnose
from pgmnemo.postgres.server_process import SUPERUSER
from tests.servers.bench import TENANT, Database, Rows
from tests.servers.notes import vectors

COMPONENTS = (
    "score", "fit", "passage", "bm25", "passage_terms", "passage_cosine", "pair_cosine", "cosine", "temporal",
    "context", "neighbours", "recency", "importance", "graph",
)  # fmt: skip
RECALL = f"""
SELECT external_id, {", ".join(COMPONENTS)}
  FROM pgmnemo.recall($1, $2::real[], 20, $3::text, as_of => '2026-06-01Z', mode => $4)
"""
HNSW_TABLES = "SELECT count(*) FILTER (WHERE NOT pgmnemo._hnsw_table_exists(name)) FROM pgmnemo.hnsw_index"
RECUT = "SELECT next_after FROM pgmnemo.recut($1, after => $2)"
MADE_ANEW = ("index", "language")
"""What doctor may name of derived data that came from elsewhere, with the verb that makes it anew."""


def wrong(database: Database) -> Mapping[str, str]:
    """Return what doctor names as not well, with the remedy."""
    found = diagnose({**database.place, "user": database.owner}, tenant=TENANT)
    return {one.what: one.mend or one.told for one in found if one.state != OK}


def mend(database: Database) -> list[str]:
    """Do what doctor says of derived data; return what it named."""
    named = [what for what in wrong(database) if what in MADE_ANEW]
    if "index" in named:
        database.ask("SELECT pgmnemo.repair($1)", TENANT)
    after = 0 if "language" in wrong(database) else None
    while after is not None:
        [(after,)] = database.ask(RECUT, TENANT, after)
    return named


def is_sound(database: Database) -> None:
    """Check that `check` finds nothing, doctor only the encoding, and that every HNSW index is of use."""
    assert database.ask(HNSW_TABLES, user=SUPERUSER) == [(0,)]
    assert database.ask("SELECT problem, item FROM pgmnemo.check($1)", TENANT) == []
    assert [what for what in wrong(database) if what != "encoding"] == []


def answers(database: Database, texts: Mapping[str, str], mode: str) -> dict[str, Rows]:
    """Return what a question or a text finds, by the key of its note."""
    found = {}
    with database.connect() as connection:
        for (key, text), vector in zip(texts.items(), vectors(list(texts.values())), strict=True):
            asked = (None if mode == "keyword" else vector, None if mode == "vector" else text, mode)
            found[key] = connection.execute(RECALL, (TENANT, *asked)).fetchall()
    return found


def first(found: Mapping[str, Rows]) -> dict[str, str]:
    """Return the note that comes first for each question, if it shares anything with it."""
    return {key: rows[0][0] for key, rows in found.items() if rows[0][2] > 0}


def unfound(database: Database) -> list[str]:
    """Return the notes that are not found by words; by its vector each must be."""
    texts = {note.key: note.text for note in database.notes}
    assert first(answers(database, texts, "vector")) == {key: key for key in texts}
    found = first(answers(database, {note.key: note.question for note in database.notes}, "keyword"))
    return [key for key in texts if found.get(key) != key]


def answers_as(database: Database, reference: Database) -> None:
    """Check that every score and component is that of the reference, to the last bit."""
    questions = {note.key: note.question for note in database.notes}
    for mode in ("hybrid", "keyword", "vector"):
        assert answers(database, questions, mode) == answers(reference, questions, mode)
