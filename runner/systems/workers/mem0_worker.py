"""mem0's open-source `Memory`, stored without inference; needs mem0ai and langchain, nothing of the runner.

Its embedder is the provider `langchain`, with an embedder that knows one text: the one being stored or asked.
Its store is the default, Qdrant on disk. The LLM that its configuration requires is never called: its URL is
unreachable.
"""

from __future__ import annotations

import os
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from pipe import floats, serve

THRESHOLD = 0.0  # the least similarity of `Memory.search`; its default, 0.1, cuts answers short
EVERYBODY = "*"  # mem0's wildcard in a filter
NOWHERE = "http://127.0.0.1:9"


class GivenEmbedder:
    """An embedder for mem0 that returns the vector supplied for a text."""

    def __init__(self) -> None:
        self._text, self._vector = "", ""

    def know(self, text: str, vector: str) -> None:
        self._text, self._vector = text.strip(), vector

    def embed_query(self, text: str) -> list[float]:
        """Return the given vector; raise ValueError for any text except the last given one."""
        if text.strip() != self._text:
            raise ValueError(f"no vector was given for the text {text[:40]!r}")
        values: list[float] = floats(self._vector)
        return values

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


class Mem0:
    def __init__(self) -> None:
        self._memory: Any = None
        self._given: Any = None

    def hello(self) -> dict[str, str]:
        names = ("qdrant-client", "langchain")
        versions = {name: metadata.version(name) for name in names}
        return {
            "version": metadata.version("mem0ai"), **versions, "infer": "False", "reranker": "none",
            "vector store": "qdrant, on disk", "embedder": "langchain, the run's own vectors",
            "threshold": str(THRESHOLD),
        }  # fmt: skip

    def begin(self, folder: str, width: int) -> dict[str, str]:
        """Open an empty memory in `folder`; return the known facts of its retrievers."""
        os.environ.update(MEM0_DIR=folder, MEM0_TELEMETRY="False")  # read when it is imported
        embeddings = import_module("langchain.embeddings.base").Embeddings
        self._given = type("GivenEmbeddings", (GivenEmbedder, embeddings), {})()
        place = Path(folder)
        store = {"path": str(place / "qdrant"), "on_disk": True, "embedding_model_dims": width}
        self._memory = import_module("mem0").Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": {"provider": "langchain", "config": {"model": self._given}},
            "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": NOWHERE}},
            "history_db_path": str(place / "history.db"),
        })  # fmt: skip
        words = self._memory.vector_store.keyword_search(query="memory", filters={"user_id": "nobody"})
        return {"keyword leg": "off: no fastembed with the model Qdrant/bm25" if words is None else "on"}

    def store(self, rows: list[tuple[int, int, str, str]]) -> None:
        """Store rows of number, project, text and vector."""
        for number, project, text, vector in rows:
            self._given.know(text, vector)
            self._memory.add(text, user_id=f"p{project}", metadata={"number": number}, infer=False)

    def ask(self, text: str, vector: str, project: int | None, k: int) -> list[tuple[int, float]]:
        self._given.know(text, vector)
        user = EVERYBODY if project is None else f"p{project}"
        found = self._memory.search(text, top_k=k, filters={"user_id": user}, threshold=THRESHOLD)
        return [(row["metadata"]["number"], row["score"]) for row in found["results"]]


if __name__ == "__main__":
    serve(Mem0())
