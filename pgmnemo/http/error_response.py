"""Error responses: a JSON sentence, with the status of the error's class."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from pgmnemo.errors import PgmnemoError

Send = Callable[[Any], Awaitable[None]]
RETRY_AFTER = {429: "1", 503: "1"}  # Retry-After, in seconds


@dataclass(frozen=True)
class ErrorResponse:
    """An error response in place of the answer."""

    status: int
    kind: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """Return the response as a line of JSON; characters that UTF-8 cannot encode are escaped."""
        message = self.message.encode("utf-8", "backslashreplace").decode()
        return msgspec.json.encode({"error": {"kind": self.kind, "message": message}}) + b"\n"

    @property
    def all_headers(self) -> dict[str, str]:
        """Return the headers of the response."""
        again = {"retry-after": RETRY_AFTER[self.status]} if self.status in RETRY_AFTER else {}
        return {"content-type": "application/json", **again, **self.headers}

    @property
    def raw(self) -> bytes:
        """Return the whole response as HTTP/1.1, with the connection closed after it."""
        fields = {**self.all_headers, "content-length": str(len(self.body)), "connection": "close"}
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        return "\r\n".join([*lines, "", ""]).encode() + self.body

    async def send(self, send: Send) -> None:
        """Send the response over ASGI; nothing may have been sent before."""
        headers = {**self.all_headers, "content-length": str(len(self.body))}
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": pairs})
        await send({"type": "http.response.body", "body": self.body})


class RequestError(Exception):
    """An exception that ends a request with an error response."""

    def __init__(self, refusal: ErrorResponse) -> None:
        super().__init__(refusal.message)
        self.response = refusal


SERVER_BUSY = ErrorResponse(503, "busy", "as many requests as are served at once are under way; try again")
MALFORMED = ErrorResponse(
    400, "wrong use", "the request is not valid HTTP, or its head is longer than 32 KiB; mend what sends it"
)
SERVER_FAULT = ErrorResponse(
    500, "fault", "this is a fault of the server, whose log says where; it is not your request's"
)


def error_response(error: PgmnemoError) -> ErrorResponse:
    """Return the response to an error of the package."""
    return ErrorResponse(error.status, error.kind, "; ".join([str(error), *getattr(error, "__notes__", ())]))
