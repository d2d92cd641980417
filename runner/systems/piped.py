"""A system behind a worker: texts and vectors over the pipe, numbers and scores back, one at a time."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from runner.progress import QUIET, Progress
from runner.records import Matrix
from runner.systems.memory import of_process
from runner.systems.system import Lessons, Match, Place, Query, System
from runner.systems.worker import Worker

WORKERS = Path(__file__).parent / "workers"
BATCH = 64  # lessons that are sent at once
START, STORE = 120.0, 600.0  # seconds for its start, and for a batch
STORED = "stored"  # what it keeps, in the folder of the place


class Piped(System):
    """The worker `script`, run by `python`. `name` is what a fault calls it."""

    def __init__(self, name: str, place: Place, python: Path, script: Path) -> None:
        self._name, self._folder = name, place.folder / STORED
        self._folder.mkdir()
        self._projects: dict[str, int] = {}
        self._worker = Worker(name, python, script, place.folder, place.environ)
        try:
            self._facts = {**self._worker.call("hello", limit=START)}
        except BaseException:
            self._worker.close()
            raise

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self._projects = {name: number for number, name in enumerate(lessons.projects)}
        self._facts |= self._worker.call("begin", str(self._folder), lessons.width, limit=START)
        began = time.perf_counter()
        for start in progress.track(range(0, len(lessons), BATCH), f"{self._name}: batches"):
            rows = [
                (one.number, self._projects[one.project], one.text, _encoded(one.vector))
                for one in lessons[start : start + BATCH]
            ]
            self._worker.call("store", rows, limit=STORE)
        return {"store": time.perf_counter() - began}

    def ask(self, query: Query, k: int) -> list[Match]:
        project = None
        if query.project is not None:
            project = self._projects.get(query.project)
            if project is None:  # nothing was stored there
                return []
        found = self._worker.call("ask", query.text, _encoded(query.vector), project, k)
        return [Match(int(number), score) for number, score in found]

    def facts(self) -> Mapping[str, str]:
        return self._facts

    def sizes(self) -> Mapping[str, int]:
        parts: dict[str, int] = {}
        for path in self._folder.rglob("*"):
            if path.is_file():
                part = path.relative_to(self._folder).parts[0]
                parts[part] = parts.get(part, 0) + path.stat().st_size
        return dict(sorted(parts.items()))

    def memory(self) -> int | None:
        return of_process(self._worker.pid)

    def close(self) -> None:
        self._worker.close()


def _encoded(vector: Matrix | None) -> str:
    """Base64 over float32, little-endian."""
    assert vector is not None, "it can do nothing without vectors"
    return b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()
