"""Open the memory while the server already answers, because PostgreSQL and the model start slowly."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from anyio import CancelScope

from pgmnemo.client.aio.memory import AsyncMemory
from pgmnemo.errors import PgmnemoError

LOG = logging.getLogger("pgmnemo.mcp")


class LazyMemory:
    """A memory that `make` opens in the background; after a failure the next call opens it again."""

    def __init__(self, make: Callable[[], Awaitable[AsyncMemory]]) -> None:
        self._make = make
        self._task: asyncio.Task[AsyncMemory] | None = None

    async def __call__(self) -> AsyncMemory:
        """Return the memory once it is open; raise the PgmnemoError of a failed opening."""
        if self._task is None or (self._task.done() and self._task.exception() is not None):
            self._task = asyncio.create_task(self._open())
        return await asyncio.shield(self._task)

    async def _open(self) -> AsyncMemory:
        try:
            return await self._make()
        except PgmnemoError as error:
            LOG.error("%s", error)
            raise

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the memory and load its model in the background; close it at the end of the block."""
        warming = asyncio.create_task(self._warm())
        try:
            yield
        finally:
            with CancelScope(shield=True):
                await self._close(warming)

    async def _close(self, warming: asyncio.Task[None]) -> None:
        for task in (warming, self._task):
            if task is not None and not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, PgmnemoError):
                    await task
        if self._task is not None and not self._task.cancelled() and self._task.exception() is None:
            await self._task.result().close()

    async def _warm(self) -> None:
        with suppress(PgmnemoError):
            await (await self())._warm()
