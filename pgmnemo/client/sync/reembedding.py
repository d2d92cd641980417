# Made of ../aio/reembedding.py by tools/sync_client.py: edit that one.
"""Re-embed a tenant's texts with another embedder, batch by batch, while the old vectors serve."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pgmnemo import calls
from pgmnemo.calls import Rows
from pgmnemo.client import embed_plan, staging
from pgmnemo.client.memory_embedder import MemoryEmbedder
from pgmnemo.client.records import Item
from pgmnemo.client.sync.concurrency import Connection
from pgmnemo.client.sync.executor import Ask
from pgmnemo.client.vectors import VectorArray
from pgmnemo.errors import HiddenError, UsageError
from pgmnemo.passages.windows import ROLE, WINDOWS, cut, turns_of
from pgmnemo.progress import Progress

if TYPE_CHECKING:
    from pgmnemo.client.sync.scope import Scope

PASSES = 10  # passes before the rest is embedded while writers wait


def reembed(scope: Scope, embedding: MemoryEmbedder | None, batch: int, progress: Progress) -> int:
    """Change a tenant's embedder, or continue a change; return the number of embedded texts."""
    memory, tenant = scope._memory, scope.tenant_id
    if embedding is None:
        raise UsageError("reembed needs an embedder, and none was given; name one")
    if scope.project_id is not None:
        raise UsageError("all of a tenant has one embedder; call reembed on the tenant")
    if not 1 <= batch <= 1_000:
        raise UsageError(f"batch is {batch}, but must be from 1 to 1,000")
    if embedding.dimensions is None:
        memory._embed(["How many numbers?"], by=embedding)
    change = _EmbedderChange(scope, embedding, batch)
    space = scope._call(staging.get_embedder(tenant))
    wanted = change.name, embedding.record.dimensions
    if space is not None and ((space.name, space.dimensions) != wanted or space.next_dimensions is not None):
        total = scope._call(calls.begin_reembedding(tenant, wanted[1], change.name))
        change.bar = progress.track(range(total), "texts")
        try:
            change.run()
        except HiddenError:  # another process with the same change may have finished it
            space = scope._call(staging.get_embedder(tenant))
            if space is None or space.name != change.name:
                raise
        for _ in change.bar:
            pass
    memory._embedder = embedding
    memory._embedders.pop(tenant, None)
    return change.done + _embed_missing(scope, batch)


def _embed_missing(scope: Scope, batch: int) -> int:
    """Embed lessons without vectors, in scripts unknown to the former embedder; return their number."""
    rows = scope._call(staging.lessons_without_vectors(scope.tenant_id))
    for start in range(0, len(rows), batch):
        for project, some in groupby(rows[start : start + batch], itemgetter(0)):
            items = [Item(text, key, passages=parts or None) for _, key, text, parts in some]
            scope._store_batch(project, items, None)
    return len(rows)


class _EmbedderChange:
    """A running change of a tenant's embedder."""

    def __init__(self, scope: Scope, embedding: MemoryEmbedder, batch: int) -> None:
        self.scope, self.tenant, self.embedding, self.batch = scope, scope.tenant_id, embedding, batch
        self.name = staging.embedder_label(embedding.record)
        self.width = embedding.record.dimensions
        self.bar: Iterator[Any] = iter(())
        self.done = 0

    def run(self) -> None:
        """Embed the due texts in passes until few are left, then the rest under a lock against writers."""
        memory = self.scope._memory
        for left in reversed(range(PASSES)):
            after: int | None = None
            while rows := self.scope._call(calls.reembedding_due(self.tenant, after, self.batch)):
                self._store_vectors(rows, self.scope._call)
                after = rows[-1][0]
            self.scope._call(calls.index(self.tenant))
            if memory._executor.transaction(partial(self._finish, left)):
                return

    def _finish(self, left: int, connection: Connection[Any]) -> bool:
        """Embed the texts that became due meanwhile and switch the embedder, in a transaction, unless too
        many are due.
        """
        ask = partial(self.scope._memory._executor.execute, connection)
        while rows := ask(calls.reembedding_due(self.tenant, most=self.batch, hold=True)):
            if left and len(rows) >= self.batch:
                return False
            self._store_vectors(rows, ask)
        ask(calls.finish_reembedding(self.tenant))
        space = ask(staging.get_embedder(self.tenant))
        if space is not None and space.name != self.name:
            raise UsageError("somebody else has given up this change of embedder; call reembed again")
        return True

    def _store_vectors(self, rows: Rows, ask: Ask) -> None:
        texts = [text for _, some in groupby(rows, itemgetter(0)) for text in self._texts(list(some), ask)]
        wholes = {text for text, row in zip(texts, rows, strict=True) if row[1] == 0}
        made = self.scope._memory._embed(texts, by=self.embedding, wholes=wholes)
        made = {
            text: embed_plan.random_vector(text, self.width) if row is None else row
            for text, row in made.items()
        }
        for start in range(0, len(rows), self.batch):
            ids, numbers, _, marks = map(list, zip(*rows[start : start + self.batch], strict=True))
            vectors = VectorArray(
                [made[text] for text in texts[start : start + self.batch]], self.scope._vector_oid
            )
            call = calls.reembed(self.tenant, ids, numbers, vectors, marks, embedder=self.name)
            self.done += ask(call)
            for _ in zip(ids, self.bar, strict=False):
                pass

    def _texts(self, rows: Rows, ask: Ask) -> list[str]:
        """Return the text to embed for each row: of passages cut by the rule, only the words of the turn."""
        lesson, number, content, _ = rows[0]
        if number > 0:  # the row is a passage; the whole lesson has its vector already
            given = {"after": lesson - 1, "most": 1, "everything": True, "columns": ("content",)}
            content = (ask(calls.list_page(self.tenant, **given)) or [[content]])[0][0]
        turns, chat = turns_of(content) if rows[-1][1] > 0 else ([], False)
        said: dict[str, Any] = {passage.text: passage.embedded for passage in cut(turns, WINDOWS)}
        head = ROLE.pattern if chat else "(?!)"  # the speaker at the head of a piece
        return [row[2] if row[1] == 0 else said.get(row[2]) or re.sub(f"^{head}", "", row[2]) for row in rows]
