"""A coding agent that runs hooks as its settings say."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import Memory, Scope
from tests.pgmnemo.client.driving import Place
from tests.reader import path

EXAMPLES = Path(__file__).parents[3] / "examples" / "hooks"
SETTINGS = json.loads((EXAMPLES / "settings.json").read_text(encoding="utf-8"))["hooks"]
PATIENCE = 240  # seconds


@dataclass
class Agent:
    """Claude Code as far as hooks know it: it writes a transcript, and runs commands of its settings."""

    home: Path
    environ: dict[str, str]
    scope: Scope
    cwd: str = "/home/ada/boats"
    session: str = "s1"
    lines: int = field(default=0, init=False)

    @property
    def tenant(self) -> str:
        return self.environ["PGMNEMO_TENANT"]

    @property
    def transcript(self) -> Path:
        return self.home / f"{self.session}.jsonl"

    def say(self, role: str, text: str, **more: Any) -> None:
        """One more message."""
        self.lines += 1
        line = {
            "type": role, "uuid": f"{self.session}-{self.lines:04}",
            "sessionId": self.session, "cwd": self.cwd,
            "timestamp": f"2026-11-27T01:{self.lines // 60:02}:{self.lines % 60:02}Z",
            "message": {"role": role, "content": [{"type": "text", "text": text}]}, **more,
        }  # fmt: skip
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def event(self, name: str, **more: Any) -> bytes:
        """What a hook is told."""
        told = {"session_id": self.session, "transcript_path": str(self.transcript), "cwd": self.cwd}
        return json.dumps({**told, "hook_event_name": name, **more}).encode()

    def run(self, name: str, options: str = "", **more: Any) -> str:
        """What the hooks of an event print; they end with 0 and nothing on standard error."""
        [group] = SETTINGS[name]
        [hook] = group["hooks"]
        done = subprocess.run(
            ["sh", "-c", f"{hook['command']} {options}"], input=self.event(name, **more),
            env=self.environ, cwd=self.home, capture_output=True, timeout=2 * PATIENCE, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    def texts(self) -> list[str]:
        """What the memory holds."""
        return [one.text for one in self.scope.list()]


@pytest.fixture
def agent(tmp_path: Path, place: Place, open_memory: Callable[..., Memory]) -> Agent:
    """An agent of a new tenant, whose hooks are set up as the page says."""
    tenant = place.tenant()
    shutil.copytree(EXAMPLES, tmp_path / ".mnemo")
    environ = {
        "HOME": str(tmp_path), "PATH": path(),
        "PGMNEMO_HOOK_SECONDS": str(PATIENCE), "PGMNEMO_MEMORY": place.dsn(),
        "PGMNEMO_TENANT": tenant, "PGMNEMO_EMBEDDER": "none",
    }  # fmt: skip
    return Agent(tmp_path, environ, open_memory().tenant(tenant).project(Agent.cwd))
