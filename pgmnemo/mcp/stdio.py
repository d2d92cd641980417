"""The MCP server over standard input and output, which are used only for the protocol."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import redirect_stdout, suppress
from typing import Any

from anyio import BrokenResourceError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, JSONRPCError

from pgmnemo.mcp.lazy_memory import LazyMemory
from pgmnemo.mcp.messages import LONGEST, TOO_LONG, error_for, error_of

CHUNK = 1 << 16
LEFT = 10.0  # seconds to answer the calls before the end of the input
LOOK = 0.05


async def serve(server: Server[Any], memory: LazyMemory) -> None:
    """Serve until standard input ends, or SIGTERM or SIGINT arrives; then close the memory.

    Further signals do not interrupt the closing.
    """
    stdin = StdinReader(_private_stdin())
    server.middleware.append(stdin.count_calls)
    try:
        async with stdio_server(stdin=stdin) as (read, write):  # type: ignore[arg-type]
            stdin.answers.set_result(write)
            with redirect_stdout(sys.stderr):
                async with memory.running():
                    answering = server.run(read, write, server.create_initialization_options())
                    serving = asyncio.create_task(answering)
                    for number in (signal.SIGTERM, signal.SIGINT):
                        asyncio.get_running_loop().add_signal_handler(number, _stop, serving, stdin)
                    with suppress(asyncio.CancelledError):
                        await serving
    except* (BrokenPipeError, BrokenResourceError):
        pass  # the client has closed the pipe


def _stop(serving: asyncio.Task[None], stdin: StdinReader) -> None:
    serving.cancel()
    stdin.end()


class StdinReader:
    """Lines of a file descriptor, read by a daemon thread, which does not delay the server's end.

    A malformed message is answered here, through the stream in the future `answers`.
    """

    def __init__(self, source: int) -> None:
        self._loop, self._busy = asyncio.get_running_loop(), 0
        self.answers: asyncio.Future[Any] = self._loop.create_future()
        self._lines: asyncio.Queue[bytes | JSONRPCError | None] = asyncio.Queue(maxsize=100)
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        answers = await self.answers
        while (line := await self._lines.get()) is not None:
            if isinstance(line, JSONRPCError):
                await answers.send(SessionMessage(line))
            else:
                yield line
        await self._wait_for_calls()

    def end(self) -> None:
        """Discard the waiting lines and end the input."""
        while not self._lines.empty():
            self._lines.get_nowait()
        self._lines.put_nowait(None)

    async def count_calls(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Call the handler and count the call as in progress, as a middleware of the server."""
        self._busy += 1
        try:
            return await call_next(ctx)
        finally:
            self._busy -= 1

    async def _wait_for_calls(self) -> None:
        """Wait for the calls in progress, because the end of the input would cancel them."""
        end, idle = self._loop.time() + LEFT, 0
        while idle < 3 and self._loop.time() < end:
            await asyncio.sleep(LOOK)
            idle = 0 if self._busy else idle + 1

    def _read(self, source: int) -> None:
        with suppress(RuntimeError):  # the loop has ended
            held = bytearray()
            while part := os.read(source, CHUNK):
                *ends, rest = part.split(b"\n")
                for end in ends:
                    self._append(held, end)
                    self._queue_line(held)
                self._append(held, rest)
            self._queue_line(held)
            self._enqueue(None)

    @staticmethod
    def _append(held: bytearray, part: bytes) -> None:
        """Append a part of a line, unless the line is too long already."""
        if len(held) <= LONGEST:
            held += part

    def _queue_line(self, held: bytearray) -> None:
        """Queue a complete line, or the error that answers it; ignore a blank line."""
        line = bytes(held)
        held.clear()
        if len(line) > LONGEST:
            self._enqueue(error_for(None, INVALID_REQUEST, TOO_LONG))
        elif line.strip():
            self._enqueue(error_of(line) or line)

    def _enqueue(self, line: bytes | JSONRPCError | None) -> None:
        asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()


def _private_stdin() -> int:
    """Move standard input to another descriptor and return it, so that no child process reads from it."""
    source, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return source
