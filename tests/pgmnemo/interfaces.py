"""Every interface of the memory as verbs with arguments, read from what the interface says of itself, and the
class of its answer to a call: `done`, `wrong use`, or what else came of it."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import re
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from cyclopts import App

from pgmnemo import AsyncScope, Scope
from pgmnemo.cli.commands import COMMANDS, app, main
from pgmnemo.errors import PgmnemoError, UsageError

DONE, WRONG_USE = "done", UsageError.kind
FRAMEWORKS = (
    "pydantic", "pydantic_core", "langchain_core", "langgraph", "llama_index", "anthropic", "agents",
    "crewai", "pydantic_ai", "agent_framework", "google",
)  # fmt: skip
"""Packages that check what they are given themselves, before they ask us."""
KINDS = {
    str: "text", int: "whole", float: "number", bool: "flag", datetime: "time", dict: "mapping",
    list: "list", tuple: "list",
}  # fmt: skip
SCHEMAS = {
    "string": "text", "integer": "whole", "number": "number", "boolean": "flag", "object": "mapping",
    "array": "list",
}  # fmt: skip
NEEDED = {
    "text": "a text", "key": "k", "old": "k", "new": "l", "source": "k", "target": "l", "subject": "ada",
    "relation": "lives in", "object": "Lisbon", "query": "Where?", "keys": ["k"], "items": ["a text"],
}  # fmt: skip
ALSO = {"forget": {"key"}, "add": {"key"}}
PAIRS = {"filter", "metadata", "patch"}  # options of the form NAME=VALUE
REACHED = {"project", "tenant", "close", "open"}  # of the library: they ask nothing
MADE = {"export", "import_", "reembed"}  # files and embedders, which have tests of their own
Given = Mapping[str, Any]


@dataclass(frozen=True)
class Argument:
    """An argument of a verb, the kinds of values that it takes, and whether it must be given."""

    name: str
    kinds: frozenset[str]
    needed: bool = False
    schema: Any = None


@dataclass(frozen=True)
class Interface:
    """`mirrors`: verbs and arguments are those of the library, and what it refuses is refused.

    `sampled`: what answers is what answers in another interface, so that one argument of each kind is enough.
    """

    verbs: Mapping[str, list[Argument]]
    ask: Callable[[str, Given], str]
    needed: Given
    mirrors: bool = False
    takes: Callable[[str, Any], bool] = lambda kind, value: True
    sampled: bool = False

    def base(self, verb: str) -> dict[str, Any]:
        """The arguments that a call of a verb needs."""
        wanted = {one.name for one in self.verbs[verb] if one.needed} | ALSO.get(verb, set())
        return {name: self.needed[name] for name in wanted & self.needed.keys()}


def of_signature(function: Any, hints: Mapping[str, Any] | None = None) -> list[Argument]:
    """The arguments of a function by its annotations."""
    hints = hints or get_type_hints(function)
    return [
        Argument(one.name, kinds_of(hints[one.name]), one.default is one.empty)
        for one in inspect.signature(function).parameters.values()
        if one.name != "self" and one.name in hints and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def kinds_of(hint: Any) -> frozenset[str]:
    """The kinds of values that an annotation takes."""
    if get_origin(hint) in (Union, types.UnionType):
        return frozenset().union(*map(kinds_of, get_args(hint)))
    kind = get_origin(hint) or hint
    if not isinstance(kind, type):
        return frozenset()
    if "float" in str(get_args(hint)):
        return frozenset({"vector"})
    names = {name for one, name in KINDS.items() if kind is one}
    named = {"Mapping": "mapping", "Sequence": "list", "Iterable": "list"}.get(kind.__name__)
    return frozenset(names | {named} if named else names)


def of_schema(schema: Mapping[str, Any]) -> list[Argument]:
    """The arguments that a JSON schema of an object has."""
    needed = schema.get("required", ())
    return [Argument(name, _kinds_in(one), name in needed, one) for name, one in schema["properties"].items()]


def _kinds_in(schema: Mapping[str, Any]) -> frozenset[str]:
    found = [one for one in [schema, *schema.get("anyOf", ())] if one.get("type") in SCHEMAS]
    return frozenset(_kind_in(one) for one in found)


def _kind_in(schema: Mapping[str, Any]) -> str:
    if re.search("number|integer", json.dumps(schema.get("items"))):
        return "vector"
    return "time" if schema.get("format") == "date-time" else SCHEMAS[schema["type"]]


def class_of(call: Callable[[], Any]) -> str:
    """What comes of a call in Python: an error of ours by its kind, a framework's own as a wrong use."""
    try:
        found = call()
        if isinstance(found, types.GeneratorType):
            list(found)
    except PgmnemoError as error:
        return _one_sentence(error.kind, str(error))
    except Exception as error:
        names = [frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(error.__traceback__)]
        ours = any(name.startswith("pgmnemo.") for name in names)
        theirs = type(error).__module__.partition(".")[0] in FRAMEWORKS or not ours
        return WRONG_USE if theirs else f"{type(error).__name__}: {error}"
    return DONE


def _one_sentence(kind: str, sentence: str) -> str:
    fine = sentence and "\n" not in sentence and "Traceback" not in sentence and "psycopg" not in sentence
    return kind if fine else f"{kind} without a sentence: {sentence}"


def library(scope: Any, sampled: bool = False) -> Interface:
    """A scope of a memory, of either shell."""
    named = inspect.getmembers(AsyncScope, inspect.isfunction)
    verbs = {
        name: of_signature(verb) for name, verb in named if name[0] != "_" and name not in REACHED | MADE
    }

    def ask(verb: str, given: Given) -> str:
        return class_of(lambda: getattr(scope, verb)(**given))

    return Interface(verbs, ask, NEEDED, True, sampled=sampled)


def command_line(scope: Scope, patch: pytest.MonkeyPatch) -> Interface:
    """The commands that are verbs, over one memory that stays open."""

    @contextmanager
    def opened(*_: object, **__: object) -> Iterator[Scope]:
        yield scope

    for module in ("query", "write", "admin"):
        patch.setattr(f"pgmnemo.cli.{module}.open_scope", opened)
    top = app()
    named = [name for commands in COMMANDS.values() for name in commands]
    verbs = {_of_library(one): one for one in named if hasattr(AsyncScope, _of_library(one))}
    seen: set[str] = set()
    arguments = {verb: _options(top, name, seen) for verb, name in verbs.items() if verb not in MADE}

    def ask(verb: str, given: Given) -> str:
        words = [verbs[verb], *(["--yes"] if verb == "forget" else [])]
        return ended([*words, *_words(top, verbs[verb], given)])

    return Interface(arguments, ask, NEEDED, True, fits_a_word)


def _of_library(command: str) -> str:
    name = command.replace("-", "_")
    return f"{name}_" if name == "import" else name


def _options(top: App, command: str, seen: set[str]) -> list[Argument]:
    """The arguments of a command that are the library's and that one word can give; an option that several
    commands have once."""
    own, found = inspect.signature(getattr(AsyncScope, _of_library(command))).parameters, []
    for one in top[command].assemble_argument_collection():
        name = _plain(one.names[0])
        kinds = frozenset({"mapping"}) if name in PAIRS else kinds_of(one.hint) - {"flag", "list"}
        if name in own and one.names[0] not in seen:
            found.append(Argument(name, kinds, own[name].default is inspect.Parameter.empty))
            seen |= {one.names[0]} if one.names[0].startswith("-") else set()
    return found


def _plain(name: str) -> str:
    return name.lstrip("-").lower().replace("-", "_")


def _words(top: App, command: str, given: Given) -> list[str]:
    words, options = [], []
    for one in top[command].assemble_argument_collection():
        if (name := _plain(one.names[0])) in given:
            word = _word(given[name])
            options.append(f"{one.names[0]}={word}") if one.names[0].startswith("-") else words.append(word)
    return [*words, *options]


def _word(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value) if isinstance(value, dict | list) else str(value)


def fits_a_word(kind: str, value: Any) -> bool:
    """Whether a word of a command line can say a value so that it stays what it is."""
    if kind in ("text", "time") and not isinstance(value, str | datetime):
        return False
    if kind == "whole" and isinstance(value, float) and value == value // 1:
        return False
    return not (isinstance(value, str) and "\0" in value) and as_json(value) is not None


def ended(words: list[str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    told = err.getvalue()
    if code == 0:
        return DONE
    fine = told.startswith(f"{UsageError.kind}: ") and told.count("\n") == 1 and not out.getvalue()
    return WRONG_USE if code == UsageError.code and fine else f"{code}: {told}{out.getvalue()}"


def as_json(value: Any) -> str | None:
    """A value as JSON writes it; None where it cannot."""
    try:
        return json.dumps(value, default=lambda one: one.isoformat())
    except (TypeError, ValueError, AttributeError):
        return None


def over_http(description: Any, post: Callable[[str, bytes], tuple[int, Any]]) -> Interface:
    """The paths of the description that `post` asks: status and body of an answer."""
    schemas = description["components"]["schemas"]
    verbs = {}
    for path, methods in description["paths"].items():
        if "post" in methods and not path.endswith("/export"):
            body = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
            verbs[path.removeprefix("/v1/")] = of_schema(schemas[body["$ref"].rpartition("/")[2]])

    def ask(verb: str, given: Given) -> str:
        told = as_json({"project": "kitchen", **given})
        status, body = post(f"/v1/{verb}", told.encode())
        if status == 200:
            return DONE
        kind = body["error"]["kind"]
        allowed = {one.status for one in _below(UsageError)} | {400, 413}
        return WRONG_USE if kind in (WRONG_USE, "too long") and status in allowed else f"{status}: {body}"

    return Interface(verbs, ask, NEEDED, True, lambda kind, value: as_json(value) is not None)


def _below(kind: type[PgmnemoError]) -> set[type[PgmnemoError]]:
    return {kind, *(one for each in kind.__subclasses__() for one in _below(each))}


def over_mcp(send: Callable[[Any], Any], sampled: bool = False) -> Interface:
    """The tools that a server lists; `send` answers a message."""
    listed = send({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})["result"]["tools"]
    verbs = {tool["name"]: of_schema(tool["inputSchema"]) for tool in listed}

    def ask(tool: str, given: Given) -> str:
        params = {"name": tool, "arguments": dict(given)}
        answer = send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
        if "error" in answer:
            code = answer["error"]["code"]
            return WRONG_USE if code in (UsageError.rpc, -32700) else str(answer)
        result = answer["result"]
        sentence = result["content"][0]["text"]
        if not result.get("isError"):
            return DONE
        return f"fault: {sentence}" if "failed inside" in sentence else _one_sentence(WRONG_USE, sentence)

    return Interface(verbs, ask, NEEDED, False, lambda kind, value: as_json(value) is not None, sampled)
