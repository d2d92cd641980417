"""The application over one memory, asked within this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from pgmnemo import AsyncMemory
from pgmnemo.http.app import build_app
from pgmnemo.http.auth import AuthMiddleware, Limits
from pgmnemo.http.logs import RequestLogMiddleware
from pgmnemo.http.tokens import Principal, TokenFile
from pgmnemo.http.verbs import VERBS
from tests.pgmnemo.client.driving import Place

PATHS = [verb.path for verb in VERBS]


@dataclass
class Served:
    """A client of the application; `tokens` are those that it knows."""

    place: Place
    memory: AsyncMemory
    tokens: TokenFile
    app: Any
    runner: asyncio.Runner

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(asyncio.wait_for(work, 240))

    def token(self, project: str | None = None, tenant: str | None = None) -> str:
        """For a new tenant, if none is named."""
        return self.tokens.create(tenant or self.place.tenant(), project)

    def post(self, token: str, verb: str, body: Any = None, **given: Any) -> httpx.Response:
        return self.ask("POST", f"/v1/{verb}", token, **({"json": body or {}} | given))

    def ask(self, method: str, path: str, token: str | None = None, **given: Any) -> httpx.Response:
        headers = {"content-type": "application/json"}
        headers |= {"authorization": f"Bearer {token}"} if token else {}

        async def work() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(self.app), base_url="http://127.0.0.1", timeout=240
            ) as client:
                return await client.request(method, path, **{"headers": headers, **given})

        found: httpx.Response = self.run(work())
        return found


@pytest.fixture(scope="session")
def opened(place: Place, runner: asyncio.Runner) -> Iterator[AsyncMemory]:
    memory = runner.run(AsyncMemory.open(place.dsn(), embedder=None))
    yield memory
    runner.run(memory.close())


@pytest.fixture
def served(place: Place, opened: AsyncMemory, runner: asyncio.Runner, tmp_path: Path) -> Served:
    tokens = TokenFile(tmp_path / "tokens.json")
    app = RequestLogMiddleware(AuthMiddleware(build_app(opened), tokens, Limits(rate=10_000)), PATHS)
    return Served(place, opened, tokens, app, runner)


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was logged since."""
    return lambda: capsys.readouterr().err


@pytest.fixture
def principal() -> Principal:
    """The one of a server without tokens."""
    return Principal(id="-", tenant="me", made_at=datetime.now(UTC))
