"""ChromaDB: one persistent collection, vectors alone (no text is given to it), the tenant as metadata."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from runner.perf.memory import Library
from runner.perf.systems.system import EF_SEARCH, Place
from runner.perf.workload import Asked, Lesson, Tenant, Workload
from runner.progress import Progress

COLLECTION = "memories"
RETRIES = 3  # of a query that fails beside a writer; its time counts them
HNSW = {"space": "cosine", "ef_construction": 100, "max_neighbors": 16, "ef_search": EF_SEARCH}


class ChromaClient:
    """The collection; the library's own client is shared by all threads, as its documents say."""

    def __init__(self, collection: Any) -> None:
        self._collection = collection
        # what a query raises now and then that meets a row just being written ("Error finding id")
        self._failure: type[Exception] = import_module("chromadb.errors").InternalError

    def query(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        return self.nearest(asked, tenant, k)

    def nearest(self, asked: Asked, tenant: Tenant, k: int) -> list[int]:
        where = None if tenant is Tenant.WHOLE else {"tenant": int(tenant)}
        for _ in range(RETRIES):
            with suppress(self._failure):
                return self._query(asked, where, k)
        return self._query(asked, where, k)

    def _query(self, asked: Asked, where: Mapping[str, int] | None, k: int) -> list[int]:
        found = self._collection.query(
            query_embeddings=asked.vector[np.newaxis], n_results=k, where=where, include=[]
        )
        return [int(name) for name in found["ids"][0]]

    def add(self, lesson: Lesson) -> None:
        self._collection.add(
            ids=[str(lesson.number)],
            embeddings=lesson.vector[np.newaxis],
            metadatas=[{"tenant": int(lesson.tenant)}],
        )

    def close(self) -> None:
        """Nothing is a thread's own."""


class Chroma:
    """A persistent client in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._memory = folder, Library(folder)
        self._client = _persistent(folder)
        self._collection: Any = None
        self._ef_search = EF_SEARCH

    def load(self, workload: Workload, progress: Progress) -> Mapping[str, float]:
        began = time.perf_counter()
        self._collection = self._client.create_collection(
            COLLECTION, configuration={"hnsw": HNSW}, embedding_function=None
        )
        batch = self._client.get_max_batch_size()
        for start in progress.track(range(0, workload.count, batch), "ChromaDB: batches"):
            stop = min(start + batch, workload.count)
            self._collection.add(
                ids=[str(number) for number in range(start, stop)],
                embeddings=np.asarray(workload.vectors[start:stop]),
                metadatas=[{"tenant": int(tenant)} for tenant in workload.tenants[start:stop]],
            )
        return {"store": time.perf_counter() - began}

    def client(self, ef_search: int | None = None) -> ChromaClient:
        wanted = ef_search or EF_SEARCH
        if wanted != self._ef_search:
            self._reopen(wanted)
        return ChromaClient(self._collection)

    def _reopen(self, ef_search: int) -> None:
        """An index in memory keeps the setting that it was read with: set it, and read the index anew."""
        self._collection.modify(configuration={"hnsw": {"ef_search": ef_search}})
        self.close()
        self._client = _persistent(self._folder)
        self._collection = self._client.get_collection(COLLECTION, embedding_function=None)
        self._ef_search = ef_search

    def exact(self) -> None:
        """It orders by the cosine alone."""

    def searched(self, tenant: Tenant) -> Tenant | None:
        return None if tenant is Tenant.WHOLE else tenant

    def sizes(self) -> Mapping[str, int]:
        parts: dict[str, int] = {}
        for path in self._folder.rglob("*"):
            if path.is_file():
                part = "chroma.sqlite3" if path.parent == self._folder else "hnsw"
                parts[part] = parts.get(part, 0) + path.stat().st_size
        return dict(sorted(parts.items()))

    def memory(self) -> int | None:
        return self._memory.bytes()

    def plans(self, asked: Sequence[Asked], k: int) -> str:
        return ""

    def facts(self) -> Mapping[str, str]:
        hnsw = {f"hnsw {name}": str(value) for name, value in HNSW.items()}
        return {"chromadb": import_module("chromadb").__version__, **hnsw}

    def close(self) -> None:
        self._collection = None
        self._client.clear_system_cache()


def _persistent(folder: Path) -> Any:
    chromadb = import_module("chromadb")
    return chromadb.PersistentClient(path=str(folder), settings=chromadb.Settings(anonymized_telemetry=False))


@contextmanager
def open_chroma(place: Place) -> Iterator[Chroma]:
    """The system with its files in `place.folder`, which its owner deletes."""
    system = Chroma(place.folder)
    try:
        yield system
    finally:
        system.close()
