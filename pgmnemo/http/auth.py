"""Authentication by token, and limits of rate, size and time, as a middleware.

    app = AuthMiddleware(app, TokenFile("tokens.json"), Limits())

The middleware is pure ASGI and sets `scope["state"]["principal"]`, the principal of the request's token. An
error is answered with a JSON sentence; once an answer has begun, the connection is closed instead.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pgmnemo.client.aio.concurrency import MAX_ANSWER_BYTES
from pgmnemo.errors import PgmnemoError
from pgmnemo.http.error_response import SERVER_BUSY, ErrorResponse, RequestError, Send
from pgmnemo.http.origin import header_values, is_json, is_local_origin
from pgmnemo.http.tokens import Principal, TokenFile

if TYPE_CHECKING:
    from pgmnemo.http.oauth import OAuthTokens

PUBLIC = frozenset({"/", "/healthz", "/openapi.json"})
REVOCATION_INTERVAL = 0.2  # most seconds until a request with a revoked token is ended
BURST = 2  # a burst may have this many times `rate` requests
BEARER = {"www-authenticate": 'Bearer realm="mnemo"'}
CLOSE = {"connection": "close"}
NO_TOKEN = ErrorResponse(401, "no token", "send a token: Authorization: Bearer mnemo_…", BEARER)
BAD_TOKEN = ErrorResponse(
    401, "no token", "this token is none, or was revoked; ask for another",
    {"www-authenticate": 'Bearer realm="mnemo", error="invalid_token"'},
)  # fmt: skip
FOREIGN_ORIGIN = ErrorResponse(
    403, "refused",
    "without tokens only programs of this machine and this server's own page are served: call 127.0.0.1 or "
    "localhost, and send no Origin of another page",
)  # fmt: skip
NOT_JSON = ErrorResponse(
    415, "wrong use", "the body is taken as JSON alone: send Content-Type: application/json"
)
UNREADABLE_TOKENS = ErrorResponse(
    503, "error", "the tokens of this server cannot be read; whoever runs it has to mend that"
)
CLIENT_GONE = ErrorResponse(
    499, "gone", "the client left before the answer"
)  # only logged, because the client has disconnected
TOKEN_BUSY = ErrorResponse(
    429, "busy", "this token has half of all requests under way that are served at once; wait"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a server.

    body: bytes of a request.
    seconds: until an answer begins, and between two parts of it.
    rate: requests per second of one token, with bursts of twice as many; expensive requests (`charge`) count
        more.
    concurrent: simultaneous requests of all tokens; one token may have half of them.
    at_work: requests of one token that run at the same time, on half the connections of a memory; the others
        wait.
    answer: bytes of the lessons in an answer that is sent whole.
    """

    body: int = 1 << 20
    seconds: float = 30.0
    rate: float = 100.0
    concurrent: int = 256
    at_work: int = 4
    answer: int = 16 << 20


class AuthMiddleware:
    """A middleware that passes permitted requests to `app`.

    Every client may read (GET) the `public` paths. Without `tokens` every request belongs to `principal` and
    must come from this machine: its Host names the loopback interface, and its Origin, if it has one, is this
    server's own, so that no other web page can send requests by a browser. A body must be declared as JSON,
    which no page can send without a preflight.
    """

    def __init__(
        self,
        app: Any,
        tokens: TokenFile | OAuthTokens | None,
        limits: Limits | None = None,
        *,
        principal: Principal | None = None,
        public: Collection[str] = PUBLIC,
    ) -> None:
        if (tokens is None) == (principal is None):
            raise TypeError("AuthMiddleware takes tokens, or one principal")
        self.app, self.tokens, self.limits = app, tokens, limits or Limits()
        self._principal, self._public = principal, frozenset(public)
        self._buckets: dict[
            str, tuple[float, float]
        ] = {}  # by token: the rest of its budget, and the time of its last change
        self._under_way: Counter[str | None] = Counter()  # by token
        self._at_work: dict[str | None, asyncio.Semaphore] = {}  # by token

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        token, found = await self._authenticate(scope)
        if isinstance(found, ErrorResponse):
            await found.send(send)
            return
        scope.setdefault("state", {}).update(principal=found, charge=partial(self._charge, found))
        if (no := self._limit_error(scope, found)) is not None:
            await no.send(send)
            return
        whose = None if found is None else found.id
        self._under_way[whose] += 1
        MAX_ANSWER_BYTES.set(self.limits.answer)
        try:
            await _GuardedRequest(self, token, receive, send).run(scope)
        finally:
            self._under_way[whose] -= 1
            if not self._under_way[whose]:
                del self._under_way[whose]
                self._at_work.pop(whose, None)

    async def _authenticate(self, scope: Any) -> tuple[str | None, Principal | ErrorResponse | None]:
        """Return the token and its principal (None for a public path), or the error response."""
        if self.tokens is None and not is_local_origin(scope):
            return None, FOREIGN_ORIGIN
        if scope["path"] in self._public and scope["method"] in ("GET", "HEAD"):
            return None, None
        if self.tokens is None:
            return None, self._principal
        given = header_values(scope, b"authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not token.strip():
            return None, self._challenged(NO_TOKEN)
        try:
            return token.strip(), await self.tokens.verify(token.strip()) or self._challenged(BAD_TOKEN)
        except RequestError as error:
            return None, error.response
        except PgmnemoError:
            return None, UNREADABLE_TOKENS

    def _challenged(self, response: ErrorResponse) -> ErrorResponse:
        """Return a 401 response with a header that says where to get a token."""
        more = self.tokens.challenge if self.tokens else ""
        return replace(response, headers={name: told + more for name, told in response.headers.items()})

    def _limit_error(self, scope: Any, principal: Principal | None) -> ErrorResponse | None:
        if not is_json(scope):
            return NOT_JSON
        if self._under_way.total() >= self.limits.concurrent:
            return SERVER_BUSY
        if self.tokens and principal and self._under_way[principal.id] >= max(1, self.limits.concurrent // 2):
            return TOKEN_BUSY
        try:
            self._charge(principal)
        except RequestError as error:
            return error.response
        length = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"0")
        fits = length.isdigit() and len(length) < 16 and int(length) <= self.limits.body
        return None if fits else self.body_too_long

    def concurrency_slot(self, principal: Principal | None) -> AbstractAsyncContextManager[Any]:
        """Return the semaphore of a token's concurrent requests; a null context without tokens."""
        if self.tokens is None or principal is None:
            return nullcontext()
        return self._at_work.setdefault(principal.id, asyncio.Semaphore(self.limits.at_work))

    def _charge(self, principal: Principal | None, cost: float = 1.0) -> None:
        """Charge the cost of a request to its token's rate; raise RequestError if too little is left."""
        if principal is not None and (wait := self._wait(principal.id, cost)) > 0:
            told = f"{self.limits.rate:g} requests a second are served of one token, and fewer that ask for "
            told += "much or bring much; try again, or ask for less at a time"
            raise RequestError(ErrorResponse(429, "busy", told, {"retry-after": str(int(wait) + 1)}))

    def _wait(self, id: str, cost: float) -> float:
        """Return the seconds until a token's budget covers the cost.

        If it covers the cost now, charge it and return 0.
        """
        now, rate = time.monotonic(), self.limits.rate
        most = max(1.0, rate * BURST)
        left, since = self._buckets.get(id, (most, now))
        left, cost = min(most, left + (now - since) * rate), min(cost, most)
        self._buckets[id] = left - (cost if left >= cost else 0), now
        return 0.0 if left >= cost else (cost - left) / rate

    @property
    def body_too_long(self) -> ErrorResponse:
        """Return the error response for a body over the limit."""
        told = f"the body is longer than {self.limits.body:,} bytes; send less at a time"
        return ErrorResponse(413, "too long", told, CLOSE)

    def is_revoked(self, token: str | None) -> bool:
        """Return whether a token that was accepted is no longer valid."""
        return token is not None and self.tokens is not None and self.tokens.is_revoked(token)


class _GuardedRequest:
    """A request in progress, which ends at its deadline.

    An error response in `_why` moves the deadline to now.
    """

    def __init__(self, middleware: AuthMiddleware, token: str | None, receive: Any, send: Send) -> None:
        self._middleware, self._token, self._receive, self._send = middleware, token, receive, send
        self._loop = asyncio.get_running_loop()
        self._deadline = asyncio.timeout(middleware.limits.seconds)
        self._looking = self._loop.call_later(REVOCATION_INTERVAL, self._check_revoked)
        self._begun = self._whole = self._waits = False
        self._watching: asyncio.Task[None] | None = None
        self._bytes = 0
        self._why: ErrorResponse | None = None

    async def run(self, scope: Any) -> None:
        """Let the application answer; if the request is ended before its answer begins, send the reason."""
        try:
            async with self._deadline, self._middleware.concurrency_slot(scope["state"]["principal"]):
                await self._middleware.app(scope, self.receive, self.send)
        except TimeoutError:
            if not self._deadline.expired():
                raise
            if not self._begun:
                await (self._why or self._timeout_error()).send(self._send)
        finally:
            self._looking.cancel()
            if self._watching is not None:
                self._watching.cancel()

    async def receive(self) -> Any:
        """Return the next part of the body, up to the size limit, or the client's disconnect."""
        if self._watching is not None:
            await asyncio.shield(self._watching)
            return {"type": "http.disconnect"}
        self._waits = True
        message = await self._receive()
        self._waits = False
        if message["type"] == "http.request":
            self._whole = not message.get("more_body", False)
            self._bytes += len(message.get("body", b""))
            if self._bytes > self._middleware.limits.body:
                await self._cut(self._middleware.body_too_long)
            if self._whole:
                self._watching = asyncio.create_task(self._watch())
        elif message["type"] == "http.disconnect" and not self._begun:
            self._end(CLIENT_GONE)
        return message

    async def _watch(self) -> None:
        """End the request when its client disconnects, to save its computation."""
        while (await self._receive())["type"] != "http.disconnect":
            await asyncio.sleep(REVOCATION_INTERVAL)
        self._end(CLIENT_GONE)

    async def send(self, message: Any) -> None:
        """Send a part of the answer if the token is still valid, and restart the deadline for the
        next part.
        """
        if self._why is not None or self._middleware.is_revoked(self._token):
            await self._cut(BAD_TOKEN)
        self._begun = True
        await self._send(message)
        if self._why is None and not self._deadline.expired():
            self._deadline.reschedule(self._loop.time() + self._middleware.limits.seconds)

    async def _cut(self, why: ErrorResponse) -> None:
        if self._deadline.expired():  # the application still sends while it is cancelled
            raise asyncio.CancelledError
        self._end(why)
        await self._loop.create_future()  # wait until the deadline cancels the request

    def _end(self, why: ErrorResponse) -> None:
        if self._why is None and not self._deadline.expired():
            self._why = why
            self._deadline.reschedule(self._loop.time())

    def _check_revoked(self) -> None:
        if self._middleware.is_revoked(self._token):
            self._end(BAD_TOKEN)
        else:
            self._looking = self._loop.call_later(REVOCATION_INTERVAL, self._check_revoked)

    def _timeout_error(self) -> ErrorResponse:
        seconds = f"{self._middleware.limits.seconds:g} seconds"
        if self._waits and not self._whole:
            return ErrorResponse(408, "too slow", f"the body did not come within {seconds}", CLOSE)
        return ErrorResponse(
            503, "too slow", f"no answer was found within {seconds}; ask for less, or try again"
        )
