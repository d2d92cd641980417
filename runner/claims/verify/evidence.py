"""A results folder as the checks read it: every file once, and only what is of the schema that it names."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn

from runner.artefacts.manifest import MANIFEST
from runner.artefacts.metrics import METRICS
from runner.artefacts.raw import RAW
from runner.artefacts.schemas import fault, known
from runner.artefacts.timings import TIMINGS, Timing
from runner.database.releases import SQL_FOLDER
from runner.protocol import Protocol
from runner.protocol.versions import protocol_named
from runner.records import Corpus, EmbedderIdentity, Hit, Json, Retrieval
from runner.request import NO_EMBEDDER, Request
from runner.suites import SUITES

RUN, REPORT = "run.json", "report.md"


class Unreadable(Exception):
    """A file that is missing or not of its schema; the message is half a sentence that says why."""


class Evidence:
    """One results folder, and what it is held against.

    `corpus` is a corpus file or its folder, `history` a HISTORY.md to use instead of the nearest one above
    the folder, `sql` the folder with the list of releases. Every property raises Unreadable.
    """

    def __init__(
        self, folder: Path, corpus: Path | None = None, history: Path | None = None, sql: Path = SQL_FOLDER
    ) -> None:
        self.folder = folder.expanduser().absolute()
        self.corpus_path, self.history_path, self.sql = corpus, history, sql
        self._bytes: dict[str, bytes] = {}

    def content(self, name: str) -> bytes:
        """The bytes of one file."""
        if name not in self._bytes:
            try:
                self._bytes[name] = (self.folder / name).read_bytes()
            except OSError as error:
                raise Unreadable(f"{name} cannot be read ({error.strerror})") from None
        return self._bytes[name]

    def text(self, name: str) -> str:
        """The text of one file."""
        try:
            return self.content(name).decode()
        except UnicodeDecodeError as error:
            raise Unreadable(f"{name} is no UTF-8 text (byte {error.start})") from None

    @cached_property
    def manifest(self) -> Json:
        """manifest.json."""
        return self._document(MANIFEST, "manifest")

    @cached_property
    def schemas(self) -> dict[str, str | None]:
        """The schema, or the template, that the manifest names for each file."""
        return {entry["name"]: entry["schema"] for entry in self.manifest["files"]}

    @cached_property
    def run(self) -> Json:
        """run.json."""
        return self._document(RUN, "run")

    @cached_property
    def metrics(self) -> Json:
        """metrics.json."""
        return self._document(METRICS, "metrics")

    @cached_property
    def raw(self) -> list[Json]:
        """The lines of raw_retrievals.jsonl."""
        return self._lines(RAW, "raw")

    @cached_property
    def rows(self) -> list[Retrieval]:
        """The raw lines as records; scores and components, which no metric looks at, stay in `raw`."""
        hit = cache(Hit)  # a few hundred ids stand in half a million ranks

        def row(line: Json) -> Retrieval:
            ranking = tuple(hit(rank if isinstance(rank, str) else rank[0]) for rank in line["ranking"])
            return Retrieval(**{**line, "gold": tuple(line["gold"]), "ranking": ranking})

        return [row(line) for line in self.raw]

    @cached_property
    def counts(self) -> Counter[tuple[str, str]]:
        """Raw lines of each (arm, scope), in order of appearance."""
        return Counter((line["arm"], line["scope"]) for line in self.raw)

    @cached_property
    def timings(self) -> list[Timing]:
        """The lines of timings.jsonl."""
        return [Timing(**line) for line in self._lines(TIMINGS, "timings")]

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol of the version that run.json names; UsageError when it is not known here."""
        return protocol_named(self.run["protocol"]["version"])

    @cached_property
    def identity(self) -> EmbedderIdentity | None:
        """The embedder; None for a keyword-only run."""
        return EmbedderIdentity(**self.run["embedder"]) if self.run["embedder"] else None

    @cached_property
    def request(self) -> Request:
        """What the command asked for; UsageError when no suite or embedder offers that."""
        run, options = self.run, self.run["options"]
        return Request(
            suite=run["corpus"]["suite"],
            version=run["pgmnemo_version"],
            embedder=self.identity.name if self.identity else NO_EMBEDDER,
            mode=options["mode"],
            granularity=run["corpus"]["granularity"],
            k=tuple(options["k"]),
            limit=options["limit"],
            types=tuple(options["types"]),
            allow_unregistered_corpus=options["allow_unregistered_corpus"],
        )

    @cached_property
    def corpus(self) -> Corpus | None:
        """The corpus that was given; CorpusError when it cannot be read."""
        if self.corpus_path is None:
            return None
        suite = SUITES[self.run["corpus"]["suite"]]
        return suite.load(suite.locate(self.corpus_path, {}), self.run["corpus"]["granularity"])

    def _document(self, name: str, kind: str) -> Json:
        document: Json = _parsed(self.text(name), name)
        named = document.get("schema") if isinstance(document, dict) else None
        self._demand(named if isinstance(named, str) else None, kind, name)
        if wrong := fault(str(named), document):
            raise Unreadable(f"{name} is not of its schema: {wrong.replace('data', 'it', 1)}")
        return document

    def _lines(self, name: str, kind: str) -> list[Json]:
        schema = self.schemas.get(name)
        self._demand(schema, kind, name)
        documents = _parsed_lines(self.text(name), name)
        for number, document in enumerate(documents, start=1):
            if wrong := fault(str(schema), document):
                wrong = wrong.replace("data", "it", 1)
                raise Unreadable(f"{name}, line {number}, is not of its schema: {wrong}")
        return documents

    @staticmethod
    def _demand(schema: str | None, kind: str, name: str) -> None:
        """An artefact is read under the schema that it names, and under no other."""
        if schema not in known(kind):
            raise Unreadable(f"{name} names the schema {schema}; known here: {', '.join(known(kind))}")


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _parsed(text: str, where: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{where} is not JSON ({error})") from None


def _parsed_lines(text: str, name: str) -> list[Any]:
    *lines, rest = text.split("\n")
    if rest:
        raise Unreadable(f"{name} ends in the middle of a line")
    return [_parsed(line, f"{name}, line {number},") for number, line in enumerate(lines, start=1)]
