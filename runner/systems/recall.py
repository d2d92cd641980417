"""The system under test: one call of pgmnemo.recall_lessons for a question, as protocol §4.2 demands."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue
from typing import Any

from psycopg import sql

from runner.protocol import EnginePins
from runner.records import Hit, SearchScope
from runner.systems.system import Answer, Asked
from runner.systems.tenant import WORKERS, Connection, Tenant, padded

RECALL = """
SELECT in_project, external_id, score, {}
FROM pgmnemo.recall_lessons(
    embedding := %s::vector, k := %s, query_text := %s, project_id := %s, as_of := %s, mode := %s)
"""
KEYWORDS = ("bm25", "cosine", "passage_cosine", "pair_cosine")  # the last three are silent in keyword mode


def bm25_alone(engine: EnginePins) -> dict[str, str]:
    """The settings under which the keyword mode of `engine` ranks by BM25 and nothing else."""
    return {f"{name}_weight": "0" for name in engine.components if name not in KEYWORDS}


class Recall:
    """`mode` of the extension over one tenant; `overrides` are settings that differ from the run's."""

    def __init__(
        self, tenant: Tenant, mode: str, name: str, words: str,
        *, detailed: bool = False, overrides: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.words, self.detailed = name, words, detailed
        self._tenant, self._mode, self._overrides = tenant, mode, overrides
        components = sql.SQL(", ").join(map(sql.Identifier, tenant.engine.components))
        self._query = sql.SQL(RECALL).format(components)
        self._ids = {
            (tenant.project(segment.project), segment.external_id): segment.id
            for segment in tenant.inputs.corpus.segments
        }

    def answers(self, asked: Sequence[Asked], scope: SearchScope) -> Iterator[Answer]:
        """As many questions at once as there are workers, each on a connection of its own."""
        with ExitStack() as stack:
            free: SimpleQueue[Connection] = SimpleQueue()
            for _ in range(WORKERS):
                free.put(stack.enter_context(self._tenant.connect(self._overrides)))

            def answer(one: Asked) -> Answer:
                connection = free.get()
                try:
                    return self._answer(connection, one, scope, self._tenant.inputs.depth)
                finally:
                    free.put(connection)

            pool = stack.enter_context(ThreadPoolExecutor(WORKERS))
            yield from pool.map(answer, asked)

    def timed(
        self, asked: Sequence[Asked], scope: SearchScope, k: int, warm_up: int = 20
    ) -> Iterator[Answer]:
        """One client, one question after the other, after a warm-up that is not reported."""
        with self._tenant.connect(self._overrides) as connection:
            for one in asked[:warm_up]:
                self._answer(connection, one, scope, k)
            for one in asked:
                yield self._answer(connection, one, scope, k)

    def _answer(self, connection: Connection, one: Asked, scope: SearchScope, k: int) -> Answer:
        vectors, question = self._tenant.inputs.vectors, one.question
        vector = None if vectors is None or self._mode == "keyword" else vectors.questions[one.position]
        parameters = (
            None if vector is None else padded(vector, self._tenant.width),
            k,
            None if self._mode == "vector" else question.text,
            None if scope.pooled else self._tenant.project(question.project),
            question.as_of,
            self._mode,
        )
        began = time.perf_counter()
        rows = connection.execute(self._query, parameters, binary=True).fetchall()
        seconds = time.perf_counter() - began
        return Answer(tuple(self._hit(row) for row in rows), seconds)

    def _hit(self, row: Sequence[Any]) -> Hit:
        project, external_id, score, *components = row
        return Hit(self._ids[project, external_id], score, tuple(components))
