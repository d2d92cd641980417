"""`python -m runner fetch SUITE`: download a registered corpus, with resume.

Keep it only if its hash matches.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from pgmnemo.errors import OutputError, UsageError
from pgmnemo.progress import QUIET, Progress
from runner.errors import CorpusError
from runner.options import Quiet
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.corpus_file import CorpusFile
from runner.protocol.datasets.locate import data_folder
from runner.protocol.editions import SuitePins, current, registered_files

Opener = Callable[..., Any]
"""`urllib.request.urlopen`, which honours the proxy variables, or one that behaves as it does."""

PIECE = 1 << 20  # bytes; the bar counts MiB
UNCHECKED = "of which the protocol registers no hash"
TIMEOUT = 60.0  # seconds without a byte
RANGE_NOT_SATISFIABLE = 416


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to download: name (may include folders), URL, SHA-256 (None: not registered), size in bytes."""

    file: str
    url: str
    sha256: str | None
    bytes: int | None = None


def fetch_command(suite: str, /, *, output: Path | None = None, quiet: Quiet = False) -> int:
    """Download a registered corpus and check its hash.

    Args:
        suite: a suite with a registered corpus, such as locomo
        output: folder for it (default: the user's data folder)
    """
    print(fetch(suite, output, Progress(quiet=quiet)))
    return 0


def fetch(
    suite: str, destination: Path | None = None, progress: Progress = QUIET, opener: Opener = urlopen,
    environ: Mapping[str, str] = os.environ,
) -> Path:  # fmt: skip
    """Return the registered file of `suite`, or its folder of files, in the folder `destination`.

    By default that is the last folder that `locate` searches, and nothing is downloaded if `locate` finds
    the right files. An existing right file is kept; an existing wrong file is kept too and raises an
    error. A partial download stays as `.part`, and the next call continues it; a download with a wrong
    hash is removed. For a corpus without a registered hash only the length is checked, and a message says
    so. Raises UsageError (no such corpus to fetch), CorpusError (source or hash), OutputError (folder or
    space).
    """
    pins = _pins(suite)
    if destination is None and (found := _at_hand(suite, environ)):
        progress.say(f"{found} is there already, and its hash is right")
        return found
    folder = destination or data_folder(suite)
    if pins.files is None and pins.listing is None:
        return _fetch(RemoteFile(pins.file, str(pins.url), pins.sha256, pins.bytes), folder, progress, opener)
    place = folder / pins.file
    files: Mapping[str, str | None] = registered_files(current(), suite)
    if pins.listing is not None:
        files = dict.fromkeys(listed_files(pins, opener))
    for name, digest in files.items():
        _fetch(RemoteFile(name, f"{pins.url}{quote(name)}", digest), place, progress, opener)
    known = UNCHECKED if pins.listing else "each with the right hash"
    progress.say(f"{place} holds all {len(files):,} files of {pins.what}, {known}")
    return place


def _at_hand(suite: str, environ: Mapping[str, str]) -> Path | None:
    """Return the local file or folder that a run would use; None if it is missing, incomplete or wrong."""
    pins, registered = current().suites[suite], registered_files(current(), suite)
    if pins.sha256 is None:
        return None
    try:
        place = SUITES[suite].locate(None, environ)
        if not registered:
            return place if CorpusFile(place).sha256() == pins.sha256 else None
        right = all(CorpusFile(place / name).sha256() == digest for name, digest in registered.items())
        return place if right else None
    except CorpusError:
        return None


def listed_files(pins: SuitePins, opener: Opener) -> list[str]:
    """Return the names of the JSON files in a corpus folder, as its host lists them, page by page.

    The Hugging Face hub answers a list of `path` and names the next page in a header; GitHub answers a
    `tree`.
    """
    url: str | None = pins.listing
    paths: list[str] = []
    while url is not None:
        with closing(_response(url, 0, opener)) as response:
            paths += _paths(response.read(), url)
            match = re.search(r'<([^>]+)>;\s*rel="next"', response.headers.get("Link") or "")
        url = match[1] if match else None
    inside = (path.rpartition(f"{pins.file}/")[2] for path in paths if f"{pins.file}/" in path)
    names = sorted(name for name in inside if name.endswith(".json") and ".." not in name)
    if not names:
        raise CorpusError(f"{pins.listing} lists no file of {pins.what}; get the folder elsewhere")
    return names


def _paths(answer: bytes, url: str) -> list[str]:
    """Return the `path` of each listed file."""
    try:
        document = json.loads(answer)
        entries = document["tree"] if isinstance(document, dict) else document
        return [str(entry["path"]) for entry in entries]
    except (ValueError, LookupError, TypeError) as error:
        raise CorpusError(
            f"{url} is no list of files ({error}); try later, or get the folder elsewhere"
        ) from None


def _fetch(wanted: RemoteFile, folder: Path, progress: Progress, opener: Opener) -> Path:
    target, part = folder / wanted.file, folder / f"{wanted.file}.part"
    if os.path.exists(target):
        return _present(target, wanted, progress)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _download(part, wanted, progress, opener)
        return _accepted(part, target, wanted, progress)
    except OSError as error:
        raise OutputError(f"{wanted.file} cannot be written to {folder}: {error.strerror or error}") from None


def _pins(suite: str) -> SuitePins:
    suites = current().suites
    if suite not in suites or not suites[suite].url:
        known = ", ".join(name for name, pins in suites.items() if pins.url)
        raise UsageError(f"there is nothing to fetch for {suite!r}; choose one of: {known}")
    return suites[suite]


def _present(target: Path, wanted: RemoteFile, progress: Progress) -> Path:
    found = CorpusFile(target).sha256()
    if wanted.sha256 is None:
        progress.say(f"{target} is there already (sha256 {found}), {UNCHECKED}")
        return target
    if found != wanted.sha256:
        raise CorpusError(
            f"{target} is there already, but is not the registered file (sha256 {found}, not "
            f"{wanted.sha256}); move it away or name another folder"
        )
    progress.say(f"{target} is there already, and its hash is right")
    return target


def _accepted(part: Path, target: Path, wanted: RemoteFile, progress: Progress) -> Path:
    """Move a complete download to its target; remove it and raise CorpusError if its hash is wrong."""
    try:
        found = CorpusFile(part).sha256()
    except CorpusError as error:
        found = f"none: {error}"
    if wanted.sha256 is not None and found != wanted.sha256:
        part.unlink()
        raise CorpusError(
            f"what {wanted.url} sent has another hash than the registered one (sha256 {found}, not "
            f"{wanted.sha256}), so nothing was kept; run the command again, or get {wanted.file} elsewhere"
        )
    os.replace(part, target)
    checked = "and its hash is right" if wanted.sha256 else f"sha256 {found}, {UNCHECKED}"
    progress.say(f"{target} is complete, {checked}")
    return target


def _download(part: Path, wanted: RemoteFile, progress: Progress, opener: Opener) -> None:
    """Download the rest of `part`; raise CorpusError, and keep `part`, when the source ends early."""
    url = wanted.url
    offset = part.stat().st_size if part.exists() else 0
    if wanted.bytes and offset == wanted.bytes:
        return
    if wanted.bytes and offset > wanted.bytes:
        part.unlink()
        offset = 0
    if offset:
        progress.say(f"continuing {part} at {offset:,} bytes")
    with closing(_response(url, offset, opener)) as response:
        start = _start(response, offset)
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else wanted.bytes
        _demand_space(part, (total or 0) - start)
        end = start + _write(response, part, start, total, progress)
    if total and end < total:
        raise CorpusError(
            f"{url} broke off after {end:,} of {total:,} bytes; run the command again to continue from there"
        )


def _response(url: str, offset: int, opener: Opener) -> Any:
    """Return the open response, from byte `offset` on if the server supports ranges.

    Raises CorpusError with the server's answer.
    """
    request = Request(url, headers={"Range": f"bytes={offset}-"} if offset else {})
    try:
        return opener(request, timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if offset and error.code == RANGE_NOT_SATISFIABLE:
            return _response(url, 0, opener)  # the part is longer than the file: start again
        raise CorpusError(
            f"{url} answered {error.code} ({error.reason}); try later, or get the file elsewhere"
        ) from None
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise CorpusError(f"{url} cannot be reached ({reason}); check the network or the proxy") from None


def _start(response: Any, offset: int) -> int:
    """Return the offset of the body's first byte: `offset` if the server supports ranges, else 0."""
    given = re.match(r"bytes (\d+)-", response.headers.get("Content-Range") or "")
    return offset if response.status == 206 and given and int(given[1]) == offset else 0


def _demand_space(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise OutputError(f"{part.parent} has {free:,} bytes free, but the download needs {needed:,} more")


def _write(response: Any, part: Path, start: int, total: int | None, progress: Progress) -> int:
    """Write the body into `part` from byte `start` on; return the number of bytes written."""
    written = 0
    pieces = -(-(total - start) // PIECE) if total else None
    with part.open("r+b" if start else "wb") as file:
        file.seek(start)
        for piece in progress.track(_pieces(response), f"{part.stem} (MiB)", pieces):
            written += file.write(piece)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    return written


def _pieces(response: Any) -> Iterator[bytes]:
    """Yield the body in pieces of 1 MiB.

    A broken connection ends the iteration, and the caller checks the length.
    """
    while True:
        try:
            piece = response.read(PIECE)
        except (HTTPException, OSError):  # OSError: TLS and time-outs too
            return
        if not piece:
            return
        yield piece
