"""Run writers and readers on many tenants for an hour, and report lost, wrong and leaked data, and growth.

    python -m lab.reliability.soak [--seconds 3600] [--writers 16] [--readers 8] [--tenants 50]

All threads use the client on one durable PostgreSQL, each with its own connection and an average pause of
--pause seconds between calls. Each lesson belongs to one writer, who changes its text, replaces it with a new
lesson (the old one is deleted), supersedes it, or forgets and restores it. So the number of lessons of a
tenant stays constant; the first tenant has more than `hnsw_min_vectors`, and so an HNSW index. A reader asks
for a lesson by its text, and checks that the answer has the acknowledged text, no forgotten lesson, and no
lesson of another tenant. `maintain_all` is called every minute, as sql/README.md recommends, and autovacuum
has the recommended settings (--stock: PostgreSQL's defaults). At the end every lesson is read and every
tenant is checked.

Prints the lost, wrong and leaked data; the latencies of the first and the last tenth of the time; and the
sizes after loading, after the first tenth and at the end. --plot FILE.svg draws latencies and sizes by
minute. The exit code is 1 if anything was lost, wrong or leaked.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from lab.perf.plots import STYLE, logarithmic
from lab.reliability.bed import AGENT, DURABLE, KEEPER, MEMORY, Databases, bed
from lab.reliability.texts import WORDS, signs
from pgmnemo import Item, Memory
from pgmnemo.calls import check, index, verb_call
from pgmnemo.errors import PgmnemoError

LARGE, SMALL, DIMENSIONS = 11_000, 200, 384  # lessons of the first tenant and of each other tenant
GRAPH_SHARE = 0.2  # share of the calls that go to the first tenant
EVERY = 60.0  # seconds between two calls of upkeep
# The settings that sql/README.md recommends.
AUTOVACUUM = {"autovacuum_naptime": "15s", "autovacuum_vacuum_cost_limit": "2000"}
SERVER = {
    **DURABLE,
    "shared_buffers": "256MB", "checkpoint_timeout": "5min", "min_wal_size": "80MB", "max_wal_size": "512MB",
}  # fmt: skip
SIZES = """
SELECT CASE WHEN relname ~ '^hnsw_[0-9]' THEN 'graph' ELSE 'relations' END,
       sum(pg_total_relation_size(oid))::bigint
  FROM pg_class WHERE relnamespace = 'pgmnemo'::regnamespace AND relkind = 'r' GROUP BY 1
 UNION ALL SELECT 'WAL', sum(size)::bigint FROM pg_ls_waldir()
 UNION ALL SELECT 'dead rows', sum(n_dead_tup)::bigint FROM pg_stat_user_tables WHERE schemaname = 'pgmnemo'
"""


@dataclass
class SoakTenant:
    """The acknowledged text of each key of a tenant; None while a call on the key is in progress."""

    name: str
    scope: Any  # scope in the writers' memory
    asked: Any  # scope in the readers' memory
    texts: dict[str, str | None] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    @property
    def tag(self) -> str:
        """A word that occurs in all texts of this tenant and in no other tenant's."""
        return f"of{self.name}"


@dataclass
class SoakTally:
    """The results of a soak test: lost, wrong and leaked data, and the calls.

    The first three hold sentences and should be empty. Each call has its verb, its start and its seconds.
    """

    began: float = field(default_factory=time.monotonic)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)
    calls: list[tuple[str, float, float]] = field(default_factory=list)
    sizes: list[tuple[float, dict[str, int]]] = field(
        default_factory=list
    )  # moment and sizes after each call of upkeep

    def timed(self, verb: str, do: Callable[[], Any]) -> Any:
        began = time.monotonic()
        answer = do()
        self.calls.append((verb, began - self.began, time.monotonic() - began))
        return answer


class Person:
    """A thread that makes calls until the soak test ends."""

    def __init__(
        self, number: int, tenants: Sequence[SoakTenant], tally: SoakTally, end: Event, pause: float
    ) -> None:
        self.number, self.tenants, self.tally, self.end, self.pause = number, tenants, tally, end, pause
        self.chance = random.Random(f"{type(self).__name__} {number}")
        self.made = 0

    def run(self) -> None:
        while not self.end.wait(self.chance.expovariate(1 / self.pause) if self.pause else 0):
            large = self.chance.random() < GRAPH_SHARE
            tenant = self.tenants[0] if large else self.chance.choice(self.tenants)
            try:
                self.one(tenant)
            except PgmnemoError as error:
                self.tally.wrong.append(f"a call failed: {error}")

    def one(self, tenant: SoakTenant) -> None:
        raise NotImplementedError

    def text(self, tenant: SoakTenant, key: str) -> str:
        self.made += 1
        words = self.chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=20)
        return " ".join([*words, tenant.tag, f"{key}x{self.made}"])


class SoakWriter(Person):
    """A writer that keeps the number of lessons constant."""

    def one(self, tenant: SoakTenant) -> None:
        own = [key for key in list(tenant.texts) if key.startswith(f"w{self.number}k")]
        key, draw = self.chance.choice(own), self.chance.random()
        if draw < 0.5:
            self.store(tenant, key)
        elif draw < 0.75:
            self.forget(tenant, key, permanent=True)
            self.store(tenant, self.new())
        elif draw < 0.9:
            new = self.new()
            self.store(tenant, new)
            self.call(tenant, key, "supersede", lambda: tenant.scope.supersede(key, new))
            self.forget(tenant, key, permanent=True)
        else:
            self.forget(tenant, key, permanent=False)
            self.store(tenant, key)

    def new(self) -> str:
        self.made += 1
        return f"w{self.number}k+{self.made}"

    def call(self, tenant: SoakTenant, key: str, verb: str, do: Callable[[], Any]) -> None:
        tenant.texts[key] = None
        self.tally.timed(verb, do)

    def store(self, tenant: SoakTenant, key: str) -> None:
        text = self.text(tenant, key)
        self.call(tenant, key, "add", lambda: tenant.scope.add(text, key=key))
        tenant.texts[key] = text

    def forget(self, tenant: SoakTenant, key: str, *, permanent: bool) -> None:
        self.call(tenant, key, "forget", lambda: tenant.scope.forget(key, permanent=permanent))
        if permanent:
            del tenant.texts[key]
            tenant.gone.add(key)


class SoakReader(Person):
    """A reader that asks for existing lessons."""

    def one(self, tenant: SoakTenant) -> None:
        key = self.chance.choice(list(tenant.texts))
        text, gone = tenant.texts.get(key), set(tenant.gone)
        if text is None:
            return
        hits = self.tally.timed("recall", lambda: tenant.asked.recall(text, k=5))
        self.tally.leaked += [
            f"{tenant.name}: {hit.text}" for hit in hits if tenant.tag not in hit.text.split()
        ]
        self.tally.wrong += [
            f"{hit.key} was forgotten for good and is recalled" for hit in hits if hit.key in gone
        ]
        if tenant.texts.get(key) is text:
            found = {hit.key: hit.text for hit in hits}
            if key not in found:
                self.tally.wrong.append(f"{tenant.name}: {key} is not recalled by its own text")
            elif found[key] != text:
                self.tally.wrong.append(f"{tenant.name}: {key} is {found[key]!r} and not {text!r}")


def filled(databases: Databases, memories: Sequence[Memory], given: argparse.Namespace) -> list[SoakTenant]:
    """Return the tenants with their first lessons, indexed and vacuumed."""
    tenants: list[SoakTenant] = []
    for number in range(given.tenants):
        name = f"t{number}"
        databases.grant(name)
        scope, asked = (memory.tenant(name).project("p") for memory in memories)
        tenant = SoakTenant(name, scope, asked)
        person = Person(number, tenants, SoakTally(), Event(), 0)
        count = given.large if number == 0 else given.small
        keys = [f"w{n % given.writers}k{n}" for n in range(count)]
        tenant.texts = {key: person.text(tenant, key) for key in keys}
        scope.add_many(Item(text or "", key) for key, text in tenant.texts.items())
        scope._call(index(scope.tenant_id))
        scope._call(verb_call("merge_postings", tenant=scope.tenant_id))
        tenants.append(tenant)
    with databases.connect() as root:
        root.execute("VACUUM (ANALYZE)")
    return tenants


def sizes(databases: Databases) -> dict[str, int]:
    with databases.connect() as root:
        root.execute("SELECT pg_stat_force_next_flush()")
        return dict(root.execute(SIZES).fetchall())


def keeping(databases: Databases, end: Event, limit: int, tally: SoakTally) -> None:
    """Run the scheduler until `end`; after each of its calls, add the sizes on disk to the tally."""
    with databases.connect(KEEPER, options=f"-c pgmnemo.hnsw_min_vectors={limit}") as keeper:
        while not end.wait(EVERY):
            keeper.execute("CALL pgmnemo.maintain_all()")
            tally.sizes.append((time.monotonic() - tally.began, sizes(databases)))


def last_look(tenants: Sequence[SoakTenant], tally: SoakTally) -> None:
    """Compare all stored lessons with the acknowledged lessons."""
    for tenant in tenants:
        found = {one.key: one.text for one in tenant.asked.list()}
        wanted = {key: text for key, text in tenant.texts.items() if text is not None}
        tally.lost += [f"{tenant.name}: {key} is gone" for key in wanted.keys() - found.keys()]
        tally.lost += [
            f"{tenant.name}: {key} is stale" for key in wanted if found.get(key, wanted[key]) != wanted[key]
        ]
        tally.wrong += [f"{tenant.name}: {key} is there" for key in found.keys() & tenant.gone]
        tally.wrong += [
            f"check of {tenant.name}: {row}" for row in tenant.asked._call(check(tenant.asked.tenant_id))
        ]


def soak(databases: Databases, given: argparse.Namespace) -> tuple[SoakTally, list[dict[str, int]]]:
    dsn, settings = databases.dsn(AGENT), {"hnsw_min_vectors": given.limit}
    vectors = partial(signs, dimensions=DIMENSIONS)
    with (
        Memory.open(dsn, embedder=vectors, settings=settings, connections=given.writers) as written,
        Memory.open(dsn, embedder=vectors, settings=settings, connections=given.readers) as read,
        ThreadPoolExecutor(given.writers + given.readers + 1) as pool,
    ):
        tenants = filled(databases, (written, read), given)
        measured, end, tally = [sizes(databases)], Event(), SoakTally()
        kinds = [SoakWriter] * given.writers + [SoakReader] * given.readers
        numbers = [*range(given.writers), *range(given.readers)]
        people = [kind(n, tenants, tally, end, given.pause) for kind, n in zip(kinds, numbers, strict=True)]
        running = [pool.submit(one.run) for one in people]
        scheduler = pool.submit(keeping, databases, end, given.limit, tally)
        try:
            for part in (0.1, 0.9):
                wait(running, part * given.seconds, FIRST_EXCEPTION)
                measured.append(sizes(databases))
        finally:
            end.set()
        for one in running:
            one.result()
        last_look(tenants, tally)
        scheduler.result()
        return tally, measured


def report(tally: SoakTally, measured: Sequence[Mapping[str, int]], seconds: float) -> Iterator[str]:
    """Yield the lines of the Markdown report."""
    by_verb = defaultdict(list)
    for verb, moment, took in tally.calls:
        by_verb[verb].append((moment, took * 1000))
    yield "| ms | calls | p50 | p95 | p99 | longest | first tenth, p50 / p95 / p99 | last tenth | times |"
    yield f"|---{'|--:' * 8}|"
    for verb, rows in sorted(by_verb.items()):
        every, first, last = (
            np.array([took for moment, took in rows if low <= moment / seconds <= high])
            for low, high in ((0, 9), (0, 0.1), (0.9, 9))
        )
        shares = [
            np.percentile(part, (50, 95, 99)) if len(part) else np.full(3, np.nan)
            for part in (every, first, last)
        ]
        told = [" / ".join(f"{one:.0f}" for one in share) for share in shares]
        times = " / ".join(f"{one:.2f}" for one in shares[2] / shares[1])
        whole = " | ".join(told[0].split(" / "))
        yield f"| {verb} | {len(rows):,} | {whole} | {every.max():,.0f} | {told[1]} | {told[2]} | {times} |"
    yield ""
    yield "| | loaded | after the first tenth | at the end | times |"
    yield "|---|--:|--:|--:|--:|"
    for name in measured[-1]:
        three = [one.get(name, 0) for one in measured]
        cells = [f"{one:,}" if name == "dead rows" else f"{one / 1e6:,.1f} MB" for one in three]
        yield f"| {name} | {' | '.join(cells)} | {three[2] / max(three[1], 1):.2f} |"


def plot(path: Path, tally: SoakTally) -> None:
    """Draw the latencies of calls in each whole minute, and the sizes on disk after each minute."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    minutes = defaultdict(list)
    for verb, moment, took in tally.calls:
        minutes["recall" if verb == "recall" else "write", int(moment // EVERY)].append(took * 1000)
    whole = max(moment for _, moment, _ in tally.calls) // EVERY
    with rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.8), layout="constrained")
        waits, bytes_ = figure.subplots(2, sharex=True)
        for kind, colour in (("write", "#2f7de1"), ("recall", "#d1591f")):
            at = sorted(minute for one, minute in minutes if one == kind and minute < whole)
            for share, style in ((50, "-"), (95, "--"), (99, ":")):
                values = [np.percentile(minutes[kind, minute], share) for minute in at]
                waits.plot(at, values, style, color=colour, label=f"{kind}, p{share}")
        for name, colour in (("relations", "#2f7de1"), ("graph", "#2b8f48"), ("WAL", "#a260d8")):
            points = [(moment / EVERY, one.get(name, 0) / 1e6) for moment, one in tally.sizes]
            bytes_.plot(*zip(*points, strict=True), color=colour, label=name)
        logarithmic(waits, "y", "ms")
        bytes_.set(xlabel="minute", ylabel="MB", ylim=(0, None))
        for axes in (waits, bytes_):
            axes.grid(True, linewidth=0.5)
            axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.savefig(
            path, transparent=True, metadata={"Date": None, "Title": "An hour of writers and readers"}
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak test; return 1 if something was lost, wrong or leaked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, most in (("seconds", 3600.0), ("pause", 0.1), ("writers", 16), ("readers", 8), ("tenants", 50)):
        parser.add_argument(f"--{name}", type=type(most), default=most)
    parser.add_argument("--large", type=int, default=LARGE, help="lessons of the first tenant")
    parser.add_argument("--small", type=int, default=SMALL, help="of each other one")
    parser.add_argument("--limit", type=int, default=10_000, help="pgmnemo.hnsw_min_vectors")
    parser.add_argument("--folder", help="where the server makes its own, else among temporary ones")
    parser.add_argument("--plot", type=Path, help="an SVG of both, of a run of two minutes at least")
    parser.add_argument("--stock", action="store_true", help="autovacuum as PostgreSQL has it")
    given = parser.parse_args(arguments)
    with bed(given.folder, settings={**SERVER, **({} if given.stock else AUTOVACUUM)}) as made:
        made.databases.install(MEMORY)
        tally, measured = soak(made.databases, given)
    if given.plot and tally.sizes:
        plot(given.plot, tally)
    print(*report(tally, measured, given.seconds), sep="\n")
    for name in ("lost", "wrong", "leaked"):
        for sentence in getattr(tally, name)[:5]:
            print(f"{name}: {sentence}", file=sys.stderr)
    print(
        f"\n{len(tally.lost)} lost, {len(tally.wrong)} wrong, {len(tally.leaked)} leaked; "
        f"{len(tally.calls):,} calls in {given.seconds:,.0f} s, {given.writers} writers, "
        f"{given.readers} readers, {given.tenants} tenants, upkeep {len(tally.sizes)} times; "
        f"autovacuum {'stock' if given.stock else 'as recommended'}; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.machine()}"
    )
    return int(bool(tally.lost or tally.wrong or tally.leaked))


if __name__ == "__main__":
    sys.exit(main())
