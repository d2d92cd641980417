"""An export is read as it was written; what is none, is cut off or is of a newer format is one sentence."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from pgmnemo.client import jsonl_format
from pgmnemo.client.jsonl_format import (
    BEFORE_ALL,
    FOREVER,
    ExportHeader,
    ExportLine,
    LessonLine,
    LinkLine,
    SupersessionLine,
    pack,
    read_lines,
    unpack,
    write_line,
)
from pgmnemo.errors import UsageError

PROJECT = UUID(int=7)
HEADER = write_line(ExportHeader(extension="0.5.0"))
HALVES = write_line(ExportHeader(extension="0.5.0", vectors="float16"))
TWO = write_line(ExportHeader(extension="0.5.0", lessons=2))
LETTERS = "abc äß\n\t\"\\\u2028\u0007漢字😀'{}[],:"


def some(chance: random.Random, make: Callable[[random.Random], Any]) -> Any:
    return make(chance) if chance.random() < 0.5 else None


def text(chance: random.Random) -> str:
    return "".join(chance.choices(LETTERS, k=chance.randrange(1, 20)))


def moment(chance: random.Random) -> datetime:
    zone = timezone(timedelta(minutes=chance.randrange(-720, 720)))
    return datetime(2000, 1, 1, tzinfo=zone) + timedelta(microseconds=chance.randrange(10**15))


def any_time(chance: random.Random) -> datetime:
    return chance.choice([moment(chance), FOREVER, BEFORE_ALL])


def value(chance: random.Random, depth: int = 0) -> Any:
    scalars = [None, True, chance.random() * 10.0 ** chance.randrange(-300, 300), 2**70, -3, text(chance)]
    if depth > 3 or chance.random() < 0.5:
        return chance.choice(scalars)
    inner = [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return inner if chance.random() < 0.5 else {text(chance): one for one in inner}


def vector(chance: random.Random) -> bytes:
    return pack([chance.uniform(-1, 1) for _ in range(8)], "float32")


def lesson(chance: random.Random) -> LessonLine:
    passages = tuple(text(chance) for _ in range(chance.randrange(3)))
    return LessonLine(
        project=UUID(int=chance.getrandbits(128)), key=text(chance), text=text(chance),
        role=some(chance, text), topic=some(chance, text), importance=chance.randrange(1, 6),
        metadata={text(chance): value(chance)}, at=some(chance, moment), stored_at=moment(chance),
        expires_at=some(chance, any_time), commit_sha=some(chance, text), artifact_hash=some(chance, text),
        verified_at=some(chance, any_time), position=some(chance, lambda c: c.randrange(-(10**9), 10**9)),
        active=chance.random() < 0.8, passages=passages, vector=some(chance, vector),
        passage_vectors=some(chance, lambda c: tuple(vector(c) for _ in passages)),
    )  # fmt: skip


def record(chance: random.Random) -> ExportLine:
    project = UUID(int=chance.getrandbits(128))
    if chance.random() < 0.6:
        return lesson(chance)
    if chance.random() < 0.5:
        return SupersessionLine(
            project=project, old=text(chance), new=some(chance, text), at=moment(chance),
            reason=some(chance, text), recorded_at=some(chance, moment),
            new_project=some(chance, lambda _: PROJECT),
        )  # fmt: skip
    return LinkLine(
        project=project, source=text(chance), target=text(chance), type=text(chance), weight=chance.random(),
        valid_from=some(chance, any_time), valid_to=some(chance, any_time),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_written_is_read_again_as_it_was(seed: int) -> None:
    chance = random.Random(seed)
    records = [record(chance) for _ in range(50)]
    lessons = sum(isinstance(one, LessonLine) for one in records)
    header = ExportHeader(extension="0.5.0", tenant=PROJECT, dimensions=8, lessons=lessons, vectors="float32")
    lines = [write_line(one) for one in (header, *records)]
    assert all("\n" not in line for line in lines)
    file = io.BytesIO("\n".join(lines).encode())
    assert list(read_lines(jsonl_format.lines_of(file, "it"))) == [header, *records]


def test_vectors_keep_the_bits_of_their_form() -> None:
    numbers = [0.5, -1.0, 2**-14, 0.0]
    assert unpack(pack(numbers, "float16"), "float16") == tuple(numbers)
    assert len(pack(numbers, "float16")) == 8


def test_the_last_time_is_written_as_a_time_and_read_as_infinity_too() -> None:
    line = write_line(LessonLine(project=PROJECT, key="a", text="b", expires_at=FOREVER))
    assert json.loads(line)["expires_at"] == "9999-12-31T23:59:59.999999Z"
    [_, found] = read_lines([HEADER, line.replace("9999-12-31T23:59:59.999999Z", "infinity")])
    assert isinstance(found, LessonLine)
    assert found.expires_at == FOREVER


def test_records_are_read_one_by_one() -> None:
    def lines() -> Any:
        yield HEADER
        yield write_line(LessonLine(project=PROJECT, key="a", text="b"))
        raise AssertionError("read too far")

    found = read_lines(lines())
    assert isinstance(next(found), ExportHeader)
    assert isinstance(next(found), LessonLine)


def line(**fields: Any) -> str:
    return json.dumps({"kind": "lesson", "project": str(PROJECT), "key": "a", "text": "b", **fields})


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "it is empty; give a file that an export has written"),
        (["{}"], "it, line 1 is not the header of an export"),
        (["[1]"], "it, line 1 is not the header"),
        ([b"\xff\xfe{"], "it, line 1: JSON is malformed: invalid character (byte 0)"),
        (['{"pgmnemo":"memory","format":2,"fields":{}}'], "is of format 2, and this package reads up to 1"),
        ([HEADER[:-1] + ',"colour":1}'], "it, line 1: Object contains unknown field `colour`"),
        ([HEADER, line(colour=1)], "it, line 2: Object contains unknown field `colour`"),
        ([HEADER, "", line(kind="note")], "it, line 3: Invalid value 'note' - at `$.kind`"),
        ([HEADER, line(project="kitchen")], "it, line 2: Invalid UUID - at `$.project`"),
        ([HEADER, line(text=None)], "it, line 2: Expected `str`, got `null` - at `$.text`"),
        ([HEADER, line(at="2024-05-08T12:00:00")], "a timezone component - at `$.at`"),
        ([HEADER, line(at="yesterday")], "it, line 2: no time such as 2026-05-01T13:56:00Z - at `$.at`"),
        ([HEADER, line()[:-4]], "it, line 2: Input data was truncated"),
        ([HEADER, line() + "x"], "it, line 2: JSON is malformed: trailing characters"),
        ([HEADER, "[" * 100_000], "it, line 2: the JSON is nested too deeply"),
        ([HEADER, line().encode().replace(b'"b"', b'"\xe4"')], "it, line 2: the text is not UTF-8"),
        ([HEADER, line(metadata=1).replace(": 1", ": " + "9" * 5000)], "Integer value out of range"),
        ([HEADER, line(vector="AAAA")], "it, line 2 has vectors, and the header does not say"),
        ([HALVES, line(vector="AAAA")], "it, line 2 has a vector that is cut off"),
        ([TWO, line()], "it holds 1 lessons, and its first line says 2"),
    ],
)  # fmt: skip
def test_what_is_no_export_is_one_sentence(lines: list[Any], sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        list(read_lines(lines, "it"))
    assert sentence in str(raised.value)


def test_a_line_without_end_is_not_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl_format, "LONGEST", 10)
    with pytest.raises(UsageError, match="it, line 2 is longer than 10 bytes"):
        list(jsonl_format.lines_of(io.BytesIO(b"short\n" + b"x" * 100), "it"))


def test_a_mark_of_byte_order_is_no_part_of_the_header() -> None:
    lines = jsonl_format.lines_of(io.BytesIO(b"\xef\xbb\xbf" + HEADER.encode()), "it")
    assert list(read_lines(lines)) == [ExportHeader(extension="0.5.0")]


def test_a_written_header_says_what_it_is_first() -> None:
    assert HEADER.startswith('{"pgmnemo":"memory","format":1,"extension":"0.5.0"')
    assert datetime.now(UTC) < FOREVER


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"x\ud800y", "x\ufffdy"),
        (r"\ud83d\uDE00", "😀"),
        (r"\ud83d\ud83d\ude00", "\ufffd😀"),
        (r"\udc00\ud83d", "\ufffd\ufffd"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", "\\\ufffd"),
    ],
)
def test_half_a_surrogate_pair_is_read_as_a_replacement_character(written: str, read: str) -> None:
    for line in (f'"{written}"', f'"{written}"'.encode()):
        assert jsonl_format.decode(line, "it") == read
