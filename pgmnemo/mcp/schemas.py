"""Requests and results of the tools: records with fields described for a language model.

A record gives the JSON schema (`json_schema`) and the check of the arguments (`parse_arguments`). Times have
a zone; a date without a time is midnight in UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from pgmnemo.errors import UsageError
from pgmnemo.http.json_types import shape_of, with_whole_numbers
from pgmnemo.redaction import redact

MAX_SHOWN = 4_000  # characters of a lesson in a result
MAX_WHOLE = 100_000  # characters of an argument, or of a lesson requested by key
DATED = len("2026-05-01")
Given = TypeVar("Given", bound=Struct)


def described(description: str, **limits: Any) -> Meta:
    """Return the metadata of a field: its description and its limits."""
    return Meta(description=description, **limits)


class JsonTime(datetime):
    """A time in ISO 8601, as a language model writes it."""


Key = Annotated[str, described("key of a memory, as recall gives it", min_length=1, max_length=1000)]
Word = Annotated[str, Meta(min_length=1, max_length=1000)]
Project = Annotated[
    str, described("another project than the usual one; mostly left out", min_length=1, max_length=1000)
]
Cut = Annotated[bool, described("text is a part of a longer one; list with the key gives all of it")]


class ToolRequest(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    project: Project | None = None


class FilteredRequest(ToolRequest, kw_only=True, frozen=True):
    topic: Annotated[Word | None, described("only what was remembered with this topic")] = None
    role: Annotated[
        Literal["user", "assistant"] | None, described("only what the user, or the assistant, said")
    ] = None
    since: Annotated[JsonTime | None, described("only what happened at this time or later")] = None
    until: Annotated[JsonTime | None, described("only what happened before this time")] = None


class QuestionRequest(FilteredRequest, kw_only=True, frozen=True):
    valid_at: Annotated[JsonTime | None, described("what held at this time, instead of now")] = None
    known_at: Annotated[JsonTime | None, described("by what was known at this time, instead of now")] = None
    min_fit: (
        Annotated[float, described("leave out what fits the question less than this, 0 to 1", ge=0, le=1)]
        | None
    ) = None
    duplicates: Annotated[bool, described("show equal texts each; else only the newest")] = False


class FactArgument(Struct, frozen=True, forbid_unknown_fields=True):
    subject: Annotated[Word, described("of whom or what, such as Ada")]
    relation: Annotated[Word, described("what is said, such as lives in")]
    object: Annotated[Word, described("with what, such as Lisbon")]
    exclusive: Annotated[
        bool, described("the subject has only one such object: a former one ends when this one begins")
    ] = False


class RememberRequest(ToolRequest, kw_only=True, frozen=True):
    text: Annotated[
        str,
        described(
            "what to remember: full sentences that make sense years later, with names and dates",
            min_length=1,
            max_length=MAX_WHOLE,
        ),
    ]
    key: Annotated[
        Key | None,
        described("a name of your own for it: again with the same key, it is updated. Not with a fact"),
    ] = None
    role: Annotated[
        Literal["user", "assistant"] | None,
        described("who said it, word for word; left out for a note of your own"),
    ] = None
    topic: Annotated[Word | None, described("what it is about, in a word or two")] = None
    importance: Annotated[int, described("1 to 5, where 3 is usual", ge=1, le=5)] | None = None
    at: Annotated[
        JsonTime | None, described("when it happened, or from when on the fact holds, where that is not now")
    ] = None
    expires_at: Annotated[JsonTime | None, described("until when it is worth keeping")] = None
    metadata: Annotated[
        dict[str, str | int | float | bool] | None, described("what else is known of it, by name")
    ] = None
    language: Annotated[
        Word | None, described("the code of the text's language, such as de; left out, it is recognized")
    ] = None
    similar: Annotated[bool, described("name memories about the same, so that supersede can end one")] = False
    fact: Annotated[
        FactArgument | None, described("the same as subject, relation and object, for what may change")
    ] = None


def without_secrets(asked: RememberRequest) -> tuple[RememberRequest, Counter[str]]:
    """Return a request with the secrets in its text and its fact redacted, and their number by kind."""
    text, counted = redact(asked.text)
    fact = asked.fact
    if fact is not None:
        words = {name: redact(getattr(fact, name)) for name in ("subject", "relation", "object")}
        fact = replace(fact, **{name: word for name, (word, _) in words.items()})
        counted = sum((found for _, found in words.values()), counted)
    return replace(asked, text=text, fact=fact), counted


class RecallRequest(QuestionRequest, kw_only=True, frozen=True):
    query: Annotated[str, described("a question, or what it is about", min_length=1, max_length=10_000)]
    k: Annotated[int, described("memories at most", ge=1, le=50)] = 8


class ContextRequest(QuestionRequest, kw_only=True, frozen=True):
    query: (
        Annotated[
            str,
            described("a question; without one, what is new and important", min_length=1, max_length=10_000),
        ]
        | None
    ) = None
    max_tokens: Annotated[int, described("tokens of the block at most", ge=50, le=20_000)] = 1000
    k: Annotated[int, described("memories that are looked at, at most", ge=1, le=100)] = 20


class ForgetRequest(FilteredRequest, kw_only=True, frozen=True):
    key: Key | None = None
    permanent: Annotated[bool, described("delete for good; else it is out of recall, but can come back")] = (
        False
    )
    dry_run: Annotated[bool, described("only say how many it would be")] = False


class SupersedeRequest(ToolRequest, kw_only=True, frozen=True):
    old: Annotated[Key, described("key of the memory that holds no more")]
    new: Annotated[Key | None, described("key of the one that holds instead, if one does")] = None
    reason: Annotated[str, described("why, in a sentence", max_length=2000)] | None = None
    at: Annotated[JsonTime | None, described("from when on, where that is not now")] = None
    undo: Annotated[bool, described("let `old` hold again")] = False


class FeedbackRequest(ToolRequest, kw_only=True, frozen=True):
    key: Key
    verdict: Annotated[
        Literal["used", "wrong"], described("used: the answer rests on it; wrong: it misled, or is not so")
    ]
    undo: Annotated[bool, described("take such a verdict back")] = False


class TimelineRequest(ToolRequest, kw_only=True, frozen=True):
    key: Key
    known_at: Annotated[JsonTime | None, described("by what was known at this time, instead of now")] = None


class FactsRequest(ToolRequest, kw_only=True, frozen=True):
    subject: Annotated[Word | None, described("only of this subject, such as Ada")] = None
    relation: Annotated[Word | None, described("only with this relation, such as lives in")] = None
    object: Annotated[Word | None, described("only with this object, such as Lisbon")] = None
    at: Annotated[JsonTime | None, described("what held at this time, instead of now")] = None
    known_at: Annotated[JsonTime | None, described("by what was known at this time, instead of now")] = None
    history: Annotated[bool, described("all that ever held")] = False
    limit: Annotated[int, described("facts at most", ge=1, le=500)] = 100


class LinkRequest(ToolRequest, kw_only=True, frozen=True):
    source: Annotated[Key, described("key of the memory that leads to the other")]
    target: Annotated[Key, described("key of the one that it leads to")]
    kind: Annotated[Word, described("how they belong together, such as caused")] = "related"
    weight: Annotated[float, described("how strongly, 0 to 1", ge=0, le=1)] | None = None


class ListRequest(FilteredRequest, kw_only=True, frozen=True):
    key: Annotated[Key | None, described("this one alone, with its whole text")] = None
    limit: Annotated[int, described("memories at most", ge=1, le=200)] = 20
    oldest: Annotated[bool, described("the oldest first, not the newest")] = False
    include_inactive: Annotated[bool, described("forgotten, superseded and expired ones, too")] = False


class SimilarMemory(Struct, omit_defaults=True):
    key: str
    text: str
    at: datetime | None = None


class RememberAnswer(Struct, omit_defaults=True):
    key: Annotated[str, described("its key")]
    outcome: Annotated[
        str,
        described(
            "inserted, updated, unchanged, restored or unembedded; echo: it repeats what was recalled and is "
            "not stored again"
        ),
    ]
    superseded: Annotated[int, described("facts that ended because of this one")] = 0
    similar: Annotated[list[SimilarMemory], described("memories about the same")] = []
    redacted: Annotated[
        dict[str, int], described("secrets that were not stored, by kind: a mark is in their place")
    ] = {}


class RecalledMemory(Struct, omit_defaults=True):
    key: str
    text: str
    score: Annotated[float, described("the higher the better, comparable within one answer")]
    why: Annotated[str, described("what the score is made of")]
    fit: Annotated[float | None, described("how well it fits the question, 0 to 1")] = None
    at: datetime | None = None
    role: str | None = None
    topic: str | None = None
    equal_lessons: Annotated[int, described("other memories with the same text")] = 0
    near_copies: Annotated[int, described("older memories that say nearly the same")] = 0
    tenant: Annotated[str | None, described("whose memory it is, if several are searched")] = None
    cut: Cut = False


class RecallAnswer(Struct):
    memories: Annotated[list[RecalledMemory], described("best first")]


class ContextAnswer(Struct):
    text: Annotated[str, described("a block of quoted memories, or nothing")]
    tokens: Annotated[int, described("tokens of it, estimated high")]
    left_out: Annotated[int, described("memories that were found and did not fit")]


class ForgetAnswer(Struct):
    memories: Annotated[int, described("how many")]
    dry_run: bool


class OutcomeAnswer(Struct):
    outcome: Annotated[str, described("what became of it; unchanged: it was so already")]


class FeedbackAnswer(Struct):
    key: str
    importance: Annotated[int, described("1 to 5: what it is now")]
    used: Annotated[int, described("how often it was of use")]
    wrong: Annotated[int, described("how often it was wrong")]


class ListedMemory(Struct, omit_defaults=True):
    key: str
    text: str
    at: datetime | None = None
    role: str | None = None
    topic: str | None = None
    importance: int = 3
    metadata: dict[str, Any] | None = None
    expires_at: datetime | None = None
    active: Annotated[bool, described("false once it is forgotten")] = True
    superseded_at: Annotated[datetime | None, described("from when on another holds instead")] = None
    cut: Cut = False


class ListAnswer(Struct):
    memories: list[ListedMemory]


class TimelineStep(Struct, omit_defaults=True):
    key: str
    text: str
    valid_from: datetime | None = None
    valid_to: Annotated[datetime | None, described("until when it held; missing: it holds")] = None
    reason: Annotated[str | None, described("why it ended")] = None
    active: bool = True
    cut: Cut = False


class TimelineAnswer(Struct):
    steps: Annotated[list[TimelineStep], described("oldest first")]


class StoredFact(Struct, omit_defaults=True):
    subject: str
    relation: str
    object: str
    key: str
    text: str
    valid_from: datetime | None = None
    valid_to: Annotated[datetime | None, described("until when it held; missing: it holds")] = None
    reason: Annotated[str | None, described("why it ended")] = None
    cut: Cut = False


class FactsAnswer(Struct):
    facts: list[StoredFact]


def json_schema(kind: type[Struct], without: Container[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of a record as one object, without the fields in `without`.

    A field has a value or is left out; it is never null.
    """
    _, parts = msgspec.json.schema_components((kind,), schema_hook=_shape, ref_template="{name}")
    made: dict[str, Any] = _inline_schema(parts[kind.__name__], parts)
    fields = sorted(made["properties"].items(), key=lambda field: field[0] == "project")  # project last
    return {**made, "properties": {name: told for name, told in fields if name not in without}}


def parse_arguments(given: Mapping[str, Any], kind: type[Given], tool: str) -> Given:
    """Return the arguments of a tool as a record.

    Raise UsageError that names the field if they do not match the schema.
    """
    told = {name: value for name, value in given.items() if value is not None}
    try:
        return msgspec.convert(with_whole_numbers(told, shape_of(kind)), kind, dec_hook=_moment)
    except (msgspec.ValidationError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error).replace("$.", "")
        raise UsageError(f"{tool} does not take that: {why}; see its input schema") from None


def tool_record(
    record: Any, kind: type[Given], *, text: str | None = None, most: int = MAX_SHOWN, **more: Any
) -> Given:
    """Return a client's record as a tool's record of the type `kind`.

    Its text is `text`, or the record's own text, cut to `most` characters; `more` sets further fields.
    """
    told = {name: getattr(record, name) for name in kind.__struct_fields__ if hasattr(record, name)}
    start = (text or record.text)[:most]
    return kind(**{**told, **more, "text": start, "cut": start != record.text})


def _moment(kind: type, value: Any) -> Any:
    if kind is not JsonTime:
        raise NotImplementedError(kind)
    try:
        found = JsonTime.fromisoformat(value)
    except (TypeError, ValueError):
        found = None
    if found is not None and len(value) <= DATED:
        return found.replace(tzinfo=UTC)
    if found is None or found.tzinfo is None:
        raise ValueError("a time is written with its zone, such as 2026-05-01T09:30:00Z, or as a date")
    return found


def _shape(kind: type) -> dict[str, Any]:
    return {"type": "string", "format": "date-time", "examples": ["2026-05-01T09:30:00Z"]}


def _inline_schema(part: Any, parts: Mapping[str, Any]) -> Any:
    """Return a schema with references resolved, and without null, titles and empty defaults."""
    if isinstance(part, list):
        return [_inline_schema(one, parts) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inline_schema(
            {**parts[part["$ref"]], **{name: part[name] for name in part if name != "$ref"}}, parts
        )
    idle = {name for name in ("title", "default") if not isinstance(part.get(name), bool | int | dict)}
    made = {name: _inline_schema(value, parts) for name, value in part.items() if name not in idle}
    real = [one for one in made.get("anyOf", ()) if one != {"type": "null"}]
    if len(real) == 1:
        del made["anyOf"]
        made = {**real[0], **made}
    return made
