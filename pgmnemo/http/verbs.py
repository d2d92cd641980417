"""The table of the verbs of the HTTP interface: `POST /v1/<name>` calls the verb of a scope."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from pgmnemo import AsyncScope
from pgmnemo.client.records import (
    AddResult,
    BatchResult,
    Context,
    Count,
    Duplicate,
    Fact,
    FactResult,
    Feedback,
    Hit,
    Lesson,
    Reason,
    Stats,
    Step,
    to_builtins,
)
from pgmnemo.errors import MissingError
from pgmnemo.http.json_types import (
    request_type,
    response_type,
    shape_of,
    struct_items,
    to_native,
    with_whole_numbers,
)

TEXTS, HITS = 10, 100  # texts sent, or hits returned, for the cost of one request
Serializer = Callable[[Any, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class HttpVerb:
    """A verb of the HTTP interface.

    `answer` is the type of the response; `serialize` makes it from the verb's result and arguments. `example`
    is an example of a body. `lines` marks a response of JSON lines, which is sent in parts. `limits` gives
    upper bounds of whole numbers, whose lower bound is 1. A verb that `reads` changes nothing.
    """

    name: str
    answer: Any
    example: Mapping[str, Any]
    serialize: Serializer = lambda found, asked: to_builtins(found)
    lines: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)
    reads: bool = False

    def cost(self, given: Mapping[str, Any]) -> float:
        """Return the cost of a request to its token's rate, above the base of 1: by its items and by `k`."""
        return float(len(given.get("items", ())) / TEXTS + given.get("k", 0) / HITS)

    @property
    def path(self) -> str:
        return f"/v1/{self.name}"

    @property
    def function(self) -> Callable[..., Any]:
        """Return the method of AsyncScope that implements the verb."""
        found: Callable[..., Any] = getattr(AsyncScope, self.name)
        return found

    @cached_property
    def body(self) -> type[msgspec.Struct]:
        """Return the type of the request body."""
        name = "".join(part.title() for part in self.name.split("_"))
        return request_type(f"{name}Request", self.function, self.limits)

    @property
    def docstring(self) -> str:
        """Return the docstring of the method, which becomes the verb's description."""
        return inspect.getdoc(self.function) or ""

    def read(self, body: bytes) -> tuple[dict[str, Any], str | None]:
        """Return the verb's keywords and the project from a body; raise msgspec's errors for an
        invalid body.
        """
        try:
            given = msgspec.json.decode(body or b"{}", type=self.body)
        except msgspec.ValidationError as error:
            if "got `float`" not in str(error):
                raise
            whole = with_whole_numbers(msgspec.json.decode(body), shape_of(self.body))
            given = msgspec.convert(whole, self.body)
        keywords = {name: to_native(value) for name, value in struct_items(given)}
        return keywords, keywords.pop("project")


def _explained_hit(hit: Hit) -> dict[str, Any]:
    """Return a hit with the share of each cause in its score, and the reason in words."""
    return {**to_builtins(hit), "shares": hit.shares(), "why": hit.why()}


def _hits(found: Any, asked: Mapping[str, Any]) -> Any:
    return [_explained_hit(hit) for hit in found]


def _context(found: Any, asked: Mapping[str, Any]) -> Any:
    return {**to_builtins(found), "hits": _hits(found.hits, asked)}


def _object_with(name: str) -> Serializer:
    return lambda found, asked: {name: found}


def _outcome(found: Any, asked: Mapping[str, Any]) -> Any:
    return {"key": asked["key"] if "key" in asked else asked["old"], "outcome": found}


def _existing_lesson(found: Any, asked: Mapping[str, Any]) -> Any:
    if found is None:
        raise MissingError("there is no lesson of this key in the project; list tells the keys")
    return to_builtins(found)


def _list_of(kind: Any) -> Any:
    return list[kind]


def _object(name: str, **types: Any) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, list(types.items()))


HIT = response_type(Hit, shares=dict[str, float], why=str)
OUTCOME = _object("Outcome", key=str, outcome=str)
SAID = {"subject": "ada", "relation": "lives in", "object": "Lisbon"}
LINK = {"source": "move", "target": "cat"}
VERBS = [
    HttpVerb("add", response_type(AddResult), {"text": "I moved to Lisbon.", "key": "move", "role": "user"}),
    HttpVerb("add_many", response_type(BatchResult),
             {"items": [{"text": "My cat is called Miso.", "key": "cat"}]}),
    HttpVerb("recall", _list_of(HIT), {"query": "Where do I live?", "k": 3}, _hits,
             limits={"k": 10_000}, reads=True),
    HttpVerb("context", response_type(Context, hits=_list_of(HIT)), {"query": "cat", "max_tokens": 500},
             _context, limits={"k": 100, "max_tokens": 20_000}, reads=True),
    HttpVerb("get", response_type(Lesson), {"key": "move"}, _existing_lesson, reads=True),
    HttpVerb("list", _list_of(response_type(Lesson)), {"newest": True, "limit": 20}, reads=True),
    HttpVerb("count", response_type(Count), {"role": "user"}, reads=True),
    HttpVerb("update", OUTCOME, {"key": "move", "importance": 5}, _outcome),
    HttpVerb("used", response_type(Feedback), {"key": "move"}),
    HttpVerb("wrong", response_type(Feedback), {"key": "move", "undo": False}),
    HttpVerb("forget", _object("Forgotten", lessons=int, dry_run=bool), {"key": "cat", "dry_run": True},
             lambda found, asked: {"lessons": found, "dry_run": asked["dry_run"]}),
    HttpVerb("supersede", OUTCOME, {"old": "move", "new": "cat", "reason": "a mistake"}, _outcome),
    HttpVerb("undo_supersede", _object("Undone", key=str, undone=bool), {"old": "move"},
             lambda found, asked: {"key": asked["old"], "undone": found}),
    HttpVerb("timeline", _list_of(response_type(Step)), {"key": "move"}, reads=True),
    HttpVerb("fact", response_type(FactResult), {**SAID, "exclusive": True}),
    HttpVerb("facts", _list_of(response_type(Fact)), {"subject": "ada"}, reads=True),
    HttpVerb("end_fact", _object("Ended", facts=int), SAID, _object_with("facts")),
    HttpVerb("link", _object("Linked", outcome=str), LINK, _object_with("outcome")),
    HttpVerb("unlink", _object("Unlinked", removed=bool), LINK, _object_with("removed")),
    HttpVerb("explain", _list_of(response_type(Reason)), {"key": "move", "query": "Where do I live?"},
             limits={"k": 10_000}, reads=True),
    HttpVerb("similar", _list_of(response_type(Duplicate)), {"least_words": 0.7}, reads=True),
    HttpVerb("stats", response_type(Stats), {}, reads=True),
    HttpVerb("export", str, {"vectors": False}, lines=True, reads=True),
]  # fmt: skip
