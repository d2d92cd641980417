"""A memory that counts common words, behind HTTP: python my_memory.py PORT LENGTH."""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LENGTH = int(sys.argv[2])  # of the shortest word that counts
ROWS: dict[str, dict[str, set[str]]] = {}


def words(text: str) -> set[str]:
    """Return the words of a text that count."""
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) >= LENGTH}


class Memory(BaseHTTPRequestHandler):
    """The memory of all scopes."""

    def do_POST(self) -> None:
        """Store the text of /add, or answer the query of /search."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows, results = ROWS.setdefault(asked["user_id"], {}), []
        if self.path == "/add":
            rows[asked["metadata"]["id"]] = words(asked["text"])
        else:
            query = words(asked["query"])
            best = sorted(rows, key=lambda one: (-len(query & rows[one]), int(one)))
            results = [{"id": one, "score": len(query & rows[one])} for one in best[: asked["limit"]]]
        body = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Memory).serve_forever()
