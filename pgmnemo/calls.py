"""The verbs of the extension as calls: the statement, the arguments, and the decoding of the answer.

A call is data: this module opens no connection. `execute` sends a call over a connection of psycopg; an
asynchronous client sends the same statement and parameters itself and gives the rows to `decode`.

A verb works for the tenant in its first argument; `tenant=None` is sent as NULL and selects the session's
tenant (`pgmnemo.tenant_id`). Another argument that is None is not sent, so the extension's own default
applies. Vectors are sequences of numbers or NumPy rows; vectors of passages need pgvector's types registered,
or are one array literal as text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from numbers import Integral, Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from pgmnemo.errors import UsageError

if TYPE_CHECKING:
    import psycopg  # imported only for types, because the import takes 0.17 s

Answer = TypeVar("Answer")
Other = TypeVar("Other")
Rows = list[tuple[Any, ...]]

# Verbs that are not idempotent, or return another number when repeated.
NOT_REPEATABLE = {"append", "forget_matching", "forget_all", "delete_expired", "store_staged"}
ARGUMENT_TYPES = {"str": str, "int": int, "float": float, "bool": bool}
INT4, INT8 = 2**31 - 1, 2**63 - 1
BIGINT_ARGUMENTS = {"after"}  # arguments that are bigint
CLIENT_NAMES = {"external_id": "key", "content": "text", "query_text": "query"}  # names of the client's verbs
ENCODED_ARGUMENTS = {
    "query_text",
    "embedder",
    "name",
}  # texts that are not content; an encoding may lack their letters
EMBEDDER_SETTING = "pgmnemo.embedder"  # the name of the setting, before its value
# Casts for arguments if the Python value does not give PostgreSQL the type.
CASTS = {
    "embedding": "::real[]", "weight": "::float8", "passages": "::text[]", "clear": "::text[]",
    "lesson_ids": "::bigint[]", "numbers": "::smallint[]", "marks": "::bigint[]",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer]):
    """A call of a verb: a `statement` with `parameters` for psycopg, and a function to `decode` the rows.

    A `repeatable` call does no more if it is sent twice, so it may be sent again after a lost answer.
    """

    statement: str
    parameters: tuple[object, ...]
    decode: Callable[[Rows], Answer]
    repeatable: bool = True
    signature: tuple[str, tuple[str, ...], tuple[str, ...]] = ("", (), ())  # function, arguments, columns
    settings: tuple[tuple[str, str], ...] = ()  # settings of pgmnemo that the call itself sets

    def map(self, make: Callable[[Answer], Other]) -> Call[Other]:
        """Return the same call with its answer passed through `make`."""
        decode = self.decode
        return Call(
            self.statement, self.parameters, lambda rows: make(decode(rows)), self.repeatable, self.signature,
            self.settings,
        )  # fmt: skip

    def encoded(self, form: Callable[[str], str]) -> Call[Answer]:
        """Return the same call with `form` applied to its question and its embedder's name."""
        if not isinstance(self.parameters, tuple):  # a mapping belongs to a statement that is not a verb
            return self
        names = ("",) * (len(self.parameters) - len(self.signature[1])) + self.signature[1]
        given = zip(names, ("", *self.parameters), self.parameters, strict=False)
        parameters = tuple(
            form(one)
            if isinstance(one, str) and (name in ENCODED_ARGUMENTS or last == EMBEDDER_SETTING)
            else one
            for name, last, one in given
        )
        return replace(self, parameters=parameters)

    def with_settings(self, settings: Mapping[str, str]) -> Call[Answer]:
        """Return the same call of a named tenant with settings of pgmnemo for its transaction only.

        The call's own settings come last. A call without a tenant is unchanged.
        """
        settings = {**settings, **dict(self.settings)}
        if not settings or self.signature[1][:1] != ("tenant",):
            return self
        given = tuple(one for name, value in settings.items() for one in (f"pgmnemo.{name}", value))
        statement = _statement(*self.signature, len(settings))
        return Call(statement, (*given, *self.parameters), self.decode, self.repeatable, self.signature)


def execute(connection: psycopg.Connection[Any], call: Call[Answer], *, binary: bool = False) -> Answer:
    """Send a call and return its answer, in `binary` format if requested; psycopg's errors pass through."""
    statement, parameters = call.statement.encode(), call.parameters or None
    return call.decode(connection.execute(statement, parameters, binary=binary).fetchall())


def store(
    tenant: UUID | None,
    project_id: UUID,
    external_id: str,
    content: str,
    *,
    embedding: object = None,
    role: str | None = None,
    topic: str | None = None,
    importance: int | None = None,
    metadata: object = None,
    occurred_at: datetime | None = None,
    expires_at: datetime | None = None,
    commit_sha: str | None = None,
    artifact_hash: str | None = None,
    verified_at: datetime | None = None,
    passages: Sequence[str] | None = None,
    passage_embeddings: Sequence[object] | str | None = None,
    position: int | None = None,
    clear: Sequence[str] | None = None,
    language: str | None = None,
) -> Call[str]:
    """Store one lesson under its key; return `inserted`, `updated`, `unchanged`, `restored` or `unembedded`.

    None keeps the value of an existing lesson; `clear` names the fields to reset.
    """
    return _call("store", _value, locals())


def recall(
    tenant: UUID | None,
    *,
    embedding: object = None,
    k: int | None = None,
    query_text: str | None = None,
    project_id: UUID | None = None,
    as_of: datetime | None = None,
    valid_at: datetime | None = None,
    role: str | None = None,
    mode: str | None = None,
    filter: object = None,
    known_at: datetime | None = None,
    windows: object = None,
    floor: float | None = None,
    duplicates: bool | None = None,
    columns: Sequence[str] = ("*",),
) -> Call[Rows]:
    """Return the `columns` of the first `k` lessons for a question, best first.

    Without a tenant the function is `recall_lessons`, which the protocol measures.
    """
    given = locals()
    if tenant is None:
        del given["tenant"]
        return _call("recall_lessons", _rows, given)
    return _call("recall", _rows, given)


def link(
    tenant: UUID | None,
    project_id: UUID,
    source: str,
    target: str,
    kind: str,
    *,
    weight: float | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    target_project: UUID | None = None,
) -> Call[str]:
    """Link two lessons by their keys, both in one project unless `target_project` names another."""
    return _call("link", _value, locals())


def unlink(
    tenant: UUID,
    project_id: UUID,
    source: str,
    target: str,
    kind: str,
    *,
    target_project: UUID | None = None,
) -> Call[bool]:
    """Remove a link; return whether it existed."""
    return _call("unlink", _value, locals())


def supersede(
    tenant: UUID | None,
    project_id: UUID,
    old: str,
    new: str | None = None,
    *,
    reason: str | None = None,
    at: datetime | None = None,
    new_project: UUID | None = None,
) -> Call[str]:
    """Replace one lesson by another, or end it; return `superseded`, `corrected` or `unchanged`."""
    return _call("supersede", _value, locals())


def undo_supersede(tenant: UUID | None, project_id: UUID, old: str) -> Call[bool]:
    """Undo the supersession of a lesson; return whether it was superseded."""
    return _call("undo_supersede", _value, locals())


def timeline(
    tenant: UUID | None,
    project_id: UUID,
    external_id: str,
    *,
    known_at: datetime | None = None,
    columns: Sequence[str] = ("*",),
) -> Call[Rows]:
    """Return a lesson with its predecessors and successors by supersession, oldest first."""
    return _call("timeline", _rows, locals())


def assert_fact(
    tenant: UUID | None,
    project_id: UUID,
    subject: str,
    relation: str,
    object: str,
    *,
    at: datetime | None = None,
    single: bool | None = None,
    reason: str | None = None,
    source: str | None = None,
    content: str | None = None,
    embedding: Sequence[float] | None = None,
    metadata: Any = None,
    commit_sha: str | None = None,
    artifact_hash: str | None = None,
) -> Call[tuple[str, str, int]]:
    """State a fact; return its key, the outcome, and the number of superseded facts (0 unless `single`)."""
    return _call("assert_fact", _row, locals())


def facts(
    tenant: UUID | None,
    project_id: UUID | None = None,
    subject: str | None = None,
    relation: str | None = None,
    object: str | None = None,
    *,
    at: datetime | None = None,
    known_at: datetime | None = None,
    history: bool | None = None,
    most: int | None = None,
    columns: Sequence[str] = ("*",),
) -> Call[Rows]:
    """Return the facts that hold at one time, as known at another."""
    return _call("facts", _rows, locals())


def end_fact(
    tenant: UUID | None,
    project_id: UUID,
    subject: str,
    relation: str,
    object: str | None = None,
    *,
    at: datetime | None = None,
    reason: str | None = None,
) -> Call[int]:
    """End the facts of a subject and a relation; return their number."""
    return _call("end_fact", _value, locals())


def forget(
    tenant: UUID | None,
    project_id: UUID,
    external_id: str,
    *,
    hard: bool | None = None,
    revive: bool | None = None,
) -> Call[bool]:
    """Take one lesson out of recall, or delete it with `hard`; return whether there was such a lesson."""
    return _call("forget", _value, locals())


def append(
    tenant: UUID | None,
    project_id: UUID,
    content: str,
    *,
    embedding: object = None,
    role: str | None = None,
    topic: str | None = None,
    importance: int | None = None,
    metadata: object = None,
    occurred_at: datetime | None = None,
    expires_at: datetime | None = None,
    commit_sha: str | None = None,
    artifact_hash: str | None = None,
    verified_at: datetime | None = None,
    passages: Sequence[str] | None = None,
    passage_embeddings: Sequence[object] | str | None = None,
    prefix: str | None = None,
    apart: bool | None = None,
    language: str | None = None,
) -> Call[tuple[str, int, int]]:
    """Store one lesson after the project's last; return its key, its position and its id."""
    return _call("append", _row, locals())


def update(
    tenant: UUID | None,
    project_id: UUID,
    external_id: str,
    *,
    topic: str | None = None,
    role: str | None = None,
    importance: int | None = None,
    metadata: object = None,
    patch: object = None,
    occurred_at: datetime | None = None,
    expires_at: datetime | None = None,
    verified_at: datetime | None = None,
    position: int | None = None,
    clear: Sequence[str] | None = None,
) -> Call[str]:
    """Change the given fields of one lesson, never its text or vectors; return `updated` or `unchanged`."""
    return _call("update", _value, locals())


def get(
    tenant: UUID | None, project_id: UUID, external_id: str, columns: Sequence[str] = ("*",)
) -> Call[Rows]:
    """Return the lesson with a key, in any state; no row if there is no lesson."""
    return _call("get", _rows, locals())


def list_page(
    tenant: UUID | None,
    project_id: UUID | None = None,
    filter: object = None,
    *,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
    everything: bool | None = None,
    after: int | None = None,
    most: int | None = None,
    newest: bool | None = None,
    columns: Sequence[str] = ("*",),
) -> Call[Rows]:
    """Return the `columns` of a page of lessons by id, starting after the id `after`."""
    return _call("list", _rows, locals())


def count(
    tenant: UUID | None,
    project_id: UUID | None = None,
    filter: object = None,
    *,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
    everything: bool | None = None,
) -> Call[tuple[int, int]]:
    """Return the number of lessons, and the number that the gate hides."""
    return _call("count", _row, locals())


def forget_matching(
    tenant: UUID | None,
    filter: object,
    project_id: UUID | None = None,
    *,
    hard: bool | None = None,
    dry_run: bool | None = None,
    revive: bool | None = None,
) -> Call[int]:
    """Forget all lessons that match a filter, or with `dry_run` only count them; return their number."""
    return _call("forget_matching", _value, locals())


def forget_all(tenant: UUID, project_id: UUID | None = None) -> Call[int]:
    """Delete every lesson of a tenant, or of one of its projects; return their number."""
    return _call("forget_all", _value, locals())


def explain(
    tenant: UUID,
    project_id: UUID,
    external_id: str,
    *,
    embedding: object = None,
    query_text: str | None = None,
    as_of: datetime | None = None,
    valid_at: datetime | None = None,
    role: str | None = None,
    mode: str | None = None,
    k: int | None = None,
    in_project: UUID | None = None,
    filter: object = None,
    known_at: datetime | None = None,
    windows: object = None,
    duplicates: bool | None = None,
) -> Call[Rows]:
    """Return why a lesson ranks where it does: section, item, value, weight, contribution and note."""
    return _call("explain", _rows, locals())


def delete_expired(tenant: UUID | None, before: datetime | None = None, most: int | None = None) -> Call[int]:
    """Delete expired lessons, at most `most`; return their number."""
    return _call("delete_expired", _value, locals())


def language(tenant: UUID | None) -> Call[str]:
    """Return the language of texts that are written without one: `auto`, `auto:german`, or `german` for
    all.
    """
    return _call("language", _value, locals())


def set_language(tenant: UUID | None, language: str) -> Call[str]:
    """Set a tenant's language, and return the language in force."""
    return _call("set_language", _value, locals())


def recut(
    tenant: UUID | None,
    language: str | None = None,
    *,
    after: int | None = None,
    most: int | None = None,
    dry_run: bool | None = None,
) -> Call[tuple[int, int | None]]:
    """Cut the next lessons into words again, or only count; return the number of changes and the next
    `after`.
    """
    return _call("recut", _row, locals())


def similar_pairs(
    tenant: UUID | None,
    project_id: UUID | None = None,
    *,
    least_cosine: float | None = None,
    least_words: float | None = None,
    after: int | None = None,
    most: int | None = None,
) -> Call[Rows]:
    """Return pairs of lessons that say nearly the same; each row ends with the `after` of the next call."""
    return _call("similar_pairs", _rows, locals())


def embedder(tenant: UUID | None) -> Call[Rows]:
    """Return one row: name, dimensions, generation, and the next name and dimensions during a change.

    A tenant without vectors has no row.
    """
    return _call("embedder", _rows, locals())


def set_embedder(tenant: UUID | None, name: str, dimensions: int | None = None) -> Call[bool]:
    """Record the embedder of a tenant's vectors; return whether it was not recorded before."""
    return _call("set_embedder", _value, locals())


def begin_reembedding(tenant: UUID | None, dimensions: int, embedder: str | None = None) -> Call[int]:
    """Begin or continue a change of embedder; return the number of texts that are due."""
    return _call("begin_reembedding", _value, locals())


def reembedding_due(
    tenant: UUID | None, after: int | None = None, most: int | None = None, *, hold: bool | None = None
) -> Call[Rows]:
    """Return texts of the next lessons that lack a new vector: lesson's id, number, content and mark."""
    return _call("reembedding_due", _rows, locals())


def reembed(
    tenant: UUID | None,
    lesson_ids: Sequence[int],
    numbers: Sequence[int],
    embeddings: object,
    marks: Sequence[int],
    *,
    embedder: str | None = None,
) -> Call[int]:
    """Store new vectors of texts that were due; return their number, without texts that have changed
    since.
    """
    return _call("reembed", _value, locals())


def finish_reembedding(tenant: UUID | None) -> Call[bool]:
    """Put the new vectors in force; return whether a change was in progress."""
    return _call("finish_reembedding", _value, locals())


def cancel_reembedding(tenant: UUID | None) -> Call[bool]:
    """Cancel a change of embedder; return whether a change was in progress."""
    return _call("cancel_reembedding", _value, locals())


def index(tenant: UUID) -> Call[int]:
    """Insert the missing vectors of a large tenant into its HNSW index; return their number."""
    return _call("index", _value, locals())


def list_lessons(tenant: UUID, columns: Sequence[str] = ("*",)) -> Call[Rows]:
    """Return every lesson of a tenant, including forgotten lessons."""
    return _call("list_lessons", _rows, locals())


def list_edges(tenant: UUID, columns: Sequence[str] = ("*",)) -> Call[Rows]:
    """Return every link of a tenant."""
    return _call("list_edges", _rows, locals())


def open_staging(tenant: UUID) -> Call[Rows]:
    """Return the transaction's staging table for a tenant."""
    return _call("open_staging", _rows, locals())


def check(tenant: UUID | None) -> Call[Rows]:
    """Return the faults of a tenant's index; no rows without a fault."""
    return _call("check", _rows, locals())


def grant_tenant(tenant: UUID, grantee: str, access: str | None = None) -> Call[None]:
    """Grant a role access to a tenant, `read` or `write` (the default); only the extension's owner may
    call it.
    """
    return _call("grant_tenant", _nothing, locals())


def revoke_tenant(tenant: UUID, grantee: str) -> Call[bool]:
    """Revoke a role's access to a tenant; return whether it was granted."""
    return _call("revoke_tenant", _value, locals())


def list_settings(*columns: str) -> Call[Rows]:
    """Return the named columns of every setting, such as name, value, initial, range, warning and meaning."""
    return _call("list_settings", _rows, locals())


def set_setting(name: str, value: str, *, local: bool = False) -> Call[None]:
    """Set `pgmnemo.<name>` for the session, or the transaction; its tenant is the setting `tenant_id`."""
    statement = f"SELECT pg_catalog.set_config(%s, %s, {str(local).lower()})"
    return Call(statement, (f"pgmnemo.{name}", value), _nothing)


def verb_call(verb: str, **given: Any) -> Call[Rows]:
    """Return the call of a verb that has no function here, such as merge_postings, with arguments by name."""
    return _call(verb, _rows, given)


def _call(verb: str, decode: Callable[[Rows], Answer], given: Mapping[str, Any]) -> Call[Answer]:
    """Return the call of a verb with its arguments by name: the tenant, and those that are not None.

    `given` are the `locals()` of a function with the verb's parameters, by their names, and `columns`.
    """
    named = {
        name: _checked_argument(name, value)
        for name, value in given.items()
        if (value is not None or name == "tenant") and name != "columns"
    }
    shape = (verb, tuple(named), tuple(given.get("columns", ("*",))))
    return Call(_statement(*shape), (*named.values(),), decode, verb not in NOT_REPEATABLE, shape)


@cache
def _argument_types() -> dict[str, type]:
    """Return the type of each argument that is a text, a number or a flag; it is the same for every verb."""
    told = [verb.__annotations__ for verb in globals().values() if isinstance(verb, FunctionType)]
    hints = {name: hint for each in told for name, hint in each.items() if each["return"].startswith("Call")}
    return {
        name: ARGUMENT_TYPES[hint.removesuffix(" | None")]
        for name, hint in hints.items()
        if hint.removesuffix(" | None") in ARGUMENT_TYPES
    }


def _checked_argument(name: str, value: Any) -> Any:
    """Return an argument in the form that PostgreSQL accepts.

    Raise UsageError for a wrong type, or a value out of range.
    """
    kind = _argument_types().get(name)
    if kind is None or (kind in (str, bool) and isinstance(value, kind)):
        return value
    if kind is float:
        return _checked_float(name, value)
    if kind is int:
        return _checked_int(name, value)
    wanted = {str: "a text", bool: "True or False"}[kind]
    raise UsageError(f"{CLIENT_NAMES.get(name, name)} is {repr(value)[:40]}, but must be {wanted}")


def _checked_float(name: str, value: Any) -> float:
    number: Any = value if isinstance(value, Real) and not isinstance(value, bool) else None
    if number is None or not abs(number) <= sys.float_info.max:
        raise UsageError(f"{name} is {repr(value)[:40]}, but must be a number")
    return float(number)


def _checked_int(name: str, value: Any) -> int:
    most = INT8 if name in BIGINT_ARGUMENTS else INT4
    fits = isinstance(value, Integral) and not isinstance(value, bool) and -most <= int(value) <= most
    if not fits:
        shown = repr(value)[:40]
        raise UsageError(f"{name} is {shown}, but must be a whole number from {-most:,} to {most:,}")
    return int(value)


@cache
def _statement(function: str, names: tuple[str, ...], columns: tuple[str, ...], settings: int = 0) -> str:
    """Return the statement of a verb, cached for each combination of arguments.

    The call's first argument, the tenant, reads the row that makes the settings, so they are set before the
    call. Every function has its schema: a function planted in another schema could be a better match.
    """
    given = [f'"{name}" => %s{CASTS.get(name, "")}' for name in names]
    if not settings:
        return f"SELECT {', '.join(columns)} FROM pgmnemo.{function}({', '.join(given)})"
    made = ", ".join("pg_catalog.set_config(%s, %s, true)" for _ in range(settings))
    first = f'"{names[0]}" => CASE WHEN made IS NOT NULL THEN %s::uuid END'
    chosen = ", ".join("f.*" if column == "*" else column for column in columns)
    return (
        f"SELECT {chosen} FROM (SELECT {made}) AS s (made), "
        f"LATERAL pgmnemo.{function}({', '.join([first, *given[1:]])}) AS f"
    )


def _rows(rows: Rows) -> Rows:
    return rows


def _row(rows: Rows) -> Any:
    return rows[0]


def _value(rows: Rows) -> Any:
    return rows[0][0]


def _nothing(_: Rows) -> None:
    return None
