# Made of ../aio/memory.py by `make sync`: edit that one.
"""A memory: opened and closed, its embedder and settings, and the tenants in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Self
from uuid import UUID

from pgmnemo import calls
from pgmnemo.calls import Answer, Call
from pgmnemo.client import embedding as embedders
from pgmnemo.client import measuring, naming, requests, staging
from pgmnemo.client.arguments import check, checked
from pgmnemo.client.echoes import Echoes
from pgmnemo.client.embedding import Embedding, Remembered
from pgmnemo.client.location import resolve_location
from pgmnemo.client.records import Item
from pgmnemo.client.sync.scope import Scope
from pgmnemo.client.tracing import Tracing
from pgmnemo.errors import HiddenError, PgmnemoError, UsageError
from pgmnemo.progress import QUIET, Progress


@checked
class Memory:
    """An open memory, in a folder (the memory starts and stops its PostgreSQL) or in a database.

    `open` makes it. Threads can share a synchronous memory, tasks an asynchronous one.
    """

    def __init__(
        self, channel: Any, opened: Any, embedding: Embedding | None, place: str, role: str, tracing: Tracing
    ) -> None:
        self._channel, self._opened, self._embedding = channel, opened, embedding
        self._place, self._role, self._tracing = place, role, tracing
        self._weights: dict[str, float] | None = None
        self._remembered: dict[UUID, Remembered] = {}
        self._noted: set[UUID] = set()  # tenants known to remember an embedder
        self._kept: dict[UUID, int] = {}  # numbers of each vector of a tenant
        self._let_in: set[UUID] = set()
        self._unread: set[UUID] = set()  # tenants with a warning about a text without a vector
        self._turns: Any = None
        self._echoes = Echoes()

    @classmethod
    def open(
        cls,
        place: Any = None,
        *,
        embedder: Any = embedders.LOCAL,
        settings: Mapping[str, object] | None = None,
        connections: int = 8,
        patience: float = 30.0,
        tracer: Any = None,
        trace_texts: bool = False,
        progress: Progress = QUIET,
    ) -> Self:
        """Open the memory in a folder, or in the database of a DSN, a connection or a pool.

        place: None is what PGMNEMO_MEMORY names, else a folder among the user's data. A connection or a pool
            stays the caller's; in a transaction of the caller's nothing is tried again.
        embedder: `local` (MiniLM, int8, in the extra `local`), another name of `pgmnemo.embedders`, with
            options such as "endpoint model=M endpoint_url=URL", a function from texts to as many vectors, a
            pair of them (questions, documents), an object with `embed_documents` and `embed_query`
            (`pgmnemo.client.embedder_forms`), or None: words alone.
        settings: of pgmnemo, such as {"assistant_weight": 1}, for each call of this memory.
        connections: most that are open at once. patience: seconds in which a call is tried again.
        tracer: of OpenTelemetry; `trace_texts` puts questions and answers into its spans.

        UsageError for what cannot be meant, DatabaseError where there is no such database, EmbedderError for
        an embedder whose packages are missing.
        """
        from pgmnemo.client.sync import starting

        embedding = embedders.embedding_of(embedder)
        given = {name: str(value) for name, value in (settings or {}).items()}
        start = starting.start(resolve_location(place), given, connections, patience, progress)
        memory = cls(
            start.channel, start.opened, embedding, start.place, start.role, Tracing(tracer, trace_texts)
        )
        if given:
            try:
                memory._in_force()
            except PgmnemoError:
                memory.close()
                raise
        return memory

    def __reduce__(self) -> Any:
        raise UsageError(
            "a memory holds connections and cannot be copied or pickled; hand on its place, and open it there"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what this memory opened; the last one out stops the PostgreSQL of a folder."""
        self._channel.close()

    @property
    def place(self) -> str:
        """Where it lies, in words and without a password."""
        return self._place

    @property
    def version(self) -> str:
        """That of the extension."""
        return str(self._opened.version)

    def tenant(self, name: str | UUID) -> Scope:
        """Return all lessons of a tenant; a name becomes a uuid by a rule (`pgmnemo.client.naming`)."""
        return Scope(self, naming.tenant_id(name), str(name))

    def grant(self, tenant: str | UUID, role: str | None = None) -> None:
        """Let a role (None: the one that is logged in) work for a tenant; the extension's owner may."""
        self._channel.call(calls.grant_tenant(naming.tenant_id(tenant), role or self._opened.role))

    def _call(self, tenant: UUID, call: Call[Answer]) -> Answer:
        self._enter(tenant)
        return self._channel.call(call, self._maker(tenant))  # type: ignore[no-any-return]

    def _maker(self, tenant: UUID) -> dict[str, str]:
        """Return the setting that names the embedder of a tenant's vectors to the extension, in case another
        session changes it.
        """
        held = self._remembered.get(tenant)
        return {} if held is None else {"embedder": staging.name_of(held, self._kept.get(tenant))}

    def _language(self, item: Item) -> dict[str, str]:
        """Return the argument that names an item's language, nothing without one."""
        return {} if item.language is None else {"language": item.language}

    def _enter(self, tenant: UUID) -> None:
        """Grant the tenant to a folder's role before its first use: a folder's user may work for every
        tenant.
        """
        if self._role and tenant not in self._let_in:
            self.grant(tenant, self._role)
            self._let_in.add(tenant)

    # Vectors

    def _rows(
        self,
        texts: Sequence[str],
        *,
        question: bool = False,
        by: Embedding | None = None,
        wholes: Collection[str] = (),
    ) -> dict[str, Any]:
        """Return the vector of each text, by the given embedder or the memory's; empty without an embedder.

        A text in a script unknown to the embedder has None. Texts in `wholes` are embedded by their
        beginning, all other texts in full.
        """
        if (own := by or self._embedding) is None or not texts:
            return {}
        from pgmnemo.client.sync.waiting import Turns, ask, run

        self._channel.check_loop()
        for text in texts:
            check("a text", text, str)
        self._turns = self._turns or Turns()
        planned = run(partial(measuring.plan, own, texts, wholes, question=question))
        rows: dict[str, Any] = {}
        for batch in own.asks([part for parts in planned.values() for part in parts]):
            with self._turns.turn(question):
                if question:
                    answer = ask(own.queries, batch, own.asks_asynchronously)
                else:
                    answer = ask(own.documents, batch, own.asynchronous)
            rows.update(own.answered(batch, answer))
        return measuring.together(planned, rows)

    def _warn(self, tenant: UUID, name: str) -> None:
        """Say once of a tenant that a text has no vector because the embedder does not know its script."""
        if tenant not in self._unread and self._embedding is not None:
            self._unread.add(tenant)
            measuring.warn(self._embedding.name, name)

    def _fit(self, tenant: UUID, name: str, own: Remembered, *, writing: bool) -> None:
        """Raise UsageError if a tenant's vectors come from another embedder; the first writer's embedder is
        remembered.
        """
        if writing and tenant not in self._noted:
            self._note(tenant, own)
            self._noted.add(tenant)
        if (held := self._remembered.get(tenant)) is None and (held := self._held(tenant)) is not None:
            self._remembered[tenant] = held
        embedders.check(held, own, name)

    def _held(self, tenant: UUID, ask: Callable[[Call[Any]], Any] | None = None) -> Remembered | None:
        """Return the embedder that a tenant remembers, read through `ask` or by a call of its own."""
        ask = ask or partial(self._call, tenant)
        space = ask(staging.space(tenant))
        self._kept[tenant] = space.kept if space else 0
        return space.held if space else None

    def _note(self, tenant: UUID, own: Remembered) -> None:
        """Store `own` as the tenant's embedder, unless it has one."""
        space = self._call(tenant, staging.space(tenant))
        if space is not None and space.name is not None:
            return
        with suppress(HiddenError):  # another was noted just now, or is of another dimension
            self._call(tenant, calls.set_embedder(tenant, staging.name_of(own), own.dimensions))

    def _width(self, tenant: UUID) -> int:
        """Return the width to which a tenant's vectors are padded with zeros."""
        return self._kept.get(tenant, 0)

    def _in_force(self) -> Mapping[str, float]:
        """Return the weights of scores, asked once."""
        if self._weights is None:
            rows = self._channel.call(calls.list_settings("name", "value"))
            requests.check_settings(self._channel.settings, rows)
            self._weights = {**requests.weights(rows), **requests.weights(self._channel.settings.items())}
        return self._weights
