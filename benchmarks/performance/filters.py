"""What a filter costs: recall, list, count and a dry run of forget_matching, where it leaves 1 % and 50 %.

    python benchmarks/performance/filters.py [--lessons 100000] [--calls 15] [--plans]

One tenant of made-up lessons with vectors of 384 dimensions. Each filter asks one thing: topic, how the topic
begins, metadata that an index knows (`eq`, `in`, `contains`) and that none does (`gt`), times, role. Prints
the median milliseconds of each verb (recall: k = 10, words and vector; list: a page of 100), first without a
filter; `--plans` prints what one recall read: each index that PostgreSQL searched, and the entries it took.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
from psycopg.types.json import Jsonb

from pgmnemo.calls import Call, count, execute, forget_matching, list_page, recall, verb_call
from pgmnemo.postgres import open_database
from pgmnemo.postgres.releases import default_version

WORDS = [f"word{n}" for n in range(5000)]
WEIGHTS = [1 / (n + 1) for n in range(len(WORDS))]
WIDTH, DIMENSIONS, BATCH, SEED = 1024, 384, 5000, 42
FILTERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # what leaves 1 %, what leaves 50 %
    "topic": ({"topic": "team/7"}, {"topic": [f"team/{n}" for n in range(50)]}),
    "topic_prefix": ({"topic_prefix": "team/7"}, {"topic_prefix": "team/"}),
    "metadata eq": ({"metadata": {"shard": 7}}, {"metadata": {"lang": "de"}}),
    "metadata in": ({"metadata": {"shard": {"in": [7]}}}, {"metadata": {"shard": {"in": [*range(50)]}}}),
    "metadata contains": (
        {"metadata": {"contains": {"shard": 7}}}, {"metadata": {"contains": {"lang": "de"}}},
    ),
    "metadata gt, no index": ({"metadata": {"shard": {"gt": 98}}}, {"metadata": {"shard": {"gt": 49}}}),
    "since, until": (
        {"since": "2026-01-01", "until": "2026-01-02"}, {"since": "2026-01-01", "until": "2026-02-20"},
    ),
    "role": ({"role": "seldom"}, {"role": "user"}),
}  # fmt: skip


def vector(numbers: np.random.Generator) -> list[float]:
    """Return a direction by chance, as wide as the verbs want it."""
    return [*numbers.standard_normal(DIMENSIONS).round(3).tolist(), *[0.0] * (WIDTH - DIMENSIONS)]


def words(chance: random.Random, many: int) -> str:
    return " ".join(chance.choices(WORDS, WEIGHTS, k=many))


def load(connection: psycopg.Connection[Any], lessons: int) -> None:
    """One project, in batches: the hundredth part n has topic, shard and day n."""
    chance, numbers, project = random.Random(SEED), np.random.default_rng(SEED), uuid4()
    columns = "project_id, external_id, content, embedding, role, topic, metadata, occurred_at"
    for start in range(0, lessons, BATCH):
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("SELECT pgmnemo.open_staging()")
            with cursor.copy(f"COPY lesson_staging ({columns}) FROM STDIN") as copy:
                for number in range(start, min(start + BATCH, lessons)):
                    part = number % 100
                    role = "seldom" if part == 0 else ("user", "assistant")[part % 2]
                    topic = f"team/{part}" if part < 50 else f"other/{part}"
                    told = json.dumps({"shard": part, "lang": ("de", "en")[part % 2], "number": number})
                    happened = str(np.datetime64("2026-01-01") + part)
                    text, direction = words(chance, 40), str(vector(numbers))
                    copy.write_row((project, f"l{number}", text, direction, role, topic, told, happened))
            cursor.execute("SELECT * FROM pgmnemo.store_staged()")


def milliseconds(connection: psycopg.Connection[Any], calls: list[Call[Any]]) -> float:
    taken = []
    for call in calls:
        start = time.perf_counter()
        execute(connection, call)
        taken.append(1000 * (time.perf_counter() - start))
    return median(taken)


def row(connection: psycopg.Connection[Any], asked: object, calls: int) -> list[float]:
    """Return what one filter costs in each verb, in milliseconds."""
    chance, numbers = random.Random(SEED), np.random.default_rng(SEED)
    recalls = [
        recall(
            None,
            embedding=vector(numbers),
            query_text=words(chance, 8),
            filter=asked,
            columns=("external_id",),
        )
        for _ in range(calls)
    ]
    others = [list_page(None, filter=asked, columns=("id",)), count(None, filter=asked)]
    if asked is not None:
        others.append(forget_matching(None, asked, dry_run=True))
    execute(connection, recalls[0])
    return [milliseconds(connection, recalls), *(milliseconds(connection, [one] * calls) for one in others)]


READ = """
SELECT relname, indexrelname, idx_scan, idx_tup_read FROM pg_stat_user_indexes WHERE schemaname = 'pgmnemo'
"""


def reads(client: psycopg.Connection[Any], owner: psycopg.Connection[Any], asked: object) -> list[str]:
    """Return which indexes one recall searched, how often, and how many entries it read."""

    def counted() -> dict[str, tuple[int, int]]:
        client.execute("SELECT pg_stat_force_next_flush()")
        owner.execute("SELECT pg_stat_clear_snapshot()")
        return {f"{table} by {index}": (scans, rows) for table, index, scans, rows in owner.execute(READ)}

    chance, numbers = random.Random(SEED), np.random.default_rng(SEED)
    before = counted()
    execute(client, recall(None, embedding=vector(numbers), query_text=words(chance, 8), filter=asked))
    found = [
        (rows - before[name][1], scans - before[name][0], name) for name, (scans, rows) in counted().items()
    ]
    return [
        f"{rows:>9,} by {scans:>5,} searches: {name}" for rows, scans, name in sorted(found)[::-1] if scans
    ]


def main() -> int:
    """Load, ask, print."""
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--lessons", type=int, default=100_000)
    given.add_argument("--calls", type=int, default=15)
    given.add_argument("--plans", action="store_true", help="print what each recall read")
    options = given.parse_args()
    tenant = UUID(int=SEED)
    with open_database(default_version(), environ={}) as database, database.admin() as owner:
        owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant, database.facts.role))
        owner.execute("SELECT pgmnemo.grant_tenant(%s, current_user)", (tenant,))
        with database.connect() as client:
            for one in (client, owner):
                one.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(tenant),))
                one.execute("SET pgmnemo.gate_strict = off")
                one.execute("SET pgmnemo.bypass_notice = off")
            load(client, options.lessons)
            for verb in ("index", "merge_postings"):
                execute(client, verb_call(verb, tenant=tenant))
            owner.execute("VACUUM (ANALYZE)")
            print(f"{options.lessons:,} lessons, median of {options.calls} calls, ms\n")
            print("| filter | leaves | recall | list | count | dry run |\n|---|---|--:|--:|--:|--:|")
            asked: list[tuple[str, str, Any]] = [("none", "100 %", None)]
            asked += [
                (name, share, Jsonb(one)) for name, pair in FILTERS.items()
                for share, one in zip(("1 %", "50 %"), pair, strict=True)
            ]  # fmt: skip
            for name, share, one in asked:
                figures = [f"{figure:.1f}" for figure in row(client, one, options.calls)]
                print(f"| {name} | {share} | {' | '.join((*figures, '')[:4])} |", flush=True)
            for name, share, one in asked if options.plans else []:
                print(f"\n{name}, {share}:", *reads(client, owner, one), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
