"""A request of ASGI by hand, whose body may come slowly, without an end, or not at all."""

from __future__ import annotations

import asyncio
from typing import Any


class Raw:
    """What an application answers: `status`, `body`, and whether it was `whole`."""

    def __init__(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        headers: list[tuple[bytes, bytes]] | None = None,
        slow: bool = False,
        endless: bool = False,
        kind: str = "http",
    ) -> None:
        held = [(b"host", b"127.0.0.1"), *(headers or [])]
        if token:
            held.append((b"authorization", f"Bearer {token}".encode()))
        self.scope = {"type": kind, "method": method, "path": path, "headers": held, "query_string": b""}
        self.slow, self.endless, self.given = slow, endless, 0
        self.status: int | None = None
        self.body, self.whole = b"", False

    async def through(self, app: Any) -> int | None:
        await app(self.scope, self._receive, self._send)
        return self.status

    async def _receive(self) -> Any:
        if self.slow:
            await asyncio.sleep(0.05)
        part = b"x" * (1 if self.slow else 100)
        self.given += len(part)
        return {"type": "http.request", "body": part, "more_body": self.slow or self.endless}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        self.body += message.get("body", b"")
        self.whole = not message.get("more_body", False)
