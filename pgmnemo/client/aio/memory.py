"""A memory: opening and closing, embedder, settings and tenants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from pgmnemo import calls
from pgmnemo.calls import Answer, Call
from pgmnemo.client import embed_plan, naming, scope_calls, staging
from pgmnemo.client import memory_embedder as embedders
from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.client.arguments import check, check_arguments
from pgmnemo.client.echoes import Echoes
from pgmnemo.client.loads import Load
from pgmnemo.client.location import resolve_location
from pgmnemo.client.memory_embedder import EmbedderRecord, MemoryEmbedder
from pgmnemo.client.records import Item
from pgmnemo.client.tracing import Tracing
from pgmnemo.errors import HiddenError, PgmnemoError, UsageError
from pgmnemo.progress import QUIET, Progress

if TYPE_CHECKING:
    from pgmnemo.client.aio.executor import AsyncExecutor
    from pgmnemo.probe import ServerInfo

TABLES = ("lesson", "lesson_vector", "passage", "posting", "segment", "segment_term")
VACUUM = f"VACUUM (ANALYZE) {', '.join(f'pgmnemo.{table}' for table in TABLES)}"


@check_arguments
class AsyncMemory:
    """An open memory, in a folder (the memory starts and stops its PostgreSQL) or in a database.

    Create it by `open`. Threads can share a synchronous memory, and tasks an asynchronous memory.
    """

    def __init__(
        self,
        executor: AsyncExecutor,
        server: ServerInfo,
        embedder: MemoryEmbedder | None,
        place: str,
        role: str,
        tracing: Tracing,
    ) -> None:
        self._executor, self._server, self._embedder = executor, server, embedder
        self._place, self._role, self._tracing = place, role, tracing
        self._weights: dict[str, float] | None = None
        self._embedders: dict[UUID, EmbedderRecord] = {}
        self._tenants_with_embedder: set[UUID] = set()  # tenants known to remember an embedder
        self._dimensions: dict[UUID, int] = {}  # dimensions of a tenant's vectors
        self._granted: set[UUID] = set()
        self._warned: set[UUID] = set()  # tenants with a warning about a text without a vector
        self._embedder_queue: Any = None
        self._loads: defaultdict[UUID, Load] = defaultdict(Load)
        self._scheduled = not role  # whether a scheduler maintains the memory, as it does a database
        self._echoes = Echoes()

    @classmethod
    async def open(
        cls,
        place: Any = None,
        *,
        embedder: Any = embedders.LOCAL,
        settings: Mapping[str, object] | None = None,
        connections: int = 8,
        retry_timeout: float = 30.0,
        tracer: Any = None,
        trace_texts: bool = False,
        progress: Progress = QUIET,
    ) -> Self:
        """Open the memory in a folder, or in the database of a DSN, a connection or a pool.

        place: a folder, a DSN, a connection of psycopg, or a pool of psycopg_pool. None is the value of
            PGMNEMO_MEMORY, else a folder in the user's data directory. The caller closes a given connection
            or pool; within the caller's own transaction no call is retried.
        embedder: `local` (MiniLM, int8, in the extra `local`), another name of `pgmnemo.embedders` with
            options such as "endpoint model=M endpoint_url=URL", a function that returns one vector for each
            text, a pair of functions (questions, documents), an object with `embed_documents` and
            `embed_query` (`pgmnemo.client.embedder_forms`), or None or `none`: recall by words only.
        settings: settings of pgmnemo for each call of this memory, such as {"assistant_weight": 1}.
        connections: most connections that are open at once.
        retry_timeout: seconds during which a failed call is retried.
        tracer: a tracer of OpenTelemetry; `trace_texts` adds questions and texts to its spans.
        progress: where a long start is reported.

        Raise UsageError for an invalid argument, DatabaseError if the database cannot be used, and
        EmbedderError if the packages of the embedder are missing.
        """
        from pgmnemo.client.aio import connect

        embedding = embedders.memory_embedder(embedder)
        given = {name: str(value) for name, value in (settings or {}).items()}
        start = await connect.open_database(
            resolve_location(place), given, connections, retry_timeout, progress
        )
        memory = cls(
            start.executor, start.server, embedding, start.place, start.role, Tracing(tracer, trace_texts)
        )
        if given:
            try:
                await memory._score_weights()
            except PgmnemoError:
                await memory.close()
                raise
        return memory

    def __reduce__(self) -> Any:
        raise UsageError(
            "a memory holds connections and cannot be copied or pickled; hand on its place, and open it there"
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is not None:  # such as an interrupt, after which nobody waits for an index
            self._loads.clear()
        await self.close()

    async def close(self) -> None:
        """Close this memory's connections; the last memory open on a folder stops the folder's PostgreSQL."""
        for tenant in list(self._loads):
            await self._finish_load(tenant, closing=True)
        await self._executor.close()

    @property
    def place(self) -> str:
        """The location of the memory, in words and without a password."""
        return self._place

    @property
    def version(self) -> str:
        """The version of the extension."""
        return str(self._server.version)

    def tenant(self, name: str | UUID) -> AsyncScope:
        """Return the scope of a tenant's lessons; `pgmnemo.client.naming` makes a uuid of a name."""
        return AsyncScope(self, naming.tenant_id(name), str(name))

    async def grant(self, tenant: str | UUID, role: str | None = None, access: str = "write") -> None:
        """Grant a role (None: the logged-in role) access to a tenant; only the extension's owner may.

        access: `write`, or `read` for recall and the other verbs that change nothing. Granting again with
            another access changes it.
        """
        granted = calls.grant_tenant(naming.tenant_id(tenant), role or self._server.role, access)
        await self._executor.call(granted)

    async def _call(self, tenant: UUID, call: Call[Answer]) -> Answer:
        await self._ensure_grant(tenant)
        return await self._executor.call(call, self._embedder_setting(tenant))

    def _embedder_setting(self, tenant: UUID) -> dict[str, str]:
        """Return the setting that names the embedder of a tenant's vectors to the extension, in case another
        session changes it.
        """
        held = self._embedders.get(tenant)
        return (
            {} if held is None else {"embedder": staging.embedder_label(held, self._dimensions.get(tenant))}
        )

    def _language_argument(self, item: Item) -> dict[str, str]:
        """Return the argument that names an item's language, nothing without one."""
        return {} if item.language is None else {"language": item.language}

    async def _ensure_grant(self, tenant: UUID) -> None:
        """Grant a tenant to the role of a folder before the tenant's first use; do nothing for a database.

        The user of a folder may use every tenant in it.
        """
        if self._role and tenant not in self._granted:
            await self.grant(tenant, self._role)
            self._granted.add(tenant)

    async def _finish_load(self, tenant: UUID, *, closing: bool = False, progress: Progress = QUIET) -> None:
        """Index, merge and vacuum lessons that sets stored in a folder, if they are many.

        Until then a recall reads each new vector, which takes 0.2 s for 100,000 lessons.
        """
        load = self._loads[tenant]
        if self._scheduled or not load.is_due(closing=closing):
            return
        load.waiting = 0
        progress.say("indexing the lessons")
        with suppress(PgmnemoError):  # the lessons are stored, and found without it
            await self._executor.call(calls.index(tenant))
            await self._executor.call(calls.verb_call("merge_postings", tenant=tenant))
            await self._executor.statement(VACUUM)

    # Vectors

    async def _warm(self) -> None:
        """Load the embedder's model by a first question; a fault is left to the first call."""
        with suppress(PgmnemoError):
            await self._embed(["The first text loads the model."], question=True)

    async def _embed(
        self,
        texts: Sequence[str],
        *,
        question: bool = False,
        by: MemoryEmbedder | None = None,
        wholes: Collection[str] = (),
    ) -> dict[str, Any]:
        """Return the vector of each text, made by the embedder `by` (None: the memory's); empty without an
        embedder.

        The vector is None for a text in a script unknown to the embedder. Texts in `wholes` are embedded by
        their beginning, all other texts in full.
        """
        if (own := by or self._embedder) is None or not texts:
            return {}
        from pgmnemo.client.aio.concurrency import EmbedderQueue, call_embedder, run_blocking

        self._executor.check_loop()
        for text in texts:
            check("a text", text, str)
        self._embedder_queue = self._embedder_queue or EmbedderQueue()
        planned = await run_blocking(partial(embed_plan.plan_texts, own, texts, wholes, question=question))
        rows: dict[str, Any] = {}
        for batch in own.batches([part for parts in planned.values() for part in parts]):
            async with self._embedder_queue.turn(question):
                if question:
                    answer = await call_embedder(own.queries, batch, own.queries_are_async)
                else:
                    answer = await call_embedder(own.documents, batch, own.documents_are_async)
            rows.update(own.vectors_by_text(batch, answer))
        return embed_plan.merge_vectors(planned, rows)

    def _warn(self, tenant: UUID, name: str, unknown: Iterable[str]) -> None:
        """Warn once for each tenant that a text with letters has no vector: the embedder does not know it."""
        if (
            tenant not in self._warned
            and self._embedder is not None
            and any(map(str.isalpha, chain.from_iterable(unknown)))
        ):
            self._warned.add(tenant)
            embed_plan.warn_unknown_script(self._embedder.name, name)

    async def _check_embedder(self, tenant: UUID, name: str, own: EmbedderRecord, *, writing: bool) -> None:
        """Raise UsageError if a tenant's vectors come from another embedder.

        With `writing`, a tenant without an embedder stores this one.
        """
        if writing and tenant not in self._tenants_with_embedder:
            await self._store_embedder(tenant, own)
            self._tenants_with_embedder.add(tenant)
        if (held := self._embedders.get(tenant)) is None and (
            held := await self._stored_embedder(tenant)
        ) is not None:
            self._embedders[tenant] = held
        embedders.check_same_embedder(held, own, name)

    async def _stored_embedder(
        self, tenant: UUID, ask: Callable[[Call[Any]], Any] | None = None
    ) -> EmbedderRecord | None:
        """Return the embedder that a tenant stores, None if it stores none; `ask` sends the call (None: this
        memory).
        """
        ask = ask or partial(self._call, tenant)
        space = await ask(staging.get_embedder(tenant))
        self._dimensions[tenant] = space.dimensions if space else 0
        return space.identity if space else None

    async def _store_embedder(self, tenant: UUID, own: EmbedderRecord) -> None:
        """Store `own` as the tenant's embedder, unless it has one."""
        space = await self._call(tenant, staging.get_embedder(tenant))
        if space is not None and space.name is not None:
            return
        with suppress(HiddenError):  # another embedder was stored meanwhile, or has another dimension
            await self._call(tenant, calls.set_embedder(tenant, staging.embedder_label(own), own.dimensions))

    def _width(self, tenant: UUID) -> int:
        """Return the width to which a tenant's vectors are padded with zeros."""
        return self._dimensions.get(tenant, 0)

    async def _score_weights(self) -> Mapping[str, float]:
        """Return the weights of the score, read once from the database."""
        if self._weights is None:
            rows = await self._executor.call(calls.list_settings("name", "value"))
            scope_calls.check_settings(self._executor.settings, rows)
            self._weights = {
                **scope_calls.score_weights(rows),
                **scope_calls.score_weights([*self._executor.settings.items()]),
            }
        return self._weights
