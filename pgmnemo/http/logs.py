"""Log a JSON line for each request on standard error: the path, the token's id, and the result.

The log contains no text, question, key, token or unknown path of a client; a fault is logged by its class and
location.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import msgspec

from pgmnemo.http.error_response import SERVER_FAULT, Send

SECOND = 1.0
MAX_MESSAGES = 1000  # most different messages that are remembered


def log_event(event: str, level: str = "info", **more: Any) -> None:
    """Print a JSON line of the log."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = msgspec.json.encode({"at": at, "level": level, "event": event, **more}).decode()
    print(line, file=sys.stderr, flush=True)


class JsonLogHandler(logging.Handler):
    """A handler that logs the format string of a library's log record, without its arguments.

    Equal records are one line per second, with the number of repetitions.
    """

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, float] = {}
        self._since: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, unless the same message was written less than a second ago."""
        words, now = str(record.msg).strip().partition("\n")[0], time.monotonic()
        self._since[words] += 1
        if now - self._told.get(words, -SECOND) < SECOND:
            return
        if len(self._told) > MAX_MESSAGES:
            self._told.clear()
        self._told[words] = now
        times = self._since.pop(words)
        fault = record.exc_info[1] if record.exc_info else None
        more = ({"fault": error_location(fault)} if fault else {}) | ({"times": times} if times > 1 else {})
        log_event(words, record.levelname.lower(), logger=record.name, **more)


def log_loop_error(loop: Any, context: dict[str, Any]) -> None:
    """Log an error reported by asyncio's event loop, without its arguments."""
    fault = context.get("exception")
    told = (type(fault), fault, fault.__traceback__) if isinstance(fault, BaseException) else None
    logging.getLogger("asyncio").error(str(context["message"]), exc_info=told)


class RequestLogMiddleware:
    """A middleware that logs a line per request; `paths` are logged by name, others as `other`.

    An exception of the application is logged as a fault, and the client gets a short error response.
    """

    def __init__(self, app: Any, paths: Collection[str]) -> None:
        self.app, self._paths = app, frozenset(paths)

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, seen = time.monotonic(), _ResponseRecorder(send)
        try:
            await self.app(scope, receive, seen.send)
        except Exception as error:
            log_event("fault", "error", path=self._path_label(scope), fault=error_location(error))
            if seen.status is None:
                await SERVER_FAULT.send(seen.send)
        finally:
            principal = scope.get("state", {}).get("principal")
            log_event(
                "request", path=self._path_label(scope), method=scope["method"], status=seen.status,
                whole=seen.whole, bytes=seen.bytes, token=principal.id if principal else None,
                ms=round((time.monotonic() - began) * 1000, 1),
            )  # fmt: skip

    def _path_label(self, scope: Any) -> str:
        return scope["path"] if scope["path"] in self._paths else "other"


class _ResponseRecorder:
    """A wrapper of `send` that records the status, the bytes and the completeness of an answer."""

    def __init__(self, send: Send) -> None:
        self._send, self.status, self.bytes, self.whole = send, None, 0, False

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
        if message["type"] == "http.response.body":
            self.bytes += len(message.get("body", b""))
            self.whole = not message.get("more_body", False)


def error_location(error: BaseException) -> str:
    """Return the class of an error and the line where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
