# Made of ../aio/reembedding.py by `make sync`: edit that one.
"""Re-embed a tenant's texts with another embedder, batch by batch, while the old vectors serve."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pgmnemo import calls
from pgmnemo.calls import Call, Rows
from pgmnemo.client import measuring, staging
from pgmnemo.client.embedding import Embedding
from pgmnemo.client.records import Item
from pgmnemo.client.sync.waiting import Connection
from pgmnemo.client.vectors import Vectors
from pgmnemo.errors import HiddenError, UsageError
from pgmnemo.passages.windows import ROLE, WINDOWS, cut, turns_of
from pgmnemo.progress import Progress

if TYPE_CHECKING:
    from pgmnemo.client.sync.scope import Scope

PASSES = 10  # after which the rest is embedded while writers wait
Ask = Callable[[Call[Any]], Any]


def reembed(scope: Scope, embedding: Embedding | None, batch: int, progress: Progress) -> int:
    """Change a tenant's embedder, or continue a change; return the number of embedded texts."""
    memory, tenant = scope._memory, scope.tenant_id
    if embedding is None:
        raise UsageError("reembed takes an embedder, and None is none; name one")
    if scope.project_id is not None:
        raise UsageError("all of a tenant has one embedder; call reembed on the tenant")
    if not 1 <= batch <= 1_000:
        raise UsageError(f"batch is {batch}, but must be from 1 to 1,000")
    if embedding.dimensions is None:
        memory._rows(["How many numbers?"], by=embedding)
    change = _Change(scope, embedding, batch)
    space = scope._call(staging.space(tenant))
    wanted = change.name, embedding.remembered.dimensions
    if space is not None and ((space.name, space.kept) != wanted or space.next_kept is not None):
        total = scope._call(calls.begin_reembedding(tenant, wanted[1], change.name))
        change.bar = progress.track(range(total), "texts")
        try:
            change.carry_out()
        except HiddenError:  # another process that does the same may have ended it
            space = scope._call(staging.space(tenant))
            if space is None or space.name != change.name:
                raise
        for _ in change.bar:
            pass
    memory._embedding = embedding
    memory._remembered.pop(tenant, None)
    return change.done + _bare(scope, batch)


def _bare(scope: Scope, batch: int) -> int:
    """Give vectors to lessons that have none, as the former embedder did not know their script; how many."""
    rows = scope._call(staging.bare(scope.tenant_id))
    for start in range(0, len(rows), batch):
        for project, some in groupby(rows[start : start + batch], itemgetter(0)):
            items = [Item(text, key, passages=parts or None) for _, key, text, parts in some]
            scope._stage(project, items, None)
    return len(rows)


class _Change:
    """A change on its way."""

    def __init__(self, scope: Scope, embedding: Embedding, batch: int) -> None:
        self.scope, self.tenant, self.embedding, self.batch = scope, scope.tenant_id, embedding, batch
        self.name = staging.name_of(embedding.remembered)
        self.width = embedding.remembered.dimensions
        self.bar: Iterator[Any] = iter(())
        self.done = 0

    def carry_out(self) -> None:
        """Embed the due texts in passes until few are left, then the rest under a lock against writers."""
        memory = self.scope._memory
        for left in reversed(range(PASSES)):
            after: int | None = None
            while rows := self.scope._call(calls.reembedding_due(self.tenant, after, self.batch)):
                self._give(rows, self.scope._call)
                after = rows[-1][0]
            self.scope._call(calls.index(self.tenant))
            if memory._channel.unit(partial(self._end, left)):
                return

    def _end(self, left: int, connection: Connection[Any]) -> bool:
        """Embed the texts that became due meanwhile and switch the embedder, in a transaction, unless too
        many are due.
        """
        ask = partial(self.scope._memory._channel.sent, connection)
        while rows := ask(calls.reembedding_due(self.tenant, most=self.batch, hold=True)):
            if left and len(rows) >= self.batch:
                return False
            self._give(rows, ask)
        ask(calls.finish_reembedding(self.tenant))
        space = ask(staging.space(self.tenant))
        if space is not None and space.name != self.name:
            raise UsageError("somebody else has given up this change of embedder; call reembed again")
        return True

    def _give(self, rows: Rows, ask: Ask) -> None:
        texts = [text for _, some in groupby(rows, itemgetter(0)) for text in self._texts(list(some), ask)]
        wholes = {text for text, row in zip(texts, rows, strict=True) if row[1] == 0}
        made = self.scope._memory._rows(texts, by=self.embedding, wholes=wholes)
        made = {text: measuring.apart(text, self.width) if row is None else row for text, row in made.items()}
        for start in range(0, len(rows), self.batch):
            ids, numbers, _, marks = map(list, zip(*rows[start : start + self.batch], strict=True))
            vectors = Vectors([made[text] for text in texts[start : start + self.batch]], self.scope._oid)
            call = calls.reembed(self.tenant, ids, numbers, vectors, marks, embedder=self.name)
            self.done += ask(call)
            for _ in zip(ids, self.bar, strict=False):
                pass

    def _texts(self, rows: Rows, ask: Ask) -> list[str]:
        """Return the text to embed for each row: of passages cut by the rule, only the words of the turn."""
        lesson, number, content, _ = rows[0]
        if number > 0:  # the whole has its vector already
            given = {"after": lesson - 1, "most": 1, "everything": True, "columns": ("content",)}
            content = (ask(calls.list_page(self.tenant, **given)) or [[content]])[0][0]
        turns, chat = turns_of(content) if rows[-1][1] > 0 else ([], False)
        said: dict[str, Any] = {passage.text: passage.embedded for passage in cut(turns, WINDOWS)}
        head = ROLE.pattern if chat else "(?!)"  # the speaker at the head of a piece
        return [row[2] if row[1] == 0 else said.get(row[2]) or re.sub(f"^{head}", "", row[2]) for row in rows]
