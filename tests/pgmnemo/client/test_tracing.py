"""Spans for whoever hands in a tracer; what people say is in them only if that is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pgmnemo import Item, Turn
from pgmnemo.errors import PgmnemoError
from tests.pgmnemo.client.driving import Place, Shell

SECRET = "swordfish"
VERBS: dict[str, tuple[str, Callable[[Any], Any], dict[str, Any]]] = {
    "add": ("create_memory", lambda s: s.add(f"the {SECRET}"), {}),
    "add a turn": ("create_memory", lambda s: s.add(f"the {SECRET}", role="user"), {"record.id": "turn/1"}),
    "add with a key": ("upsert_memory", lambda s: s.add(f"a {SECRET}", key="k"), {"record.id": "k"}),
    "add_many": ("upsert_memory", lambda s: s.add_many([SECRET, Item(SECRET, "l")]), {"record.count": 2}),
    "recall": ("search_memory", lambda s: s.recall(SECRET), {"record.count": 1}),
    "context": ("search_memory", lambda s: s.context(f"a {SECRET}"), {"record.count": 1}),
    "update": ("update_memory", lambda s: s.update("k", topic=SECRET), {"record.id": "k"}),
    "supersede": ("update_memory", lambda s: s.supersede("k", reason=SECRET), {"record.id": "k"}),
    "fact": ("upsert_memory", lambda s: s.fact("Ada", "says", SECRET), {}),
    "forget": ("delete_memory", lambda s: s.forget("k"), {"record.id": "k"}),
    "forget some": ("delete_memory", lambda s: s.forget(filter={"topic": SECRET}), {}),
}  # fmt: skip
FAILING: dict[str, Callable[[Any], Any]] = {
    "a question that is too long": lambda s: s.recall(f"{SECRET} " * 20_000),
    "a time that is none": lambda s: s.add_many([Item(SECRET, at=SECRET)]),  # type: ignore[arg-type]
    "a long key": lambda s: s.add(SECRET, key="k" * 1001),
    "a field that is none": lambda s: s.add(SECRET, key="k", clear=["colour"]),
    "half a pair": lambda s: s.add_many([f"{SECRET}\ud800"]),
    "no JSON": lambda s: s.add(SECRET, metadata={"a": {SECRET: object()}}),
    "a blank item": lambda s: s.add_many([SECRET, " "]),
    "blank turns": lambda s: s.add([Turn(" ", SECRET)]),
    "a mode that is none": lambda s: s.recall(SECRET, mode="fast"),
    "a lesson that is not there": lambda s: s.supersede("nobody", reason=SECRET),
}


class Traced:
    """A memory with a tracer, and what it told."""

    def __init__(self, shell: Shell, place: Place, **given: Any) -> None:
        self.exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("test")
        self.scope = shell.open(place.dsn(), tracer=self.tracer, **given).tenant(place.tenant()).project("p")
        self.scope.add(f"The {SECRET} leaks.", key="k")
        self.exporter.clear()

    def span(self) -> Any:
        [span] = self.exporter.get_finished_spans()
        return span


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_one_span_without_what_people_say(verb: str, shell: Shell, place: Place) -> None:
    traced = Traced(shell, place)
    operation, call, more = VERBS[verb]
    call(traced.scope)
    span = traced.span()
    assert span.name == f"{operation} pgmnemo"
    told = {f"memory.{name}": value for name, value in more.items()} | {
        "operation.name": operation, "memory.store.id": str(traced.scope.tenant_id),
    }  # fmt: skip
    wanted = {"db.system.name": "postgresql", **{f"gen_ai.{name}": told[name] for name in told}}
    assert wanted.items() <= dict(span.attributes).items()
    assert SECRET not in span.to_json()
    assert span.status.status_code is not StatusCode.ERROR


@pytest.mark.parametrize("what", FAILING)
def test_an_error_is_in_its_span_without_what_people_say(what: str, shell: Shell, place: Place) -> None:
    traced = Traced(shell, place)
    with pytest.raises(PgmnemoError):
        FAILING[what](traced.scope)
    span = traced.span()
    assert span.status.status_code is StatusCode.ERROR
    assert [event.name for event in span.events] == ["exception"]
    assert SECRET not in span.to_json()


def test_questions_and_texts_are_told_where_that_is_wanted(shell: Shell, place: Place) -> None:
    traced = Traced(shell, place, trace_texts=True)
    traced.scope.recall(f"Where is the {SECRET}?")
    told = dict(traced.span().attributes)
    assert told["gen_ai.memory.query.text"] == f"Where is the {SECRET}?"
    assert told["gen_ai.memory.records"] == (f"The {SECRET} leaks.",)


def test_a_span_is_a_child_of_the_callers(shell: Shell, place: Place) -> None:
    traced = Traced(shell, place)
    with traced.tracer.start_as_current_span("the agent's"):
        traced.scope.recall("x")
    child, parent = traced.exporter.get_finished_spans()
    assert child.parent.span_id == parent.context.span_id
