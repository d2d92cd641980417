"""In a terminal the server prints an address that can be opened; elsewhere its log alone has it."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from pgmnemo.http import server


@pytest.mark.parametrize("terminal", [True, False])
def test_an_address_to_open_is_printed_in_a_terminal_alone(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def at_once(*_: Any) -> None: ...

    monkeypatch.setattr(server._Server, "serve", at_once)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    asyncio.run(server.serve(at_once, "127.0.0.1", 0, 1.0))
    out = capsys.readouterr().out
    assert out.startswith("open http://127.0.0.1:") is terminal
    assert bool(out) is terminal
