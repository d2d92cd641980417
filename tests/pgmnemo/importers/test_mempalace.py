"""A palace of MemPalace: one that its own code made where it is installed, and the tables of one by hand."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from pgmnemo.errors import UsageError
from tests.pgmnemo.importers.conftest import Read

TABLES = """
CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE segments (id TEXT PRIMARY KEY, scope TEXT NOT NULL, collection TEXT NOT NULL);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL);
CREATE TABLE embedding_metadata (
    id INTEGER, key TEXT NOT NULL, string_value TEXT, int_value INTEGER, float_value REAL, bool_value INTEGER,
    PRIMARY KEY (id, key));
INSERT INTO collections VALUES ('c', 'mempalace_drawers'), ('d', 'mempalace_closets');
INSERT INTO segments VALUES ('v', 'VECTOR', 'c'), ('m', 'METADATA', 'c'), ('n', 'METADATA', 'd');
INSERT INTO embeddings VALUES (1, 'm', 'drawer_a'), (2, 'n', 'closet_a'), (3, 'm', 'drawer_b');
INSERT INTO embedding_metadata (id, key, string_value, int_value) VALUES
    (1, 'chroma:document', 'The red boat.', NULL), (1, 'wing', 'boats', NULL), (1, 'room', 'harbour', NULL),
    (1, 'filed_at', '2025-05-08T10:00:00.5', NULL), (1, 'chunk_index', NULL, 0),
    (2, 'chroma:document', 'a pointer', NULL), (3, 'wing', 'boats', NULL);
"""
MAKE = """
import hashlib, json, pathlib, sys
import numpy
import mempalace.embedding
from mempalace import miner, sweeper

class Hashes:
    def __call__(self, input):
        return [numpy.frombuffer(hashlib.sha256(one.encode()).digest() * 12, "u1") / 255 for one in input]
    embed_query = __call__
    name, get_config = staticmethod(lambda: "default"), lambda self: {}

mempalace.embedding.get_embedding_function = lambda device=None, model=None: Hashes()
top = pathlib.Path(sys.argv[1])
(top / "notes").mkdir()
(top / "notes" / "boats.md").write_text("# Boats\\n\\n" + "The red boat sails on Fridays. " * 5)
line = {"type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2025-05-08T10:00:00Z",
        "message": {"role": "user", "content": "I moved to Lisbon."}}
(top / "s.jsonl").write_text(json.dumps(line))
sweeper.sweep(str(top / "s.jsonl"), str(top / "palace"))
miner.mine(str(top / "notes"), str(top / "palace"), wing_override="boats")
"""


@pytest.mark.skipif(find_spec("mempalace") is None, reason="mempalace is not installed")
def test_a_palace_that_mempalace_made_is_read(tmp_path: Path, read: Read) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    made = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MAKE, str(tmp_path)], env=environment, capture_output=True,
        text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    swept, mined = (one.item for one in read("mempalace", tmp_path / "palace"))
    assert (swept.text, swept.role) == ("USER: I moved to Lisbon.", "user")
    assert swept.at == datetime(2025, 5, 8, 10, tzinfo=UTC)
    assert mined.text.startswith("# Boats\n\nThe red boat")
    assert (mined.topic, dict(mined.metadata or {})["wing"]) == ("general", "boats")
    assert str(mined.key).startswith("mempalace/drawer_boats_general_")


def test_each_drawer_is_a_lesson(tmp_path: Path, read: Read) -> None:
    connection = sqlite3.connect(tmp_path / "chroma.sqlite3")
    connection.executescript(TABLES)
    connection.close()
    [found] = read("mempalace", tmp_path)
    assert found.project == "boats"
    assert (found.item.key, found.item.text, found.item.topic) == (
        "mempalace/drawer_a", "The red boat.", "harbour",
    )  # fmt: skip
    assert found.item.at == datetime(2025, 5, 8, 10, 0, 0, 500000, tzinfo=UTC)
    assert dict(found.item.metadata or {})["chunk_index"] == 0
    assert len(read("mempalace", tmp_path / "chroma.sqlite3")) == 1


def test_a_folder_without_a_palace_is_one_sentence(tmp_path: Path, read: Read) -> None:
    with pytest.raises(
        UsageError, match=r"there is no palace at .*; name the folder that holds chroma.sqlite3"
    ):
        read("mempalace", tmp_path)
