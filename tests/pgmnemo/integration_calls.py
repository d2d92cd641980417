"""The integrations as interfaces: what a framework calls, with the arguments that it says it takes."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_type_hints
from uuid import uuid4

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langgraph.store.base import BaseStore
from llama_index.core.vector_stores.types import VectorStoreQuery

from pgmnemo import Scope
from pgmnemo.errors import UsageError
from pgmnemo.integrations.anthropic import COMMANDS, MemoryTool
from pgmnemo.integrations.langchain import PgmnemoRetriever
from pgmnemo.integrations.langchain import PgmnemoVectorStore as LangChainStore
from pgmnemo.integrations.langgraph import PgmnemoStore
from pgmnemo.integrations.llamaindex import PgmnemoVectorStore as LlamaIndexStore
from tests.pgmnemo import interfaces as told
from tests.pgmnemo.integrations.conftest import needs
from tests.pgmnemo.interfaces import DONE, WRONG_USE, Argument, Given, Interface

NEEDED = {
    "texts": ["a text"], "query": "Where?", "embedding": [1.0] * 6, "key": "k", "namespace": ("a",),
    "namespace_prefix": ("a",), "value": {"text": "x"}, "ref_doc_id": "k", "path": "/memories/a",
    "file_text": "x", "old_str": "x", "insert_line": 1, "insert_text": "z", "old_path": "/memories/a",
    "new_path": "/memories/b", "new_str": "y",
}  # fmt: skip
LEFT_OUT = {"batch", "add"}  # what takes operations, or nodes, of the framework's own


def langchain(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    store = LangChainStore(new(), DeterministicFakeEmbedding(size=6))
    return _methods(store, LangChainStore)


def retriever(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    """Its `invoke` takes a question, and the fields of the retriever."""
    made = PgmnemoRetriever(scope=new())
    fields = [one for one in told.of_signature(PgmnemoRetriever._relevant) if one.name == "query"]
    hints = get_type_hints(PgmnemoRetriever)
    fields += [Argument(name, told.kinds_of(hints[name])) for name in ("k", "mode", "filter")]

    def ask(_: str, given: Given) -> str:
        rest = {name: value for name, value in given.items() if name != "query"}
        return told.class_of(lambda: made.invoke(given["query"], **rest))

    return Interface({"invoke": fields}, ask, NEEDED)


def langgraph(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    """Without keys, of which LangGraph makes texts, whatever they are."""
    found = _methods(PgmnemoStore(new()), BaseStore)
    verbs = {
        verb: [replace(one, kinds=frozenset()) if one.name == "key" else one for one in some]
        for verb, some in found.verbs.items()
    }
    return replace(found, verbs=verbs)


def llamaindex(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    return _methods(LlamaIndexStore(new()), LlamaIndexStore)


def llamaindex_query(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    store, vector = LlamaIndexStore(new()), {"query_embedding": [1.0] * 6}

    def ask(_: str, given: Given) -> str:
        return told.class_of(lambda: store.query(VectorStoreQuery(**{**vector, **given})))

    return Interface({"query": told.of_signature(VectorStoreQuery)}, ask, {})


def anthropic(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    tool = MemoryTool(new())
    verbs = {
        name: [one for one in told.of_schema(kind.model_json_schema()) if one.name != "command"]
        for name, (kind, _) in COMMANDS.items()
    }

    def ask(command: str, given: Given) -> str:
        tool.clear_all_memory()
        tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
        return told.class_of(lambda: tool.call({"command": command, **given}))

    return Interface(verbs, ask, NEEDED)


def hermes(new: Callable[[], Scope], patch: pytest.MonkeyPatch) -> Interface:
    """The tools of the plugin, with what it needs of Hermes in its place."""
    needs = {
        "": {},
        ".memory_manager": {"sanitize_context": str},
        ".memory_provider": {"MemoryProvider": object},
    }
    for name, held in ((f"agent{name}", held) for name, held in needs.items()):
        module = types.ModuleType(name)
        vars(module).update(held)
        patch.setitem(sys.modules, module.__name__, module)
    patch.delitem(sys.modules, "pgmnemo.integrations.hermes", raising=False)
    from pgmnemo.integrations import hermes as plugin

    provider, scope = plugin.PgmnemoProvider(), new()
    provider._writes, provider._tokens = True, 800
    patch.setattr(provider, "_scope", lambda: scope)

    def ask(tool: str, given: Given) -> str:
        answer: dict[str, Any] = {}
        found = told.class_of(lambda: answer.update(json.loads(provider.handle_tool_call(tool, dict(given)))))
        return WRONG_USE if found == DONE and answer.get("error") else found

    verbs = {name: told.of_schema(tool["parameters"]) for name, tool in plugin.TOOLS.items()}
    patch.delitem(sys.modules, "pgmnemo.integrations.hermes", raising=False)
    return Interface(verbs, ask, NEEDED)


def openai_agents(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    """Its items and the name of its session are any, as in the SDK's own."""
    from agents import RunContextWrapper

    from pgmnemo.integrations.openai_agents import PgmnemoSession, recall_tool
    from tests.pgmnemo.integrations.test_openai_agents import called

    scope, said = new(), [{"role": "user", "content": "x"}]

    async def work(verb: str, given: Given) -> None:
        if verb == "get_items":
            await PgmnemoSession("s", scope).get_items(**given)
        elif verb == "add_items":
            await PgmnemoSession("s", scope, **given).add_items(said)
        elif not (await called(recall_tool(scope, **given), RunContextWrapper(None), "x")).startswith(
            "<memory"
        ):
            raise UsageError("the tool says what is wrong")

    verbs = {
        "get_items": told.of_signature(PgmnemoSession.get_items),
        "add_items": _named(PgmnemoSession.__init__, "metadata", "language"),
        "recall": _named(recall_tool, "max_tokens"),
    }
    return Interface(verbs, lambda verb, given: told.class_of(lambda: asyncio.run(work(verb, given))), NEEDED)


def pydantic_ai(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    from pydantic_ai import ModelRetry
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from pgmnemo.integrations.pydantic_ai import MemoryHistory
    from tests.pgmnemo.integrations.test_pydantic_ai import a_run, called

    scope, tools = new(), {"recall_memory": "query", "remember": "text", "forget_memory": "key"}

    async def work(verb: str, given: Given) -> None:
        if verb == "history":
            await MemoryHistory(scope, **given)(a_run(), [ModelRequest([UserPromptPart("x")])])
        else:
            try:
                await called(scope, verb, **given)
            except ModelRetry as error:
                raise UsageError(str(error)) from None

    text = frozenset({"text"})
    verbs = {tool: [Argument(name, text, True)] for tool, name in tools.items()}
    verbs["history"] = _named(MemoryHistory.__init__, "max_tokens", "keep_turns", "metadata", "language")
    verbs["recall_memory"] = []  # a question of any characters is asked
    return Interface(verbs, lambda verb, given: told.class_of(lambda: asyncio.run(work(verb, given))), NEEDED)


def agent_framework(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    from agent_framework import AgentSession

    from pgmnemo.integrations.agent_framework import PgmnemoContextProvider
    from tests.pgmnemo.integrations.test_agent_framework import run_once

    scope = new()

    def ask(_: str, given: Given) -> str:
        return told.class_of(
            lambda: asyncio.run(run_once(PgmnemoContextProvider(scope, **given), AgentSession(), "x"))
        )

    names = "max_tokens", "metadata", "language"
    return Interface({"run": _named(PgmnemoContextProvider.__init__, *names)}, ask, NEEDED)


def google_adk(new: Callable[[], Scope], _: pytest.MonkeyPatch) -> Interface:
    needs("google.adk")
    from pgmnemo.integrations.google_adk import PgmnemoMemoryService
    from tests.pgmnemo.integrations.test_google_adk import said

    scope = new()

    async def work(given: Given) -> None:
        service = PgmnemoMemoryService(scope._memory, **given)
        who: dict[str, Any] = {"app_name": "a", "user_id": scope._name}
        await service.add_events_to_memory(events=[said("x")], session_id=uuid4().hex, **who)
        await service.search_memory(query="x", **who)

    verbs = {"service": _named(PgmnemoMemoryService.__init__, "metadata", "language", "recall")}
    return Interface(verbs, lambda _, given: told.class_of(lambda: asyncio.run(work(given))), NEEDED)


ALL = (
    langchain, retriever, langgraph, llamaindex, llamaindex_query, anthropic, hermes, openai_agents,
    pydantic_ai, agent_framework, google_adk,
)  # fmt: skip


def _named(function: Callable[..., Any], *names: str) -> list[Argument]:
    return [one for one in told.of_signature(function) if one.name in names]


def _methods(made: Any, described: type) -> Interface:
    """The public methods that a class of its own, or its framework's, describes."""
    verbs = {
        verb: told.of_signature(function)
        for verb, function in vars(described).items()
        if inspect.isfunction(function)
        and function.__module__ == described.__module__
        and verb[0] != "_"
        and verb not in LEFT_OUT
        and not inspect.iscoroutinefunction(function)
    }

    def ask(verb: str, given: Given) -> str:
        return told.class_of(_bound(getattr(made, verb), given))

    return Interface(verbs, ask, NEEDED)


def _bound(verb: Callable[..., Any], given: Given) -> Callable[[], Any]:
    """A call whose arguments stand in their place where they must."""
    kinds = inspect.signature(verb).parameters.values()
    first = [one.name for one in kinds if one.kind is one.POSITIONAL_ONLY]
    rest = {name: value for name, value in given.items() if name not in first}
    return lambda: verb(*(given[name] for name in first if name in given), **rest)
