"""The storage of a corpus's lessons during a run: in memory, or in a file if there are too many."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from tempfile import TemporaryFile, gettempdir
from typing import IO, Protocol, overload

import msgspec

from pgmnemo.errors import OutputError, os_errors
from pgmnemo.records import Passage
from runner.protocol.datasets.suite import Write
from runner.protocol.templates import Session, Turn, WrittenText
from runner.records import Segment, StoredSegments

DIGEST = 16  # bytes; equal sessions are written once


class SegmentBuilder(Protocol):
    """A store that takes lessons one by one."""

    @property
    def segments(self) -> Sequence[Segment]:
        """All lessons, in the order in which they were added."""

    def add(self, head: Segment, session: Session) -> None:
        """Add a lesson: `head` is the segment without text and passages, which `session` gives."""


class InMemorySegments:
    """Lessons in memory.

    Equal texts and passages are stored once, because a session occurs in many haystacks.
    """

    def __init__(self, write: Write) -> None:
        self._segments: list[Segment] = []
        self._write = write
        self._texts: dict[str, str] = {}
        self._passages: dict[tuple[Passage, ...], tuple[Passage, ...]] = {}

    def add(self, head: Segment, session: Session) -> None:
        new = self._write(session)
        text = self._texts.setdefault(new.text, new.text)
        passages = self._passages.setdefault(new.passages, new.passages)
        self._segments.append(replace(head, text=text, passages=passages))

    @property
    def segments(self) -> Sequence[Segment]:
        return tuple(self._segments)


class _SegmentRecord(msgspec.Struct, array_like=True):
    """A lesson in the file: its head, the date of its session, and the offset and length of its turns."""

    head: Segment
    date: str
    chat: bool
    start: int
    length: int


_RECORD, _TURNS = msgspec.msgpack.Decoder(_SegmentRecord), msgspec.msgpack.Decoder(tuple[Turn, ...])


class OnDiskSegments(StoredSegments):
    """Lessons in an unnamed temporary file, which is gone with the process; memory holds 8 bytes for each.

    The turns of a session are written once, however many haystacks contain it; its text and passages are made
    at each read. Raises OutputError if the disk is full.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._records, self._turns = _file(self), _file(self)
        self._starts = array("Q", [0])
        self._kept: dict[bytes, tuple[int, int]] = {}  # digest of the turns → their offset and length
        self._end = 0

    def add(self, head: Segment, session: Session) -> None:
        start, length = self._put(msgspec.msgpack.encode(session.turns))
        record = msgspec.msgpack.encode(_SegmentRecord(head, session.date, session.chat, start, length))
        with os_errors(f"{gettempdir()} cannot hold the lessons of the corpus: {{why}}", OutputError):
            self._records.write(record)
        self._starts.append(self._starts[-1] + len(record))

    def _put(self, turns: bytes) -> tuple[int, int]:
        digest = blake2b(turns, digest_size=DIGEST).digest()
        if digest not in self._kept:
            with os_errors(f"{gettempdir()} cannot hold the lessons of the corpus: {{why}}", OutputError):
                self._turns.write(turns)
            self._kept[digest] = (self._end, len(turns))
            self._end += len(turns)
        return self._kept[digest]

    @property
    def segments(self) -> Sequence[Segment]:
        return self

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, place: int) -> Segment: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Segment, ...]: ...
    def __getitem__(self, place: int | slice) -> Segment | tuple[Segment, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._whole(self._record(place % len(self)))

    def __iter__(self) -> Iterator[Segment]:
        return (self._whole(self._record(place)) for place in range(len(self)))

    def heads(self) -> Iterator[Segment]:
        return (self._record(place).head for place in range(len(self)))

    def _record(self, place: int) -> _SegmentRecord:
        start, end = self._starts[place], self._starts[place + 1]
        return _RECORD.decode(_read(self._records, start, end - start))

    def _whole(self, record: _SegmentRecord) -> Segment:
        turns = _TURNS.decode(_read(self._turns, record.start, record.length))
        written: WrittenText = self._write(Session(record.date, turns, record.chat))
        return replace(record.head, text=written.text, passages=written.passages)


def _file(owner: object) -> IO[bytes]:
    """Return an unnamed temporary file that is closed when its owner is collected."""
    with os_errors(f"{gettempdir()} cannot hold the lessons of the corpus: {{why}}", OutputError):
        file = TemporaryFile(prefix="pgmnemo-")  # noqa: SIM115  it lives as long as the owner
    weakref.finalize(owner, file.close)
    return file


def _read(file: IO[bytes], start: int, length: int) -> bytes:
    """Read bytes from a file at an offset; the file position, which threads share, is not used."""
    file.flush()
    return os.pread(file.fileno(), length, start)
