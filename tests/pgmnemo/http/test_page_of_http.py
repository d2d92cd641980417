"""docs/integrations/http.md: its blocks run, one after the other, as somebody who reads it would run them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

from pgmnemo.http.verbs import VERBS
from tests.pgmnemo.postgres.embedded.serving import new_base
from tests.reader import path

PAGE = Path(__file__).parents[3] / "docs" / "integrations" / "http.md"
PORT = "7437"


def test_the_page_runs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```bash\n")[1:]]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    script = "\n".join(["set -e", *blocks]).replace(f":{PORT}", f":{port}")
    script = script.replace("--tokens tokens.json 2>", f"--tokens tokens.json --port {port} 2>")
    environment = {**os.environ, "PATH": path()}
    with new_base() as base:
        done = subprocess.run(
            ["bash", "-c", script], cwd=base, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert '"why":' in done.stdout
        assert '{"status":"ok"}' in done.stdout
        assert '"kind":"no token"' in done.stdout
        assert len((base / "kitchen.jsonl").read_text().splitlines()) == 2
        assert len(json.loads((base / "openapi.json").read_text())["paths"]) == len(VERBS) + 2
