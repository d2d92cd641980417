"""A memory system in any language, behind three addresses of an HTTP service.

    POST   /add     {"text", "user_id", "metadata": {"id", "beliefId", "occurred_at"}}
    POST   /search  {"query", "user_id", "limit"}  →  {"results": [{"id", "memory", "score"}, …]}
    DELETE /reset   empties the service for all its users

the shape that the wrappers of PrecisionMemBench have. A user is a scope of one run, new in every run, so that
nothing needs to be emptied: `/reset` is sent only where the place allows it. Our neutral id goes along as
`metadata.id` and `metadata.beliefId` and comes back as `id` (or in `metadata`). A service that cuts a lesson
into several memories answers some of them; the best stands for the lesson.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import urllib3

from runner.errors import SystemFault, UsageError
from runner.progress import QUIET, Progress
from runner.systems.asking import WORKERS
from runner.systems.system import Kind, Lesson, Lessons, Match, Place, Query, System

KEY_VARIABLE = "PGMNEMO_SYSTEM_KEY"  # sent as a bearer where it is set
TIMEOUT = urllib3.Timeout(connect=10.0, read=600.0)  # asking has a limit of its own
BUSY = urllib3.Retry(total=4, backoff_factor=0.5, status_forcelist=(429, 502, 503, 504), allowed_methods=None)
SAID = 200  # characters of an answer that an error repeats
SEEN = 10  # memories asked for a lesson wanted, at the most, where several stand for one
ALL = "all"


class Http(System):
    """The service at the place's address."""

    def __init__(self, place: Place) -> None:
        self._url, self._reset = _address(place.url), place.allow_reset
        self._pool = urllib3.PoolManager(maxsize=2 * WORKERS, timeout=TIMEOUT, headers=_headers())
        self._run = uuid4().hex[:12]
        if self._reset and not place.rehearsal:
            self.reset()

    def reset(self) -> None:
        """Empty the service for all its users."""
        self._call("DELETE", "/reset", None)

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        scopes = [self._user, lambda _: self._user(None)] if lessons.pooled else [self._user]
        rows = [(lesson, scope(lesson.project)) for scope in scopes for lesson in lessons]
        began = time.perf_counter()
        with ThreadPoolExecutor(WORKERS) as pool:
            done = pool.map(partial(self._add), rows)
            for _ in progress.track(done, "ingest", len(rows)):
                pass
        return {"store": time.perf_counter() - began}

    def _add(self, row: tuple[Lesson, str]) -> None:
        lesson, user = row
        metadata = {"id": str(lesson.number), "beliefId": str(lesson.number)}
        if lesson.occurred_at is not None:
            metadata["occurred_at"] = lesson.occurred_at.isoformat()
        self._call("POST", "/add", {"text": lesson.text, "user_id": user, "metadata": metadata}, BUSY)

    def ask(self, query: Query, k: int) -> list[Match]:
        user, wanted = self._user(query.project), k
        while True:
            answer = self._call("POST", "/search", {"query": query.text, "user_id": user, "limit": wanted})
            found = _memories(answer, f"{self._url}/search")
            best: dict[int, Match] = {}
            for match in found:
                best.setdefault(match.number, match)
            if len(best) >= k or len(found) < wanted or len(found) == len(best) or wanted >= SEEN * k:
                return _falling(list(best.values())[:k])
            wanted *= 2

    def client(self, settings: Mapping[str, str] | None = None) -> Http:
        """Itself: its connections are pooled, and there is nothing to set."""
        return self

    def facts(self) -> Mapping[str, str]:
        return {"version": "", "address": self._url}

    def close(self) -> None:
        """A client is closed with the system, whose connections it shares."""

    def _user(self, project: str | None) -> str:
        return f"bench-{self._run}-{project or ALL}"

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None, retries: urllib3.Retry | bool = False
    ) -> Any:
        where = f"{method} {self._url}{path}"
        try:
            answer = self._pool.request(
                method, f"{self._url}{path}", json=body, retries=retries, redirect=False
            )
        except urllib3.exceptions.HTTPError as error:
            reason = str(getattr(error, "reason", None) or error).rpartition(": ")[2]
            raise SystemFault(f"{where} got no answer ({_short(reason)}); check --system-url") from None
        if answer.status >= 300:
            raise SystemFault(
                f"{where} answered {answer.status}: {_short(answer.data.decode(errors='replace'))}"
            )
        if method == "DELETE" or path == "/add":
            return None
        try:
            return json.loads(answer.data)
        except ValueError:
            raise SystemFault(
                f"{where} did not answer with JSON: {_short(answer.data.decode(errors='replace'))}"
            ) from None


def _memories(answer: Any, where: str) -> list[Match]:
    """The memories of an answer under our ids, best first."""
    listed = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise SystemFault(f"{where} answered no list of results: {_short(json.dumps(answer))}")
    return [Match(_number(one, where), _score(one)) for one in listed]


def _number(memory: Mapping[str, Any], where: str) -> int:
    metadata = memory.get("metadata")
    held = metadata if isinstance(metadata, dict) else {}
    for name in (memory.get("id"), held.get("id"), held.get("beliefId")):
        if isinstance(name, str | int) and str(name).isdigit():
            return int(name)
    raise SystemFault(f"{where} answered a memory without our id: {_short(json.dumps(memory))}")


def _score(memory: Mapping[str, Any]) -> float | None:
    score = memory.get("score")
    return float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None


def _falling(matches: Sequence[Match]) -> list[Match]:
    """The order is the service's; scores that do not fall with it are left out."""
    scores = [match.score for match in matches]
    if None in scores or any(one < other for one, other in pairwise(scores)):  # type: ignore[operator]
        return [Match(match.number) for match in matches]
    return list(matches)


def _address(url: str | None) -> str:
    parts = urlsplit(url or "")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        what = f"not {url!r}" if url else "and none is given"
        raise UsageError(
            f"the system http takes its address by --system-url, such as http://localhost:8080, {what}"
        )
    if parts.username or parts.password:
        raise UsageError(f"--system-url holds a password; put the key into {KEY_VARIABLE} instead")
    return parts._replace(query="", fragment="").geturl().rstrip("/")


def _headers() -> dict[str, str]:
    key = os.environ.get(KEY_VARIABLE, "").strip()
    return {"User-Agent": "pgmnemo-bench", **({"Authorization": f"Bearer {key}"} if key else {})}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SAID else f"{line[: SAID - 1]}…"


HTTP = Kind(
    "memory over HTTP",
    "a service that takes texts and embeds them by itself; given texts, a neutral id and the time of each "
    "lesson, no vectors; a scope is a user of its own",
    Http,
    vectors=False,
    own_embedder=True,
)
