"""A real server in a thread, and pages of a real browser that look at it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from pgmnemo import AsyncMemory
from pgmnemo.http.app import build_app
from pgmnemo.http.auth import AuthMiddleware
from pgmnemo.http.page import route

WIDE = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PATIENCE = 60_000  # milliseconds, for a slow machine
SETTLED = "#hits[aria-busy=false]"


@contextmanager
def serving(place: str, **guarded: Any) -> Iterator[str]:
    """The address of a server of a memory of words alone, behind a AuthMiddleware."""
    ready, box = threading.Event(), {}

    async def work() -> None:
        async with await AsyncMemory.open(place, embedder=None) as memory:
            app = AuthMiddleware(build_app(memory, route(guarded["tokens"] is not None)), **guarded)
            box["server"] = server = uvicorn.Server(
                uvicorn.Config(app, port=0, lifespan="off", log_level="error")
            )
            task = asyncio.create_task(server.serve())
            while not server.started:
                await asyncio.sleep(0.01)
            box["port"] = server.servers[0].sockets[0].getsockname()[1]
            ready.set()
            await task

    thread = threading.Thread(target=asyncio.run, args=(work(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield f"http://127.0.0.1:{box['port']}/"
    finally:
        box["server"].should_exit = True
        thread.join()


@dataclass
class Visit:
    """A tab of somebody; `said` is what it told the console, `asked` what it asked the network for."""

    page: Any
    address: str
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.address)

    def enter(self, token: str, project: str = "") -> None:
        self.page.fill("#token", token)
        self.page.press("#token", "Enter")
        self.page.wait_for_selector(SETTLED, state="attached")
        if project:
            self.choose(project)

    def choose(self, project: str) -> None:
        """A project, whose lessons are then there."""
        with self.answer("count"):
            self.page.fill("#project", project)
            self.page.press("#project", "Enter")
        self.settle()

    def search(self, question: str) -> None:
        with self.answer("recall"):
            self.page.fill("#question", question)
            self.page.press("#question", "Enter")
        self.settle()

    def open(self, start: str) -> None:
        """The lesson in the list whose text so starts."""
        self.page.locator("#hits li", has_text=start).first.locator(".open").click()
        self.page.wait_for_selector(".steps")

    def act(self, name: str) -> None:
        self.page.locator("#lesson").get_by_role("button", name=name, exact=True).click()

    def told(self, sentence: str) -> None:
        """Wait for what is said of a change, and for the list to follow."""
        self.page.locator("#done", has_text=sentence).wait_for()
        self.settle()

    def answer(self, verb: str) -> Any:
        return self.page.expect_response(f"**/v1/{verb}")

    def settle(self) -> None:
        self.page.wait_for_selector(SETTLED, state="attached")

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def texts(self) -> list[str]:
        """Those of the list, in its order."""
        return list(self.page.locator("#hits .text").all_inner_texts())

    def focused(self) -> str:
        return str(self.page.evaluate("document.activeElement.id || document.activeElement.textContent"))
