"""Files, archives and JSON are read piece by piece; what is damaged is one sentence, or is left out."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.importers import ImportOptions
from pgmnemo.importers import sources as module
from pgmnemo.importers.sources import JSON, ImportFile, all_objects, objects, rows, sources


def source(data: bytes, name: str = "it.json") -> ImportFile:
    return ImportFile("it", name, lambda: io.BytesIO(data))


def values(data: bytes, options: ImportOptions | None = None, **given: Any) -> list[dict[str, Any]]:
    return [value for _, _, value in objects(source(data, **given), options or ImportOptions())]


@pytest.mark.parametrize("seed", range(10))
def test_a_list_is_read_entry_by_entry_whatever_pieces_it_comes_in(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(module, "CHUNK", chance.randrange(1, 40))
    entries = [
        {"a": "".join(chance.choices('x"\\[]{},: ä😀\n', k=chance.randrange(60))), "b": [n, {"c": None}]}
        for n in range(chance.randrange(30))
    ]
    text = json.dumps(entries, indent=chance.choice([None, 2]), ensure_ascii=chance.random() < 0.5)
    assert values(text.encode()) == entries
    assert values(b"\xef\xbb\xbf  " + text.encode()) == entries
    lines = "\n\n".join(json.dumps(entry) for entry in entries)
    assert values(lines.encode(), name="it.jsonl") == entries


def test_no_more_of_a_list_is_held_than_an_entry_needs() -> None:
    class Endless(io.RawIOBase):
        begun = False

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            piece = (b'{"a":1},' * (len(buffer) // 8))[: len(buffer)]
            if not self.begun:
                self.begun, piece = True, b"[" + b'{"a":1},'
            buffer[: len(piece)] = piece
            return len(piece)

    endless = ImportFile("it", "it.json", lambda: io.BufferedReader(Endless()))
    found = objects(endless, ImportOptions())
    assert [next(found)[0] for _ in range(50_000)][-1] == 50_000


def test_an_object_that_holds_a_list_stands_for_its_entries() -> None:
    assert values(b'{"count": 1, "results": [{"a": 1}]}') == [{"a": 1}]
    assert values(b'{"a": 1}') == [{"a": 1}]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'[{"a": 1}, {"a"', "it, entry 2, which begins at character 12, is damaged or cut off"),
        (b'[{"a": 1} {"a": 2}]', "it, entry 1, which begins at character 2, is damaged or cut off"),
        (b'[{"a": 1},]', "it, entry 2, which begins at character 11, is damaged or cut off"),
        (b"[1, 2]", "it, entry 1 is no object"),
        (b"[" * 100_000, "it, entry 1 is nested too deeply"),
        (b"[" + b"9" * 10_000 + b"]", "it, entry 1"),
        (b'[{"a": "\xff"}]', "it cannot be read (it is not UTF-8)"),
        (b'{"a": ', "it: Input data was truncated"),
        (b'{"a": ' * 100_000, "it: the JSON is nested too deeply"),
    ],
)
def test_damaged_json_is_one_sentence_that_says_where(data: bytes, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        values(data)
    assert str(raised.value).startswith(sentence)
    assert "mend it, or leave it out" in str(raised.value)
    options = ImportOptions(skip_faults=True)
    values(data, options)
    assert options.left.counts["damaged"] >= 1
    assert options.left.named[0].startswith(sentence)


def test_a_damaged_line_is_left_out_and_the_rest_is_read() -> None:
    options = ImportOptions(skip_faults=True)
    data = b'{"a": 1}\n{"a"\n\xff\n[1]\n{"a": 2}'
    assert values(data, options, name="it.jsonl") == [{"a": 1}, {"a": 2}]
    assert options.left.counts == {"damaged": 3}
    assert [told[:10] for told in options.left.named] == ["it, line 2", "it, line 3", "it, line 4"]
    with pytest.raises(UsageError, match="it, line 2: Input data was truncated"):
        values(data, name="it.jsonl")


def test_few_of_many_faults_are_named() -> None:
    options = ImportOptions(skip_faults=True)
    values(b"x\n" * 1000, options, name="it.jsonl")
    assert options.left.counts["damaged"] == 1000
    assert len(options.left.named) == 20


def test_an_entry_or_a_file_that_is_no_list_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 100)
    monkeypatch.setattr(module, "CHUNK", 10)
    with pytest.raises(UsageError, match="entry 1, which begins at character 2, is damaged or cut off"):
        values(b'[{"a": "' + b"x" * 10_000)
    with pytest.raises(UsageError, match="it is no list and longer than 100 characters; give a list"):
        values(b'{"a": "' + b"x" * 10_000)


def names(place: Path, pattern: str = JSON, **given: Any) -> list[str]:
    return [one.name for one in sources(place, pattern, ImportOptions(**given))]


def test_a_folder_is_read_in_order_without_what_is_hidden_and_without_links(tmp_path: Path) -> None:
    for name in ("b/2.json", "b/10.JSONL", "a.json", ".hidden.json", ".git/x.json", "b/notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    (tmp_path / "b" / "link.json").symlink_to(tmp_path / "a.json")
    os.mkfifo(tmp_path / "pipe.json")
    assert names(tmp_path) == ["a.json", "b/10.JSONL", "b/2.json"]
    assert names(tmp_path / "b" / "notes.md") == ["notes.md"]


def test_a_folder_that_may_not_be_read_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("[]")

    def walk(top: Path, onerror: Any) -> Iterator[Any]:
        yield str(top), [], ["a.json"]
        onerror(PermissionError(13, "Permission denied", f"{top}/shut"))

    monkeypatch.setattr(module.os, "walk", walk)
    with pytest.raises(UsageError, match=r"shut cannot be read \(Permission denied\)"):
        names(tmp_path)
    assert names(tmp_path, skip_faults=True) == ["a.json"]


def test_a_place_that_is_not_there_or_holds_nothing_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file or folder .*none; name one that is there"):
        names(tmp_path / "none")
    with pytest.raises(UsageError, match="holds no file of this format"):
        names(tmp_path)


def archive(path: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(f"export/{name}.json", data)
    return path


def test_an_archive_is_read_without_being_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", b=b'[{"a": 2}]', a=b'[{"a": 1}]')
    found = list(all_objects(path, "[ab].json", ImportOptions()))
    assert [value for _, value in found] == [{"a": 1}, {"a": 2}]
    assert found[0][0] == f"{path}, export/a.json, entry 1"


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", a=b"[" + b" " * 30_000_000 + b"]", b=b'[{"a": 1}]')
    assert path.stat().st_size < 100_000
    with pytest.raises(UsageError, match=r"export/a.json unpacks to 30,000,002 bytes, as no text does"):
        list(all_objects(path, JSON, ImportOptions()))
    options = ImportOptions(skip_faults=True)
    assert len(list(all_objects(path, JSON, options))) == 1
    assert options.left.counts == {"damaged": 1}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_an_archive_that_is_cut_off_or_changed_is_one_sentence(tmp_path: Path, share: float) -> None:
    text = "".join(random.Random(1).choices("abcdefgh ", k=1000))
    path = archive(tmp_path / "x.zip", a=json.dumps([{"a": text}]).encode())
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UsageError, match="cannot be read"):
        list(all_objects(path, JSON, ImportOptions()))
    data[100:110] = bytes(10)
    path.write_bytes(data)
    with pytest.raises(UsageError, match="cannot be read"):
        list(all_objects(path, JSON, ImportOptions()))


def test_an_archive_with_a_password_is_one_sentence(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", a=b"[]")
    data = path.read_bytes().replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01")
    path.write_bytes(data.replace(b"PK\x03\x04\x14\x00\x00", b"PK\x03\x04\x14\x00\x01"))
    with pytest.raises(UsageError, match="encrypted"):
        list(all_objects(path, JSON, ImportOptions()))


def test_what_is_no_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(UsageError, match=r"x.db cannot be read \("):
        list(rows(tmp_path / "x.db", "SELECT 1 FROM a", ImportOptions()))
    options = ImportOptions(skip_faults=True)
    assert list(rows(tmp_path / "none.db", "SELECT 1 FROM a", options)) == []
    assert options.left.counts == {"damaged": 1}
