"""Both clients on the database of tests/interface_memory.py, and a proxy that cuts their connections."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.pgmnemo.client.cutting import CuttingProxy, proxy
from tests.pgmnemo.client.driving import SHELLS, Connection, Place, Shell


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, runner: asyncio.Runner) -> Iterator[Shell]:
    """Yield the synchronous and the asynchronous client in turn."""
    with ExitStack() as stack:
        yield Shell(request.param, stack, runner)


@pytest.fixture(scope="session")
def kept(place: Place, runner: asyncio.Runner) -> Iterator[dict[str, Any]]:
    """Yield alice's memory of each client by its name, without an embedder: its connections have planned
    every verb.
    """
    with ExitStack() as stack:
        yield {kind: Shell(kind, stack, runner).open(place.dsn()) for kind in SHELLS}


@pytest.fixture
def memory(shell: Shell, kept: dict[str, Any]) -> Any:
    return kept[shell.kind]


@pytest.fixture
def scope(memory: Any, place: Place) -> Any:
    """Return a project of a new tenant."""
    return memory.tenant(place.tenant()).project("kitchen")


@pytest.fixture
def shut(place: Place) -> Iterator[CuttingProxy]:
    """Yield a proxy in front of the server that can cut connections."""
    folder = Path(tempfile.mkdtemp(prefix="pgmnemo-proxy-"))
    with proxy(folder, f"{place.server.conninfo['host']}/.s.PGSQL.5432") as made:
        yield made
    shutil.rmtree(folder)


@pytest.fixture
def held(place: Place) -> Iterator[Callable[[Any], Connection]]:
    """Call it with a scope for a writer that holds up every change of its tenant until it commits."""
    with place.connect() as writer:

        def hold(scope: Any) -> Connection:
            writer.autocommit = False
            writer.execute("SET pgmnemo.gate_strict = off; SET pgmnemo.bypass_notice = off")
            tenant, project = scope.tenant_id, scope.project_id
            writer.execute("SELECT pgmnemo.update(%s, %s, 'k', importance => 5)", (tenant, project))
            return writer

        yield hold
