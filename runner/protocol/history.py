"""HISTORY.md: one entry for each run, newest last, never rewritten.

An entry is a heading and a list of fields, each on one line:

    ## 2026-05-09 · locomo · v0.2.1_20260509_minilm

    - results: benchmarks/locomo/results/v0.2.1_20260509_minilm
    - verdict: deviation
    - manifest sha256: 9f…
    - deviation: embedder: minilm
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from runner.errors import OutputError, UsageError
from runner.records import Verdict

HEADER = """# History

Every run and every change of the protocol, newest last. Entries are appended, never rewritten.
"""
SHA256 = re.compile(r"[0-9a-f]{64}")
ENTRY = re.compile(r"^## ", re.MULTILINE)


def entry_text(
    day: date,
    suite: str,
    results: str,
    verdict: Verdict,
    manifest_sha256: str,
    deviations: Iterable[str] = (),
) -> str:
    """One entry. `results` is the folder as readers find it: relative to the repository, with slashes.

    Raises UsageError for a manifest hash that is none, or a deviating verdict without a deviation.
    """
    if not SHA256.fullmatch(manifest_sha256):
        raise UsageError(f"the manifest's sha256 is 64 hexadecimal digits, not {manifest_sha256!r}")
    departures = [_one_line(text) for text in deviations]
    if verdict in (Verdict.DEVIATION, Verdict.UNVERIFIED) and not departures:
        raise UsageError(f"a run with the verdict {verdict} has a deviation: name it in its HISTORY.md entry")
    fields = [f"results: {_one_line(results)}", f"verdict: {verdict}", f"manifest sha256: {manifest_sha256}"]
    lines = [*fields, *(f"deviation: {text}" for text in departures)]
    heading = f"## {day.isoformat()} · {suite} · {_one_line(results).rstrip('/').rsplit('/', 1)[-1]}"
    return f"{heading}\n\n" + "".join(f"- {line}\n" for line in lines)


def append_entry(path: Path, entry: str) -> None:
    """Append `entry` to `path` in one write, after a blank line; a new file begins with a header.

    Two runs that end at once do not mix their entries. Raises OutputError when nothing could be written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _write(descriptor, _joint(descriptor) + entry)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OutputError(
            f"the entry of the run cannot be appended to {path} ({error.strerror}); make the file writable "
            "and append the entry, or name a writable folder with --output"
        ) from None


def has_entry(path: Path, results: str, manifest_sha256: str) -> bool:
    """Whether one entry of `path` names both the results folder and the hash of its manifest."""
    wanted = {f"- results: {_one_line(results)}", f"- manifest sha256: {manifest_sha256}"}
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return any(wanted <= set(entry.splitlines()) for entry in ENTRY.split(text)[1:])


def logged_manifests(path: Path, results: str) -> tuple[str, ...]:
    """Hashes of the manifests under which `path` names the results folder, oldest first."""
    wanted, field = f"- results: {_one_line(results).rstrip('/')}", "- manifest sha256: "
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    entries = (entry.splitlines() for entry in ENTRY.split(text)[1:])
    named = (lines for lines in entries if wanted in [line.rstrip("/") for line in lines])
    hashes = (line.removeprefix(field) for lines in named for line in lines if line.startswith(field))
    return tuple(dict.fromkeys(hashes))


def can_append(path: Path) -> bool:
    """Whether `append_entry` would find `path` writable, its folder made first; leaves no trace."""
    if os.path.lexists(path):  # unlike Path.exists, no error where a folder above may not be entered
        return os.path.isfile(path) and os.access(path, os.W_OK)
    folder = next(parent for parent in path.absolute().parents if os.path.isdir(parent))
    return os.access(folder, os.W_OK | os.X_OK)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _joint(descriptor: int) -> str:
    """What stands between the file's end and the next entry: the header of a new file, or a blank line."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return f"{HEADER}\n"
    end = os.pread(descriptor, 2, max(0, size - 2))
    return "" if end == b"\n\n" else "\n" if end.endswith(b"\n") else "\n\n"


def _write(descriptor: int, text: str) -> None:
    """All of `text`, or none of it: a disk that fills up midway leaves the file as it was."""
    size, data = os.fstat(descriptor).st_size, text.encode()
    try:
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
