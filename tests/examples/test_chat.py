"""The chat agent remembers from one conversation to the next (with a script: test_page.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pgmnemo.client.driving import Place
from tests.service import Body, Broken, serving

CHAT = Path(__file__).parents[2] / "examples" / "chat" / "chat.py"


def chat(place: Place, said: str, *options: str) -> tuple[str, str]:
    """What it prints and what it complains of."""
    command = [sys.executable, str(CHAT), "--memory", place.dsn(), "--embedder", "none", *options]
    done = subprocess.run(command, input=said, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, done.stderr


def test_a_service_is_told_what_was_said_before_and_a_fault_ends_nothing(place: Place) -> None:
    tenant = place.tenant()

    def answer(path: str, body: Body) -> dict[str, Any]:
        assert path == "/v1/chat/completions"
        return {
            "choices": [{"message": {"role": "assistant", "content": f"{len(body['messages'])} messages"}}]
        }

    with serving(answer) as service:
        options = ("--user", tenant, "--url", service.url, "--model", "m")
        assert chat(place, "I sail a red boat.\n\nIt leaks.\n", *options)[0] == "2 messages\n4 messages\n"
        service.broken += [Broken(500), Broken(content=b"{}"), Broken(content=b"no JSON")]
        told, complaints = chat(place, "a\nb\nc\nWhich boat do I sail?\n", *options)
        prompt = service.requests[-1][2]["messages"]
    assert told == "2 messages\n"
    assert [line.split(":")[0] for line in complaints.splitlines()] == ["that did not work"] * 3
    assert prompt[0]["role"] == "system"
    assert "> I sail a red boat." in prompt[0]["content"]
    assert "> Which boat" not in prompt[0]["content"]
    assert prompt[1:] == [{"role": "user", "content": "Which boat do I sail?"}]


@pytest.mark.parametrize(
    "command",
    ["chat/chat.py --script nothere", "chat/chat.py --memory postgresql:///x?port=1", "web/app.py"],
)
def test_what_is_wrong_is_one_line(command: str) -> None:
    name, *options = command.split()
    told = [sys.executable, str(CHAT.parents[1] / name), *options]
    done = subprocess.run(told, input="hello", capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
