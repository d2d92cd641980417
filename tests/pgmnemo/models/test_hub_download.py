"""A download through the hub's own client, from a small hub of our own on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.stages.rerankers.conftest import graph

pytest.importorskip("huggingface_hub")

COMMIT = "a" * 40
FILES = {"config.json": b"{}", "pytorch_model.bin": b"weights"}

FETCH = f"""
import sys
from pgmnemo.models.hub import HubModel
from pgmnemo.models.runtime import silence
from pgmnemo.errors import ModelError
from pgmnemo.progress import Progress
class Lines(Progress):
    def say(self, text): print("said", text)
hashes = {{"pytorch_model.bin": sys.argv[1]}}
model = HubModel("org/tiny", "{COMMIT}", "pytorch_model.bin", {tuple(FILES)!r}, hashes)
with silence():
    try:
        folder = model.fetch("tiny", Lines())
        print("read", (folder / "pytorch_model.bin").read_bytes())
    except ModelError as error:
        print("error", error)
"""


class Serving(ThreadingHTTPServer):
    """A hub that has one model of these files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Hub)
        self.files = files


class Hub(BaseHTTPRequestHandler):
    """What the client asks: about the model, for its list of files, about a file, and for a file."""

    server: Serving

    def do_GET(self) -> None:
        files = self.server.files
        if self.path.startswith(f"/api/models/org/tiny/tree/{COMMIT}"):
            tree = [
                {"type": "file", "path": name, "size": len(data), "oid": sha256(data).hexdigest()[:40]}
                for name, data in files.items()
            ]
            self._answer(json.dumps(tree).encode())
        elif self.path.startswith(f"/api/models/org/tiny/revision/{COMMIT}"):
            siblings = [{"rfilename": name, "size": len(data)} for name, data in files.items()]
            self._answer(json.dumps({"id": "org/tiny", "sha": COMMIT, "siblings": siblings}).encode())
        else:
            self._file()

    def do_HEAD(self) -> None:
        self._file(head=True)

    def _file(self, head: bool = False) -> None:
        name = self.path.rsplit("/", 1)[1]
        if name in self.server.files:
            self._answer(self.server.files[name], head)
        else:
            self.send_error(404)

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


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[str]:
    server = Serving(files)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def hub() -> Iterator[str]:
    with serving(FILES) as address:
        yield address


def asked(hub: str, cache: Path, *words: str) -> tuple[str, str]:
    """What a program says that is to find its models at that hub."""
    environment = {**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(cache), "NO_PROXY": "127.0.0.1"}
    for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        environment.pop(name, None)
    command = [sys.executable, "-c", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def fetch(hub: str, cache: Path, digest: str) -> tuple[str, str]:
    return asked(hub, cache, FETCH, digest)


def test_a_model_is_downloaded_once_and_quietly(hub: str, tmp_path: Path) -> None:
    digest = sha256(FILES["pytorch_model.bin"]).hexdigest()
    said = "said fetching org/tiny (0.0 GB) from the Hugging Face hub\n"
    assert fetch(hub, tmp_path, digest) == (f"{said}read b'weights'\n", "")
    assert fetch("http://127.0.0.1:9", tmp_path, digest) == ("read b'weights'\n", "")


def test_a_download_with_other_weights_is_refused(hub: str, tmp_path: Path) -> None:
    assert "error" in (answer := fetch(hub, tmp_path, "0" * 64)[0])
    assert "is not the pinned model" in answer


RERANK = """
import sys
from runner.stages.rerankers import RERANKERS, RerankOptions
made = RERANKERS["onnx"](RerankOptions(rerank_model=sys.argv[1]))
print(made.to_download())
made.load()
print(made.to_download(), made.identity.model, made.identity.revision.partition(", sha256:")[0])
print(made.scores("where is the cat", ["a dog", "the cat sat on the mat"]))
"""


def test_a_reranker_is_downloaded_by_its_name_and_runs(tmp_path: Path) -> None:
    """The graph comes from the hub; weights of another kind, which lie beside it there, do not."""
    pytest.importorskip("onnxruntime")
    made = graph(tmp_path / "model")
    files = {path.name: path.read_bytes() for path in made.iterdir()}
    size = sum(map(len, files.values()))
    with serving({**files, "model.safetensors": b"heavy"}) as hub:
        said, complaints = asked(hub, tmp_path / "cache", RERANK, f"org/tiny@{COMMIT}")
    assert said.splitlines() == [str(size), f"0 org/tiny {COMMIT}", "[1.0, 6.0]"]
    assert complaints == ""
    assert not list((tmp_path / "cache").rglob("model.safetensors"))
