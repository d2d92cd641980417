"""The page of hooks does what it says."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

from tests.pgmnemo.hooks.conftest import PATIENCE, Agent

ROOT = Path(__file__).parents[3]


def test_the_commands_of_the_page_save_a_session_and_wake_it_up(agent: Agent) -> None:
    text = (ROOT / "docs" / "integrations" / "hooks.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```bash\n")[1:]]
    script = "\n".join(["set -eu", *blocks]).replace("examples/hooks/", f"{ROOT}/examples/hooks/")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    script = script.replace("mnemo serve --tenant me", f"mnemo serve --tenant '{agent.tenant}' --port {port}")
    script = script.replace("127.0.0.1:7437", f"127.0.0.1:{port}")
    done = subprocess.run(
        ["sh", "-c", script], env=agent.environ, cwd=agent.home, capture_output=True, text=True,
        timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert {*done.stderr.splitlines()} == {"sessions that run keep their settings; start the agent again"}
    assert done.stdout.count("> Never push on a Friday.\n") == 2
