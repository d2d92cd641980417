"""The vectors on disk: kept whole, shared, never silently wrong."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.embedders import default_cache_dir
from pgmnemo.embedders.embedding import VectorStore, text_key
from pgmnemo.records import EmbedderIdentity

IDENTITY = EmbedderIdentity("hash", "tiny", "1", dimensions=4, max_tokens=0, batch_size=8)
KEYS = [text_key("document", f"text {n}") for n in range(10)]
ROWS = np.arange(40, dtype=np.float32).reshape(10, 4)
PAGE = 4096
CUTS = (100, PAGE, PAGE + 100)  # bytes that are left of a file


def filled(folder: Path) -> Path:
    with VectorStore(folder, IDENTITY) as store:
        store.write(KEYS[:6], ROWS[:6])
        store.write(KEYS[6:], ROWS[6:])
        assert store.path is not None
        return store.path


def read(folder: Path, lines: Any) -> dict[bytes, Any]:
    with VectorStore(folder, IDENTITY, lines) as store:
        return store.read(KEYS)


def test_what_was_written_is_read_back(tmp_path: Path, lines: Any) -> None:
    filled(tmp_path)
    found = read(tmp_path, lines)
    np.testing.assert_array_equal(np.stack([found[key] for key in KEYS]), ROWS)
    with VectorStore(tmp_path, IDENTITY) as store:
        assert store.read([text_key("query", "text 1")]) == {}
    assert lines.said == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("revision", "2"), ("max_tokens", 256), ("batch_size", 32), ("query_prefix", "q: "), ("model", "other")],
)
def test_whatever_a_vector_depends_on_separates_the_files(tmp_path: Path, name: str, value: Any) -> None:
    filled(tmp_path)
    with VectorStore(tmp_path, replace(IDENTITY, **{name: value})) as store:
        assert store.read(KEYS) == {}


def test_the_wording_of_a_note_does_not_separate_them() -> None:
    paths = {VectorStore(Path("x"), replace(IDENTITY, note=note)).path for note in ("", "other words")}
    assert len(paths) == 1


def flipped(content: bytes) -> bytes:
    damaged = bytearray(content)
    damaged[damaged.rindex(ROWS[3].tobytes()) + 3] ^= 1
    return bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [flipped, lambda _: b"x" * 5000, *(lambda content, left=left: content[:left] for left in CUTS)],
    ids=["flipped", "other", *map(str, CUTS)],
)
def test_each_damaged_file_is_moved_aside_and_kept(
    damage: Callable[[bytes], bytes], tmp_path: Path, lines: Any
) -> None:
    for number in (1, 2):
        path = filled(tmp_path)
        path.write_bytes(damaged := damage(path.read_bytes()))
        assert read(tmp_path, lines) == {}
        assert (tmp_path / f"{path.name}.damaged-{number}").read_bytes() == damaged
        assert len(lines.said) == number
        assert "is damaged" in lines.said[-1]
    assert len(read(filled(tmp_path).parent, lines)) == 10


def test_a_batch_that_was_not_finished_leaves_what_was_before(tmp_path: Path, lines: Any) -> None:
    filled(tmp_path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == -9
    assert len(read(tmp_path, lines)) == 10
    assert lines.said == []


KILLED = """
import os, sqlite3, sys
from pathlib import Path
file = sqlite3.connect(next(Path(sys.argv[1]).glob("*.sqlite")))
file.execute("PRAGMA cache_spill = 1")
rows = ((os.urandom(32), os.urandom(4000)) for _ in range(4000))
file.executemany("INSERT INTO vectors VALUES (?, 0, ?)", rows)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("named", [True, False])
def test_without_a_place_to_write_nothing_is_kept(named: bool, tmp_path: Path, lines: Any) -> None:
    (tmp_path / "file").write_text("in the way")
    with VectorStore(tmp_path / "file" / "cache" if named else None, IDENTITY, lines) as store:
        store.write(KEYS, ROWS)
        assert store.read(KEYS) == {}
    assert ["goes without" in line for line in lines.said] == [True] * named


FULL_DISK = """
import resource, sys
import numpy as np
from pathlib import Path
from pgmnemo.embedders.embedding import VectorStore, text_key
from pgmnemo.errors import OutputError
from pgmnemo.records import EmbedderIdentity
resource.setrlimit(resource.RLIMIT_FSIZE, (24000, 24000))
keys = [text_key("document", f"text {n}") for n in range(200)]
with VectorStore(Path(sys.argv[1]), EmbedderIdentity("hash", "tiny", "1", 4, 0, 8)) as store:
    for start in range(0, 200, 8):
        try:
            store.write(keys[start:start + 8], np.ones((8, 4), dtype=np.float32))
        except OutputError as error:
            print(start, error)
            break
"""


def test_a_full_disk_is_one_sentence_and_keeps_what_was_written(tmp_path: Path, lines: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    written, sentence = done.stdout.split(maxsplit=1)
    assert "cannot be extended" in sentence
    with VectorStore(tmp_path, IDENTITY, lines) as store:
        found = store.read([text_key("document", f"text {n}") for n in range(200)])
    assert len(found) == int(written) > 0
    assert lines.said == []


def append(folder: Path, offset: int) -> None:
    with VectorStore(folder, IDENTITY) as store:
        for number in range(offset, offset + 400):
            row = np.full((1, 4), number, dtype=np.float32)
            store.write([text_key("document", str(number))], row)


def test_two_processes_write_one_file(tmp_path: Path, lines: Any) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append, args=(tmp_path, offset)) for offset in (0, 300)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    with VectorStore(tmp_path, IDENTITY, lines) as store:
        found = store.read([text_key("document", str(n)) for n in range(700)])
    assert [row[0] for row in found.values()] == list(range(700))
    assert lines.said == []


def test_a_file_that_another_process_moved_aside_is_not_moved_again(tmp_path: Path, lines: Any) -> None:
    path = filled(tmp_path)
    path.write_bytes(flipped(path.read_bytes()))
    with VectorStore(tmp_path, IDENTITY, lines) as slow:
        assert len(slow.read(KEYS[:1])) == 1
        read(tmp_path, lines)
        filled(tmp_path)
        assert slow.read(KEYS) == {}
        assert len(slow.read(KEYS)) == 10
    assert [file.name for file in tmp_path.glob("*damaged*")] == [f"{path.name}.damaged-1"]


def test_the_cache_folder_comes_from_the_environment() -> None:
    assert default_cache_dir({"PGMNEMO_CACHE_DIR": "/elsewhere"}) == Path("/elsewhere/embeddings")
    assert default_cache_dir({}).parts[-2:] == ("pgmnemo", "embeddings")
