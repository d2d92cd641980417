"""Compressed JSONL files of a kept run: NAME.jsonl.xz in place of NAME.jsonl.

A manifest lists NAME.jsonl with the hash of its plain content, so a run is the same run packed and unpacked,
whatever the version of xz. Packing reduces a run's rankings to an eighth.
"""

from __future__ import annotations

import lzma
from pathlib import Path

from pgmnemo.errors import PgmnemoError
from runner.runs.storage import output_errors, sync_folder, write_bytes

LINES, PACKED = ".jsonl", ".jsonl.xz"
MOST = 1 << 30  # bytes of a file of lines
SMALL, RATIO = 16 << 20, 100  # lines pack to about an eighth; below SMALL bytes the ratio is not checked
MEMORY = 256 << 20  # bytes that unpacking may take; the runner's own files take 9 MiB


def manifest_name(name: str) -> str:
    """Return the name under which the manifest lists a file: `name` without the packing suffix."""
    return name.removesuffix(PACKED) + LINES if name.endswith(PACKED) else name


def packed_path(folder: Path, name: str) -> Path:
    """Return the path of the packed form of the JSONL file `name`."""
    return folder / f"{name.removesuffix(LINES)}{PACKED}"


def pack(folder: Path) -> None:
    """Pack every JSONL file in `folder`.

    The packed file is on disk before the plain one is removed, so that a kill leaves one of them or both.
    Raises OutputError if the disk is full or the folder cannot be written.
    """
    for path in sorted(folder.glob(f"*{LINES}")):
        write_packed(folder, path.name, path.read_bytes())
        with output_errors(path):
            sync_folder(folder)
            path.unlink()


def write_packed(folder: Path, name: str, content: bytes) -> None:
    """Write `content` as the packed form of the JSONL file `name`."""
    write_bytes(packed_path(folder, name), lzma.compress(content, check=lzma.CHECK_SHA256))


def unpack(content: bytes, name: str, kind: type[PgmnemoError]) -> bytes:
    """Return the lines in a packed file; raise `kind` if it is damaged, incomplete or too large."""
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MEMORY)
    most = min(MOST, max(SMALL, RATIO * len(content)))
    try:
        found = reader.decompress(content, most + 1)
    except lzma.LZMAError as error:
        raise kind(f"{name} is damaged ({error})") from None
    if len(found) > most:
        raise kind(f"{name} unpacks to more than the {most >> 20:,} MiB that are read of such a file")
    if not reader.eof or reader.unused_data:
        raise kind(f"{name} is cut short or has more behind its end")
    return found


def plain_and_packed(folder: Path) -> list[str]:
    """Return the names of the JSONL files that are in `folder` both plain and packed."""
    return sorted(path.name for path in folder.glob(f"*{LINES}") if packed_path(folder, path.name).exists())


def restore_hint(folder: Path) -> str:
    """Return how to restore a missing JSONL file of a run, as the end of a sentence."""
    return f"`python -m runner history restore {folder}` takes it from the repository's history"
