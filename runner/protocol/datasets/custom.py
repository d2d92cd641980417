"""The reader of a user's own file: its sessions and questions unchanged, each with its place in the file.

JSON, JSONL, and the shape of memini, `{name, items: [{id, content}], questions: [{query, gold}]}`. Each
session and question is checked here against file.schema.json; file.py checks how they fit together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema

from pgmnemo.client.blank import is_blank
from runner.errors import CorpusError
from runner.protocol.datasets.beir_folder import DOCUMENTS, QUERIES, documents, is_beir_folder, questions
from runner.protocol.datasets.corpus_file import CorpusFile, check_list, take, unique_object
from runner.records import Json

SCHEMA = Path(__file__).with_name("file.schema.json")
PAGE = "docs/howto/your-data.md"
SHAPE = f"{PAGE} shows what it should look like"


@dataclass(frozen=True, slots=True)
class CustomEntry:
    """A session or question of the schema, and its place in the file: `session 3 of mine.json`."""

    record: Json
    where: str
    names: Mapping[str, str] = field(default_factory=dict)  # key of the schema → its name in the file


@dataclass(frozen=True, slots=True)
class CustomFile:
    """The content of a file, in its order."""

    name: str
    sessions: list[CustomEntry]
    questions: list[CustomEntry]
    kind: str = "session"  # the file's word for a session
    empty: frozenset[str] = frozenset()  # ids of documents without text, which are left out


def read_own(source: CorpusFile) -> CustomFile:
    """Return every session and question; CorpusError names the first that does not fit its schema."""
    if is_beir_folder(source):
        return _checked(_of_beir(source), source.path.name)
    if source.path.is_dir():
        lacking = " and ".join(name for name in (DOCUMENTS, QUERIES) if not (source.path / name).is_file())
        raise CorpusError(
            f"{source.path} is a folder without {lacking}; name a file, or a folder of BEIR, which has both"
        )
    if source.split:
        raise CorpusError(f"{source.path.name} is no folder of BEIR and has no splits; leave --split out")
    text, file = _text(source), source.path.name
    found = _lines(text, file) if _is_lines(text) else _whole(_parsed(text, file, 1), file)
    return _checked(found, file)


def _checked(found: CustomFile, file: str) -> CustomFile:
    for kind, entries in (("session", found.sessions), ("question", found.questions)):
        if not entries:
            raise CorpusError(f"{file} holds no {found.kind if kind == 'session' else kind}; {SHAPE}")
        for entry in entries:
            _check(kind, entry)
            _check_seen(entry)
    return found


def _text(source: CorpusFile) -> str:
    if not source.path.stat().st_size:
        raise CorpusError(f"{source.path.name} is empty; {SHAPE}")
    data, file = source.content(), source.path.name
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CorpusError(f"{file} is UTF-16, and UTF-8 is read here; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"line {line:,} of {file} is not UTF-8 (byte {error.start:,}); save the file as UTF-8"
        ) from None
    if not text.strip():
        raise CorpusError(f"{file} holds nothing but blanks; {SHAPE}")
    return text


def _is_lines(text: str) -> bool:
    """Return whether the file is JSONL: its first line, but not the whole text, is a JSON object."""
    first = text.lstrip().partition("\n")[0]
    try:
        document = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and not {"sessions", "items", "questions"} & set(document)


def _parsed(text: str, file: str, line: int) -> Any:
    """Return the JSON value of a text that begins at `line` of the file."""
    try:
        return json.loads(text, object_pairs_hook=unique_object)
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1:,}, column {error.colno:,}"
        raise CorpusError(f"{file} is not JSON ({place}: {error.msg}); {SHAPE}") from None
    except RecursionError:
        raise CorpusError(f"line {line:,} of {file} is nested too deep to be read; {SHAPE}") from None
    except ValueError as error:  # a repeated key, or a number of thousands of digits
        raise CorpusError(f"{file} cannot be read (from line {line:,}: {error}); {SHAPE}") from None


def _lines(text: str, file: str) -> CustomFile:
    """Read JSONL: an object with turns is a session, any other object a question."""
    found = CustomFile(_stem(file), [], [])
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        record, where = _parsed(line, file, number), f"line {number:,} of {file}"
        if not isinstance(record, dict):
            raise CorpusError(f"{where} is no JSON object; {SHAPE}")
        (found.sessions if "turns" in record else found.questions).append(CustomEntry(record, where))
    return found


def _whole(document: Any, file: str) -> CustomFile:
    if not isinstance(document, dict):
        raise CorpusError(f"{file} is no JSON object with sessions and questions; {SHAPE}")
    if "items" in document:
        return _of_memini(document, file)
    strange = sorted(set(document) - {"name", "note", "sessions", "questions"})
    if strange:
        raise CorpusError(f"{file} has the unknown key {strange[0]!r}; {SHAPE}")
    return CustomFile(
        name=_name(document, file),
        sessions=list(_entries(document, "sessions", file)),
        questions=list(_entries(document, "questions", file)),
    )


def _entries(document: Json, key: str, file: str) -> Iterator[CustomEntry]:
    for number, record in enumerate(check_list(document, key, dict, file), start=1):
        yield CustomEntry(record, f"{key[:-1]} {number:,} of {file}")


def _of_memini(document: Json, file: str) -> CustomFile:
    """Return each item as a session of one turn without a speaker; other keys of the file are ignored."""
    sessions, questions = [], []
    _check_apart(document, "items", "sessions", file)
    for number, item in enumerate(check_list(document, "items", dict, file), start=1):
        where = f"item {number:,} of {file}"
        _check_apart(item, "content", "turns", where)
        turn = {"text": take(item, "content", str, where)}
        sessions.append(
            CustomEntry({"id": item.get("id"), "turns": [turn]}, where, {"turns[0].text": "content"})
        )
    for number, item in enumerate(check_list(document, "questions", dict, file), start=1):
        where = f"question {number:,} of {file}"
        _check_apart(item, "gold", "evidence", where)
        gold, query = take(item, "gold", list, where), take(item, "query", str, where)
        more = {key: item[key] for key in ("id", "type") if key in item}
        record = {"text": query, "evidence": gold, **more}
        questions.append(CustomEntry(record, where, {"text": "query", "evidence": "gold"}))
    return CustomFile(_name(document, file), sessions, questions, "item")


def _of_beir(source: CorpusFile) -> CustomFile:
    """Return each document as a session of one turn; see beir_folder.py."""
    in_turns, in_questions = {"turns[0].text": "text", "id": "_id"}, {"id": "_id"}
    found = [CustomEntry(record, where, in_turns) for record, where in documents(source)]
    return CustomFile(
        _stem(source.path.name),
        [entry for entry in found if entry.record["turns"]],
        [CustomEntry(record, where, in_questions) for record, where in questions(source)],
        "document",
        frozenset(entry.record["id"] for entry in found if not entry.record["turns"]),
    )


def _check_apart(record: Json, theirs: str, ours: str, where: str) -> None:
    """Raise CorpusError if an object has a key of memini's shape and the schema's key of the same meaning."""
    if theirs in record and ours in record:
        raise CorpusError(
            f"{where} has both {theirs!r} and {ours!r}, which mean the same; keep one of the two"
        )


def _name(document: Json, file: str) -> str:
    name = document.get("name", _stem(file))
    _check("name", CustomEntry(name, f"'name' of {file}"))
    return str(name)


def _stem(file: str) -> str:
    """Return the file's name without its endings, shortened to a valid name of the schema."""
    return "".join(filter(str.isprintable, file.partition(".")[0]))[:60].strip() or "file"


def _check(kind: str, entry: CustomEntry) -> None:
    """Raise CorpusError for the first fault against the schema."""
    try:
        _compiled(kind)(entry.record)
    except fastjsonschema.JsonSchemaValueException as error:
        raise CorpusError(f"{_words(error, entry)}; {SHAPE}") from None


def _check_seen(entry: CustomEntry) -> None:
    """Raise CorpusError for a text that has no visible character, because no memory stores it."""
    for number, one in enumerate(entry.record.get("turns", [entry.record]), start=1):
        if is_blank(one["text"]):
            turn = f"turn {number} of " if "turns" in entry.record else ""
            raise CorpusError(f"the text of {turn}{entry.where} has no character that can be seen; {SHAPE}")


def _words(error: Any, entry: CustomEntry) -> str:
    """Return a sentence about the fault of an entry, with the names that the file uses for its keys."""
    where, place = entry.where, str(error.name).removeprefix("data").removeprefix(".")
    for ours, theirs in entry.names.items():
        if place.startswith(ours):
            place = theirs + place.removeprefix(ours)
    subject = f"{place!r} of {where}" if place else where
    if error.rule == "required":
        missing = next(key for key in error.rule_definition if key not in error.value)
        return f"{subject} has no {missing!r}"
    if error.rule == "additionalProperties":
        strange = next(key for key in error.value if key not in error.definition["properties"])
        return f"{subject} has the unknown key {strange!r}"
    shown = repr(error.value)
    wanted = error.definition.get("description", "an object")
    return f"{subject} must be {wanted}, but is {shown if len(shown) <= 60 else shown[:57] + '...'}"


@cache
def _compiled(kind: str) -> Callable[[Any], Any]:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    part = {"definitions": schema["definitions"], "$ref": f"#/definitions/{kind}"}
    compiled: Callable[[Any], Any] = fastjsonschema.compile(part)
    return compiled
