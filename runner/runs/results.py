"""The reader of a results folder: each file is read once, and checked against its schema."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, cached_property
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pgmnemo.errors import OutputError, UsageError
from pgmnemo.escaping import find_control_char
from runner.errors import UnusableRunError
from runner.protocol.editions import Edition, demand_known
from runner.records import Json, RankedSegment, Retrieval
from runner.runs.manifest import MANIFEST
from runner.runs.packing import LINES, MOST, manifest_name, may_be_packed, packed_path, restore_hint, unpack
from runner.runs.raw import RAW
from runner.runs.run import BLOCKED, METRICS, RUN, Run
from runner.runs.schemas import known_versions, schema_fault
from runner.runs.storage import DOCUMENT, read_regular
from runner.runs.timings import RERANKS, REWRITES, TIMINGS, Rerank, Rewrite, Timing


@contextmanager
def collector_paused() -> Iterator[None]:
    """Disable Python's garbage collector in the block, and restore its former state afterwards.

    A run's raw rankings are a million small lists without a cycle: reference counts free them, and a
    collector that traverses them as they grow takes a third of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


REPORT = "report.md"
MARKS = (RUN, BLOCKED, MANIFEST, METRICS)  # one file is enough, so that a damaged run is recognised
DEPTH = 16  # nesting of lists and objects; the schemas need half of it


class Unreadable(OutputError):
    """An error for a file that is missing or does not fit its schema; the message is half a sentence."""


class MissingLines(Unreadable):
    """An error for a JSONL file that is missing; the message says how to restore it."""


class Results:
    """A results folder. Every property raises Unreadable if its file is missing or malformed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().absolute()
        self._bytes: dict[str, bytes] = {}

    def content(self, name: str) -> bytes:
        """Return the bytes of one file by its name in the manifest; a packed file is unpacked."""
        if name not in self._bytes:
            if Path(name).name != name:
                raise Unreadable(f"{name!r} is no name of a file in the folder")
            self._bytes[name] = self._file(name)
        return self._bytes[name]

    def _file(self, name: str) -> bytes:
        plain, other = self.folder / name, packed_path(self.folder, name)
        lines, packed = name.endswith(LINES), may_be_packed(name) and os.path.lexists(other)
        if os.path.lexists(plain) or not (lines or packed):
            return read_regular(plain, MOST if lines else DOCUMENT, Unreadable, self.folder)
        if not packed:
            raise MissingLines(f"there is no {name}; {restore_hint(self.folder, name)}")
        content = read_regular(other, MOST, Unreadable, self.folder)
        return unpack(content, other.name, Unreadable)

    def text(self, name: str) -> str:
        """Return the text of one file."""
        try:
            return self.content(name).decode()
        except UnicodeDecodeError as error:
            raise Unreadable(f"{name} is no UTF-8 text (byte {error.start})") from None

    def digest(self, name: str) -> str:
        """Return the SHA-256 of one file."""
        return sha256(self.content(name)).hexdigest()

    @property
    def names(self) -> list[str]:
        """The names of the folder's files in a manifest, sorted; a packed file counts once."""
        return sorted({manifest_name(path.name) for path in self.folder.iterdir()})

    @property
    def blocked(self) -> bool:
        """Return whether the run was blocked and so has no figures."""
        return (self.folder / BLOCKED).exists()

    @cached_property
    def manifest(self) -> Json:
        """The content of manifest.json."""
        return self._document(MANIFEST, "manifest")

    @cached_property
    def schemas(self) -> dict[str, str | None]:
        """The schema or template of each file, from the manifest."""
        return {entry["name"]: entry["schema"] for entry in self.manifest["files"]}

    @cached_property
    def document(self) -> Json:
        """Return run.json as in the file; raise OlderEdition if only older commits can read its edition."""
        self.demand_known_edition()
        return self._document(RUN, "run")

    def demand_known_edition(self) -> None:
        """Raise OlderEdition, which says how to verify the run, if its edition cannot be read here."""
        try:
            said = msgspec.json.decode(self.content(RUN), type=_Protocolled)
        except (msgspec.MsgspecError, ValueError, RecursionError, Unreadable):
            return  # the reader of the file reports its fault
        demand_known(said.protocol.version, self.folder)

    @cached_property
    def run(self) -> Run:
        """The record in run.json."""
        try:
            return msgspec.convert(self.document, Run)
        except (msgspec.ValidationError, LookupError, TypeError, ValueError) as error:
            raise Unreadable(f"{RUN} cannot be read as a run ({error})") from None

    @property
    def edition(self) -> Edition:
        """The edition that the run names; raises UsageError if this version does not know it."""
        return self.run.edition

    @cached_property
    def metrics(self) -> Json:
        """The content of metrics.json."""
        return self._document(METRICS, "metrics")

    @cached_property
    def raw(self) -> list[Json]:
        """The lines of raw_retrievals.jsonl."""
        return self._lines(RAW, "raw")

    @cached_property
    def rows(self) -> list[Retrieval]:
        """The raw lines as records without scores and components, which no metric uses; `raw` has them."""
        hit = cache(RankedSegment)  # half a million ranks share a few hundred ids

        def row(line: Json) -> Retrieval:
            ranking = tuple(hit(rank if isinstance(rank, str) else rank[0]) for rank in line["ranking"])
            tuples = {name: tuple(line.get(name, ())) for name in ("gold", "gold_tokens", "tokens")}
            return Retrieval(**line | tuples | {"ranking": ranking})

        return [row(line) for line in self.raw]

    def detailed(self) -> Iterator[Retrieval]:
        """Yield the raw lines as records, with scores and components where a rank has both."""
        for row, line in zip(self.rows, self.raw, strict=True):
            full = [
                RankedSegment(rank[0], rank[1], tuple(rank[2]))
                for rank in takewhile(_is_full, line["ranking"])
            ]
            yield replace(row, ranking=(*full, *row.ranking[len(full) :])) if full else row

    @cached_property
    def counts(self) -> Counter[tuple[str, str]]:
        """The number of raw lines of each (arm, scope), in order of appearance."""
        return Counter((line["arm"], line["scope"]) for line in self.raw)

    @cached_property
    def timings(self) -> list[Timing]:
        """The lines of timings.jsonl."""
        return [Timing(**line) for line in self._lines(TIMINGS, "timings")]

    @cached_property
    def reranks(self) -> list[Rerank]:
        """The lines of reranks.jsonl; empty if the run had no reranker."""
        return [Rerank(**line) for line in self._lines(RERANKS, "reranks")] if RERANKS in self.schemas else []

    @cached_property
    def rewrites(self) -> list[Rewrite]:
        """The lines of rewrites.jsonl; empty if the run had no rewriter."""
        return (
            [Rewrite(**line) for line in self._lines(REWRITES, "rewrites")]
            if REWRITES in self.schemas
            else []
        )

    def _document(self, name: str, kind: str) -> Json:
        document: Json = _parsed(self.text(name), name)
        _demand_plain(document, name)
        named = document.get("schema") if isinstance(document, dict) else None
        self._demand(named if isinstance(named, str) else None, kind, name)
        if wrong := schema_fault(str(named), document):
            raise Unreadable(f"{name} is not of its schema: {wrong.replace('data', 'it', 1)}")
        return document

    def _lines(self, name: str, kind: str) -> list[Json]:
        schema = self.schemas.get(name)
        self._demand(schema, kind, name)
        documents = _parsed_lines(text := self.text(name), name)
        if "\\" in text or "\x7f" in text or not text.isascii():
            _demand_plain(documents, name)
        for number, document in enumerate(documents, start=1):
            if wrong := schema_fault(str(schema), document):
                wrong = wrong.replace("data", "it", 1)
                raise Unreadable(f"{name}, line {number}, is not of its schema: {wrong}")
        return documents

    @staticmethod
    def _demand(schema: str | None, kind: str, name: str) -> None:
        """Raise Unreadable unless the schema is a published version of `kind`."""
        if schema not in known_versions(kind):
            raise Unreadable(
                f"{name} names the schema {schema}; known here: {', '.join(known_versions(kind))}"
            )


class _Version(msgspec.Struct):
    version: str


class _Protocolled(msgspec.Struct):
    protocol: _Version


def is_run(place: Path) -> bool:
    """Return whether a folder contains the files of a run, complete or damaged."""
    return any((place / mark).is_file() for mark in MARKS)


R = TypeVar("R", bound=Results)


def read_results(
    folder: Path | str,
    kind: type[R] = Results,  # type: ignore[assignment]
    files: Iterable[str] = (RUN, METRICS),
) -> R:
    """Return the finished run in `folder`, with its documents read and `files` checked against the manifest.

    Raises UsageError if it is no results folder, UnusableRunError for a blocked run and for a file that
    differs from the manifest, OutputError for a damaged file.
    """
    results = kind(Path(folder))
    if results.blocked:
        raise UnusableRunError(f"{folder} is blocked and has no figure (protocol §5): read its {BLOCKED}")
    if not is_run(results.folder):
        raise UsageError(f"{folder} is no results folder; name one that a run has finished")
    results.demand_known_edition()
    try:
        listed = {entry["name"]: entry["sha256"] for entry in results.manifest["files"]}
        for name in files:
            if listed.get(name) != results.digest(name):
                raise UnusableRunError(
                    f"{folder}/{name} is not the file that {MANIFEST} lists: take it from the "
                    "commit of the run"
                )
        if results.run.verdict != results.metrics["verdict"]:
            raise UnusableRunError(
                f"{RUN} and {METRICS} of {folder} are not of one run: take the folder from its commit"
            )
    except MissingLines as error:
        raise OutputError(f"{folder}: {error}") from None
    except Unreadable as error:
        raise OutputError(f"{folder}: {error}; take it from the commit of the run") from None
    return results


def _is_full(rank: object) -> bool:
    return isinstance(rank, list) and len(rank) == 3


def _parsed(text: str, where: str) -> Any:
    """Return JSON parsed by its standard: a number is finite, and no surrogate is unpaired."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Unreadable(f"{where} is not JSON ({error})") from None


def _demand_plain(value: Any, name: str, depth: int = 0) -> None:
    """Raise Unreadable for a control character in a text or a key, and for too deep nesting."""
    if depth > DEPTH:
        raise Unreadable(f"{name} has lists and objects in one another more than {DEPTH} deep")
    if isinstance(value, str):
        if not value.isprintable() and (found := find_control_char(value)):
            raise Unreadable(f"{name} holds the control character {found} in a text")
    elif isinstance(value, dict | list):
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            _demand_plain(part, name, depth + 1)


def _parsed_lines(text: str, name: str) -> list[Any]:
    *lines, rest = text.split("\n")
    if rest:
        raise Unreadable(f"{name} ends in the middle of a line")
    return [_parsed(line, f"{name}, line {number},") for number, line in enumerate(lines, start=1)]
