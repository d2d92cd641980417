"""Hindsight's memories: the tables that the migrations of hindsight-api 1.1.0 make."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo import Memory
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.importers.run_import import detect_format
from tests.pgmnemo.importers.conftest import Read

TABLES = """
CREATE TABLE memory_units (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), bank_id text NOT NULL, document_id text,
    text text NOT NULL, embedding real[], context text, event_date timestamptz, occurred_start timestamptz,
    occurred_end timestamptz, mentioned_at timestamptz,
    fact_type text NOT NULL DEFAULT 'world' CHECK (fact_type IN ('world', 'experience', 'observation')),
    metadata jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(), chunk_id text, tags varchar[] NOT NULL DEFAULT '{}',
    proof_count integer DEFAULT 1, source_memory_ids uuid[] DEFAULT ARRAY[]::uuid[],
    consolidated_at timestamptz, observation_scopes jsonb, text_signals text, search_vector tsvector,
    consolidation_failed_at timestamptz, edited_at timestamptz, attachment_ids text[] NOT NULL DEFAULT '{}');
INSERT INTO memory_units (id, bank_id, document_id, text, embedding, context, occurred_start, mentioned_at,
                          fact_type, metadata, created_at, tags, search_vector)
VALUES ('00000000-0000-0000-0000-000000000001', 'ada', 'chat-1', 'Ada sails on Fridays.', '{0.1}', 'boats',
        '2026-05-01 10:00Z', '2026-05-03 10:00Z', 'world', '{"kind": "habit"}', '2026-05-04 10:00Z',
        '{boats}', 'sail'),
       ('00000000-0000-0000-0000-000000000002', 'bob', NULL, 'I recommended tea.', '{0.1}', NULL,
        NULL, '2026-05-03 10:00Z', 'experience', '{}', '2026-05-04 10:00Z', '{}', NULL);
"""  # as \\d prints it after the migrations, but that embedding is a vector


@pytest.fixture
def dsn(kept: tuple[Memory, str]) -> str:
    """Return the address of a schema of its own."""
    schema = f"s{uuid4().hex}"
    with psycopg.connect(kept[1], autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return make_conninfo(kept[1], options=f"-c search_path={schema}")


def test_each_fact_is_a_lesson_of_its_bank(dsn: str, read: Read) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(TABLES)
    assert detect_format(dsn) == "hindsight"
    ada, bob = read("hindsight", dsn)
    assert (ada.project, ada.item.topic, ada.item.text) == ("ada", "chat-1", "Ada sails on Fridays.")
    assert ada.item.key == "hindsight/00000000-0000-0000-0000-000000000001"
    assert ada.item.at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert ada.item.metadata == {
        "kind": "habit", "bank_id": "ada", "document_id": "chat-1", "context": "boats", "fact_type": "world",
        "tags": ["boats"], "occurred_start": "2026-05-01T10:00:00+00:00",
        "mentioned_at": "2026-05-03T10:00:00+00:00", "source": "hindsight",
    }  # fmt: skip
    assert (bob.project, bob.item.at) == ("bob", datetime(2026, 5, 3, 10, tzinfo=UTC))


def test_another_place_is_one_sentence(dsn: str, read: Read) -> None:
    with pytest.raises(UsageError, match="Hindsight is read from its database"):
        read("hindsight", "/nowhere")
    with pytest.raises(DatabaseError, match='relation "memory_units" does not exist'):
        read("hindsight", dsn)
    with pytest.raises(UsageError, match=r"no table store \(langgraph\) or memory_units \(hindsight\)"):
        detect_format(dsn)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE memory_units (); CREATE TABLE store ()")
    with pytest.raises(UsageError, match="more than one table"):
        detect_format(dsn)
