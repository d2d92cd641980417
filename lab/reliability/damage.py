"""Kinds of damage to a file: each function changes the file at a path, randomly by a seed."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import re
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

Damage = Callable[[Path, Random], None]

HOLE = '"@hole@"'  # marks where a value was removed from a text
OTHERS = ("null", "true", "0", "-1", "1.5", '""', '"x"', "[]", "{}", "[[null]]", '{"a": 1}', '["x"]')
DEPTHS = (30, 400, *range(880, 1_000, 10), 3_000, 200_000)  # Python counts to a thousand
PAIRS = (("[", "]"), ('{"a": ', "}"), ("(", ")"), ("> ", ""))
HUGE = (
    "1e999", "-1e999", "NaN", "Infinity", "9" * 25, "9" * 400, "9" * 5_000, "-" + "9" * 5_000, str(2**63),
    "1e308", "-1", "0." + "0" * 400 + "1", "1" + "0" * 18,
)  # fmt: skip
MIB = 1 << 20


def truncated(path: Path, chance: Random) -> None:
    """Keep only the beginning, possibly nothing; for a packed file of its content or of the file."""
    _bytes(path, chance, lambda content: content[: chance.randrange(len(content) + 1)])


def flipped(path: Path, chance: Random) -> None:
    """Flip some bits."""

    def flip(content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(chance.choice((1, 8, 64)) if content else 0):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)

    _bytes(path, chance, flip)


def swapped(path: Path, chance: Random) -> None:
    """Give a value another type, or a field another name."""

    def swap(text: str) -> str:
        names = [*re.finditer(r'"([\w@.-]+)"\s*:', text)]
        if names and chance.random() < 0.3:
            return _put(text, chance.choice(names).span(1), "another")
        return _holed(text, chance).replace(HOLE, chance.choice(OTHERS))

    _text(path, swap)


def nested(path: Path, chance: Random) -> None:
    """Replace a value with deeply nested lists or objects."""
    (begin, end), depth = chance.choice(PAIRS), chance.choice(DEPTHS)
    _text(path, lambda text: _holed(text, chance).replace(HOLE, f"{begin * depth}0{end * depth}"))


def huge(path: Path, chance: Random) -> None:
    """Insert a number of thousands of digits, or a number that no float or no 64 bits can hold."""

    def put(text: str) -> str:
        digits = [*re.finditer(r"\d+", text)]
        if digits and chance.random() < 0.5:
            return _put(text, chance.choice(digits).span(), chance.choice(("9" * 25, "9" * 400, "9" * 5_000)))
        return _holed(text, chance).replace(HOLE, chance.choice(HUGE))

    _text(path, put)


def encoded(path: Path, chance: Random) -> None:
    """Use another encoding, or insert an invalid byte or half a character."""

    def encode(content: bytes) -> bytes:
        at, text = chance.randrange(len(content) + 1), content.decode("utf-8", "replace")
        odd = (b"\xff", b"\0", b"\xed\xa0\x80", b"\xc3", b"\x85", b"\xe2\x80\xa8")
        whole = (
            text.encode("utf-16"),
            text.encode("utf-32"),
            text.encode("utf-16-le"),
            b"\xef\xbb\xbf" + content,
        )
        return chance.choice((content[:at] + chance.choice(odd) + content[at:], chance.choice(whole)))

    def escape(text: str) -> str:
        within = [*re.finditer(r'"(?=[^"\\]{2,}")', text)]
        odd = chance.choice((r"\ud800", r"\udfff", r"\u0000", r"\u001b[2J", r"\ud800\ud800"))
        return _put(text, (chance.choice(within).end(),) * 2, odd) if within else text + odd

    if chance.random() < 0.5:
        _bytes(path, chance, encode)
    else:
        _text(path, escape)


def bombed(path: Path, chance: Random) -> None:
    """Replace the file with a small one that unpacks to a large one, or an archive with bad members or no
    end.
    """
    kinds = TARS if path.name.endswith(".tar.gz") else ZIPS if path.suffix == ".zip" else PACKED
    path.write_bytes(chance.choice([*kinds.values()])())


def doubled(path: Path, chance: Random) -> None:
    """Lose, repeat or reorder lines, or make the file empty or random."""

    def change(text: str) -> str:
        lines = text.split("\n")
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        ways: tuple[list[str], ...] = (
            [*lines[:at], *lines[at + 1 :]],
            [*lines[:at], lines[at], *lines[at:]],
            [*lines[:at], lines[other], *lines[at:]],
            lines[::-1],
            [],
            [text, text],
        )
        return "\n".join(chance.choice(ways))

    if chance.random() < 0.2:
        path.write_bytes(chance.randbytes(chance.choice((1, 512, 100_000))))
    else:
        _text(path, change)


def replaced(path: Path, chance: Random) -> None:
    """Put something that is no file in its place, or nothing."""
    path.unlink()
    makes: tuple[Callable[[], object], ...] = (
        path.mkdir,
        lambda: os.mkfifo(path),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to(path.with_name("nothing")),
        lambda: path.symlink_to(path),
        lambda: None,
    )
    chance.choice(makes)()


KINDS: Mapping[str, Damage] = {
    "truncated": truncated,
    "bits flipped": flipped,
    "types swapped": swapped,
    "nested deep": nested,
    "huge numbers": huge,
    "wrong encoding": encoded,
    "archive bomb": bombed,
    "lost or doubled": doubled,
    "no file": replaced,
}


def _unpacked(content: bytes) -> tuple[bytes, Callable[[bytes], bytes]]:
    """Return the content of a packed file, and the function that packs it again.

    A plain file is its own content.
    """
    if content.startswith(b"\x1f\x8b"):
        return gzip.decompress(content), gzip.compress
    if content.startswith(b"\xfd7zXZ"):
        return lzma.decompress(content), lzma.compress
    return content, bytes


def _bytes(path: Path, chance: Random, change: Callable[[bytes], bytes]) -> None:
    content = path.read_bytes()
    inside, pack = _unpacked(content) if chance.random() < 0.5 else (content, bytes)
    path.write_bytes(pack(change(inside)))


def _text(path: Path, change: Callable[[str], str]) -> None:
    inside, pack = _unpacked(path.read_bytes())
    path.write_bytes(
        pack(change(inside.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))
    )


def _put(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def _holed(text: str, chance: Random) -> str:
    """Return the text with a hole in place of a value if it is JSON or JSON lines; else a hole anywhere."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    for where, part in ((None, text), (at, lines[at])):
        try:
            value = json.loads(part)
        except ValueError:
            continue
        made = _without(value, chance)
        return made if where is None else "\n".join([*lines[:at], made, *lines[at + 1 :]])
    return _put(text, (chance.randrange(len(text) + 1),) * 2, HOLE)


def _without(value: Any, chance: Random) -> str:
    """Return JSON with a hole in place of a random value, mostly a deep one."""
    top: Any = [value]
    holder, key = top, 0
    while isinstance(inner := holder[key], dict | list) and inner and chance.random() < 0.9:
        holder, key = inner, chance.choice([*inner] if isinstance(inner, dict) else range(len(inner)))
    holder[key] = json.loads(HOLE)
    return json.dumps(top[0])


@lru_cache
def _gzipped(filling: bytes, size: int = 160) -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1, mtime=0) as file:
        for _ in range(size):
            file.write((filling * (MIB // len(filling) + 1))[:MIB])
    return made.getvalue()


@lru_cache
def _xz(filling: bytes) -> bytes:
    packer = lzma.LZMACompressor(preset=0)
    pieces = [packer.compress((filling * (MIB // len(filling) + 1))[:MIB]) for _ in range(320)]
    return b"".join([*pieces, packer.flush()])


@lru_cache
def _zipped(filling: bytes, entries: int = 1, lie: bool = False) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(entries):
            size = 160 * MIB if entries == 1 else 50
            archive.writestr(f"{number}/conversations.json", (filling * (size // len(filling) + 1))[:size])
    content = made.getvalue()
    real = (160 * MIB).to_bytes(4, "little")
    return content.replace(real, (9 * MIB).to_bytes(4, "little")) if lie else content


def _tar(*members: tarfile.TarInfo, before: bytes = b"") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(min(member.size, MIB))))
    return gzip.compress(before + made.getvalue())


def _member(name: str = "benchmarks/sample/results/run/run.json", **fields: Any) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(member, field, value)
    return member


def _headers() -> bytes:
    """Return an archive with a thousand headers that each announce another one."""
    record = b"13 path=abcd\n"
    header = _member("x", type=tarfile.XHDTYPE, size=len(record)).tobuf(tarfile.USTAR_FORMAT)
    return _tar(_member(), before=(header + record.ljust(512, b"\0")) * 1_000)


def _huge_member(kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return an archive with a member, or a name header, that claims a terabyte and has no content."""
    return gzip.compress(_member(type=kind, size=1 << 40).tobuf(tarfile.GNU_FORMAT) + bytes(512))


Made = Callable[[], bytes]
PACKED: Mapping[str, Made] = {
    "gzip of zeros": lambda: _gzipped(b"\0"),
    "gzip of brackets": lambda: _gzipped(b"["),
    "gzip of lists": lambda: _gzipped(b"[],", 60),
    "gzip of objects": lambda: gzip.compress(b"[" + b'{"a":[],"b":{}},' * (2 * MIB) + b"{}]", 1),
    "gzip of gzip": lambda: gzip.compress(_gzipped(b"\0")),
    "xz of zeros": lambda: _xz(b"\0"),
    "xz of lines": lambda: _xz(b'{"question": "q"}\n'),
}
TARS: Mapping[str, Made] = {
    "zeros": lambda: _gzipped(b"\0"),
    "headers": _headers,
    "a huge member": _huge_member,
    "a huge name": lambda: _huge_member(tarfile.GNUTYPE_LONGNAME),
    "outside": lambda: _tar(_member("../../outside")),
    "absolute": lambda: _tar(_member("/tmp/outside")),
    "a link": lambda: _tar(_member(type=tarfile.SYMTYPE, linkname="/etc/passwd")),
    "a device": lambda: _tar(_member(type=tarfile.CHRTYPE)),
    "many": lambda: _tar(*(_member(f"benchmarks/sample/results/run/{number}") for number in range(5_000))),
    "twice": lambda: _tar(_member(), _member()),
    "a long name": lambda: _tar(_member("benchmarks/sample/results/run/" + "x" * 5_000)),
    "lists": lambda: _tar(_member(size=MIB)),
}
ZIPS: Mapping[str, Made] = {
    "zeros": lambda: _zipped(b"\0"),
    "lists": lambda: _zipped(b"[],"),
    "a lie": lambda: _zipped(b"[],", lie=True),
    "many": lambda: _zipped(b"[]", 3_000),
    "in itself": lambda: _zipped(_zipped(b"\0")),
}
