"""A download through the hub's own client, from a small hub of our own on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")

COMMIT = "a" * 40
FILES = {"config.json": b"{}", "pytorch_model.bin": b"weights"}

FETCH = f"""
import sys
from runner.models.hub import HubModel, fetch
from runner.models.torch_runtime import silence
from runner.errors import ModelError
from runner.progress import Progress
class Lines(Progress):
    def say(self, text): print("said", text)
hashes = {{"pytorch_model.bin": sys.argv[1]}}
model = HubModel("org/tiny", "{COMMIT}", "pytorch_model.bin", {tuple(FILES)!r}, hashes)
with silence():
    try:
        folder = fetch(model, "tiny", Lines())
        print("read", (folder / "pytorch_model.bin").read_bytes())
    except ModelError as error:
        print("error", error)
"""


class Hub(BaseHTTPRequestHandler):
    """The three requests that the client makes: about the model, about a file, and for a file."""

    def do_GET(self) -> None:
        if self.path.startswith(f"/api/models/org/tiny/revision/{COMMIT}"):
            siblings = [{"rfilename": name, "size": len(data)} for name, data in FILES.items()]
            self._answer(json.dumps({"id": "org/tiny", "sha": COMMIT, "siblings": siblings}).encode())
        else:
            self._answer(FILES[self.path.rsplit("/", 1)[1]])

    def do_HEAD(self) -> None:
        self._answer(FILES[self.path.rsplit("/", 1)[1]], head=True)

    def _answer(self, data: bytes, head: bool = False) -> None:
        self.send_response(200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{sha256(data).hexdigest()}"')
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not head:
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(hub: str, cache: Path, digest: str) -> tuple[str, str]:
    environment = {**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(cache), "NO_PROXY": "127.0.0.1"}
    for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        environment.pop(name, None)
    command = [sys.executable, "-c", FETCH, digest]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout, done.stderr


def test_a_model_is_downloaded_once_and_quietly(hub: str, tmp_path: Path) -> None:
    digest = sha256(FILES["pytorch_model.bin"]).hexdigest()
    said = "said fetching org/tiny (0.0 GB) from the Hugging Face hub\n"
    assert fetch(hub, tmp_path, digest) == (f"{said}read b'weights'\n", "")
    assert fetch("http://127.0.0.1:9", tmp_path, digest) == ("read b'weights'\n", "")


def test_a_download_with_other_weights_is_refused(hub: str, tmp_path: Path) -> None:
    assert "error" in (answer := fetch(hub, tmp_path, "0" * 64)[0])
    assert "is not the pinned model" in answer
