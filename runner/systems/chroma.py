"""ChromaDB: one persistent collection of vectors (it gets no text), with the project as metadata."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pgmnemo.progress import QUIET, Progress
from runner.systems.memory_usage import InProcessSystem
from runner.systems.system import PEERS, Lesson, Lessons, Match, Query, SystemContext, SystemSpec

COLLECTION = "memories"
RETRIES = 3  # retries of a query that fails during a write; they count in its time
EF = "ef_search"  # the only setting of a client
HNSW = {"space": "cosine", "ef_construction": 100, "max_neighbors": 16, EF: 100}


class ChromaClient:
    """A client of the collection; all threads share the library's own client, as its documents allow."""

    def __init__(self, collection: Any) -> None:
        self._collection = collection
        # raised at times by a query that meets a row being written ("Error finding id")
        self._failure: type[Exception] = import_module("chromadb.errors").InternalError

    def ask(self, query: Query, k: int) -> list[Match]:
        return self.nearest(query, k)

    def nearest(self, query: Query, k: int) -> list[Match]:
        for _ in range(RETRIES):
            with suppress(self._failure):
                return self._query(query, k)
        return self._query(query, k)

    def _query(self, query: Query, k: int) -> list[Match]:
        assert query.vector is not None, "ChromaDB is asked with vectors alone"
        found = self._collection.query(
            query_embeddings=query.vector[np.newaxis],
            n_results=k,
            where=None if query.project is None else {"project": query.project},
            include=["distances"],
        )
        pairs = zip(found["ids"][0], found["distances"][0], strict=True)
        return [Match(int(name), 1.0 - float(distance)) for name, distance in pairs]

    def add(self, lesson: Lesson) -> None:
        assert lesson.vector is not None, "ChromaDB is given vectors alone"
        self._collection.add(
            ids=[str(lesson.number)],
            embeddings=lesson.vector[np.newaxis],
            metadatas=[{"project": lesson.project}],
        )

    def close(self) -> None:
        """Do nothing: a thread has no resources of its own."""


class Chroma(InProcessSystem[ChromaClient]):
    """A persistent client in the context's folder."""

    def __init__(self, context: SystemContext) -> None:
        super().__init__(context)
        self._client = _persistent(context.folder)
        self._collection: Any = None
        self._ef_search = str(HNSW[EF])

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        began = time.perf_counter()
        self._collection = self._client.create_collection(
            COLLECTION, configuration={"hnsw": HNSW}, embedding_function=None
        )
        batch = self._client.get_max_batch_size()
        for start in progress.track(range(0, len(lessons), batch), "ChromaDB: batches"):
            part = lessons[start : start + batch]
            self._collection.add(
                ids=[str(lesson.number) for lesson in part],
                embeddings=np.stack([lesson.vector for lesson in part if lesson.vector is not None]),
                metadatas=[{"project": lesson.project} for lesson in part],
            )
        return {"store": time.perf_counter() - began}

    def ask(self, query: Query, k: int) -> list[Match]:
        return self.client().ask(query, k)

    def client(self, settings: Mapping[str, str] | None = None) -> ChromaClient:
        """Return one more client of the collection; the setting `ef_search` is HNSW's."""
        wanted = (settings or {}).get(EF, str(HNSW[EF]))
        if wanted != self._ef_search:
            self._reopen(wanted)
        return ChromaClient(self._collection)

    def _reopen(self, ef_search: str) -> None:
        """Set ef_search and open the index again, because an index in memory keeps its old setting."""
        self._collection.modify(configuration={"hnsw": {EF: int(ef_search)}})
        self.close()
        self._client = _persistent(self.folder)
        self._collection = self._client.get_collection(COLLECTION, embedding_function=None)
        self._ef_search = ef_search

    def facts(self) -> Mapping[str, str]:
        hnsw = {f"hnsw {name}": str(value) for name, value in HNSW.items()}
        return {"version": import_module("chromadb").__version__, **hnsw}

    def sizes(self) -> Mapping[str, int]:
        sizes = super().sizes()
        database = sizes.get("chroma.sqlite3", 0)
        return {"chroma.sqlite3": database, "hnsw": sum(sizes.values()) - database}

    def close(self) -> None:
        self._collection = None
        self._client.clear_system_cache()


def _persistent(folder: Path) -> Any:
    chromadb = import_module("chromadb")
    return chromadb.PersistentClient(path=str(folder), settings=chromadb.Settings(anonymized_telemetry=False))


CHROMA = SystemSpec(
    "ChromaDB (vectors only)",
    "persistent client, HNSW, project by metadata; given vectors alone: no keywords, no text and no times",
    Chroma,
    packages=("chromadb",),
    remedy=PEERS,
    needs_vectors=True,
    hybrid=False,
    passages=True,
)
