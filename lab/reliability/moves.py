"""How long a tenant's writers wait while the tenant moves back and forth between two shards.

    python -m lab.reliability.moves [LESSONS [MOVES]]

50,000 lessons with vectors of 384 dimensions and an HNSW index, 20 moves; four clients store all the time,
through the router. A wait is the time of one acknowledged call, including its retry if the move refused it
once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from threading import Event, Thread
from uuid import UUID, uuid4

from psycopg import errors

from pgmnemo.calls import execute, grant_tenant, store
from pgmnemo.postgres.connections import connect
from pgmnemo.postgres.server_checks import Session
from pgmnemo_shards import local, moving
from pgmnemo_shards.installing import open_operator
from pgmnemo_shards.local import Local
from pgmnemo_shards.temporary_folder import temporary_folder

WRITERS, PAUSE, AT_ONCE = 4, 0.02, 5_000
LOGIN, PROJECT = "app", UUID(int=1)
LOAD = """
SELECT count(*) FROM pgmnemo.store_set(%s, array(
    SELECT ROW(%s::uuid, 'k' || n,
               (SELECT string_agg('word' || (5000 ^ random())::integer, ' ')
                  FROM generate_series(1, 40) WHERE n > 0),
               (SELECT array_agg(random() - 0.5) FROM generate_series(1, 384) WHERE n > 0)::real[]::vector,
               NULL, NULL, NULL, NULL, NULL, NULL, 'c0ffee', NULL, NULL, NULL, NULL, n,
               NULL)::pgmnemo.lesson_input
      FROM generate_series(%s::integer, %s::integer) n))
"""


@dataclass
class Waits:
    """When each call began and when it was acknowledged."""

    calls: list[tuple[float, float]] = field(default_factory=list)

    def longest(self, began: float, ended: float) -> tuple[float, float]:
        """Return the longest call between two moments: its seconds, and when it was acknowledged."""
        return max(((b - a, b) for a, b in self.calls if b > began and a < ended), default=(0.0, 0.0))


def write(site: Local, tenant: UUID, place: int, waits: Waits, end: Event) -> None:
    """Store one lesson after the other until `end` is set."""
    vector, made = [float(n % 7 - 3 + place) for n in range(384)], 0
    with connect({**site.conninfo(), "user": LOGIN}) as client:
        while not end.is_set():
            time.sleep(PAUSE)
            made += 1
            call = store(
                tenant, PROJECT, f"w{place}n{made % 500}", f"lesson {made} of writer {place}",
                embedding=vector, commit_sha="c0ffee",
            )  # fmt: skip
            began = time.perf_counter()
            while True:
                try:
                    execute(client, call)
                    break
                except errors.SerializationFailure:
                    continue
            waits.calls.append((began, time.perf_counter()))


@contextmanager
def writing(site: Local, tenant: UUID) -> Iterator[Waits]:
    waits, end = Waits(), Event()
    writers = [Thread(target=write, args=(site, tenant, place, waits, end)) for place in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        yield waits
    finally:
        end.set()
        for writer in writers:
            writer.join()


def filled(site: Local, router: Session, lessons: int) -> UUID:
    """Return a tenant with this many lessons on the first shard."""
    tenant = uuid4()
    router.execute("SELECT pgmnemo.create_login(%s)", (LOGIN,))
    router.execute("SELECT pgmnemo.place_tenant(%s, 'shard1')", (tenant,))
    execute(router, grant_tenant(tenant, LOGIN))
    with open_operator(site.conninfo("shard1")) as shard:
        for first in range(1, lessons + 1, AT_ONCE):
            shard.execute(LOAD, (tenant, PROJECT, first, min(first + AT_ONCE - 1, lessons)))
        for derive in moving.DERIVE:
            shard.execute(derive.encode(), (tenant,))
    return tenant


def measure(lessons: int, moves: int) -> None:
    with temporary_folder() as folder:
        site = local.up(folder, 2)
        try:
            with open_operator(site.conninfo()) as router:
                tenant = filled(site, router, lessons)
                print(
                    f"{lessons:,} lessons, {WRITERS} writers\n\n"
                    "| move | s | held s | longest wait s | in | before it s |"
                )
                print("|--:|--:|--:|--:|---|--:|", flush=True)
                with writing(site, tenant) as waits:
                    longest = [_move(router, tenant, number, waits) for number in range(moves)]
        finally:
            local.down(folder)
    ranked = sorted(longest)
    p99 = ranked[min(len(ranked) - 1, int(0.99 * len(ranked)))]
    print(f"\nlongest wait of a writer in a move: p50 {median(ranked):.2f} s, p99 {p99:.2f} s, n {moves}")


def _move(router: Session, tenant: UUID, number: int, waits: Waits) -> float:
    """Make one move after a pause; the longest wait in the pause is the baseline of the machine."""
    quiet = time.perf_counter()
    time.sleep(3)
    steps: dict[str, float] = {}
    target = f"shard{2 - number % 2}"
    moving.move(router, tenant, target, lambda step: steps.update({step: time.perf_counter()}))
    time.sleep(0.5)
    longest, when = waits.longest(steps["copy"], steps["done"])
    during = max((step for step in steps if steps[step] < when), key=steps.__getitem__, default="copy")
    print(
        f"| {number + 1} | {steps['done'] - steps['copy']:.1f} "
        f"| {steps['prove the target'] - steps['hold the writers']:.2f} | {longest:.2f} | {during} "
        f"| {waits.longest(quiet, steps['copy'])[0]:.2f} |",
        flush=True,
    )
    return longest


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    measure(*given, *(50_000, 20)[len(given) :])
