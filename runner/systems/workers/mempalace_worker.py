"""MemPalace's own palace and search; needs mempalace, nothing of the runner.

A lesson is one drawer, stored with its vector through the palace's collection. A question goes through
`search_memories`, as in its MCP server: Chroma's nearest, reranked by 0.6 similarity and 0.4 BM25. The
question's vector is served by its setting `embedding_model = openai-compat`, from an endpoint in this process
that knows one text: the current question.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module, metadata
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

from pipe import floats, serve

DRAWER = "drawer_"
ROOM = "lessons"
STRATEGY = "vector"  # its default strategy for candidates


class EmbeddingService(BaseHTTPRequestHandler):
    """An endpoint like OpenAI's `POST /v1/embeddings`, for the one text in `known`."""

    known: ClassVar[dict[str, list[float]]] = {}
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = [{"index": at, "embedding": self.known.get(text)} for at, text in enumerate(texts)]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200 if all(row["embedding"] for row in rows) else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""


class MemPalace:
    def __init__(self) -> None:
        self._palace = ""
        self._drawers: Any = None
        self._search: Any = None

    def hello(self) -> dict[str, str]:
        return {
            "version": metadata.version("mempalace"), "chromadb": metadata.version("chromadb"),
            "backend": "chroma", "candidates": STRATEGY, "closets": "none", "drawer": "one a lesson",
            "embedding_model": "openai-compat, the run's own vectors",
        }  # fmt: skip

    def begin(self, folder: str, width: int) -> dict[str, str]:
        """Open an empty palace in `folder`; return the weights of its ranking."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), EmbeddingService)
        Thread(target=server.serve_forever, daemon=True).start()
        os.environ.update(
            MEMPALACE_CONFIG_DIR=str(Path(folder) / "config"), MEMPALACE_BACKEND="chroma",
            MEMPALACE_EMBEDDING_MODEL="openai-compat", MEMPALACE_EMBEDDING_API_MODEL="given",
            MEMPALACE_EMBEDDING_API_URL=f"http://127.0.0.1:{server.server_address[1]}",
        )  # fmt: skip
        self._palace = str(Path(folder) / "palace")
        self._drawers = import_module("mempalace.palace").get_collection(self._palace)
        self._search = import_module("mempalace.searcher").search_memories
        settings = import_module("mempalace.config").MempalaceConfig()
        words, vectors = settings.hybrid_rank_bm25_weight, settings.hybrid_rank_vector_weight
        return {"weights": f"{vectors:g} similarity, {words:g} BM25 among the candidates"}

    def store(self, rows: list[tuple[int, int, str, str]]) -> None:
        """Store rows of number, project, text and vector."""
        now = datetime.now().isoformat()
        self._drawers.upsert(
            ids=[f"{DRAWER}{number}" for number, *_ in rows],
            documents=[text for _, _, text, _ in rows],
            embeddings=[floats(vector) for *_, vector in rows],
            metadatas=[
                {"wing": f"p{project}", "room": ROOM, "source_file": f"{DRAWER}{number}", "chunk_index": 0,
                 "filed_at": now}
                for number, project, _, _ in rows
            ],
        )  # fmt: skip

    def ask(self, text: str, vector: str, project: int | None, k: int) -> list[tuple[int, None]]:
        """Return the drawers of its results, without scores, because its scores do not decide the ranks.

        Drawers with one text are one result, which lists the others in `also_in`.
        """
        EmbeddingService.known = {text: floats(vector)}
        wing = None if project is None else f"p{project}"
        found = self._search(text, self._palace, wing=wing, n_results=k, candidate_strategy=STRATEGY)
        if "error" in found:
            raise RuntimeError(f"{found['error']} {found.get('details', '')}".strip())
        drawers = [row["drawer_id"] for hit in found["results"] for row in (hit, *hit.get("also_in", ()))]
        return [(int(drawer.removeprefix(DRAWER)), None) for drawer in drawers[:k]]


if __name__ == "__main__":
    serve(MemPalace())
