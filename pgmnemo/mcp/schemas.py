"""Requests and results of the tools: records with fields described for a language model.

A record is a JSON schema (`schema`) and a check (`taken`) at once. Times carry their zone; a date without a
time is its midnight in UTC.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from pgmnemo.errors import UsageError

LONGEST = 4_000  # characters of a lesson in a result
WHOLE = 100_000  # characters of an argument, or of a lesson requested by key
DATED = len("2026-05-01")
Given = TypeVar("Given", bound=Struct)


def says(description: str, **limits: Any) -> Meta:
    """Return the metadata of a field: its description and its limits."""
    return Meta(description=description, **limits)


class Moment(datetime):
    """A time of ISO 8601 as a model writes it."""


Key = Annotated[str, says("key of a memory, as recall gives it", min_length=1, max_length=1000)]
Word = Annotated[str, Meta(min_length=1, max_length=1000)]
Project = Annotated[
    str, says("another project than the usual one; mostly left out", min_length=1, max_length=1000)
]
Cut = Annotated[bool, says("text is a part of a longer one; list with the key gives all of it")]


class Asked(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    project: Project | None = None


class Among(Asked, kw_only=True, frozen=True):
    topic: Annotated[Word | None, says("only what was remembered with this topic")] = None
    role: Annotated[
        Literal["user", "assistant"] | None, says("only what the user, or the assistant, said")
    ] = None
    since: Annotated[Moment | None, says("only what happened at this time or later")] = None
    until: Annotated[Moment | None, says("only what happened before this time")] = None


class Query(Among, kw_only=True, frozen=True):
    valid_at: Annotated[Moment | None, says("what held at this time, instead of now")] = None
    known_at: Annotated[Moment | None, says("by what was known at this time, instead of now")] = None
    floor: (
        Annotated[float, says("leave out what fits the question less than this, 0 to 1", ge=0, le=1)] | None
    ) = None
    duplicates: Annotated[bool, says("show equal texts each; else only the newest")] = False


class FactTold(Struct, frozen=True, forbid_unknown_fields=True):
    subject: Annotated[Word, says("of whom or what, such as Ada")]
    relation: Annotated[Word, says("what is said, such as lives in")]
    object: Annotated[Word, says("with what, such as Lisbon")]
    single: Annotated[
        bool, says("the subject has only one such object: a former one ends when this one begins")
    ] = False


class Remember(Asked, kw_only=True, frozen=True):
    text: Annotated[
        str,
        says(
            "what to remember: full sentences that make sense years later, with names and dates",
            min_length=1,
            max_length=WHOLE,
        ),
    ]
    key: Annotated[
        Key | None, says("a name of your own for it: again with the same key, it is updated. Not with a fact")
    ] = None
    role: Annotated[
        Literal["user", "assistant"] | None,
        says("who said it, word for word; left out for a note of your own"),
    ] = None
    topic: Annotated[Word | None, says("what it is about, in a word or two")] = None
    importance: Annotated[int, says("1 to 5, where 3 is usual", ge=1, le=5)] | None = None
    at: Annotated[
        Moment | None, says("when it happened, or from when on the fact holds, where that is not now")
    ] = None
    expires_at: Annotated[Moment | None, says("until when it is worth keeping")] = None
    metadata: Annotated[
        dict[str, str | int | float | bool] | None, says("what else is known of it, by name")
    ] = None
    language: Annotated[
        Word | None, says("the code of the text's language, such as de; left out, it is recognized")
    ] = None
    similar: Annotated[bool, says("name memories about the same, so that supersede can end one")] = False
    fact: Annotated[
        FactTold | None, says("the same as subject, relation and object, for what may change")
    ] = None


class Recall(Query, kw_only=True, frozen=True):
    query: Annotated[str, says("a question, or what it is about", min_length=1, max_length=10_000)]
    k: Annotated[int, says("memories at most", ge=1, le=50)] = 8


class ContextAsked(Query, kw_only=True, frozen=True):
    query: (
        Annotated[
            str, says("a question; without one, what is new and important", min_length=1, max_length=10_000)
        ]
        | None
    ) = None
    max_tokens: Annotated[int, says("tokens of the block at most", ge=50, le=20_000)] = 1000
    k: Annotated[int, says("memories that are looked at, at most", ge=1, le=100)] = 20


class Forget(Among, kw_only=True, frozen=True):
    key: Key | None = None
    hard: Annotated[bool, says("delete for good; else it is out of recall, but can come back")] = False
    dry_run: Annotated[bool, says("only say how many it would be")] = False


class Supersede(Asked, kw_only=True, frozen=True):
    old: Annotated[Key, says("key of the memory that holds no more")]
    new: Annotated[Key | None, says("key of the one that holds instead, if one does")] = None
    reason: Annotated[str, says("why, in a sentence", max_length=2000)] | None = None
    at: Annotated[Moment | None, says("from when on, where that is not now")] = None
    undo: Annotated[bool, says("let `old` hold again")] = False


class Timeline(Asked, kw_only=True, frozen=True):
    key: Key
    known_at: Annotated[Moment | None, says("by what was known at this time, instead of now")] = None


class Facts(Asked, kw_only=True, frozen=True):
    subject: Annotated[Word | None, says("only of this subject, such as Ada")] = None
    relation: Annotated[Word | None, says("only with this relation, such as lives in")] = None
    object: Annotated[Word | None, says("only with this object, such as Lisbon")] = None
    at: Annotated[Moment | None, says("what held at this time, instead of now")] = None
    known_at: Annotated[Moment | None, says("by what was known at this time, instead of now")] = None
    history: Annotated[bool, says("all that ever held")] = False
    most: Annotated[int, says("facts at most", ge=1, le=500)] = 100


class Link(Asked, kw_only=True, frozen=True):
    source: Annotated[Key, says("key of the memory that leads to the other")]
    target: Annotated[Key, says("key of the one that it leads to")]
    kind: Annotated[Word, says("how they belong together, such as caused")] = "related"
    weight: Annotated[float, says("how strongly, 0 to 1", ge=0, le=1)] | None = None


class Listing(Among, kw_only=True, frozen=True):
    key: Annotated[Key | None, says("this one alone, with its whole text")] = None
    most: Annotated[int, says("memories at most", ge=1, le=200)] = 20
    oldest: Annotated[bool, says("the oldest first, not the newest")] = False
    everything: Annotated[bool, says("forgotten, superseded and expired ones, too")] = False


class Alike(Struct, omit_defaults=True):
    key: str
    text: str
    at: datetime | None = None


class Remembered(Struct, omit_defaults=True):
    key: Annotated[str, says("its key")]
    outcome: Annotated[
        str,
        says(
            "inserted, updated, unchanged, restored or unembedded; echo: it repeats what was recalled and is "
            "not stored again"
        ),
    ]
    superseded: Annotated[int, says("facts that ended because of this one")] = 0
    similar: Annotated[list[Alike], says("memories about the same")] = []


class Found(Struct, omit_defaults=True):
    key: str
    text: str
    score: Annotated[float, says("the higher the better, comparable within one answer")]
    why: Annotated[str, says("what the score is made of")]
    fit: Annotated[float | None, says("how well it fits the question, 0 to 1")] = None
    at: datetime | None = None
    role: str | None = None
    topic: str | None = None
    equal_lessons: Annotated[int, says("other memories with the same text")] = 0
    cut: Cut = False


class Recalled(Struct):
    memories: Annotated[list[Found], says("best first")]


class Packed(Struct):
    text: Annotated[str, says("a block of quoted memories, or nothing")]
    tokens: Annotated[int, says("tokens of it, estimated high")]
    left_out: Annotated[int, says("memories that were found and did not fit")]


class Gone(Struct):
    memories: Annotated[int, says("how many")]
    dry_run: bool


class Outcome(Struct):
    outcome: Annotated[str, says("what became of it; unchanged: it was so already")]


class Kept(Struct, omit_defaults=True):
    key: str
    text: str
    at: datetime | None = None
    role: str | None = None
    topic: str | None = None
    importance: int = 3
    metadata: dict[str, Any] | None = None
    expires_at: datetime | None = None
    active: Annotated[bool, says("false once it is forgotten")] = True
    superseded_at: Annotated[datetime | None, says("from when on another holds instead")] = None
    cut: Cut = False


class Listed(Struct):
    memories: list[Kept]


class Step(Struct, omit_defaults=True):
    key: str
    text: str
    valid_from: datetime | None = None
    valid_to: Annotated[datetime | None, says("until when it held; missing: it holds")] = None
    reason: Annotated[str | None, says("why it ended")] = None
    active: bool = True
    cut: Cut = False


class Told(Struct):
    steps: Annotated[list[Step], says("oldest first")]


class Fact(Struct, omit_defaults=True):
    subject: str
    relation: str
    object: str
    key: str
    text: str
    valid_from: datetime | None = None
    valid_to: Annotated[datetime | None, says("until when it held; missing: it holds")] = None
    reason: Annotated[str | None, says("why it ended")] = None
    cut: Cut = False


class Stated(Struct):
    facts: list[Fact]


def schema(kind: type[Struct], without: Container[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of a record: one object; a field has a value or is left out, never null."""
    _, parts = msgspec.json.schema_components((kind,), schema_hook=_shape, ref_template="{name}")
    made: dict[str, Any] = _plain(parts[kind.__name__], parts)
    fields = sorted(made["properties"].items(), key=lambda field: field[0] == "project")  # project last
    return {**made, "properties": {name: told for name, told in fields if name not in without}}


def taken(given: Mapping[str, Any], kind: type[Given], tool: str) -> Given:
    """Return the arguments of a tool as a record; raise UsageError that names the field if they do not fit
    the schema.
    """
    told = {name: value for name, value in given.items() if value is not None}
    try:
        return msgspec.convert(told, kind, dec_hook=_moment)
    except (msgspec.ValidationError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error).replace("$.", "")
        raise UsageError(f"{tool} does not take that: {why}; see its input schema") from None


def shown(
    record: Any, kind: type[Given], *, text: str | None = None, most: int = LONGEST, **more: Any
) -> Given:
    """Return a client's record as a tool's record, with `text`, or the record's own text, cut to `most`
    characters.
    """
    told = {name: getattr(record, name) for name in kind.__struct_fields__ if hasattr(record, name)}
    start = (text or record.text)[:most]
    return kind(**{**told, **more, "text": start, "cut": start != record.text})


def _moment(kind: type, value: Any) -> Any:
    if kind is not Moment:
        raise NotImplementedError(kind)
    try:
        found = Moment.fromisoformat(value)
    except (TypeError, ValueError):
        found = None
    if found is not None and len(value) <= DATED:
        return found.replace(tzinfo=UTC)
    if found is None or found.tzinfo is None:
        raise ValueError("a time is written with its zone, such as 2026-05-01T09:30:00Z, or as a date")
    return found


def _shape(kind: type) -> dict[str, Any]:
    return {"type": "string", "format": "date-time", "examples": ["2026-05-01T09:30:00Z"]}


def _plain(part: Any, parts: Mapping[str, Any]) -> Any:
    """Return a schema without references, the choice of null, and titles and defaults that say nothing."""
    if isinstance(part, list):
        return [_plain(one, parts) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _plain({**parts[part["$ref"]], **{name: part[name] for name in part if name != "$ref"}}, parts)
    idle = {name for name in ("title", "default") if not isinstance(part.get(name), bool | int | dict)}
    made = {name: _plain(value, parts) for name, value in part.items() if name not in idle}
    real = [one for one in made.get("anyOf", ()) if one != {"type": "null"}]
    if len(real) == 1:
        del made["anyOf"]
        made = {**real[0], **made}
    return made
