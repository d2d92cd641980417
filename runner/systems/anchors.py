"""Anchors of time: the intervals that a question names, relative to its own "now".

Three sources share one interface: no anchors, the engine (`pgmnemo._times`), or a language model behind an
OpenAI-compatible endpoint.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import UsageError
from pgmnemo.models.chat import ChatModel, chat_of
from pgmnemo.models.http import TIMEOUT
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.system import Query, System

Span = tuple[datetime, datetime]
NONE, BUILT_IN, LLM = "none", "built-in", "llm"
ANCHORS = (NONE, BUILT_IN, LLM)
URL, MODEL, KEY = "PGMNEMO_ANCHOR_URL", "PGMNEMO_ANCHOR_MODEL", "PGMNEMO_ANCHOR_API_KEY"
TIMES = "SELECT since, until FROM pgmnemo._times(%s, %s)"
DAY = 86_400.0
TOKENS = 1024  # maximum tokens of an answer
AFTER, BEFORE = 7.0, 2.0  # days after the end and before the start of an interval that halve the engine's fit
ASKED = """Today is {today}. Which days does the question below speak of? Answer with JSON alone: \
{{"from": "YYYY-MM-DD", "to": "YYYY-MM-DD"}} with the first and the last of these days, or \
{{"from": null, "to": null}} where the question names no time.

Question: {question}"""
ANSWER = re.compile(r"\{[^{}]*\}")


class Anchors:
    """A reader of the times in a question, with a cache; this base class finds no times."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, datetime], Sequence[Span]] = {}

    def spans(self, query: Query) -> Sequence[Span]:
        """Return the intervals that the question names; empty if it names no time, or has no "now"."""
        if query.as_of is None:
            return ()
        key = (query.text, query.as_of)
        if key not in self._known:
            self._known[key] = self._asked(*key)
        return self._known[key]

    def _asked(self, question: str, now: datetime) -> Sequence[Span]:
        return ()


class EngineAnchors(Anchors):
    """The engine's own reader, which knows English phrases."""

    def __init__(self, engine: Pgmnemo, stack: ExitStack) -> None:
        super().__init__()
        if not engine.has("_times"):
            raise UsageError("this version of pgmnemo reads no times: name a newer one behind over=pgmnemo@")
        self._connection = stack.enter_context(engine.owner())
        self._lock = threading.Lock()

    def _asked(self, question: str, now: datetime) -> Sequence[Span]:
        with self._lock:  # one connection for all threads
            row = self._connection.execute(TIMES, (question, now)).fetchone()
        return list(zip(*row, strict=True)) if row else []


class ModelAnchors(Anchors):
    """A language model as reader. A malformed reply counts as no time; `unread` counts such replies."""

    def __init__(self, chat: ChatModel) -> None:
        super().__init__()
        self._chat = chat
        self.unread = 0

    def _asked(self, question: str, now: datetime) -> Sequence[Span]:
        words = ASKED.format(today=f"{now:%A, %Y-%m-%d}", question=question)
        try:
            return _read(self._chat.ask(words, TOKENS).text)
        except (ValueError, TypeError, KeyError, OverflowError):
            self.unread += 1
            return ()


def _read(told: str) -> Sequence[Span]:
    """Return the interval of whole days in a reply; empty if the reply names no time.

    Raises an exception, such as ValueError, for a malformed reply.
    """
    found = ANSWER.search(told)
    if found is None:
        raise ValueError(told)
    days = json.loads(found[0])
    if days["from"] is None and days["to"] is None:
        return ()
    first, last = (datetime.fromisoformat(days[end]).replace(tzinfo=UTC) for end in ("from", "to"))
    if last < first:
        raise ValueError(told)
    return ((first, last + timedelta(days=1)),)


def anchors_of(kind: str, system: System, environ: Mapping[str, str], stack: ExitStack) -> Anchors:
    """Return the anchors with this name; raise UsageError if a requirement is missing."""
    if kind == NONE:
        return Anchors()
    if kind == BUILT_IN:
        if not isinstance(system, Pgmnemo):
            raise UsageError("the anchor built-in is pgmnemo's own: take over=pgmnemo, or anchor=llm or none")
        return EngineAnchors(system, stack)
    url, model = environ.get(URL, "").strip(), environ.get(MODEL, "").strip()
    if not (url and model):
        raise UsageError(f"the anchor llm needs the address of an endpoint in {URL} and a model in {MODEL}")
    return ModelAnchors(chat_of(url, model, timeout=TIMEOUT, variable=KEY))


def fits(moments: NDArray[np.float64], spans: Sequence[Span]) -> NDArray[np.float64]:
    """Return how well each moment (seconds since 1970; NaN: unknown) fits the nearest interval, from 0 to 1.

    The formula is the engine's: 1 within, halved every 7 days after the end and every 2 days before the
    start.
    """
    if not spans:
        return np.zeros(moments.shape)
    after = [(moments - until.timestamp()) / AFTER for _, until in spans]
    before = [(since.timestamp() - moments) / BEFORE for since, _ in spans]
    nearest = np.min(np.maximum(np.maximum(after, before), 0), axis=0) / DAY
    return np.where(np.isnan(nearest), 0.0, 0.5 ** np.nan_to_num(nearest))
