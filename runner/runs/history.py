"""HISTORY.md: one entry for each run, newest last, never rewritten.

An entry is a heading and a list of fields, each on one line:

    ## 2026-05-09 · locomo · v0.2.1_20260509_minilm

    - results: benchmarks/locomo/results/v0.2.1_20260509_minilm
    - verdict: deviation
    - manifest sha256: 9f…
    - deviation: embedder: minilm

Text in a comment, in HTML or in a block of code is no entry, because a reader of the page does not see it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain
from pathlib import Path

from markdown_it import MarkdownIt

from pgmnemo.errors import OutputError, UsageError, os_errors
from pgmnemo.escaping import escape_line
from runner.records import Verdict
from runner.runs.storage import DOCUMENT, read_regular

HEADER = """# History

Every run and every change of the protocol, newest last. Entries are appended, never rewritten.
"""
HISTORY = "HISTORY.md"
SHA256 = re.compile(r"[0-9a-f]{64}")
HEADING = re.compile(r"^## (\S+) · (\S+) · (.+)$", re.MULTILINE)
FIELD = re.compile(r"^- ([a-z0-9 ]+?): (.*)$", re.MULTILINE)
UNSEEN = ("html_block", "fence", "code_block")
IN_REPOSITORY = ("benchmarks/*/results/*", "benchmarks/*/local/*")
WITHDRAWN = re.compile(r"(?<!not )\b(?:withdrawn|withdraws|withdrew|retracted|retracts)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """The HISTORY.md entry of one run."""

    day: str
    suite: str
    name: str
    fields: tuple[tuple[str, str], ...]

    def values(self, field: str) -> list[str]:
        """Return every value of one field."""
        return [value for name, value in self.fields if name == field]


def entries(path: Path) -> list[HistoryEntry]:
    """Return every entry of a HISTORY.md; raise OutputError if it cannot be read."""
    try:
        text = read_regular(path, DOCUMENT, OutputError).decode()
    except (OutputError, UnicodeDecodeError) as error:
        raise OutputError(f"{path} cannot be read ({error})") from None
    return list(_entries(text))


@lru_cache(4)
def _entries(text: str) -> tuple[HistoryEntry, ...]:
    return parse_entries(_visible_text(text))


def parse_entries(text: str) -> tuple[HistoryEntry, ...]:
    """Return every entry in a text, including entries inside comments, which a reader does not see."""
    starts = list(HEADING.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return tuple(
        HistoryEntry(start[1], start[2], start[3].strip(), tuple(FIELD.findall(text[start.end() : end])))
        for start, end in zip(starts, ends, strict=False)  # without an entry, `ends` is longer
    )


def _visible_text(text: str) -> str:
    """Return the text with the lines of comments, HTML and code emptied."""
    lines = text.split("\n")
    blocks = (token.map for token in MarkdownIt().parse(text) if token.type in UNSEEN and token.map)
    for number in chain.from_iterable(range(*block) for block in blocks):
        lines[number : number + 1] = [""] if number < len(lines) else []
    return "\n".join(lines)


def histories(folder: Path) -> list[Path]:
    """Return every HISTORY.md above a results folder, the folder's own first.

    In a repository's `benchmarks/<suite>/results` or `local` its own is the repository's, even if another is
    nearer; elsewhere it is the nearest.
    """
    folder = folder.resolve()
    above = [place / HISTORY for place in folder.parents if (place / HISTORY).is_file()]
    if any(folder.match(place) for place in IN_REPOSITORY):
        above.sort(key=lambda path: path.parent != folder.parents[3])
    return above


def history_of(folder: Path) -> Path | None:
    """Return the HISTORY.md that logs a results folder, the first of `histories`; None if it is missing."""
    return next(iter(histories(folder)), None)


def entries_of_run(
    found: Iterable[HistoryEntry], suite: str, name: str, manifest_sha256: str
) -> list[HistoryEntry]:
    """Return the entries of one run, matched by suite and name in any spelling, by folder, or by manifest."""
    folder = f"{suite}/results/{name}".casefold()

    def meant(entry: HistoryEntry) -> bool:
        places = (value.casefold().rstrip("/ ") for value in entry.values("results"))
        return (
            (_plain(entry.suite), _plain(entry.name)) == (_plain(suite), _plain(name))
            or manifest_sha256 in entry.values("manifest sha256")
            or any(place == folder or place.endswith(f"/{folder}") for place in places)
        )

    return [entry for entry in found if meant(entry)]


def _plain(text: str) -> str:
    """Return a name in the form used for comparison: no case, no width, no invisible characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(one for one in folded if one.isalnum() or one in "_.@+-")


def withdrawal(deviations: Iterable[str]) -> str | None:
    """Return the first deviation that says *withdrawn* or *retracted*; None if no deviation does."""
    return next((text for text in deviations if WITHDRAWN.search(text)), None)


def entry_text(
    day: date,
    suite: str,
    results: str,
    verdict: Verdict,
    manifest_sha256: str,
    deviations: Iterable[str] = (),
) -> str:
    """Return the text of one entry. `results` is the folder relative to the repository, with slashes.

    Raises UsageError for a malformed manifest hash, or a deviating verdict without a deviation.
    """
    if not SHA256.fullmatch(manifest_sha256):
        raise UsageError(f"the manifest's sha256 is 64 hexadecimal digits, not {manifest_sha256!r}")
    departures = [escape_line(text) for text in deviations]
    if verdict in (Verdict.DEVIATION, Verdict.UNVERIFIED) and not departures:
        raise UsageError(f"a run with the verdict {verdict} has a deviation: name it in its HISTORY.md entry")
    fields = [
        f"results: {escape_line(results)}",
        f"verdict: {verdict}",
        f"manifest sha256: {manifest_sha256}",
    ]
    listed = [*fields, *(f"deviation: {text}" for text in departures)]
    heading = (
        f"## {day.isoformat()} · {escape_line(suite)} · {escape_line(results).rstrip('/').rsplit('/', 1)[-1]}"
    )
    return f"{heading}\n\n" + "".join(f"- {field}\n" for field in listed)


def append_entry(path: Path, entry: str) -> None:
    """Append `entry` to `path` in one write, after a blank line; a new file begins with a header.

    Two runs that end at the same time do not mix their entries. Raises OutputError if nothing could be
    written, UsageError if the file does not log runs.
    """
    check_log(path)
    told = f"the entry of the run cannot be appended to {path} ({{why}}); make the file writable and append"
    with os_errors(f"{told} the entry, or name a writable folder with --output"):
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _write(descriptor, _joint(descriptor) + entry)
        finally:
            os.close(descriptor)


def logged_manifests(path: Path, results: str) -> tuple[str, ...]:
    """Return the hashes of the manifests in the entries of `path` for the results folder, oldest first."""
    wanted = escape_line(results).rstrip("/")
    found = entries(path) if path.is_file() else []
    named = (one for one in found if wanted in [value.rstrip("/") for value in one.values("results")])
    return tuple(dict.fromkeys(value for one in named for value in one.values("manifest sha256")))


def can_append(path: Path) -> bool:
    """Return whether `append_entry` could write `path`; leave no trace."""
    if os.path.lexists(path):  # unlike Path.exists, no error if a parent folder is not accessible
        return os.path.isfile(path) and os.access(path, os.W_OK)
    folder = next(parent for parent in path.absolute().parents if os.path.isdir(parent))
    return os.access(folder, os.W_OK | os.X_OK)


def check_log(path: Path) -> None:
    """Raise UsageError if `path` is a file with other content than a log of runs: no header and no entry."""
    if os.path.isfile(path) and os.access(path, os.R_OK):
        text = path.read_text(encoding="utf-8", errors="replace")
        if text.strip() and not text.startswith(HEADER) and not parse_entries(text):
            raise UsageError(f"{path} is no log of runs: name another place with --output or --history")


def _joint(descriptor: int) -> str:
    """Return the text to insert before the next entry: the header of a new file, or missing line breaks."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return f"{HEADER}\n"
    end = os.pread(descriptor, 2, max(0, size - 2))
    return "" if end == b"\n\n" else "\n" if end.endswith(b"\n") else "\n\n"


def _write(descriptor: int, text: str) -> None:
    """Write all of `text`, or nothing: if the disk fills up midway, restore the file."""
    size, data = os.fstat(descriptor).st_size, text.encode()
    try:
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
