"""Compressed files of a kept run: its files of lines and metrics.json are kept as NAME.xz.

A manifest lists NAME with the hash of its plain content, so a run is the same run packed and unpacked,
whatever the version of xz. Packing reduces a run's rankings to an eighth, and its figures to a twentieth.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from shlex import quote

from pgmnemo.errors import PgmnemoError
from runner.runs.run import METRICS
from runner.runs.storage import output_errors, sync_folder, write_bytes

LINES, PACKED = ".jsonl", ".xz"
MOST = 1 << 30  # bytes of a file that is packed
SMALL, RATIO = 16 << 20, 100  # lines pack to about an eighth; below SMALL bytes the ratio is not checked
MEMORY = 256 << 20  # bytes that unpacking may take; the runner's own files take 9 MiB


def manifest_name(name: str) -> str:
    """Return the name under which the manifest lists a file: `name` without the packing suffix."""
    plain = name.removesuffix(PACKED)
    return plain if may_be_packed(plain) else name


def may_be_packed(name: str) -> bool:
    """Return whether a kept run packs the file `name`."""
    return name.endswith(LINES) or name == METRICS


def packed_path(folder: Path, name: str) -> Path:
    """Return the path of the packed form of the file `name`."""
    return folder / f"{name}{PACKED}"


def pack(folder: Path) -> None:
    """Pack every file in `folder` that may be packed.

    The packed file is on disk before the plain one is removed, so that a kill leaves one of them or both.
    Raises OutputError if the disk is full or the folder cannot be written.
    """
    for path in _plain(folder):
        write_packed(folder, path.name, path.read_bytes())
        with output_errors(path):
            sync_folder(folder)
            path.unlink()


def write_packed(folder: Path, name: str, content: bytes) -> None:
    """Write `content` as the packed form of the file `name`."""
    write_bytes(packed_path(folder, name), lzma.compress(content, check=lzma.CHECK_SHA256))


def unpack(content: bytes, name: str, kind: type[PgmnemoError]) -> bytes:
    """Return the content of a packed file; raise `kind` if it is damaged, incomplete or too large."""
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
    """Return the names of the files that are in `folder` both plain and packed."""
    return [path.name for path in _plain(folder) if packed_path(folder, path.name).exists()]


def _plain(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if may_be_packed(path.name))


def restore_hint(folder: Path, name: str) -> str:
    """Return how to restore a missing file of lines of a run, as the end of a sentence."""
    path = quote(str(packed_path(folder, name)))
    last = f"$(git log -1 --format=%H --diff-filter=D -- {path})"
    return f"`git checkout {last}~ -- {path}` takes it from the repository's history"
