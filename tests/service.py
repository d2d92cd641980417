"""A real HTTP server on loopback that speaks the protocols of model services, and breaks them on request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


class Broken:
    """A faulty answer: a status (0: no byte is sent), other content than JSON, `cut` last bytes missing, or
    `slow` seconds between bytes.
    """

    def __init__(
        self,
        status: int = 200,
        content: bytes = b"{}",
        headers: dict[str, str] | None = None,
        *,
        cut: int = 0,
        slow: float = 0.0,
    ) -> None:
        self.status, self.content, self.headers = status, content, headers or {}
        self.cut, self.slow = cut, slow


class Server(ThreadingHTTPServer):
    """A server that answers with the next of `broken`, or else with the result of `answer`, which may also be
    a `Broken`.
    """

    daemon_threads = True

    def __init__(self, answer: Callable[[str, Body], Any]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.broken = answer, list[Broken]()
        self.requests: list[tuple[str, str | None, Body]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: Any) -> None:
        """Ignore a client that has disconnected, as in tests of slow answers."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append((self.path, self.headers["Authorization"], body))
            broken = self.server.broken.pop(0) if self.server.broken else None
        answer = broken or self.server.answer(self.path, body)
        self._send(answer if isinstance(answer, Broken) else Broken(content=json.dumps(answer).encode()))

    def _send(self, made: Broken) -> None:
        if not made.status:
            return
        self.send_response(made.status)
        for name, value in made.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(made.content)))
        self.end_headers()
        whole = made.content[: len(made.content) - made.cut]
        if not made.slow:
            self.wfile.write(whole)
            return
        for place in range(len(whole)):
            self.wfile.write(whole[place : place + 1])
            self.wfile.flush()
            time.sleep(made.slow)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def serving(answer: Callable[[str, Body], Any]) -> Iterator[Server]:
    """Yield a server that runs during the block."""
    server = Server(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reranked(_: str, body: Body) -> Body:
    """Return a /rerank answer in reversed order: scores rise with a document's number of query words."""
    query = set(body["query"].lower().split())
    results = [
        {"index": place, "relevance_score": len(query & set(text.lower().split())) / (1 + len(query))}
        for place, text in enumerate(body["documents"])
    ]
    return {"id": "1", "results": results[::-1]}


def chat(text: str, **more: Any) -> Body:
    """Return a chat completion with the content `text`."""
    message = {"role": "assistant", "content": text, **more}
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    return {
        "id": "1", "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage,
    }  # fmt: skip
