"""Record OpenTelemetry spans with a tracer from the caller; this package does not import OpenTelemetry.

The names follow the semantic conventions of GenAI for memories (Development, of semconv 1.38):
`gen_ai.operation.name` is search_memory, create_memory, upsert_memory, update_memory or delete_memory. Spans
include questions and texts only on request.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from pgmnemo.client.records import Hit


class MemorySpan:
    """The attributes that a verb records about itself; without a tracer nothing is recorded."""

    __slots__ = ("_span", "_texts")

    def __init__(self, span: Any = None, texts: bool = False) -> None:
        self._span, self._texts = span, texts

    def _set(self, name: str, value: Any) -> None:
        if self._span is not None:
            self._span.set_attribute(name, value)

    def record(self, key: str) -> None:
        """Record the key of the verb's lesson."""
        self._set("gen_ai.memory.record.id", key)

    def count(self, records: int) -> None:
        """Record the number of lessons."""
        self._set("gen_ai.memory.record.count", records)

    def answer(self, query: str | None, hits: Sequence[Hit]) -> None:
        """Record the question and the hits."""
        self.count(len(hits))
        if self._texts:
            self._set("gen_ai.memory.query.text", query or "")
            self._set("gen_ai.memory.records", [hit.text for hit in hits])


NOTHING = nullcontext(MemorySpan())


class Tracing:
    """The caller's tracer (None: no spans), and whether spans include texts."""

    def __init__(self, tracer: Any = None, texts: bool = False) -> None:
        self._tracer, self._texts = tracer, texts

    def span(
        self, operation: str, store: object, key: str | None = None
    ) -> AbstractContextManager[MemorySpan]:
        """Return a span of an operation; the tracer records an error inside it."""
        return NOTHING if self._tracer is None else self._traced(operation, store, key)

    @contextmanager
    def _traced(self, operation: str, store: object, key: str | None) -> Iterator[MemorySpan]:
        given = {
            "gen_ai.operation.name": operation,
            "gen_ai.memory.store.id": str(store),
            "db.system.name": "postgresql",
        }
        with self._tracer.start_as_current_span(f"{operation} pgmnemo", attributes=given) as span:
            told = MemorySpan(span, self._texts)
            if key is not None:
                told.record(key)
            yield told
