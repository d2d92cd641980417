"""Google ADK: the memory service answers as ADK's InMemoryMemoryService, and runs with ADK's own Runner."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pgmnemo import AsyncMemory, Memory
from pgmnemo.errors import GrantError, UsageError
from pgmnemo.integrations.scopes import user_scope
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.integrations.conftest import needs
from tests.pgmnemo.integrations.isolation import Who, check_isolation, grant

needs("google.adk")

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.events.event import Event  # noqa: E402
from google.adk.memory.base_memory_service import BaseMemoryService  # noqa: E402
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService  # noqa: E402
from google.adk.memory.memory_entry import MemoryEntry  # noqa: E402
from google.adk.models.base_llm import BaseLlm  # noqa: E402
from google.adk.models.llm_response import LlmResponse  # noqa: E402
from google.adk.runners import Runner  # noqa: E402
from google.adk.sessions import InMemorySessionService  # noqa: E402
from google.adk.sessions.session import Session  # noqa: E402
from google.adk.tools import load_memory  # noqa: E402
from google.genai import types  # noqa: E402

from pgmnemo.integrations.google_adk import PgmnemoMemoryService  # noqa: E402

SEQUENCES = int(os.environ.get("PGMNEMO_SEQUENCES", "1"))
CALLS = 1_000
WORDS = [f"{one}{two}" for one in ("zar", "Mip", "tev", "RUX", "gol", "fub") for two in ("kom", "pul", "nov")]
USERS, APPS, SESSIONS = ("ada", " ada", "e\u0301"), ("guide", "Guide"), ("monday", "monday ", "m%", "a\0b")
EVERYTHING = {"k": 10_000, "mode": "keyword", "duplicates": True}


def an_event(rolled: random.Random) -> Event:
    """An event; whether it has text is fixed by its id, because no search finds an event without text."""
    number = rolled.randrange(60)
    words = rolled.sample(WORDS, rolled.randrange(1, 4)) if number % 5 else []
    parts = [types.Part(text=word) for word in words]
    if rolled.random() < 0.2:
        call = types.FunctionCall(name="f", args={"a": [1, None, "\u00e9"]})
        parts.insert(0, rolled.choice([
            types.Part(function_call=call), types.Part(text=""),
            types.Part(text="zarkom" if words else "", thought=True),
            types.Part(inline_data=types.Blob(data=b"\0\xff", mime_type="image/png")),
        ]))  # fmt: skip
    nothing = [types.Content(role="user", parts=parts), types.Content(), None]
    content = (
        types.Content(role=rolled.choice(["user", "model"]), parts=parts) if words else rolled.choice(nothing)
    )
    return Event(
        id=f"e{number}", author=rolled.choice(["user", "guide"]), content=content,
        timestamp=1_780_000_000 + rolled.randrange(10**6) / 4,
    )  # fmt: skip


def distinct(events: list[Event]) -> list[Event]:
    return list({event.id: event for event in events}.values())


async def compared(memory: Any, seed: int, calls: int, users: list[str]) -> Counter[str]:
    """Give random calls to both services; a search must find the same memories, in any order."""
    rolled, done = random.Random(seed), Counter[str]()
    ours, theirs = PgmnemoMemoryService(memory, recall=EVERYTHING), InMemoryMemoryService()
    for _ in range(calls):
        user, app, session = (rolled.choice(some) for some in (users, APPS, SESSIONS))
        who: dict[str, Any] = {"user_id": user, "app_name": app}
        events = distinct([an_event(rolled) for _ in range(rolled.choice([0, 1, 2, 5]))])
        verb = rolled.choices(["search", "session", "events", "delete"], [8, 3, 4, 1])[0]
        done[verb] += 1
        if verb == "search":
            query = " ".join(rolled.sample(WORDS, rolled.choice([0, 1, 1, 2])))
            found = [(await one.search_memory(query=query, **who)).memories for one in (ours, theirs)]
            assert len(found[1]) == min(len(found[0]), 10), query
            mine = [told(one) for one in found[0]]
            assert all(told(one) in mine for one in found[1]), query
        for one in (ours, theirs):
            if verb == "session":
                await one.add_session_to_memory(Session(id=session, events=events, **who))
            elif verb == "events":
                name = None if session == "m%" else session
                await one.add_events_to_memory(events=events, session_id=name, **who)
            elif verb == "delete":
                await one.delete_memory(memory_id=f"e{len(events)}", **who)
    return done


def told(memory: MemoryEntry) -> str:
    return memory.model_dump_json()


def named(place: Place, seed: object) -> list[str]:
    """New users with odd names, for whom alice may work."""
    users = [f"{user[:-1]}{seed}{user[-1:]}" for user in USERS]
    grant(place, *users)
    return users


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_random_sequences_answer_as_adks_own_service(
    open_memory: Callable[..., Memory], place: Place, seed: int
) -> None:
    done = asyncio.run(compared(open_memory(), seed, CALLS, named(place, seed)))
    assert len(done) == 4


def test_an_asynchronous_memory_answers_alike(place: Place) -> None:
    async def work() -> None:
        async with await AsyncMemory.open(place.dsn(), embedder=None) as memory:
            await compared(memory, 9, CALLS // 4, named(place, "async"))

    asyncio.run(work())


def said(text: str, number: int = 0, author: str = "user") -> Event:
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(id=f"said {number} {text[:20]}", author=author, content=content, timestamp=1_780_000_000)


def test_two_users_never_see_each_other(open_memory: Callable[..., Memory], place: Place) -> None:
    service = PgmnemoMemoryService(open_memory())
    with asyncio.Runner() as runner:

        def write(who: Who, text: str) -> None:
            ids = {"user_id": who.user, "app_name": who.agent, "session_id": who.session}
            runner.run(service.add_events_to_memory(events=[said(text)], **ids))

        def read(who: Who, question: str) -> str:
            found = runner.run(service.search_memory(user_id=who.user, app_name=who.agent, query=question))
            runner.run(service.delete_memory(user_id=who.user, app_name=who.agent, memory_id=question))
            return str(found)

        check_isolation(place, write, read)


class Scripted(BaseLlm):
    """A model that searches its memory for what it is asked, and then says what was found."""

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        last = llm_request.contents[-1].parts[0]
        if last.function_response:
            part = types.Part(text=str(last.function_response.response))
        else:
            part = types.Part(function_call=types.FunctionCall(name="load_memory", args={"query": last.text}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def test_an_agent_loads_what_was_said_in_another_session(
    open_memory: Callable[..., Memory], place: Place
) -> None:
    [user] = named(place, "agent")[:1]
    service = PgmnemoMemoryService(open_memory(), metadata={"by": "guide"}, language="en")
    sessions = InMemorySessionService()
    agent = LlmAgent(name="guide", model=Scripted(model="scripted"), tools=[load_memory])
    runner = Runner(app_name="guide", agent=agent, session_service=sessions, memory_service=service)

    async def talk(day: str, text: str) -> str:
        ids = {"app_name": "guide", "user_id": user}
        await sessions.create_session(session_id=day, **ids)
        content = types.Content(role="user", parts=[types.Part(text=text)])
        events = [one async for one in runner.run_async(user_id=user, session_id=day, new_message=content)]
        session = await sessions.get_session(session_id=day, **ids)
        assert session is not None
        for _ in range(2):
            await service.add_session_to_memory(session)
        return str(events[-1].content)

    async def work() -> str:
        await talk("monday", "I moved to Lisbon in May.")
        return await talk("tuesday", "Where did I move to?")

    assert "I moved to Lisbon in May." in asyncio.run(work())
    scope: Any = user_scope(open_memory(), user, "guide")
    lessons = list(scope.list(role="user"))
    assert [(one.text, one.topic) for one in lessons] == [
        ("I moved to Lisbon in May.", "monday"), ("Where did I move to?", "tuesday"),
    ]  # fmt: skip
    assert {(one.metadata["by"], one.language) for one in lessons} == {("guide", "english")}


def test_memories_are_added_found_and_deleted(open_memory: Callable[..., Memory], place: Place) -> None:
    user = named(place, "memories")[0]
    who: dict[str, Any] = {"app_name": "guide", "user_id": user}
    service = PgmnemoMemoryService(open_memory(), recall={"k": 3})

    async def found(query: str) -> list[MemoryEntry]:
        return (await service.search_memory(query=query, **who)).memories

    async def work() -> None:
        entry = MemoryEntry(
            id="m1", content=types.UserContent("Ada likes figs."), author="user", custom_metadata={"n": 1}
        )
        await service.add_memory(memories=[entry], custom_metadata={"by": "hand"}, **who)
        [one] = await found("figs?")
        assert (one.id, one.custom_metadata) == ("m1", {"by": "hand", "n": 1})
        assert one.content.model_dump() == entry.content.model_dump()
        user_scope(open_memory(), user, "guide").add("Ada likes plums.", key="by another program")
        assert [one.id for one in await found("plums?")] == ["by another program"]
        photo = types.Part(inline_data=types.Blob(data=b"x" * 900_000, mime_type="image/png"))
        event = said("See this pear.")
        assert event.content
        assert event.content.parts
        event.content.parts.append(photo)
        await service.add_events_to_memory(
            events=[event], session_id="s", custom_metadata={"ttl": "1d"}, **who
        )
        [one] = await found("pear")
        assert one.content.parts == [types.Part(text="See this pear.")]
        assert one.custom_metadata == {"ttl": "1d"}
        for name in ("m1", "by another program", event.id, "unknown", "x" * 5_000, "", None):
            await service.delete_memory(memory_id=name, **who)
        assert [await found(query) for query in ("figs", "plums", "pear")] == [[], [], []]
        await service.add_session_to_memory(Session(id="s", events=[event], **who))
        assert await found("pear") == []

    asyncio.run(work())


def test_wrong_use_is_one_sentence(open_memory: Callable[..., Memory], place: Place) -> None:
    memory, [user] = open_memory(), named(place, "wrong")[:1]
    assert isinstance(PgmnemoMemoryService(memory), BaseMemoryService)
    for wrong in (
        lambda: PgmnemoMemoryService(user_scope(memory, user, "guide")),  # type: ignore[arg-type]
        lambda: PgmnemoMemoryService(memory, recall={"tokens": 5}),
        lambda: PgmnemoMemoryService(memory, recall=5),  # type: ignore[arg-type]
        lambda: asyncio.run(PgmnemoMemoryService(memory).search_memory(app_name="a", user_id=user, query=5)),
        lambda: asyncio.run(PgmnemoMemoryService(memory).search_memory(app_name="a", user_id=5, query="x")),
        lambda: asyncio.run(
            PgmnemoMemoryService(memory, recall={"k": "many"}).search_memory(
                app_name="a", user_id=user, query="x"
            )
        ),
        lambda: asyncio.run(
            PgmnemoMemoryService(memory, metadata={"x": {1}}).add_events_to_memory(
                app_name="a", user_id=user, events=[said("x")]
            )
        ),
    ):
        with pytest.raises(UsageError) as raised:
            wrong()
        assert "\n" not in str(raised.value)
    with pytest.raises(GrantError, match="nobody granted this"):
        asyncio.run(
            PgmnemoMemoryService(memory).search_memory(app_name="a", user_id="nobody granted this", query="x")
        )
