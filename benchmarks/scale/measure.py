"""What routing costs: recall and store direct and routed at 1, 2 and 3 shards; the model's constants.

    python benchmarks/scale/measure.py benchmarks/scale/figures.json

Direct and routed calls take turns, so that what else the machine does meets both alike. For the throughput
each shard's server is pinned to one core, the router and the clients to none.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from typing import Any
from uuid import UUID, uuid4

import psutil

from pgmnemo.calls import execute, grant_tenant, recall, store
from pgmnemo.postgres.connections import connect
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards import local, moving
from pgmnemo_shards.installing import open_operator
from pgmnemo_shards.local import Local
from pgmnemo_shards.temporary_folder import temporary_folder

TENANTS, LESSONS, RECALLS, STORES = 6, 300, 300, 150
CLIENTS, SECONDS = 4, 6.0
LOGIN = "app"
DIRECTORY = 1_000_000  # tenants that the directory is filled with
SIZE = """
SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind = 'r'
"""
CHANCE = random.Random(42)
WORDS = [f"word{number}" for number in range(5000)]


def text() -> str:
    """Forty words, the early ones far more often, as in any language."""
    return " ".join(WORDS[int(5000 ** CHANCE.random()) - 1] for _ in range(40))


def vector() -> list[float]:
    return [CHANCE.gauss(0, 1) for _ in range(384)]


def ms(taken: Sequence[float]) -> dict[str, float]:
    """p50, p95 and n of milliseconds."""
    cuts = quantiles(taken, n=100, method="inclusive")
    return {"n": len(taken), "p50": round(cuts[49], 3), "p95": round(cuts[94], 3)}


def ask(client: Session, tenant: UUID, question: tuple[list[float], str]) -> None:
    """One recall of ten lessons."""
    embedding, words = question
    execute(
        client,
        recall(tenant, embedding=embedding, k=10, query_text=words, columns=("external_id", "score")),
    )


def timed(call: Callable[[], object]) -> float:
    """Milliseconds that a call takes."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


class Bench:
    """A cluster with `TENANTS` tenants of `LESSONS` lessons, and a client of each server."""

    def __init__(self, site: Local) -> None:
        self.site = site
        self.operator = open_operator(site.conninfo())
        self.operator.execute("SELECT pgmnemo.create_login(%s)", (LOGIN,))
        self.clients = {name: self.client(name) for name in site.ports}
        self.tenants = [uuid4() for _ in range(TENANTS)]
        for tenant in self.tenants:
            self.operator.execute("SELECT pgmnemo.place_tenant(%s, 'shard1')", (tenant,))
            execute(self.operator, grant_tenant(tenant, LOGIN))
            for number in range(LESSONS):
                self.store("shard1", tenant, f"k{number}")
        self.vacuum()

    def client(self, name: str) -> Session:
        return connect({**self.site.conninfo(name), "user": LOGIN})

    def store(self, server: str, tenant: UUID, key: str) -> None:
        execute(
            self.clients[server], store(tenant, tenant, key, text(), embedding=vector(), commit_sha="c0ffee")
        )

    def place(self, tenant: UUID) -> str:
        return str(value(self.operator, "SELECT shard FROM directory.tenant WHERE tenant_id = %s", tenant))

    def spread(self, shards: int) -> None:
        """The tenants over so many shards, by moves."""
        for number, tenant in enumerate(self.tenants):
            wanted = f"shard{1 + number % shards}"
            if self.place(tenant) != wanted:
                moving.move(self.operator, tenant, wanted)
        self.vacuum()

    def vacuum(self) -> None:
        for name in self.site.ports:
            if name != "router":
                with open_operator(self.site.conninfo(name)) as shard:
                    shard.execute("VACUUM (ANALYZE)")

    def recalls(self) -> dict[str, Any]:
        taken: dict[str, list[float]] = {"direct": [], "routed": []}
        for number in range(RECALLS + 20):
            tenant, question = CHANCE.choice(self.tenants), (vector(), text()[:60])
            sides = [("direct", self.place(tenant)), ("routed", "router")]
            CHANCE.shuffle(sides)
            for side, server in sides:
                client = self.clients[server]
                took = timed(lambda c=client, t=tenant, q=question: ask(c, t, q))
                if number >= 20:
                    taken[side].append(took)
        return {side: ms(each) for side, each in taken.items()}

    def stores(self, shards: int) -> dict[str, Any]:
        taken: dict[str, list[float]] = {"direct": [], "routed": []}
        for number in range(STORES):
            tenant = CHANCE.choice(self.tenants)
            sides = [("direct", self.place(tenant)), ("routed", "router")]
            CHANCE.shuffle(sides)
            for side, server in sides:
                key = f"{side}{shards}-{number}"
                taken[side].append(timed(lambda s=server, t=tenant, k=key: self.store(s, t, k)))
        return {side: ms(each) for side, each in taken.items()}

    def throughput(self) -> dict[str, float]:
        """Recalls a second of CLIENTS clients, direct and routed in turns."""
        cores = sorted(psutil.Process().cpu_affinity() or [0])
        for number in (1, 2, 3):
            self.pin(f"shard{number}", [cores[(number - 1) % len(cores)]])
        try:
            return self._throughput()
        finally:
            for number in (1, 2, 3):
                self.pin(f"shard{number}", cores)

    def pin(self, name: str, cores: list[int]) -> None:
        """A server, and the processes that it has and will have, to these cores."""
        pid = int((self.site.folder / name / "data" / "postmaster.pid").read_text().split()[0])
        for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # one that has ended since
                process.cpu_affinity(cores)

    def _throughput(self) -> dict[str, float]:
        places = {tenant: self.place(tenant) for tenant in self.tenants}
        questions = [(vector(), text()[:60]) for _ in range(50)]

        def answered(routed: bool) -> int:
            chance, done = random.Random(), 0
            clients = {name: self.client(name) for name in ({"router"} if routed else set(places.values()))}
            deadline = time.perf_counter() + SECONDS
            while time.perf_counter() < deadline:
                tenant = chance.choice(self.tenants)
                client = clients["router" if routed else places[tenant]]
                ask(client, tenant, chance.choice(questions))
                done += 1
            for client in clients.values():
                client.close()
            return done

        with ThreadPoolExecutor(CLIENTS) as pool:
            return {
                side: round(sum(pool.map(answered, [side == "routed"] * CLIENTS)) / SECONDS, 1)
                for side in ("direct", "routed")
            }

    def constants(self) -> dict[str, Any]:
        """Return what the model on paper needs."""
        held, lessons = 0, 0
        for name in ("shard1", "shard2", "shard3"):
            with open_operator(self.site.conninfo(name)) as shard:
                shard.execute("VACUUM FULL")  # what moves left behind is no lesson's
                held += int(value(shard, SIZE) or 0)
                lessons += int(value(shard, "SELECT count(*) FROM pgmnemo.lesson"))
        largest, steps = self.tenants[0], {}
        target = next(name for name in ("shard2", "shard3") if name != self.place(largest))
        count = value(self.operator, "SELECT count(*) FROM pgmnemo.list_lessons(%s)", largest)
        moving.move(self.operator, largest, target, lambda step: steps.setdefault(step, time.perf_counter()))
        backends = {name: _backend(client) for name, client in self.clients.items()}
        return {
            "bytes_a_lesson": round(held / lessons),
            "move": {
                "lessons": count,
                "copy_s": round(steps["hold the writers"] - steps["copy"], 3),
                "writers_held_s": round(steps["clear the source"] - steps["hold the writers"], 3),
            },
            "router_backend_bytes": backends["router"],
            "shard_backend_bytes": backends["shard1"],
            "directory": self._directory(),
        }

    def _directory(self) -> dict[str, Any]:
        before = value(self.operator, "SELECT pg_total_relation_size('directory.tenant')")
        self.operator.execute(
            "INSERT INTO directory.tenant (tenant_id, shard) SELECT gen_random_uuid(), 'shard1' "
            "FROM generate_series(1, %s)", (DIRECTORY,),
        )  # fmt: skip
        self.operator.execute("VACUUM ANALYZE directory.tenant")
        after = value(self.operator, "SELECT pg_total_relation_size('directory.tenant')")
        some = "SELECT tenant_id FROM directory.tenant ORDER BY random() LIMIT 400"
        rows = self.operator.execute(some).fetchall()
        look = "SELECT pgmnemo._place(%s)"
        return {
            "tenants": DIRECTORY,
            "bytes_a_tenant": round((after - before) / DIRECTORY),
            "look_ms": ms([timed(lambda t=t: self.operator.execute(look, (t,)).fetchall()) for (t,) in rows]),
        }


def _backend(client: Session) -> int:
    """Private bytes of the server process behind a client, after its calls."""
    info = psutil.Process(int(value(client, "SELECT pg_backend_pid()"))).memory_full_info()
    return int(info.uss)


def main(output: Path) -> None:
    found: dict[str, Any] = {
        "pgmnemo": default_version(), "cores": os.cpu_count(), "load_before": os.getloadavg()[0],
        "tenants": TENANTS, "lessons_a_tenant": LESSONS, "clients": CLIENTS, "shards": {},
    }  # fmt: skip
    with temporary_folder() as folder:
        try:
            bench = Bench(local.up(folder, 3))
            for shards in (1, 2, 3):
                bench.spread(shards)
                found["shards"][str(shards)] = {
                    "recall": bench.recalls(),
                    "store": bench.stores(shards),
                    "recalls_a_second": bench.throughput(),
                }  # fmt: skip
                print(shards, json.dumps(found["shards"][str(shards)]), flush=True)
            found["constants"] = bench.constants()
            found["load_after"] = os.getloadavg()[0]
        finally:
            local.down(folder)
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found["constants"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
