# Made of ../aio/scope.py by tools/sync_client.py: edit that one.
"""A scope: the verbs over the lessons of a tenant, or of one of its projects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from os import PathLike
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from pgmnemo import calls
from pgmnemo.calls import Answer, Call
from pgmnemo.client import embed_plan, feedback, naming, scope_calls, staging
from pgmnemo.client import memory_embedder as embedders
from pgmnemo.client.arguments import check_arguments
from pgmnemo.client.blank import is_blank
from pgmnemo.client.lesson_text import MAX_TEXT, LessonText
from pgmnemo.client.memory_embedder import EmbedderRecord
from pgmnemo.client.near_copies import LEAST_WORDS, merge_near_copies
from pgmnemo.client.records import (
    AddResult,
    BatchResult,
    Context,
    Count,
    Duplicate,
    Fact,
    FactResult,
    Feedback,
    Hit,
    Item,
    Lesson,
    Reason,
    SimilarLesson,
    Stats,
    Step,
    Turn,
)
from pgmnemo.client.rendering import about_tokens, only_blocks, render, without_blocks
from pgmnemo.client.scope_calls import (
    RecallOptions,
    checked_time,
    cleared_columns,
    filter_document,
    json_document,
)
from pgmnemo.client.vectors import RealArray
from pgmnemo.errors import MissingError, PgmnemoError, StateError, TooLargeError, UsageError, with_names
from pgmnemo.progress import QUIET, Progress

if TYPE_CHECKING:
    from pgmnemo.client.sync.concurrency import Connection
    from pgmnemo.client.sync.executor import Ask
    from pgmnemo.client.sync.memory import Memory

RECUT = 1_000  # lessons of one transaction


@check_arguments
class Scope:
    """The lessons of a tenant, or of one of its projects; writing needs a project."""

    def __init__(
        self,
        memory: Memory,
        tenant: UUID,
        tenant_name: str,
        project: UUID | None = None,
        project_name: str | UUID | None = None,
        others: Sequence[str | UUID] = (),
    ) -> None:
        self._memory, self.tenant_id, self.project_id = memory, tenant, project
        self._name, self._project_name = tenant_name, project_name
        self._others = tuple(others)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} tenant={self._name!r} project={self._project_name!r}>"

    def project(self, name: str | UUID) -> Scope:
        """Return the scope of one project of the tenant."""
        made = naming.project_id(self.tenant_id, name)
        return Scope(self._memory, self.tenant_id, self._name, made, name, self._others)

    def with_(self, *tenants: str | UUID) -> Scope:
        """Return this scope with other tenants, whose lessons `recall` and `context` return, too.

        Each hit's `tenant` says whose it is. Every other verb keeps to the scope's own tenant. In a project,
        the project of the same name is recalled of each tenant. A tenant that the login may not read raises
        GrantError.
        """
        for name in tenants:
            naming.tenant_id(name)
        return Scope(
            self._memory, self.tenant_id, self._name, self.project_id, self._project_name,
            (*self._others, *tenants),
        )  # fmt: skip

    # Writing

    def add(
        self,
        text: str | Sequence[Turn],
        *,
        key: str | None = None,
        role: str | None = None,
        topic: str | None = None,
        importance: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        at: datetime | None = None,
        expires_at: datetime | None = None,
        commit_sha: str | None = None,
        artifact_hash: str | None = None,
        verified_at: datetime | None = None,
        position: int | None = None,
        passages: Sequence[str] | None = None,
        vector: Sequence[float] | None = None,
        passage_vectors: Sequence[Sequence[float]] | None = None,
        clear: Sequence[str] | None = None,
        language: str | None = None,
        similar: bool | int = False,
    ) -> AddResult:
        """Store a text, or a conversation as one lesson, and return its key and the outcome.

        With a `key` the text is stored under this key. Storing it again gives `unchanged` or `updated`;
        fields that are left out keep their values, and fields named in `clear` are reset. Without a key, a
        text with a `role` follows the project's last turn in its conversation; any other text gets a key of
        its own.

        at: the time of the event (None, for a turn: now).
        language: how the text is cut into words: a code such as `de`, a text search configuration of
            PostgreSQL, or `auto`, which recognizes the language (None: the setting text_config, which is
            auto).
        similar: return the lessons of the project that say nearly the same or share the subject, so that the
            caller can `supersede` one of them; a number, or True for 5.

        Blocks made by `context` are removed from the text. A text without a key that only repeats a lesson
        handed out by `context`, and is not a user's, is not stored: the outcome is `echo`.

        Raise UsageError for an empty text, a naive time, a scope without a project or another embedder than
        the tenant's, and LostError if the connection was lost and it is unknown whether a text without a key
        was stored.
        """
        item = Item(
            text, key, role, topic, importance, metadata, at, expires_at, commit_sha, artifact_hash,
            verified_at, position, passages, vector, passage_vectors, language,
        )  # fmt: skip
        with self._span("upsert_memory" if key else "create_memory") as span:
            found = self._similar_lessons(item, scope_calls.similar_number(similar))
            added = self._add(item, clear)
            span.record(added.key)
            return replace(added, similar=found) if found and added.outcome != "echo" else added

    def _similar_lessons(self, item: Item, limit: int) -> tuple[SimilarLesson, ...]:
        """Return the lessons of the project that say nearly the same as an item, or share its subject."""
        if limit == 0:
            return ()
        text = staging.item_text(item, embed_plan.meter_of(self._memory._embedder)).text
        asked = RecallOptions(k=limit + 1, min_fit=scope_calls.MIN_SIMILAR_FIT)
        query = text[: scope_calls.MAX_SIMILAR_TEXT]
        hits = self._recall_from([self], query, item.vector, asked)
        others = [hit for hit in hits if hit.key != item.key][:limit]
        return tuple(SimilarLesson(hit.key, hit.text, hit.at, hit.fit) for hit in others)

    def _add(self, item: Item, clear: Sequence[str] | None) -> AddResult:
        project = self._require_project()
        if (echo := self._echoed_key(item)) is not None:
            return AddResult(echo, "echo")
        if (text := self._without_blocks(item.text)) is not item.text:
            item = replace(item, text=text)
        spoken = isinstance(item.text, str) and item.role is not None and item.position is None
        spoken = spoken and item.key is None and clear is None
        if spoken and item.at is None:
            item = replace(item, at=datetime.now(UTC))
        [(whole, vectors)] = self._with_vectors([item])
        given = {
            **scope_calls.lesson_fields(item, whole.at),
            **staging.vector_arguments(whole, vectors, self._vector_oid, self._width),
        }
        given |= self._memory._language_argument(item)
        if spoken:
            given.pop("position")
            return self._call(scope_calls.append(self.tenant_id, project, whole.text, **given))
        key = staging.new_key() if item.key is None else staging.checked_key(item.key)
        call = scope_calls.store(
            self.tenant_id, project, key, whole.text, clear=cleared_columns(clear), **given
        )
        return self._call(call)

    def add_many(
        self,
        items: Iterable[Item | str],
        *,
        batch: int = 500,
        progress: Progress = QUIET,
        at: datetime | None = None,
    ) -> BatchResult:
        """Store many lessons, `batch` of them in each transaction, and return the number of each outcome.

        Items without a key get one and follow no conversation: for turns call `add` for each, give them a
        `position`, or make them one Item. If two items of a batch have the same key, the last counts. Items
        with keys can be given again after an error; lessons that are stored already are `unchanged`. Blocks
        made by `context` are removed from the texts; a text that consists only of blocks is an `echo`. An
        error says how many lessons were stored before it. `at` is the time of items without a time.
        """
        project = self._require_project()
        outcomes: Counter[str] = Counter()
        with self._span("upsert_memory") as span:
            for some in progress.track(staging.item_batches(items, batch), "batches of lessons"):
                rest = self._without_context(some)
                try:
                    outcomes.update(self._store_batch(project, rest, at))
                except PgmnemoError as error:
                    done = outcomes.total()
                    error.add_note(
                        f"{done:,} lessons before them are stored; give all again, with their keys"
                    )
                    raise
                outcomes["echo"] += len(some) - len(rest)
            self._memory._finish_load(self.tenant_id, progress=progress)
            span.count(outcomes.total())
        return BatchResult(dict(+outcomes))

    def _store_batch(
        self, project: UUID, items: Sequence[Item], at: datetime | None, maker: EmbedderRecord | None = None
    ) -> dict[str, int]:
        """Store one batch through the staging table, in one transaction.

        `maker` is the embedder of vectors that the items have.
        """
        staging.check_items(items)
        told = [replace(item, at=item.at or at) for item in items]
        rows = [
            staging.staging_row(project, item, whole, vectors, self._vector_oid, self._width)
            for item, (whole, vectors) in zip(told, self._with_vectors(told, maker), strict=True)
        ]
        languages = [self._memory._language_argument(item) for item in items]
        columns = {**staging.COLUMNS, "language": ""} if any(languages) else staging.COLUMNS
        if any(languages):
            rows = [(*row, said.get("language")) for row, said in zip(rows, languages, strict=True)]
        opening = calls.open_staging(self.tenant_id)
        with self._errors_with_names():
            self._memory._ensure_grant(self.tenant_id)
            by = self._memory._embedder_setting(self.tenant_id)
            outcomes = self._memory._executor.copy_staged(opening, columns, rows, by)
        self._memory._loads[self.tenant_id].add(len(rows))
        return outcomes

    def _with_vectors(
        self, items: Sequence[Item], maker: EmbedderRecord | None = None
    ) -> list[tuple[LessonText, staging.LessonVectors]]:
        """Return each item's text and passages with their vectors, which are given or computed here."""
        from pgmnemo.client.sync.concurrency import run_blocking

        pairs = run_blocking(self._with_passages, items)
        texts = [text for pair in pairs for text in staging.texts_to_embed(*pair)]
        rows = self._memory._embed(texts, wholes={whole.text for _, whole in pairs})
        self._memory._warn(self.tenant_id, self._name, [text for text, row in rows.items() if row is None])
        own = self._memory._embedder.record if rows and self._memory._embedder else None
        made = [(whole, staging.lesson_vectors(item, whole, rows, own, maker)) for item, whole in pairs]
        for source in {vectors.source for _, vectors in made if vectors.source is not None}:
            self._check_embedder(source, writing=True)
        return made

    def _with_passages(self, items: Sequence[Item]) -> list[tuple[Item, LessonText]]:
        """Return each item with its passages, within the token limit of the memory's embedder."""
        meter = embed_plan.meter_of(self._memory._embedder)
        return [(item, staging.item_text(item, meter)) for item in items]

    def update(
        self,
        key: str,
        *,
        role: str | None = None,
        topic: str | None = None,
        importance: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        patch: Mapping[str, Any] | None = None,
        at: datetime | None = None,
        expires_at: datetime | None = None,
        verified_at: datetime | None = None,
        position: int | None = None,
        clear: Sequence[str] | None = None,
    ) -> str:
        """Change the given fields of a lesson, never its text or vectors; return `updated` or `unchanged`.

        `patch` sets keys of the metadata, `metadata` replaces all of it, and `clear` names fields to reset.
        """
        call = calls.update(
            self.tenant_id, self._require_project(), key, role=role, topic=topic, importance=importance,
            metadata=json_document(metadata, "metadata"), patch=json_document(patch, "patch"),
            occurred_at=checked_time(at, "at"), expires_at=checked_time(expires_at, "expires_at"),
            verified_at=checked_time(verified_at, "verified_at"), position=position,
            clear=cleared_columns(clear),
        )  # fmt: skip
        with self._span("update_memory", key):
            return self._call(call)

    def used(self, key: str, *, undo: bool = False) -> Feedback:
        """Record that a lesson was of use; three uses raise its importance by 1, to 5 at most.

        The counts are in its metadata (`pgmnemo_feedback`). `undo` takes one use back, and its effect.
        """
        return self._count_feedback(key, "used", undo)

    def wrong(self, key: str, *, undo: bool = False) -> Feedback:
        """Record that a lesson was wrong or of no use where it was recalled; it lowers the importance by 1.

        The importance is 1 at least. `undo` takes it back. `supersede` or `forget` what is untrue.
        """
        return self._count_feedback(key, "wrong", undo)

    def _count_feedback(self, key: str, name: str, undo: bool) -> Feedback:
        project = self._require_project()

        def work(ask: Ask) -> Feedback:
            lesson = ask(scope_calls.get(self.tenant_id, project, key))
            if lesson is None:
                raise MissingError(f"the project has no lesson {key!r}; list tells the keys")
            answer, fields = feedback.counted(lesson, name, undo)
            told: Any = {part: json_document(value, part) for part, value in fields.items()}
            ask(calls.update(self.tenant_id, project, key, importance=answer.importance, **told))
            return answer

        with self._span("update_memory", key):
            return self._locked(work)  # type: ignore[no-any-return]

    def _locked(self, work: Callable[[Ask], Any]) -> Any:
        """Return the result of `work`, run in a transaction that locks the tenant's lessons against other
        writers.
        """
        memory = self._memory
        memory._ensure_grant(self.tenant_id)

        def under(connection: Connection[Any]) -> Any:
            ask = partial(memory._executor.execute, connection)
            for name, value in memory._embedder_setting(self.tenant_id).items():
                ask(calls.set_setting(name, value, local=True))
            # no lesson has an empty key: it only locks
            ask(calls.forget(self.tenant_id, self._require_project(), ""))
            return work(ask)

        return memory._executor.transaction(under, repeatable=False)

    def forget(
        self,
        key: str | None = None,
        *,
        filter: Mapping[str, Any] | None = None,
        all_lessons: bool = False,
        permanent: bool = False,
        dry_run: bool = False,
        revive: bool = False,
    ) -> int:
        """Forget one lesson, all lessons that match a filter, or all of the scope; return their number.

        A forgotten lesson is not recalled until it is stored again. `permanent` and `all_lessons` delete
        lessons from the database. `dry_run` only counts. With `revive`, lessons that a forgotten lesson had
        superseded hold again.
        """
        if (key is not None) + (filter is not None) + all_lessons != 1:
            raise UsageError("forget takes one of: a key, filter=…, all_lessons=True")
        with self._span("delete_memory", key):
            if key is not None:
                return self._forget_one(key, permanent, dry_run, revive)
            if all_lessons:
                return self._forget_all(dry_run)
            call = calls.forget_matching(
                self.tenant_id, filter_document(filter) or "{}", self.project_id, hard=permanent,
                dry_run=dry_run, revive=revive,
            )  # fmt: skip
            return self._call(replace(call, repeatable=dry_run))

    def _forget_one(self, key: str, permanent: bool, dry_run: bool, revive: bool) -> int:
        project = self._require_project()
        if dry_run:
            found = self.get(key)
            return int(found is not None and (permanent or found.active))
        gone: bool = self._call(calls.forget(self.tenant_id, project, key, hard=permanent, revive=revive))
        return int(gone)

    def _forget_all(self, dry_run: bool) -> int:
        every = (self.count(include_inactive=True)).lessons
        if dry_run:
            return every
        gone = self._call(calls.forget_all(self.tenant_id, self.project_id))
        if self.project_id is None:
            self._memory._embedders.pop(self.tenant_id, None)
            self._memory._tenants_with_embedder.discard(self.tenant_id)
        return min(gone, every)

    def delete_expired(self, before: datetime | None = None) -> int:
        """Delete the tenant's lessons that expired before a time (None: now); return their number."""
        return self._call(calls.delete_expired(self.tenant_id, checked_time(before, "before")))

    # Reading

    def recall(
        self,
        query: str | None = None,
        *,
        k: int = 10,
        role: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        filter: Mapping[str, Any] | None = None,
        time_ranges: Sequence[tuple[datetime, datetime]] | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        min_fit: float | None = None,
        duplicates: bool = False,
        mode: str | None = None,
        vector: Sequence[float] | None = None,
    ) -> list[Hit]:
        """Return the `k` lessons that best answer a question, best first.

        role, since, until, filter: restrict the lessons.
        time_ranges: the times that the question means, as pairs (from, to).
        as_of: the present time of the question (None: now).
        valid_at: recall lessons that were valid at this time.
        known_at: use the supersessions that were known at this time.
        min_fit: leave out hits with a smaller fit, from 0 to 1.
        duplicates: return lessons that differ only in case, blanks or punctuation as separate hits; without
            it only the newest of them is a hit.
        mode: hybrid, keyword or vector.
        vector: the question's vector, for a memory without an embedder.

        A lesson that only repeats the question ranks last.
        """
        return self._recall(query, vector, RecallOptions.from_arguments(locals()))

    def _recall(self, query: str | None, vector: Sequence[float] | None, asked: RecallOptions) -> list[Hit]:
        return self._recall_from(self._spanned_scopes(), query, vector, asked)

    def _recall_from(
        self,
        scopes: Sequence[Scope],
        query: str | None,
        vector: Sequence[float] | None,
        asked: RecallOptions,
    ) -> list[Hit]:
        """Return the best hits of scopes; if there are several, each hit has the name of its tenant."""
        with self._span("search_memory") as span:
            made = self._embed_question(query, vector, asked.mode)
            found = [scope._recall_own(query, made, asked) for scope in scopes]
            if len(scopes) > 1:
                named = zip(scopes, found, strict=True)
                labelled = [[replace(hit, tenant=scope._name) for hit in hits] for scope, hits in named]
                hits = scope_calls.merge_hits(labelled, asked.k)
            else:
                [hits] = found
            span.answer(query, hits)
            return hits

    def _spanned_scopes(self) -> list[Scope]:
        """Return the scope of each tenant that a recall spans, this scope's own first, each once."""
        made = {self.tenant_id: self}
        for name in self._others:
            whole = self._memory.tenant(name)
            scope = whole if self._project_name is None else whole.project(self._project_name)
            made.setdefault(scope.tenant_id, scope)
        return list(made.values())

    def _recall_own(
        self, query: str | None, made: tuple[Any, EmbedderRecord] | None, asked: RecallOptions
    ) -> list[Hit]:
        """Return the hits of this scope's own tenant for a question and its vector."""
        row = self._question_vector(made)
        words = (
            "" if query is None and row is None else query
        )  # an empty question returns new and important lessons first
        weights = self._memory._score_weights()
        return self._call(scope_calls.recall(self.tenant_id, self.project_id, words, row, asked, weights))

    def _question_vector(self, made: tuple[Any, EmbedderRecord] | None) -> Any:
        """Return the vector of a question as the tenant's vectors are, or None.

        Raise UsageError if they come from another embedder.
        """
        if made is None:
            return None
        row, own = made
        self._check_embedder(own, writing=False)
        return RealArray(row, self._width)

    def _embed_question(
        self, query: str | None, vector: Sequence[float] | None, mode: str | None
    ) -> tuple[Any, EmbedderRecord] | None:
        """Return the vector of a question and its embedder, or None.

        It is None for a keyword search, a blank question, a script unknown to the embedder, or a memory
        without an embedder.
        """
        if query is not None and len(query) > scope_calls.MAX_QUESTION:
            raise UsageError(
                f"the question has {len(query):,} characters, and {scope_calls.MAX_QUESTION:,} bytes are "
                "taken at most; ask a shorter one"
            )
        if mode == "keyword" or (
            vector is None and (self._memory._embedder is None or query is None or is_blank(query))
        ):
            return None
        if vector is not None:
            rows, own = embedders.caller_vectors([vector], 1)
        else:
            assert query is not None
            assert self._memory._embedder is not None
            made = self._memory._embed([query], question=True)
            if made[query] is None:
                self._memory._warn(self.tenant_id, self._name, [query])
                return None
            rows, own = [made[query]], self._memory._embedder.record
        return rows[0], own

    def context(
        self,
        query: str | None = None,
        *,
        max_tokens: int = 1000,
        count: Callable[[str], int] = about_tokens,
        k: int = 20,
        role: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        filter: Mapping[str, Any] | None = None,
        time_ranges: Sequence[tuple[datetime, datetime]] | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        min_fit: float | None = None,
        duplicates: bool = False,
        least_words: float | None = LEAST_WORDS,
        mode: str | None = None,
        vector: Sequence[float] | None = None,
    ) -> Context:
        """Return recalled lessons as quoted data for a prompt, of at most `max_tokens` by `count`.

        Without a question these are new and important lessons. A lesson that does not fit into the remaining
        tokens is skipped and the next is tried. A lesson that only repeats the question is left out. This
        memory stores neither the block again nor a text that repeats a lesson in it.

        least_words: show only the newest of lessons that share at least this share of their words, 0.5 to 1,
            and differ in no number; with `duplicates`, or None, each is shown.

        The other arguments are those of `recall`.
        """
        from pgmnemo.client.sync.concurrency import run_blocking

        scope_calls.checked_int(max_tokens, "max_tokens", 1, scope_calls.MAX_TOKENS)
        asked = RecallOptions.from_arguments(locals())
        hits = [hit for hit in self._recall(query, vector, asked) if not hit.repeats_question]
        hits = merge_near_copies(hits, None if duplicates else least_words)
        zone = asked.as_of.tzinfo if asked.as_of else None
        found: Context = run_blocking(self._render_context, hits, max_tokens, count, zone)
        return found

    def _render_context(
        self, hits: Sequence[Hit], max_tokens: int, count: Callable[[str], int], zone: tzinfo | None
    ) -> Context:
        """Return the context block of hits, and remember their texts as handed out."""
        found = render(hits, max_tokens, count, zone)
        self._memory._echoes.keep(self.tenant_id, found.hits)
        return found

    def explain(
        self,
        key: str,
        query: str | None = None,
        *,
        k: int = 10,
        role: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        filter: Mapping[str, Any] | None = None,
        time_ranges: Sequence[tuple[datetime, datetime]] | None = None,
        as_of: datetime | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        mode: str | None = None,
        vector: Sequence[float] | None = None,
    ) -> list[Reason]:
        """Return why a lesson ranks where it does for a question, or is not found."""
        asked = RecallOptions.from_arguments(locals())
        row = self._question_vector(self._embed_question(query, vector, mode))
        query = "" if query is None and row is None else query
        call = scope_calls.explain(self.tenant_id, self._require_project(), key, query, row, asked)
        return [replace(one, note=one.note and with_names(one.note, self._names)) for one in self._call(call)]

    def get(self, key: str) -> Lesson | None:
        """Return the lesson with a key, forgotten or not; None if there is no such lesson."""
        return self._call(scope_calls.get(self.tenant_id, self._require_project(), key))

    def count(
        self,
        *,
        role: str | None = None,
        topic: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        filter: Mapping[str, Any] | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        include_inactive: bool = False,
    ) -> Count:
        """Return the number of lessons that `list` yields, and the number that the gate hides."""
        given = scope_calls.list_arguments(locals())
        return self._call(scope_calls.count(self.tenant_id, self.project_id, **given))

    def known(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the SHA-256 of the text (64 hex digits) by key, for each stored key, even if forgotten."""
        return self._call(scope_calls.text_digests(self.tenant_id, self._require_project(), keys))

    # Time, facts, links

    def supersede(
        self,
        old: str,
        new: str | None = None,
        *,
        reason: str | None = None,
        at: datetime | None = None,
    ) -> str:
        """Replace the lesson `old` by `new` from `at` on (None: now), or only end `old`.

        Return `superseded`, `corrected` or `unchanged`.
        """
        call = calls.supersede(
            self.tenant_id, self._require_project(), old, new, reason=reason, at=checked_time(at, "at")
        )
        with self._span("update_memory", old):
            return self._call(call)

    def undo_supersede(self, old: str) -> bool:
        """Undo the supersession of a lesson; return whether it was superseded."""
        return self._call(calls.undo_supersede(self.tenant_id, self._require_project(), old))

    def timeline(self, key: str, *, known_at: datetime | None = None) -> list[Step]:
        """Return a lesson with its predecessors and successors by supersession, oldest first."""
        return self._call(scope_calls.timeline(self.tenant_id, self._require_project(), key, known_at))

    def fact(
        self,
        subject: str,
        relation: str,
        object: str,
        *,
        at: datetime | None = None,
        exclusive: bool = False,
        reason: str | None = None,
        source: str | None = None,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> FactResult:
        """State a fact that holds from `at` on (None: now).

        exclusive: the subject has only one object in this relation, so any other is superseded from `at` on.
        source: the key of the lesson that states the fact.
        text: the fact in words (None: subject, relation and object).
        """
        text = None if text is None or is_blank(text) else text
        words = text or f"{subject} {relation} {object}"
        row = (self._memory._embed([words])).get(words)
        if row is not None and (own := self._memory._embedder) is not None:
            self._check_embedder(own.record, writing=True)
        call = scope_calls.fact(
            self.tenant_id, self._require_project(), subject, relation, object,
            at=checked_time(at, "at"), single=exclusive, reason=reason, source=source, content=text,
            embedding=None if row is None else RealArray(row, self._width),
            metadata=json_document(metadata, "metadata"),
        )  # fmt: skip
        with self._span("upsert_memory"):
            return self._call(call)

    def facts(
        self,
        subject: str | None = None,
        relation: str | None = None,
        object: str | None = None,
        *,
        at: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
        limit: int = 1000,
    ) -> list[Fact]:
        """Return the facts that hold at the time `at` (None: now), as known at the time `known_at`.

        `history` returns all facts that ever held. Subject, relation and object are each None for any.
        """
        scope_calls.checked_int(limit, "limit", 1, calls.INT4)
        call = scope_calls.facts(
            self.tenant_id, self.project_id, subject, relation, object, at=checked_time(at, "at"),
            known_at=checked_time(known_at, "known_at"), history=history, most=limit,
        )  # fmt: skip
        return self._call(call)

    def end_fact(
        self,
        subject: str,
        relation: str,
        object: str | None = None,
        *,
        at: datetime | None = None,
        reason: str | None = None,
    ) -> int:
        """End the facts of a subject and a relation from `at` on (None: now); return their number.

        `object` limits it to one fact; None ends all of them.
        """
        call = calls.end_fact(
            self.tenant_id, self._require_project(), subject, relation, object,
            at=checked_time(at, "at"), reason=reason,
        )  # fmt: skip
        return self._call(call)

    def link(
        self,
        source: str,
        target: str,
        kind: str = "related",
        *,
        weight: float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
    ) -> str:
        """Link two lessons of the project; return `inserted`, `updated` or `unchanged`.

        A link from a lesson that a recall finds raises the score of its target.
        """
        call = calls.link(
            self.tenant_id, self._require_project(), source, target, kind, weight=weight,
            valid_from=checked_time(valid_from, "valid_from"), valid_to=checked_time(valid_to, "valid_to"),
        )  # fmt: skip
        return self._call(call)

    def unlink(self, source: str, target: str, kind: str = "related") -> bool:
        """Remove a link; return whether it existed."""
        return self._call(calls.unlink(self.tenant_id, self._require_project(), source, target, kind))

    def similar(
        self, *, least_cosine: float = 0.95, least_words: float = 0.8, limit: int = 100
    ) -> list[Duplicate]:
        """Return pairs of lessons that say nearly the same.

        They have at least `least_cosine` between their vectors, or at least `least_words` of shared words.
        """
        scope_calls.checked_int(limit, "limit", 1, calls.INT4)
        pairs: list[Duplicate] = []
        after: int | None = 0
        while after is not None and len(pairs) < limit:
            call = scope_calls.similar_pairs(
                self.tenant_id, self.project_id, least_cosine, least_words, after
            )
            page, after = self._call(call)
            pairs += page
        return pairs[:limit]

    # Export, import, maintenance

    def export(
        self,
        place: str | PathLike[str] | IO[bytes],
        *,
        vectors: bool = True,
        progress: Progress = QUIET,
    ) -> int:
        """Write a snapshot of the scope to a new file of JSON lines; return the number of lessons.

        The file has every field, passages, links and supersessions in force, and forgotten lessons.
        Supersessions that were taken back are left out. Ids are not exported: an import assigns new ones, and
        also `stored_at`, which dates a lesson without `at`. A time before the year 1 or after 9999 becomes
        the nearest time in this range.
        """
        from pgmnemo.client import jsonl_rows
        from pgmnemo.client.sync import export_import

        with jsonl_rows.new_file(place) as file, self._errors_with_names():
            return export_import.export_scope(self, file, vectors, progress)

    def import_(
        self,
        place: str | PathLike[str] | IO[bytes],
        *,
        keep_projects: Sequence[str] = (),
        dry_run: bool = False,
        progress: Progress = QUIET,
    ) -> BatchResult:
        """Store the lessons of an export, each in its project, or in the project of this scope if it has one.

        keep_projects: names of the exported tenant's projects, where that tenant had another name: their
            lessons are stored in the projects of these names here. A project is known by an id that comes
            from its name and its tenant's, so without this no name finds it; ForeignProjectWarning tells how
            many lessons that are.

        Vectors are stored unchanged if the memory has no embedder or the same embedder; else the texts are
        embedded again. After an interruption the export can be imported again: existing lessons are
        `unchanged`. A tenant without a `language` gets the language of the export. `dry_run` stores nothing.
        """
        from pgmnemo.client import jsonl_rows
        from pgmnemo.client.sync import export_import

        with jsonl_rows.open_lines(place) as lines, self._errors_with_names():
            return export_import.import_scope(self, lines, keep_projects, dry_run, progress)

    def reembed(self, embedder: Any, *, batch: int = 64, progress: Progress = QUIET) -> int:
        """Change the embedder of a tenant, and then of this memory; return the number of embedded texts.

        The old vectors serve until all new vectors are stored.

        embedder: as in `open`, but not None.
        batch: number of texts that are embedded, and stored, at a time.

        Forgotten, superseded and expired lessons are included. An interrupted change continues at the next
        call. Other writers may write meanwhile, with the old embedder; afterwards their memories must be
        opened with the new embedder.

        Raise UsageError for a scope of one project, or while another change is going on.
        """
        from pgmnemo.client.sync import reembedding

        return reembedding.reembed(self, embedders.memory_embedder(embedder), batch, progress)

    def language(self, language: str | None = None) -> str:
        """Return the tenant's language of texts that are written without one; set it first if given.

        language: `auto` (the default) recognizes the language of each text; `auto:de` uses German for a text
        that is too short to recognize, `auto` English; `de` is the language of all texts. A code, or a text
        search configuration of PostgreSQL.

        Stored lessons do not change until `recut`.
        """
        if language is None:
            return self._call(calls.language(self.tenant_id))
        return self._call(calls.set_language(self.tenant_id, language))

    def recut(self, language: str | None = None, *, progress: Progress = QUIET) -> int:
        """Cut all lessons of the tenant into words again; return the number of changed lessons.

        language: None uses the tenant's language, `auto` recognizes the language of each text, `de` is the
        language of all texts, also of lessons whose writer named another language.

        An interrupted call can be repeated.
        """
        bar = progress.track(range((self.count(include_inactive=True)).lessons), "lessons")
        changed = 0
        after: int | None = 0
        while after is not None:
            some, after = self._call(calls.recut(self.tenant_id, language, after=after, most=RECUT))
            changed += some
            for _ in zip(range(RECUT), bar, strict=False):
                pass
        for _ in bar:
            pass
        return changed

    def stats(self) -> Stats:
        """Return the counts of the scope, the tenant's embedder, and the versions of the database."""
        found, every = self.count(), self.count(include_inactive=True)
        held = self._memory._stored_embedder(self.tenant_id)
        [(postgresql, pgvector)] = self._memory._executor.call(scope_calls.VERSIONS)
        return Stats(
            self.tenant_id, self.project_id, found.lessons, found.hidden, every.lessons,
            held.embedder if held else None, held.dimensions if held else None, self._memory._server.version,
            postgresql, pgvector, self._memory._place,
        )  # fmt: skip

    # Helpers

    @property
    def _vector_oid(self) -> int:
        return int(self._memory._server.vector_oid)

    @property
    def _width(self) -> int:
        return self._memory._width(self.tenant_id)

    def _require_project(self) -> UUID:
        if self.project_id is None:
            raise UsageError("this needs a project: say which, by `project` or scope.project('kitchen')")
        return self.project_id

    def _call(self, call: Call[Answer]) -> Answer:
        with self._errors_with_names():
            return self._memory._call(self.tenant_id, call)

    def _check_embedder(self, own: EmbedderRecord, *, writing: bool) -> None:
        """Raise UsageError if the tenant's vectors come from another embedder.

        With `writing`, a tenant without an embedder stores this one.
        """
        with self._errors_with_names():
            self._memory._check_embedder(self.tenant_id, self._name, own, writing=writing)

    @contextmanager
    def _errors_with_names(self) -> Iterator[None]:
        """Write the caller's names of tenant and project into errors raised in the block."""
        try:
            yield
        except StateError as error:
            raise error.with_names(self._names) from None

    @property
    def _names(self) -> dict[UUID | None, str | None]:
        project = None if self._project_name is None else str(self._project_name)
        return {self.tenant_id: self._name, self.project_id: project}

    def _span(self, operation: str, key: str | None = None) -> AbstractContextManager[Any]:
        return self._memory._tracing.span(operation, self.tenant_id, key)

    def _echoed_key(self, item: Item) -> str | None:
        """Return the key of this project's current lesson that a text repeats, if this memory has handed out
        that lesson; "" for a text that consists of context blocks.

        Return None for a user's text or a text with its own key: neither is an echo.
        """
        if not isinstance(item.text, str) or len(item.text) > MAX_TEXT:
            return None
        if only_blocks(item.text):
            return ""
        own, echoes = item.key is not None or item.role == "user", self._memory._echoes
        key = None if own else echoes.lesson_of(self.tenant_id, self.project_id, item.text)
        if key is None:
            return None
        return key if echoes.repeats(self.tenant_id, item.text, self.get(key)) else None

    def _without_context(self, items: Sequence[Item]) -> list[Item]:
        """Return the items without their context blocks, and drop the items that consist only of blocks."""
        kept = [item for item in items if not (isinstance(item.text, str) and only_blocks(item.text))]
        return [replace(item, text=self._without_blocks(item.text)) for item in kept]

    def _without_blocks(self, text: str | Sequence[Turn]) -> str | Sequence[Turn]:
        if isinstance(text, str):
            return without_blocks(text)
        return [_turn_without_blocks(turn) for turn in text] if isinstance(text, list | tuple) else text

    # Last, because it hides the builtin `list` in the rest of the class

    def list(
        self,
        *,
        role: str | None = None,
        topic: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        filter: Mapping[str, Any] | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        include_inactive: bool = False,
        newest: bool = False,
        limit: int | None = None,
    ) -> Iterator[Lesson]:
        """Yield lessons in the order in which they were first stored, or the `newest` first.

        These are the lessons that a recall could return, at most `limit`; `include_inactive` adds forgotten
        and superseded lessons.
        """
        if limit is not None:
            scope_calls.checked_int(limit, "limit", 1, calls.INT4)
        given = scope_calls.list_arguments(locals())
        yield from self._iter_lessons(self._call, limit, newest=newest, **given)

    def _iter_lessons(
        self, ask: Callable[[Call[Any]], Any], limit: int | None = None, **given: Any
    ) -> Iterator[Lesson]:
        """Yield at most `limit` lessons (None: all), page by page; `ask` sends the calls."""
        after, left, size = None, limit, scope_calls.PAGE_SIZE
        while left is None or left > 0:
            wanted = size if left is None else min(left + 1, size)
            try:
                page = ask(scope_calls.list_page(self.tenant_id, self.project_id, after, wanted, **given))
            except TooLargeError:
                if wanted == 1:
                    raise
                size = max(1, wanted // 8)
                continue
            for lesson in page:
                if left != 0:
                    yield lesson
                    left = None if left is None else left - 1
            if len(page) < wanted:
                return
            after = page[-1].id


def _turn_without_blocks(turn: Turn) -> Turn:
    """Return a turn without the blocks that `context` made."""
    told = isinstance(turn, Turn) and isinstance(turn.text, str)
    return replace(turn, text=without_blocks(turn.text)) if told else turn
