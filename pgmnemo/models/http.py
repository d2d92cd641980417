"""A client of a service that answers JSON over HTTP, with retries while the service is busy or down."""

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
    """The address of a service. The environment variable `variable` contains the key; `timeout` is in seconds
    per answer.
    """

    url: str
    variable: str
    timeout: float = TIMEOUT
    pause: Callable[[float], None] = time.sleep

    @property
    def where(self) -> str:
        """Return the address without its query, which may contain a secret."""
        return urlsplit(self.url)._replace(query="", fragment="").geturl()

    def post(self, body: Any) -> Any:
        """Post `body` as JSON with the key as bearer, and return the answer's JSON.

        429, 5xx, connection faults, and answers that break off or come too slowly are tried five times in
        all, after 1, 2, 4, 8 seconds or as long as `Retry-After` says (at most 60 s). A redirect is refused,
        because it would carry the key to another host. Raise ModelError with the server's answer.
        """
        for attempt in range(TRIES):
            wait: float = 2**attempt
            try:
                answer, content = self._request(body)
                if answer.status == 200:
                    return self._read(content)
                reason = _refusal(answer, content)
                if answer.status != 429 and answer.status < 500:
                    raise self._refusal_error(answer.status, reason)
                if (asked := answer.headers.get("Retry-After", "")).isdigit():
                    wait = float(asked)
            except (OSError, urllib3.exceptions.HTTPError) as error:
                reason = str(error.__cause__ or error) or type(error).__name__
            if attempt + 1 < TRIES:
                self.pause(min(wait, LONGEST_PAUSE))
        raise ModelError(
            f"{self.where} did not answer after {TRIES} tries ({reason}); check that the server is up"
        )

    def _request(self, body: Any) -> tuple[urllib3.BaseHTTPResponse, bytes]:
        """Return an answer and its whole content; raise TimeoutError if it takes longer than the timeout in
        total.
        """
        headers = {"Accept": "application/json", **service_headers(self.variable)}
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

    def _refusal_error(self, status: int, reason: str) -> ModelError:
        if status in (401, 403):
            return ModelError(f"{self.where} refused the key ({reason}); set {self.variable} to a valid one")
        return ModelError(f"{self.where} refused the request ({reason}); check the address and the model")


def service_headers(variable: str) -> dict[str, str]:
    """Return the headers with the key of an environment variable; raise UsageError, which never shows it."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(
            f"{variable} holds no key, which is one line of visible ASCII; set it to a valid one"
        )
    return {"User-Agent": "pgmnemo-bench", **({"Authorization": f"Bearer {key}"} if key else {})}


def service_url(url: str, ending: str, variable: str) -> str:
    """Return the address with `ending` (such as `/embeddings`), appended unless it is there.

    Raise UsageError for an invalid address, or one with a password.
    """
    parts = http_parts(
        url,
        f"{url!r} is not an http or https address; give one such as http://localhost:8080/v1",
        f"the endpoint's address holds a password; put the key into {variable} instead",
    )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(ending) else f"{path}{ending}").geturl()


def http_parts(url: str, no_address: str, holds_password: str) -> SplitResult:
    """Return the parts of an address; raise UsageError with the given sentence if it is invalid or has a
    password.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # unclosed brackets, or an invalid port
        usable = False
    if not usable:
        raise UsageError(no_address)
    if parts.username or parts.password:
        raise UsageError(holds_password)
    return parts


def _pool(url: str) -> urllib3.PoolManager:
    """Return connections to an address, through the proxy that the environment names for it."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if not proxy or proxy_bypass(parts.netloc):
        return urllib3.PoolManager()
    login = urllib3.util.make_headers(proxy_basic_auth=urllib3.util.parse_url(proxy).auth)
    return urllib3.ProxyManager(proxy, proxy_headers=login)


def _refusal(answer: urllib3.BaseHTTPResponse, content: bytes) -> str:
    """Return the status and the first 200 characters of the server's answer, on one line."""
    said = " ".join(content[:2000].decode("utf-8", "replace").split())[:200]
    status = f"{answer.status} {answer.reason}"
    return f"{status}: {said}" if said else status
