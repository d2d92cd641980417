"""A memory system in any language, behind three paths of an HTTP service.

    POST   /add     {"text", "user_id", "metadata": {"id", "beliefId", "occurred_at"}}
    POST   /search  {"query", "user_id", "limit"}  →  {"results": [{"id", "memory", "score"}, …]}
    DELETE /reset   empties the service for all its users

The format is that of PrecisionMemBench's wrappers. A user is a scope of one run, new in every run, so that
nothing needs to be emptied: `/reset` is sent only if the context allows it. Our neutral id is sent as
`metadata.id` and `metadata.beliefId`, and must come back there, which takes precedence, or as `id`. If a
service cuts a lesson into several memories, it may answer with several of them; the best one counts for the
lesson, and the facts say so. The same memory twice, more memories than requested, a score that is no number
and scores that rise are faults.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import IncompleteRead
from math import isfinite
from typing import Any
from uuid import uuid4

import urllib3

from pgmnemo.models.http import http_parts, service_headers
from pgmnemo.progress import QUIET, Progress
from runner.errors import SystemAbsent, SystemFault
from runner.systems.query_runner import one_line
from runner.systems.system import Lesson, Lessons, Match, Query, System, SystemContext, SystemSpec

KEY_VARIABLE = "PGMNEMO_SYSTEM_KEY"  # sent as a bearer token if set
TIMEOUT = urllib3.Timeout(connect=10.0, read=600.0)  # queries have a time limit of their own
BUSY = urllib3.Retry(  # retry only if surely nothing was stored, so not after a lost answer
    total=4, read=False, other=False, backoff_factor=0.5, status_forcelist=(429, 502, 503, 504),
    allowed_methods=None, raise_on_status=False,
)  # fmt: skip
TOO_MANY = 429
SAID = 200  # characters of an answer that an error quotes
SEEN = 10  # maximum of memories requested for each wanted lesson, if lessons are cut
ALL = "all"
DIGITS = re.compile("[0-9]{1,18}")  # one of our ids


class Http(System):
    """The service at the context's URL."""

    def __init__(self, context: SystemContext) -> None:
        self._url, self._reset = address(context.url), context.allow_reset
        self._pool = urllib3.PoolManager(
            maxsize=2 * context.jobs, timeout=TIMEOUT, headers=service_headers(KEY_VARIABLE)
        )
        self._jobs = context.jobs
        self._run = uuid4().hex[:12]
        self._answered = self._cut = False  # whether it ever answered; whether it cuts lessons
        if self._reset and not context.dry_run:
            self.reset()

    def reset(self) -> None:
        """Empty the service for all its users."""
        self._call("DELETE", "/reset", None)

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        scopes = [self._user, lambda _: self._user(None)] if lessons.pooled else [self._user]
        rows = [(lesson, scope(lesson.project)) for scope in scopes for lesson in lessons]
        began = time.perf_counter()
        with ThreadPoolExecutor(self._jobs) as pool:
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
            found = _memories(answer, f"{self._url}/search", wanted)
            best: dict[int, Match] = {}
            for match in found:
                best.setdefault(match.number, match)
            self._cut |= len(best) < len(found)
            if len(best) >= k or len(found) < wanted or len(found) == len(best) or wanted >= SEEN * k:
                return list(best.values())[:k]
            wanted *= 2

    def client(self, settings: Mapping[str, str] | None = None) -> Http:
        """Return the system itself: its connections are pooled, and there are no settings."""
        return self

    def facts(self) -> Mapping[str, str]:
        cut = {"memories": "several of one lesson; the best stands for it"} if self._cut else {}
        return {"version": "", "address": self._url, **cut}

    def close(self) -> None:
        """Do nothing: a client is closed with the system, because it shares its connections."""

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
            raise self._unanswered(where, getattr(error, "reason", None) or error) from None
        self._answered = True
        if answer.status >= 300:
            told = one_line(answer.data.decode(errors="replace"), SAID) or "nothing else"
            many = "; raise its limit of requests for this run" if answer.status == TOO_MANY else ""
            raise SystemFault(f"{where} answered {answer.status}: {told}{many}")
        if method == "DELETE" or path == "/add":
            return None
        try:
            return json.loads(answer.data)
        except (ValueError, RecursionError):
            raise SystemFault(
                f"{where} did not answer with JSON: {one_line(answer.data.decode(errors='replace'), SAID)}"
            ) from None

    def _unanswered(self, where: str, error: Any) -> SystemFault:
        """Return the error for a missing answer: no server, a lost connection, or an incomplete answer."""
        if cut := _cut(error):
            got = cut.partial if isinstance(cut.partial, int) else len(cut.partial)
            of = f" of {got + cut.expected}" if isinstance(cut.expected, int) else ""
            return SystemFault(f"{where}: its answer broke off after {got}{of} bytes; see its log")
        if isinstance(error, urllib3.exceptions.ProtocolError):
            return SystemFault(f"{where}: the connection broke off without an answer; see its log")
        reason = one_line(str(error).rpartition(": ")[2], SAID)
        if self._answered:
            return SystemFault(f"{where} got no answer ({reason}), and did before; see whether it still runs")
        return SystemAbsent(f"{where} got no answer ({reason}); start the service, or check --system-url")


def _cut(error: object) -> IncompleteRead | None:
    """Return the part of an error that counts the bytes of an incomplete answer; None if it has none."""
    if isinstance(error, IncompleteRead):
        return error
    return next(filter(None, map(_cut, getattr(error, "args", ()))), None)


def _memories(answer: Any, where: str, limit: int) -> list[Match]:
    """Return at most `limit` memories of an answer, by our ids, best first and each once."""
    listed = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise SystemFault(f"{where} answered no list of results: {one_line(json.dumps(answer), SAID)}")
    if len(listed) > limit:
        raise SystemFault(f"{where} answered {len(listed)} memories where {limit} were asked for")
    matches = [Match(_number(one, where), _score(one, where)) for one in listed]
    seen = set()
    for one, match in zip(listed, matches, strict=True):
        memory = (match.number, json.dumps(one.get("id")), json.dumps(one.get("memory")))
        if memory in seen:
            raise SystemFault(f"{where} answered the same memory of lesson {match.number} twice")
        seen.add(memory)
    return matches


def _number(memory: Mapping[str, Any], where: str) -> int:
    metadata = memory.get("metadata")
    held = metadata if isinstance(metadata, dict) else {}
    for name in (held.get("beliefId"), held.get("id"), memory.get("id")):
        if isinstance(name, str | int) and DIGITS.fullmatch(str(name)):
            return int(name)
    raise SystemFault(f"{where} answered a memory without our id: {one_line(json.dumps(memory), SAID)}")


def _score(memory: Mapping[str, Any], where: str) -> float | None:
    """Return the score of a memory; None if the service gives no score.

    Returns None if the service gives none. Every system's order is checked elsewhere.
    """
    score = memory.get("score")
    if score is None:
        return None
    try:
        if isinstance(score, int | float) and not isinstance(score, bool) and isfinite(score):
            return float(score)
    except OverflowError:
        pass
    raise SystemFault(f"{where} answered a score that is no number: {one_line(json.dumps(score), SAID)}")


def address(url: str | None) -> str:
    """Return the URL without a trailing slash; raise UsageError if it is missing or unusable."""
    what = f"not {url!r}" if url else "and none is given"
    parts = http_parts(
        url or "",
        f"the system http takes its address by --system-url, such as http://localhost:8080, {what}",
        f"--system-url holds a password; put the key into {KEY_VARIABLE} instead",
    )
    return parts._replace(query="", fragment="").geturl().rstrip("/")


HTTP = SystemSpec(
    "memory over HTTP",
    "a service that takes texts and embeds them by itself; given texts, a neutral id and the time of each "
    "lesson, no vectors; a scope is a user of its own",
    Http,
    address=address,
    vectors=False,
    own_embedder=True,
)
