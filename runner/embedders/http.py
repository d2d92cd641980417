"""One JSON request over HTTP, tried again while the server is busy or away."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from runner.errors import EmbedderError

TRIES = 5
TIMEOUT = 120.0  # seconds: a local server may load its model on the first request
LONGEST_PAUSE = 60.0


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to another host, so it is an error instead."""

    def redirect_request(self, *_: Any) -> None:
        return None


def post_json(url: str, body: Any, key: str, variable: str, pause: Callable[[float], None]) -> Any:
    """POST `body` as JSON with `key` as bearer; the answer's JSON.

    429, 5xx and connection faults are tried five times in all, after 1, 2, 4, 8 seconds or as long as
    `Retry-After` says (at most 60 s). EmbedderError says what the server said; `variable` is where a
    user sets the key.
    """
    where = urlsplit(url)._replace(query="", fragment="").geturl()
    reason = ""
    for attempt in range(TRIES):
        try:
            return _post(url, body, key)
        except HTTPError as error:
            reason, wait = _refusal(error), error.headers.get("Retry-After")
            if error.code in (401, 403):
                raise EmbedderError(
                    f"{where} refused the key ({reason}); set {variable} to a valid one"
                ) from None
            if error.code != 429 and error.code < 500:
                raise EmbedderError(
                    f"{where} refused the request ({reason}); check the address and the model"
                ) from None
        except (OSError, HTTPException) as error:
            reason, wait = str(getattr(error, "reason", error)) or type(error).__name__, None
        except ValueError as error:
            raise EmbedderError(
                f"{where} did not answer with JSON ({error}); check the address and the key"
            ) from None
        if attempt + 1 < TRIES:
            pause(_wait(attempt, wait))
    raise EmbedderError(f"{where} did not answer after {TRIES} tries ({reason}); check that the server is up")


def _post(url: str, body: Any, key: str) -> Any:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": "pgmnemo-bench",
    }
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = Request(url, json.dumps(body).encode(), headers, method="POST")
    with build_opener(_NoRedirect).open(request, timeout=TIMEOUT) as answer:
        return json.loads(answer.read())


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
