"""OpenAI Agents SDK: a session answers as the SDK's SQLiteSession, and runs with the SDK's own Runner."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    RunContextWrapper,
    Runner,
    Session,
    SQLiteSession,
    set_tracing_disabled,
)
from agents.exceptions import UserError
from agents.items import ModelResponse
from agents.memory import SessionSettings
from agents.models.interface import Model
from agents.tool_context import ToolContext
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

from pgmnemo import AsyncMemory, Memory, Scope
from pgmnemo.client.rendering import FIRST
from pgmnemo.errors import UsageError
from pgmnemo.integrations.openai_agents import NOTHING, PgmnemoSession, recall_tool
from pgmnemo.integrations.scopes import user_scope
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.integrations.isolation import Who, check_isolation

set_tracing_disabled(True)
SEQUENCES = int(os.environ.get("PGMNEMO_SEQUENCES", "1"))
CALLS = 1_000
TEXTS = [
    "I moved to Lisbon in May.", "", "  ", "a\0b", "\ud800", "\u00e9", "e\u0301", "-",
    f"{FIRST}\n> x\n</memory>\n", "\U0001f701" * 99,
]  # fmt: skip
OTHERS: list[Any] = [
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "Lisbon"},
    {"type": "reasoning", "id": "r", "summary": []}, {}, "a text", 5, None, [1, 2],
    {"role": "user", "content": [{"type": "input_text", "text": "See"}, {"type": "input_image"}]},
    {"role": "user", "content": None}, {"role": "user", "content": 1.5}, {"role": ["user"], "content": "x"},
    {"role": "system", "content": "You are kind."},
    {"n": [1.0, 1e300, float("inf"), -0.0, 2**70], "a": {"b": None}},
]  # fmt: skip
WRONG: list[Any] = [{"x": object()}, {"x": {1, 2}}, {"x": b"x"}, {("a",): 1}]


def an_item(rolled: random.Random) -> Any:
    if rolled.random() < 0.5:
        return rolled.choice(OTHERS)
    return {"role": rolled.choice(["user", "assistant"]), "content": rolled.choice(TEXTS)}


def a_call(rolled: random.Random) -> tuple[str, tuple[Any, ...]]:
    verb = rolled.choices(["add_items", "get_items", "pop_item", "clear_session"], [8, 8, 5, 0.3])[0]
    if verb == "add_items":
        items = [an_item(rolled) for _ in range(rolled.choice([0, 1, 1, 2, 5, 30]))]
        if rolled.random() < 0.05:
            items.insert(rolled.randrange(len(items) + 1), rolled.choice(WRONG))
        return verb, (items,)
    return verb, ((rolled.choice([None, None, 0, 1, 2, 7, 100, -1, -5]),) if verb == "get_items" else ())


async def outcome(session: Any, verb: str, given: tuple[Any, ...]) -> str:
    try:
        return json.dumps(await getattr(session, verb)(*given))
    except (TypeError, ValueError, UserError):
        return "refused"


SESSIONS = ["monday", " monday", "MONDAY", "\u00e9", "e\u0301", "x" * 5_000, "%", '"monday"', "a\0b", ""]


async def compared(scope: Any, seed: int, calls: int) -> Counter[str]:
    """Give random calls to sessions of both kinds; return how often each verb was called."""
    rolled, done = random.Random(seed), Counter[str]()
    settings = [SessionSettings(limit=rolled.choice([None, 3])) for _ in SESSIONS]
    pairs = [
        (PgmnemoSession(name, scope, session_settings=some), SQLiteSession(name, session_settings=some))
        for name, some in zip(SESSIONS, settings, strict=True)
    ]
    for _ in range(calls):
        (ours, theirs), (verb, given) = rolled.choice(pairs), a_call(rolled)
        assert await outcome(ours, verb, given) == await outcome(theirs, verb, given), (verb, given)
        done[verb] += 1
    for ours, theirs in pairs:
        assert json.dumps(await ours.get_items(-1)) == json.dumps(await theirs.get_items(-1))
        theirs.close()
    return done


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_random_sequences_answer_as_the_sdks_own_session(scope: Scope, seed: int) -> None:
    done = asyncio.run(compared(scope, seed, CALLS))
    assert len(done) == 4


def test_an_asynchronous_scope_answers_alike(place: Place) -> None:
    async def work() -> None:
        async with await AsyncMemory.open(place.dsn(), embedder=None) as memory:
            await compared(memory.tenant(place.tenant()).project("p"), 9, CALLS // 4)

    asyncio.run(work())


def test_two_users_never_see_each_other(open_memory: Callable[..., Memory], place: Place) -> None:
    memory = open_memory()
    context: RunContextWrapper[Who] = RunContextWrapper(Who("ada", "chat", "monday"))
    tool = recall_tool(lambda run: scope_of(run.context), max_tokens=400)

    def scope_of(who: Who) -> Any:
        return user_scope(memory, who.user, f"openai {who.agent}")

    with asyncio.Runner() as runner:

        def write(who: Who, text: str) -> None:
            session = PgmnemoSession(who.session, scope_of(who))
            runner.run(session.add_items([{"role": "user", "content": text}]))

        def read_session(who: Who, _: str) -> str:
            return str(runner.run(PgmnemoSession(who.session, scope_of(who)).get_items()))

        def read_tool(who: Who, question: str) -> str:
            context.context = who
            return runner.run(called(tool, context, question))

        check_isolation(place, write, read_tool)
        check_isolation(place, lambda *_: None, read_session, sessions_apart=True)


async def called(tool: FunctionTool, context: RunContextWrapper[Any], question: str) -> str:
    """The answer of a tool to a model that calls it."""
    given = json.dumps({"query": question})
    own = ToolContext.from_agent_context(context, "c", tool_name=tool.name, tool_arguments=given)
    return str(await tool.on_invoke_tool(own, given))


class Scripted(Model):
    """A model that recalls first what it is asked, and then says what it was shown."""

    async def get_response(self, *_: Any, **given: Any) -> ModelResponse:
        last = given["input"][-1]
        if last.get("type") == "function_call_output":
            said = [{"type": "output_text", "text": last["output"], "annotations": []}]
            output: Any = ResponseOutputMessage(
                id="m", role="assistant", status="completed", type="message", content=said
            )
        else:
            arguments = json.dumps({"query": last["content"]})
            output = ResponseFunctionToolCall(
                arguments=arguments, call_id="c", name="recall_memory", type="function_call"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def test_an_agent_remembers_its_session_and_recalls_another(scope: Scope) -> None:
    agent = Agent(name="guide", tools=[recall_tool(scope)], model=Scripted())

    async def work() -> None:
        for number, (day, said) in enumerate(
            [("monday", "I moved to Lisbon in May."), ("tuesday", "Where do I live?"), ("tuesday", "Lisbon?")]
        ):
            session = PgmnemoSession(day, scope, metadata={"app": "guide"}, language="en")
            result = await Runner.run(agent, said, session=session)
            assert "> I moved to Lisbon in May." in result.final_output or number == 0
        items = await PgmnemoSession("tuesday", scope).get_items()
        kinds = [item.get("type") or item.get("role") for item in items]
        assert kinds == ["user", "function_call", "function_call_output", "message"] * 2

    asyncio.run(work())
    lessons = list(scope.list())
    assert {lesson.metadata["app"] for lesson in lessons} == {"guide"}
    assert {lesson.language for lesson in lessons} == {"english"}
    assert not any(FIRST in lesson.text for lesson in lessons)  # recalled text is not stored again as a text
    assert [lesson.text for lesson in scope.list(topic="monday", role="user")] == [
        "I moved to Lisbon in May."
    ]


def test_writers_at_once_lose_nothing_and_an_item_is_popped_once(scope: Scope) -> None:
    async def work() -> None:
        sessions = [PgmnemoSession("s", scope) for _ in range(8)]
        await asyncio.gather(
            *(one.add_items([{"n": [n, m]} for m in range(5)]) for n, one in enumerate(sessions))
        )
        items = await sessions[0].get_items()
        for number in range(8):
            assert [item["n"][1] for item in items if item["n"][0] == number] == [*range(5)]
        popped = await asyncio.gather(*(one.pop_item() for one in sessions * 6))
        found = [str(one) for one in popped if one is not None]
        assert len(found) == len(set(found)) == 40

    asyncio.run(work())


def by_meaning(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, 0.0] if "feline" in text or "cat" in text else [0.0, 1.0] for text in texts]


def test_the_embedder_of_the_memory_finds_items_by_meaning(
    open_memory: Callable[..., Memory], place: Place
) -> None:
    scope = open_memory(embedder=by_meaning).tenant(place.tenant()).project("p")
    said: list[Any] = [{"role": "user", "content": one} for one in ("Miso is my cat.", "I like figs.")]
    asyncio.run(PgmnemoSession("s", scope).add_items([*said, {"type": "reasoning", "text": "cat"}]))
    found = asyncio.run(called(recall_tool(scope, mode="vector", k=1), RunContextWrapper(None), "a feline?"))
    assert "> Miso is my cat." in found
    assert "figs" not in found


def test_what_a_user_forgets_leaves_the_session(scope: Scope) -> None:
    session = PgmnemoSession("s", scope)
    asyncio.run(session.add_items([{"role": "user", "content": "keep"}, {"role": "user", "content": "drop"}]))
    [lesson] = [one for one in scope.list() if one.text == "drop"]
    scope.forget(lesson.key)
    assert asyncio.run(session.get_items()) == [{"role": "user", "content": "keep"}]


def test_wrong_use_is_the_sdks_error(scope: Scope, open_memory: Callable[..., Memory]) -> None:
    assert isinstance(PgmnemoSession("s", scope), Session)
    made: list[Callable[[], Any]] = [
        lambda: PgmnemoSession(5, scope), lambda: PgmnemoSession("s", "ada"),
        lambda: PgmnemoSession("s", open_memory().tenant("ada")),
        lambda: asyncio.run(PgmnemoSession("s", scope).add_items("abc")),
        lambda: asyncio.run(PgmnemoSession("s", scope).add_items([{"x": "y" * 1_000_000}])),
        lambda: asyncio.run(PgmnemoSession("s", scope).get_items("x")),
        lambda: recall_tool(scope, tokens=5),
    ]  # fmt: skip
    for wrong in made:
        with pytest.raises(UserError) as raised:
            wrong()
        assert isinstance(raised.value, UsageError)
        assert "\n" not in str(raised.value)


def test_an_error_of_the_memory_is_the_tools_answer(scope: Scope) -> None:
    context: RunContextWrapper[None] = RunContextWrapper(None)
    assert asyncio.run(called(recall_tool(scope), context, "Where?")) == NOTHING
    assert "max_tokens" in asyncio.run(called(recall_tool(scope, max_tokens=0), context, "Where?"))
    assert "project" in asyncio.run(
        called(recall_tool(lambda _: scope._memory.tenant("x")), context, "Where?")
    )
