"""The verbs of a scope as calls of the extension: arguments are checked, and answers become records.

This module builds the calls and sends none.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from hashlib import sha256
from heapq import merge
from itertools import islice
from typing import Any
from uuid import UUID

from pgmnemo import calls
from pgmnemo.calls import Call, Rows
from pgmnemo.client.records import (
    CAUSE_OF,
    AddResult,
    Count,
    Duplicate,
    Fact,
    FactResult,
    Hit,
    Item,
    Lesson,
    Reason,
    Step,
)
from pgmnemo.errors import UsageError

LESSON_COLUMNS = (
    "external_id", "content", "project_id", "role", "topic", "importance", "metadata", "occurred_at",
    "stored_at", "expires_at", "commit_sha", "artifact_hash", "verified_at", '"position"', "active",
    "superseded_at", "text_config", "id",
)  # fmt: skip
COMPONENTS = tuple(CAUSE_OF)
HIT_COLUMNS = (
    "external_id", "content", "score", "fit", "in_project", "said_by", "topic",
    "nullif(metadata, '{}')",  # mostly empty, and decoding '{}' would double the time of a hit
    "occurred_at", "passage", "hidden", "lesson_id", "equal_lessons", "repeats_question", "contributions",
    *COMPONENTS,
)  # fmt: skip
STEP_COLUMNS = (
    "key", "content", "in_project", "active", "valid_from", "valid_to", "reason", "stored_at", "recorded_at",
)  # fmt: skip
FACT_COLUMNS = (
    "said_of", "related", "told", "content", "key", "in_project", "valid_from", "valid_to", "reason",
)  # fmt: skip
VERSIONS: Call[Rows] = Call(
    "SELECT pg_catalog.split_part(pg_catalog.current_setting('server_version'), ' ', 1), extversion "
    "FROM pg_catalog.pg_extension WHERE extname = 'vector'",
    (),
    list,
)
MAX_QUESTION = 100_000  # bytes
MAX_TOKENS = 10_000_000  # tokens of a context
DEFAULT_SIMILAR = 5  # similar lessons that `add` returns by default
MIN_SIMILAR_FIT = 0.25  # least fit of a similar lesson that `add` returns
MAX_SIMILAR_TEXT = 2_000  # characters of a text that `add` searches similar lessons by
PAGE_SIZE = 500  # lessons of a page of `list`
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # an escaped NUL in JSON, after no escaped backslash
MAX_DEPTH = 300  # levels of metadata; some JSON readers fail beyond
MAX_JSON = 10_000_000  # characters of JSON; the extension takes 1,000,000 bytes of its own form
MAX_POSITION = 1_000_000_000  # greatest absolute position
LESSON_FIELDS = (
    "role", "topic", "importance", "metadata", "occurred_at", "expires_at", "commit_sha", "artifact_hash",
    "verified_at", "position",
)  # fmt: skip


@dataclass(slots=True)
class RecallOptions:
    """The options of a recall, a context or an explanation, besides the question itself."""

    k: int = 10
    role: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    filter: Mapping[str, Any] | None = None
    time_ranges: Sequence[tuple[datetime, datetime]] | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None
    known_at: datetime | None = None
    min_fit: float | None = None
    duplicates: bool = False
    mode: str | None = None

    @classmethod
    def from_arguments(cls, given: Mapping[str, Any]) -> RecallOptions:
        """Return the options among the `locals()` of a verb."""
        return cls(**{name: given[name] for name in cls.__slots__ if name in given})

    def sql_arguments(self, query: str | None, row: Any) -> dict[str, Any]:
        """Return the arguments that recall and explain share; `row` is the question's vector or None."""
        return {
            "embedding": row, "query_text": query, "k": self.k, "role": self.role, "mode": self.mode,
            "filter": filter_document(self.filter, since=self.since, until=self.until),
            "as_of": checked_time(self.as_of, "as_of"),
            "valid_at": checked_time(self.valid_at, "valid_at"),
            "known_at": checked_time(self.known_at, "known_at"),
            "windows": _multirange(self.time_ranges),
        }  # fmt: skip

    def with_time_zone(self, call: Call[Rows]) -> Call[Rows]:
        """Return the call with the time zone of `as_of` as a setting: a timestamp of PostgreSQL has
        no zone.
        """
        zone = None if self.as_of is None else zone_of(self.as_of)
        return call if zone is None else replace(call, settings=(("time_zone", zone),))


def zone_of(now: datetime) -> str | None:
    """Return the name of a time's zone, else its offset to UTC such as +05:30.

    Return None for UTC, and for an offset of 16 hours or more, which is no zone of PostgreSQL.
    """
    name = getattr(now.tzinfo, "key", None)
    if isinstance(name, str):
        return None if name == "UTC" else name
    ahead = now.strftime("%z")
    return f"{ahead[:3]}:{ahead[3:5]}" if "0000" < ahead[1:5] < "1600" else None


def lesson_fields(item: Item, at: datetime | None) -> dict[str, Any]:
    """Return the columns of the extension for an item's fields, except text, key and vectors."""
    return {
        "role": item.role, "topic": item.topic,
        "importance": checked_int(item.importance, "importance", 1, 5),
        "metadata": json_document(item.metadata, "metadata"), "occurred_at": checked_time(at, "at"),
        "expires_at": checked_time(item.expires_at, "expires_at"), "commit_sha": item.commit_sha,
        "artifact_hash": item.artifact_hash, "verified_at": checked_time(item.verified_at, "verified_at"),
        "position": checked_int(item.position, "position", -MAX_POSITION, MAX_POSITION),
    }  # fmt: skip


def cleared_columns(names: Sequence[str] | None) -> list[str] | None:
    """Return the extension's names of the fields to clear; None for None."""
    return None if names is None else ["occurred_at" if name == "at" else name for name in names]


def store(tenant: UUID, project: UUID, key: str, text: str, **given: Any) -> Call[AddResult]:
    """Return the call that stores a lesson under a key."""
    return calls.store(tenant, project, key, text, **given).map(lambda outcome: AddResult(key, outcome))


def append(tenant: UUID, project: UUID, text: str, **given: Any) -> Call[AddResult]:
    """Return the call that stores a turn after the project's last, under a key that the database makes."""
    call = calls.append(tenant, project, text, **given)
    return call.map(lambda row: AddResult(row[0], "inserted", row[1]))


def recall(
    tenant: UUID,
    project: UUID | None,
    query: str | None,
    row: Any,
    asked: RecallOptions,
    weights: Mapping[str, float],
) -> Call[list[Hit]]:
    """Return the call for the best lessons for a question; `weights` explain their scores."""
    if asked.min_fit is not None and not 0 <= asked.min_fit <= 1:
        raise UsageError(f"min_fit is {asked.min_fit:g}, but must be from 0 to 1")
    given = asked.sql_arguments(query, row)
    given |= {"floor": asked.min_fit, "duplicates": asked.duplicates or None}
    call = calls.recall(tenant, project_id=project, columns=HIT_COLUMNS, **given)
    return asked.with_time_zone(call).map(lambda rows: _hits(rows, weights))


def similar_number(similar: bool | int) -> int:
    """Return the number of similar lessons that `add` returns; raise UsageError for an invalid number."""
    return DEFAULT_SIMILAR if similar is True else checked_int(similar or 0, "similar", 0, 100) or 0


def explain(
    tenant: UUID, project: UUID, key: str, query: str | None, row: Any, asked: RecallOptions
) -> Call[list[Reason]]:
    """Return the call that explains why a lesson ranks where it does for a question."""
    given = asked.sql_arguments(query, row)
    call = calls.explain(tenant, project, key, **given)
    return asked.with_time_zone(call).map(lambda rows: [Reason(*one) for one in rows])


def get(tenant: UUID, project: UUID, key: str) -> Call[Lesson | None]:
    """Return the call for a lesson, in any state."""
    return calls.get(tenant, project, key, LESSON_COLUMNS).map(
        lambda rows: Lesson(*rows[0]) if rows else None
    )


def get_many(
    tenant: UUID,
    project: UUID,
    keys: Sequence[str],
    columns: Sequence[str] = LESSON_COLUMNS,
    where: str = "true",
) -> Call[Rows]:
    """Return the call for columns of the lessons with these keys, in any state."""
    statement = (
        f"SELECT {', '.join(columns)} FROM pg_catalog.unnest(%s::text[]) AS k (key), "
        f"LATERAL pgmnemo.get(%s::uuid, %s::uuid, k.key) AS f WHERE {where}"
    )
    return Call(statement, (list(keys), tenant, project), list)


def list_page(
    tenant: UUID, project: UUID | None, after: int | None, most: int, **given: Any
) -> Call[list[Lesson]]:
    """Return the call for a page of at most `most` lessons after the id `after`."""
    call = calls.list_page(tenant, project, after=after, most=most, columns=LESSON_COLUMNS, **given)
    return call.map(lambda rows: [Lesson(*row) for row in rows])


def count(tenant: UUID, project: UUID | None, **given: Any) -> Call[Count]:
    """Return the call for the number of lessons, and the number that the gate hides."""
    return calls.count(tenant, project, **given).map(lambda row: Count(*row))


def timeline(tenant: UUID, project: UUID, key: str, known_at: datetime | None) -> Call[list[Step]]:
    """Return the call for a lesson and the lessons before and after it."""
    call = calls.timeline(
        tenant, project, key, known_at=checked_time(known_at, "known_at"), columns=STEP_COLUMNS
    )
    return call.map(lambda rows: [Step(*row) for row in rows])


def fact(
    tenant: UUID, project: UUID, subject: str, relation: str, object: str, **given: Any
) -> Call[FactResult]:
    """Return the call that states a fact."""
    call = calls.assert_fact(tenant, project, subject, relation, object, **given)
    return call.map(lambda row: FactResult(*row))


def facts(tenant: UUID, project: UUID | None, *said: str | None, **given: Any) -> Call[list[Fact]]:
    """Return the call for the facts of a subject, relation and object, each None for any."""
    return calls.facts(tenant, project, *said, columns=FACT_COLUMNS, **given).map(
        lambda rows: [Fact(*row) for row in rows]
    )


def similar_pairs(
    tenant: UUID, project: UUID | None, least_cosine: float, least_words: float, after: int
) -> Call[tuple[list[Duplicate], int | None]]:
    """Return the call for a page of similar pairs, and the `after` of the next page (None: no more pages)."""
    call = calls.similar_pairs(
        tenant, project, least_cosine=least_cosine, least_words=least_words, after=after
    )
    return call.map(
        lambda rows: (
            [Duplicate(*row[2:6]) for row in rows if row[2] is not None],
            rows[-1][6] if rows else None,
        )
    )


def text_digests(tenant: UUID, project: UUID, keys: Sequence[str]) -> Call[dict[str, str]]:
    """Return the call for the text hashes of the existing lessons with these keys, forgotten or not."""
    statement = (
        "SELECT k.key, f.content FROM pg_catalog.unnest(%s::text[]) AS k (key), "
        "LATERAL pgmnemo.get(%s::uuid, %s::uuid, k.key) AS f"
    )
    return Call(
        statement, (list(keys), tenant, project), lambda rows: {key: text_digest(text) for key, text in rows}
    )


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, in 64 hex digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def score_weights(rows: Rows) -> dict[str, float]:
    """Return the current weights of the score from rows of setting name and value."""
    named = {str(name).removeprefix("pgmnemo."): value for name, value in rows}
    return {name: _number(name, value) for name, value in named.items() if name.endswith("_weight")}


def _number(name: str, value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise UsageError(f"the setting {name} is {repr(value)[:40]}, but must be a number") from None


def check_settings(given: Iterable[str], rows: Rows) -> None:
    """Raise UsageError for an unknown setting, because PostgreSQL would accept it silently."""
    there = [str(name).removeprefix("pgmnemo.") for name, _ in rows]
    for name in given:
        if name not in there:
            raise UsageError(f"there is no setting {name!r}; those are {', '.join(sorted(there))}")


def _hits(rows: Rows, weights: Mapping[str, float]) -> list[Hit]:
    """Return the hits of a recall, each with the key of a better hit of the same moment that lifts it."""
    hits = [_hit(row, weights) for row in rows]
    best: dict[tuple[UUID, datetime | None], Hit] = {}
    for hit in hits:
        moment = hit.project, hit.at
        if moment not in best or hit.relevance() > best[moment].relevance():
            best[moment] = hit
    return [
        replace(hit, lifted_by=best[hit.project, hit.at].key)
        if hit.is_lifted() and not best[hit.project, hit.at].is_lifted()
        else hit
        for hit in hits
    ]


def _hit(row: tuple[Any, ...], weights: Mapping[str, float]) -> Hit:
    key, text, score, fit, project, role, topic, metadata, at, passage, hidden, number, *rest = row
    equal, repeats, added, *parts = rest
    return Hit(
        key, text, score, fit, project, role, topic, metadata or {}, at, passage,
        dict(zip(COMPONENTS, parts, strict=True)), hidden, number, weights, equal, repeats,
        dict(zip(COMPONENTS, added, strict=True)) if added else {},
    )  # fmt: skip


def filter_document(
    given: Mapping[str, Any] | None,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    **more: Any,
) -> str | None:
    """Return the extension's filter document as JSON; None if nothing is filtered."""
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"filter is a mapping such as {{'topic': 'home'}}, not {type(given).__name__}")
    for name, value in more.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name} is {repr(value)[:40]}, but must be a text")
    named = {"since": checked_time(since, "since"), "until": checked_time(until, "until"), **more}
    made = {**(given or {}), **{name: value for name, value in named.items() if value is not None}}
    return json_document(made, "filter") if made else None


def list_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that the extension's `list` and `count` share, from the `locals()` of a verb."""
    chosen = {name: given[name] for name in ("since", "until", "role", "topic")}
    return {
        "filter": filter_document(given["filter"], **chosen), "everything": given["include_inactive"] or None,
        **{name: checked_time(given[name], name) for name in ("valid_at", "known_at")},
    }  # fmt: skip


def json_document(given: Any, name: str) -> str | None:
    """Return JSON for a parameter of type jsonb; raise UsageError for a value that JSON cannot hold."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise UsageError(f"{name} is a mapping of names to values, not {type(given).__name__}")
    try:
        told = json.dumps(given, ensure_ascii=False, allow_nan=False, default=_json_default)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{name} cannot be written as JSON ({error}); give texts, numbers, lists, mappings"
        ) from None
    if NUL.search(told):
        raise UsageError(f"{name} has a NUL character, which no database takes; take it out")
    if told.count("{") + told.count("[") > MAX_DEPTH and nesting_depth(given) > MAX_DEPTH:
        raise UsageError(f"{name} nests deeper than {MAX_DEPTH} levels, which not every reader can follow")
    if len(told) > MAX_JSON:
        raise UsageError(
            f"{name} has {len(told):,} characters of JSON, far more than are stored; leave some out"
        )
    return told


def nesting_depth(value: Any) -> int:
    """Return how many levels of lists and mappings are nested in each other."""
    level, depth = [value], 0
    while level := [one for one in level if isinstance(one, dict | list | tuple)]:
        level = [child for one in level for child in (one.values() if isinstance(one, dict) else one)]
        depth += 1
    return depth


def _json_default(value: Any) -> Any:
    if isinstance(value, datetime):
        return checked_time(value, "a time in it").isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no type of JSON")


def checked_int(value: Any, name: str, least: int, most: int) -> int | None:
    """Return a whole number from `least` to `most`, or None for None; raise UsageError for any other
    value.
    """
    try:
        told = None if value is None else operator.index(value)
    except TypeError:
        told = least - 1
    if isinstance(value, bool):
        told = least - 1
    if told is not None and not least <= told <= most:
        shown = repr(value)[:40]
        raise UsageError(f"{name} is {shown}, but must be a whole number from {least:,} to {most:,}")
    return told


def checked_time(value: datetime | None, name: str) -> Any:
    """Return a time that has a zone, or None for None; raise UsageError for a naive time or another type."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise UsageError(f"{name} is a datetime with a time zone, not {type(value).__name__}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise UsageError(
            f"{name} is {value.isoformat()}, which names no time zone; write it with one, such as "
            f"{value.replace(tzinfo=UTC).isoformat()}"
        )
    return value


def _multirange(time_ranges: Iterable[tuple[datetime, datetime]] | None) -> str | None:
    """Return time ranges as the text of a PostgreSQL multirange; None for None."""
    if time_ranges is None:
        return None
    told = []
    for given in time_ranges:
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise UsageError("time_ranges are pairs of two times, from and to, such as [(start, end)]")
        first, last = (checked_time(one, "a time of time_ranges") for one in given)
        if first is not None and last is not None and first > last:
            raise UsageError(f"a time range ends before it begins: {first.isoformat()} to {last.isoformat()}")
        told.append(f"[{first.isoformat() if first else ''},{last.isoformat() if last else ''})")
    return f"{{{','.join(told)}}}"


def merge_hits(found: Iterable[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the `k` best hits of several tenants by score, each tenant's in the order of its recall."""
    merged = merge(*found, key=lambda hit: (hit.repeats_question, -hit.score))
    return list(islice(merged, k))
