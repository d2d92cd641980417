"""Where an exact scan of a project stops paying: the measurement behind pgmnemo.hnsw_min_vectors.

    python benchmarks/performance/hnsw_min_vectors.py [--sizes 1000,5000,...] [--questions 100]
                                                        [--version VERSION] [--dsn DSN]

Fills one project with lessons in growing steps, every vector in the HNSW index, and at each size asks the
same questions with the limit above the size (exact scan) and at 0 (index). Prints the median and the 95th
percentile of the whole call in milliseconds (k = 10, vectors alone, one client, an ordinary role, policies
active) and the share of the exact ten that the index finds. Vectors are synthetic: 1,024 dimensions, one
cluster for every hundred lessons.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from pgmnemo.calls import execute, verb_call
from pgmnemo.postgres import open_database
from pgmnemo.postgres.releases import version_number
from runner.systems.pgmnemo.system import TABLES

TENANT, PROJECT = UUID(int=1), UUID(int=2)
WIDTH, SPREAD = 1024, 0.7
RECALL = """
SELECT external_id
FROM pgmnemo.recall_lessons(embedding := %s::vector, k := 10, project_id := %s, mode := 'vector')
"""
Vectors = NDArray[np.float32]


def clustered(count: int, centres: Vectors, chance: np.random.Generator) -> Vectors:
    """`count` unit rows around randomly chosen centres (rows)."""
    noise = chance.standard_normal((count, WIDTH), dtype=np.float32) * SPREAD
    rows = centres[chance.integers(0, len(centres), count)] + noise
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def store(connection: psycopg.Connection[Any], first: int, vectors: Vectors) -> float:
    """Return seconds to store these vectors as lessons numbered from `first`."""
    began = time.perf_counter()
    with connection.transaction(), connection.cursor() as cursor:
        cursor.execute("SELECT pgmnemo.open_staging()")
        columns = "project_id, external_id, content, embedding"
        with cursor.copy(f"COPY lesson_staging ({columns}) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(("uuid", "text", "text", "vector"))
            for number, vector in enumerate(vectors, first):
                copy.write_row((PROJECT, f"lesson {number}", f"lesson {number}", vector))
        cursor.execute("SELECT * FROM pgmnemo.store_staged()")
    return time.perf_counter() - began


def ask(
    connection: psycopg.Connection[Any], questions: Vectors, limit: int
) -> tuple[list[float], list[list[str]]]:
    """Milliseconds and answers of each question, after a warm-up, with hnsw_min_vectors at `limit`."""
    connection.execute("SELECT set_config('pgmnemo.hnsw_min_vectors', %s, false)", (str(limit),))
    times, answers = [], []
    for question in [*questions[:10], *questions]:
        began = time.perf_counter()
        rows = connection.execute(RECALL, (question, PROJECT), binary=True).fetchall()
        times.append(1000 * (time.perf_counter() - began))
        answers.append([row[0] for row in rows])
    return times[10:], answers[10:]


def measure(version: str, dsn: str | None, sizes: Sequence[int], count: int) -> None:
    """Print one line for each size."""
    chance = np.random.default_rng(42)
    centres = chance.standard_normal((max(sizes) // 100, WIDTH), dtype=np.float32)
    questions = clustered(count, centres, chance)
    with open_database(version, dsn=dsn, environ=os.environ) as database, database.admin() as owner:
        owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (TENANT, database.facts.role))
        with database.connect() as client:
            client.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(TENANT),))
            client.execute("SET pgmnemo.gate_strict = off")
            print(" lessons  exact p50     p95  index p50     p95  recall@10  stored s")
            stored = 0
            for size in sizes:
                client.execute("SET pgmnemo.hnsw_min_vectors = 0")
                seconds = store(client, stored, clustered(size - stored, centres, chance))
                stored = size
                execute(client, verb_call("index", tenant=TENANT))
                tables = ", ".join(str(name) for (name,) in owner.execute(TABLES))
                owner.execute(f"VACUUM (ANALYZE) {tables}".encode())
                exact, truth = ask(client, questions, 10_000_000)
                index, found = ask(client, questions, 0)
                hits = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(truth, found, strict=True)])
                p50, p95 = np.percentile(exact, [50, 95])
                q50, q95 = np.percentile(index, [50, 95])
                figures = f"{p50:10.1f} {p95:7.1f} {q50:10.1f} {q95:7.1f} {hits:10.3f} {seconds:9.1f}"
                print(f"{size:8} {figures}", flush=True)
            client.execute("SELECT pgmnemo.forget_all(NULL)")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--sizes", default="1000,2000,5000,10000,20000,50000")
    arguments.add_argument("--questions", type=int, default=100)
    arguments.add_argument("--version", help="of pgmnemo (default: the current one)")
    arguments.add_argument("--dsn")
    given = arguments.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    measure(version_number(given.version), given.dsn, sizes, given.questions)
