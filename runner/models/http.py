"""A service that answers JSON over HTTP, tried again while it is busy or away."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import Any
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from runner.errors import ModelError, UsageError

TRIES = 5
TIMEOUT = 120.0  # seconds: a local server may load its model on the first request
LONGEST, LONGEST_PAUSE = 3600, 60.0  # seconds that a user may let a call take, and between two tries
PIECE = 1 << 16


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to another host, so it is an error instead."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Service:
    """One address. `variable` of the environment holds the key; `timeout`: seconds of an answer."""

    url: str
    variable: str
    timeout: float = TIMEOUT
    pause: Callable[[float], None] = time.sleep

    @property
    def where(self) -> str:
        """The address without its query, which may hold a secret."""
        return public(self.url)

    def post(self, body: Any) -> Any:
        """POST `body` as JSON with the key as bearer; the answer's JSON.

        429, 5xx, connection faults, and answers that break off or come too slowly are tried five times in
        all, after 1, 2, 4, 8 seconds or as long as `Retry-After` says (at most 60 s). ModelError says what
        the server said.
        """
        reason = ""
        for attempt in range(TRIES):
            try:
                return self._post(body)
            except HTTPError as error:
                reason, wait = _refusal(error), error.headers.get("Retry-After")
                if error.code in (401, 403):
                    raise ModelError(
                        f"{self.where} refused the key ({reason}); set {self.variable} to a valid one"
                    ) from None
                if error.code != 429 and error.code < 500:
                    raise ModelError(
                        f"{self.where} refused the request ({reason}); check the address and the model"
                    ) from None
            except (OSError, HTTPException) as error:
                reason, wait = str(getattr(error, "reason", error)) or type(error).__name__, None
            except ValueError as error:
                raise ModelError(
                    f"{self.where} did not answer with JSON ({error}); check the address and the key"
                ) from None
            if attempt + 1 < TRIES:
                self.pause(_wait(attempt, wait))
        raise ModelError(
            f"{self.where} did not answer after {TRIES} tries ({reason}); check that the server is up"
        )

    def _post(self, body: Any) -> Any:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "pgmnemo-bench",
        }
        if key := os.environ.get(self.variable, "").strip():
            headers["Authorization"] = f"Bearer {key}"
        request = Request(self.url, json.dumps(body).encode(), headers, method="POST")
        until = time.monotonic() + self.timeout
        with build_opener(_NoRedirect).open(request, timeout=self.timeout) as answer:
            return json.loads(_whole(answer, until, self.timeout))


def service_url(url: str, ending: str, variable: str, what: str = "the endpoint") -> str:
    """The address with `ending` (such as `/embeddings`) behind it, which a user may have written already.

    UsageError for what is no address, and for one that holds a password.
    """
    parts = http_parts(
        url,
        f"{url!r} is not an http or https address; give one such as http://localhost:8080/v1",
        f"{what}'s address holds a password; put the key into {variable} instead",
    )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(ending) else f"{path}{ending}").geturl()


def http_parts(url: str, no_address: str, holds_password: str) -> SplitResult:
    """The parts of an address; UsageError with the one sentence or the other where it cannot be asked."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets that are not closed, or a port that is none
        usable = False
    if not usable:
        raise UsageError(no_address)
    if parts.username or parts.password:
        raise UsageError(holds_password)
    return parts


def public(url: str) -> str:
    """The address without its query, which may hold a secret."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def _whole(answer: HTTPResponse, until: float, timeout: float) -> bytes:
    """All of an answer; TimeoutError where it drips in for longer than it may take, IncompleteRead if cut."""
    whole, announced = bytearray(), answer.headers.get("Content-Length", "")
    while piece := answer.read1(PIECE):
        whole += piece
        if time.monotonic() > until:
            raise TimeoutError(f"the answer was not whole after {timeout:g} s")
    if announced.isdigit() and len(whole) < int(announced):
        raise IncompleteRead(bytes(whole), int(announced) - len(whole))
    return bytes(whole)


def _refusal(error: HTTPError) -> str:
    """Status and the first 200 characters of what the server said, on one line."""
    try:
        said = " ".join(error.read(2000).decode("utf-8", "replace").split())[:200]
    except (OSError, HTTPException):
        said = ""
    return f"{error.code} {error.reason}: {said}" if said else f"{error.code} {error.reason}"


def _wait(attempt: int, retry_after: str | None) -> float:
    asked = float(retry_after) if retry_after and retry_after.isdigit() else 2.0**attempt
    return min(asked, LONGEST_PAUSE)
