"""A system loaded with the lessons of a task, and its answers, cached next to the vectors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from lab.tune.request import LabOptions
from lab.tune.tasks import Task
from pgmnemo.embedders import Embedder, default_cache_dir
from pgmnemo.postgres.server_files import check_release
from pgmnemo.progress import Progress
from runner.bench.workload import CorpusLessons, IndexedQuestion, Workload
from runner.protocol.editions import current
from runner.protocol.templates.embedding import embed_corpus, make_embedder
from runner.records import Corpus, CorpusVectors, SearchScope
from runner.systems import System, SystemContext
from runner.systems.query_runner import AnswerValidator, TimedAnswer, ask_all, wrap_errors

SAID = "said"  # the array that holds other values as JSON
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Setup:
    """The options and the environment of a command."""

    options: LabOptions
    environ: Mapping[str, str]
    progress: Progress
    sql: Path

    def __post_init__(self) -> None:
        check_release(self.sql, self.options.number)
        self.embedder  # noqa: B018

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder, its model not loaded yet."""
        return make_embedder(self.options.embedder)

    @cached_property
    def cache(self) -> Path:
        """The folder of the embedding cache."""
        return self.options.cache or default_cache_dir(self.environ)

    def vectors(self, corpus: Corpus, passages: bool = True) -> CorpusVectors:
        """Return the vectors of a corpus, embedded now or read from the cache."""
        return embed_corpus(corpus, self.embedder, self.cache, self.progress, passages=passages)

    def place(self, label: str, **settings: str) -> SystemContext:
        """Return the context of a system, with the protocol's settings and the given ones."""
        demanded = {name: str(value) for name, value in current().settings.items()}
        return SystemContext(
            Path(gettempdir()), self.options.number, label, {**demanded, **settings}, self.environ,
            self.options.dsn, self.sql, progress=self.progress,
        )  # fmt: skip

    def kept(
        self, task: Task, depends: object, collect: Callable[[], tuple[Arrays, Any]]
    ) -> tuple[Arrays, Any]:
        """Return the cached arrays, or collect them and write them to the cache, without texts and ids.

        The cache key is made of the texts, the vectors and `depends`.
        """
        identity, corpus = astuple(self.embedder.identity)[:-1], task.corpus
        digest = sha256(repr((depends, identity, sorted(current().settings.items()))).encode())
        for one in (*corpus.segments, *corpus.edges, *(question for _, question in task.questions)):
            digest.update(repr(one).encode("utf-8", "surrogatepass"))
        name = f"{task.name.replace(' ', '_')}_{digest.hexdigest()[:16]}.npz"
        path = self.cache.parent / "components" / name
        if (found := load_arrays(path)) is None:
            found = collect()
            if not save_arrays(path, *found):
                self.progress.say(f"what was asked could not be kept in {path}; the next time asks again")
        return found


def load_arrays(path: Path) -> tuple[Arrays, Any] | None:
    """Return the arrays in a file and the value saved with them; None if the file is missing or damaged."""
    try:
        with path.open("rb") as file, np.load(file) as held:
            arrays = {name: held[name] for name in held.files}
        return arrays, json.loads(str(arrays.pop(SAID)))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], said: Any) -> bool:
    """Write the file atomically; return False if it cannot be written, which only costs time."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    given: dict[str, Any] = {SAID: np.array(json.dumps(said)), **arrays}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, **given)
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        return False
    return True


class LoadedTask:
    """A system with the lessons of a task, and the task's questions as queries."""

    def __init__(
        self, name: str, system: System, task: Task, vectors: CorpusVectors | None, context: SystemContext
    ) -> None:
        self.name, self.system, self.task, self.progress = name, system, task, context.progress
        self.lessons = CorpusLessons(task.corpus, vectors, context.label)
        asked = tuple(IndexedQuestion(position, question) for position, question in task.questions)
        self.material = Workload(task.corpus, vectors, asked, self.lessons)
        self.queries = self.material.queries(asked, SearchScope("own"))
        with wrap_errors(name):
            system.load(self.lessons, self.progress)
        self._judge = AnswerValidator(name, self.lessons)

    def answers(
        self, words: str, depth: int, settings: Mapping[str, str] | None = None, rows: Sequence[int] = ()
    ) -> Iterator[tuple[int, list[int], TimedAnswer]]:
        """Yield row, columns of the lessons, and answer for each question, or for those in `rows`."""
        wanted = rows or range(len(self.queries))
        queries = [self.queries[row] for row in wanted]
        found = ask_all(self.system, self.name, queries, depth, self._judge, settings=settings)
        tracked = self.progress.track(found, f"{self.task.name}, {words}", len(queries))
        for row, answer in zip(wanted, tracked, strict=True):
            columns = self.task.layout.columns[self.task.projects[row]]
            yield row, [columns[self.lessons.ids[match.number]] for match in answer.matches], answer
