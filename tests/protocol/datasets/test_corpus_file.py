"""A corpus file is read once, in any packing; each way to be broken, and each date, is one clear sentence."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import corpus_file
from runner.protocol.datasets.corpus_file import CorpusFile
from runner.protocol.datasets.dates import plain, slashed, spoken

ITEMS = [{"a": "käse 🧀", "n": [1, {"deep": "]}"}]}, {"b": "x" * 500}, {}]
BYTES = json.dumps(ITEMS, ensure_ascii=False, indent=1).encode()

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    ".json": bytes, ".json.xz": lzma.compress, ".json.gz": gzip.compress,
}  # fmt: skip


def source(folder: Path, data: bytes, suffix: str = ".json") -> CorpusFile:
    path = folder / f"corpus{suffix}"
    path.write_bytes(data)
    return CorpusFile(path)


@pytest.mark.parametrize("suffix", PACKINGS)
@pytest.mark.parametrize("chunk", [1, 64])
def test_items_and_hash_are_those_of_the_unpacked_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, chunk: int
) -> None:
    monkeypatch.setattr(corpus_file, "CHUNK", chunk)
    file = source(tmp_path, PACKINGS[suffix](BYTES), suffix)
    assert list(file.items()) == ITEMS
    assert file.sha256() == sha256(BYTES).hexdigest()
    assert file.bytes == len(BYTES)


@pytest.mark.parametrize("length", range(1, len(BYTES) - 1, 97))
def test_cut_json_is_named_with_its_byte(tmp_path: Path, length: int) -> None:
    file = source(tmp_path, BYTES[:length])
    with pytest.raises(CorpusError, match=r"is cut off or is no JSON corpus \(.*: byte [\d,]+, after"):
        list(file.items())


def test_byte_of_a_fault_counts_bytes_not_characters(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="object: byte 19, after 1 whole items"):
        list(source(tmp_path, '[{"ä": "🧀"},\n\n x]'.encode()).items())


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"), (b" \n", "expected a JSON list of items"), (b"[]", "is an empty JSON list"),
        (b"[{}]\n[", "more text after the end of the list: byte 5"),
        (b'{"a": 1}', "expected a JSON list of items: byte 0"),
        (b' [{"k": 1}, {"a": "xyz', "starting at: byte 18, after 1 whole items"),
        (b"[{}", "expected a comma or the end of the list"), (b'[{"a": "\xff"}]', "is not UTF-8 text"),
        (b'[{"a": ' + b"[" * 200_000, "too deeply nested"),
        (b'[{"a": "\\ud83d\\ude00"}, {"a": "\\ud83d"}]', r"holds half a character (\ud83d by itself)"),
        (lzma.compress(BYTES)[:-20], "cannot be unpacked: it is cut off or damaged"),
        (gzip.compress(BYTES, mtime=0)[:-8] + b"\0" * 8, "cannot be unpacked"),
    ],
)  # fmt: skip
def test_broken_file_is_one_sentence(tmp_path: Path, data: bytes, sentence: str) -> None:
    with pytest.raises(CorpusError, match=re.escape(sentence)):
        list(source(tmp_path, data).items())


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_what_unpacks_to_many_times_its_size_is_no_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(corpus_file, "SMALL", 1 << 20)
    monkeypatch.setattr(corpus_file, "CHUNK", 1 << 16)
    bomb = tmp_path / "corpus.json"
    bomb.write_bytes(pack(b"[" + b" " * (8 << 20)))
    source = CorpusFile(bomb)
    with pytest.raises(CorpusError, match="unpacks to more than 40 times its size, as no corpus does"):
        list(source.items())
    assert source.bytes < 2 << 20


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (spoken, "1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        (spoken, "12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        (spoken, "12:30 PM on 1 January, 2024", datetime(2024, 1, 1, 12, 30, tzinfo=UTC)),
        (slashed, "2023/05/30 (Tue) 23:40", datetime(2023, 5, 30, 23, 40, tzinfo=UTC)),
        (plain, "29 February 2024, 07:05", datetime(2024, 2, 29, 7, 5, tzinfo=UTC)),
    ],
)
def test_date_is_read_as_utc(parse: Callable[[str, str], datetime], text: str, expected: datetime) -> None:
    assert parse(text, "here") == expected


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (spoken, "13:56 pm on 8 May, 2023"),
        (spoken, "1:56 pm on 8 Mai, 2023"),
        (spoken, "2023/05/30 (Tue) 23:40"),
        (slashed, "2023/13/30 (Tue) 23:40"),
        (plain, "30 February 2024, 07:05"),
    ],
)
def test_unreadable_date_is_shown_with_its_place(parse: Callable[[str, str], datetime], text: str) -> None:
    with pytest.raises(CorpusError, match="the date of session 3 cannot be read") as caught:
        parse(text, "session 3")
    assert repr(text) in str(caught.value)
