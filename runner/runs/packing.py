"""Files of lines lie compressed beside a run that is kept: NAME.jsonl.xz in place of NAME.jsonl.

A manifest lists NAME.jsonl and its hash is of the lines, so a run is the same run packed and unpacked, and
other versions of xz change nothing. A run's rankings take an eighth.
"""

from __future__ import annotations

import lzma
from pathlib import Path

from pgmnemo.errors import PgmnemoError
from runner.runs.storage import output_errors, sync_folder, write_bytes

LINES, PACKED = ".jsonl", ".jsonl.xz"
MOST = 1 << 30  # bytes of a file of lines
SMALL, RATIO = 16 << 20, 100  # it packs to about an eighth; below SMALL bytes the ratio is not checked
MEMORY = 256 << 20  # bytes that unpacking may take; the runner's own files take 9 MiB


def manifest_name(name: str) -> str:
    """Return the name of the file `name` in a manifest: without the suffix of packing."""
    return name.removesuffix(PACKED) + LINES if name.endswith(PACKED) else name


def packed_path(folder: Path, name: str) -> Path:
    """Return where the packed form of the file of lines `name` lies."""
    return folder / f"{name.removesuffix(LINES)}{PACKED}"


def pack(folder: Path) -> None:
    """Put every file of lines in `folder` into its packed form.

    Each is on the disk before the plain one goes, so that a kill leaves the one, the other or both. Raises
    OutputError when the disk is full or the folder cannot be written.
    """
    for path in sorted(folder.glob(f"*{LINES}")):
        write_packed(folder, path.name, path.read_bytes())
        with output_errors(path):
            sync_folder(folder)
            path.unlink()


def write_packed(folder: Path, name: str, content: bytes) -> None:
    """Write `content` as the packed form of the file of lines `name`."""
    write_bytes(packed_path(folder, name), lzma.compress(content, check=lzma.CHECK_SHA256))


def unpack(content: bytes, name: str, kind: type[PgmnemoError]) -> bytes:
    """Return the lines in a packed file; a `kind` with half a sentence for what is no whole one or too
    large.
    """
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
    """Return the files of lines that lie in `folder` plain and packed."""
    return sorted(path.name for path in folder.glob(f"*{LINES}") if packed_path(folder, path.name).exists())


def restore_hint(folder: Path) -> str:
    """Return how a run that lacks a file of lines gets it back, for the end of a sentence."""
    return f"`python -m runner history restore {folder}` takes it from the repository's history"
