"""A run as one file, `NAME.tar.gz`: the same run gives the same bytes, and anybody's is unpacked safely.

Inside stand `benchmarks/<suite>/<results or local>/<run>/<file>` and HISTORY.md, as in a repository, so that
what reads a run there reads it here.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from pgmnemo.errors import OutputError, os_errors
from runner.runs.folder import KEPT, LOCAL
from runner.runs.history import HISTORY
from runner.runs.storage import read_regular

SUFFIX = ".tar.gz"
MEMBERS, NAME = 32, 255  # files of a run with room to spare, characters of each part of a path
PACKED, UNPACKED = 256 << 20, 1 << 30  # bytes
RATIO, SMALL = 40, 4 << 20  # a run packs to a tenth; below SMALL bytes nobody asks
BLOCK = 1 << 20


def is_archive(place: Path) -> bool:
    """Whether `place` bears the name of an archive and is a file."""
    return place.name.endswith(SUFFIX) and place.is_file()


def pack(files: Mapping[str, bytes], into: IO[bytes]) -> None:
    """Write `files`, by their paths inside, in order of name, without times or owners."""
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=into, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)  # mode 644, time 0, user and group 0
            member.size = len(content)
            archive.addfile(member, BytesIO(content))


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The results folder in the archive `path`, as long as the block lasts.

    Raises OutputError for what is no such archive, for a member that is no regular file or leads elsewhere,
    and for more than MEMBERS members, UNPACKED bytes or RATIO times the packed size.
    """
    with TemporaryDirectory(prefix="pgmnemo-") as folder:
        top, tar = Path(folder).resolve() / "run", Path(folder) / "run.tar"
        with os_errors(f"{path} cannot be unpacked into {folder} ({{why}}); set TMPDIR to another folder"):
            _inflate(path, tar)
            place = _extract(path, tar, top)
        tar.unlink()
        yield top / place


def run_folder(place: Path) -> AbstractContextManager[Path]:
    """`place` itself, or where it is a file the folder in it."""
    return unpacked(place) if place.is_file() else nullcontext(place)


def _inflate(path: Path, tar: Path) -> None:
    """The archive without its compression, cut where it grows beyond what a run may."""
    content = read_regular(path, PACKED, OutputError)
    most = min(UNPACKED, max(SMALL, RATIO * len(content)))
    try:
        with gzip.GzipFile(fileobj=BytesIO(content)) as packed, tar.open("wb") as file:
            size = 0
            while block := packed.read(BLOCK):
                size += len(block)
                if size > most:
                    raise OutputError(
                        f"{path} unpacks to more than {most >> 20:,} MiB, which no run of its size does"
                    )
                file.write(block)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _no_archive(path, str(error)) from None


def _extract(path: Path, tar: Path, top: Path) -> Path:
    """Write every member below `top`; the place of the run in it."""
    places: set[Path] = set()
    try:
        with tarfile.open(tar, mode="r:") as archive:
            for number, member in enumerate(archive, start=1):
                if number > MEMBERS:
                    raise OutputError(f"{path} holds more than {MEMBERS} members, and a run has a few files")
                place = _place(path, member)
                if place.name != HISTORY:
                    places.add(place.parent)
                _write(archive, member, top / place)
    except (tarfile.TarError, EOFError, ValueError, OverflowError, MemoryError, RecursionError) as error:
        raise _no_archive(path, str(error)) from None
    if len(places) != 1:
        raise OutputError(f"{path} holds {len(places)} runs and not one; pack one run with `submit`")
    return places.pop()


def _place(path: Path, member: tarfile.TarInfo) -> Path:
    """Where a member belongs; OutputError for a link, a device, and for each place but those of a run."""
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        raise OutputError(f"{path}: the member {member.name!r} is no regular file, and a run has no others")
    parts = member.name.split("/")
    plain = all(part.isprintable() and part not in ("", ".", "..") and len(part) <= NAME for part in parts)
    run = len(parts) == 5 and parts[0] == "benchmarks" and parts[2] in (KEPT, LOCAL) and parts[4] != HISTORY
    if not plain or not (run or parts == [HISTORY]):
        raise OutputError(f"{path}: the member {member.name!r} leads outside the run; nothing of it was read")
    return Path(*parts)


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    content = archive.extractfile(member)
    assert content is not None, "a regular file has content"
    try:
        with content, target.open("xb") as file:
            while block := content.read(BLOCK):
                file.write(block)
    except FileExistsError:
        raise tarfile.TarError(f"{member.name!r} stands in it twice") from None


def _no_archive(path: Path, why: str) -> OutputError:
    return OutputError(f"{path} is no whole archive as `submit` makes one ({why}); get it anew")
