"""A service that answers JSON over HTTP, tried again while it is busy or away."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from pgmnemo.errors import ModelError, UsageError

TRIES = 5
TIMEOUT = 120.0  # seconds: a local server may load its model on the first request
LONGEST_PAUSE = 60.0  # seconds between two tries
PIECE = 1 << 16


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
        return urlsplit(self.url)._replace(query="", fragment="").geturl()

    def post(self, body: Any) -> Any:
        """POST `body` as JSON with the key as bearer; the answer's JSON.

        429, 5xx, connection faults, and answers that break off or come too slowly are tried five times in
        all, after 1, 2, 4, 8 seconds or as long as `Retry-After` says (at most 60 s). A redirect is refused,
        for it would carry the key to another host. ModelError says what the server said.
        """
        for attempt in range(TRIES):
            wait: float = 2**attempt
            try:
                answer, content = self._asked(body)
                if answer.status == 200:
                    return self._read(content)
                reason = _refusal(answer, content)
                if answer.status != 429 and answer.status < 500:
                    raise self._refused(answer.status, reason)
                if (asked := answer.headers.get("Retry-After", "")).isdigit():
                    wait = float(asked)
            except (OSError, urllib3.exceptions.HTTPError) as error:
                reason = str(error.__cause__ or error) or type(error).__name__
            if attempt + 1 < TRIES:
                self.pause(min(wait, LONGEST_PAUSE))
        raise ModelError(
            f"{self.where} did not answer after {TRIES} tries ({reason}); check that the server is up"
        )

    def _asked(self, body: Any) -> tuple[urllib3.BaseHTTPResponse, bytes]:
        """One answer and all of its content; TimeoutError where it drips in for longer than it may take."""
        headers = {"Accept": "application/json", "User-Agent": "pgmnemo-bench"}
        if key := os.environ.get(self.variable, "").strip():
            headers["Authorization"] = f"Bearer {key}"
        until, content = time.monotonic() + self.timeout, bytearray()
        with _pool(self.url) as pool:
            answer = pool.request(
                "POST", self.url, json=body, headers=headers, timeout=self.timeout, retries=False,
                redirect=False, preload_content=False,
            )  # fmt: skip
            while piece := answer.read1(PIECE):
                content += piece
                if time.monotonic() > until:
                    raise TimeoutError(f"the answer was not whole after {self.timeout:g} s")
        return answer, bytes(content)

    def _read(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError as error:
            raise ModelError(
                f"{self.where} did not answer with JSON ({error}); check the address and the key"
            ) from None

    def _refused(self, status: int, reason: str) -> ModelError:
        if status in (401, 403):
            return ModelError(f"{self.where} refused the key ({reason}); set {self.variable} to a valid one")
        return ModelError(f"{self.where} refused the request ({reason}); check the address and the model")


def service_url(url: str, ending: str, variable: str) -> str:
    """Return the address with `ending` (such as `/embeddings`) behind it, which a user may have written
    already.

    UsageError for what is no address, and for one that holds a password.
    """
    parts = http_parts(
        url,
        f"{url!r} is not an http or https address; give one such as http://localhost:8080/v1",
        f"the endpoint's address holds a password; put the key into {variable} instead",
    )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(ending) else f"{path}{ending}").geturl()


def http_parts(url: str, no_address: str, holds_password: str) -> SplitResult:
    """Return the parts of an address; UsageError with the one sentence or the other where it cannot be
    asked.
    """
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


def _pool(url: str) -> urllib3.PoolManager:
    """Connections to an address, through the proxy that the environment names for it."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if not proxy or proxy_bypass(parts.netloc):
        return urllib3.PoolManager()
    login = urllib3.util.make_headers(proxy_basic_auth=urllib3.util.parse_url(proxy).auth)
    return urllib3.ProxyManager(proxy, proxy_headers=login)


def _refusal(answer: urllib3.BaseHTTPResponse, content: bytes) -> str:
    """Status and the first 200 characters of what the server said, on one line."""
    said = " ".join(content[:2000].decode("utf-8", "replace").split())[:200]
    status = f"{answer.status} {answer.reason}"
    return f"{status}: {said}" if said else status
