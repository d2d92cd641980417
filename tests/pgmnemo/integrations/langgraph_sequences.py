"""Random sequences of operations, done by a store of ours and by LangGraph's own, whose answers must agree.

    python -m tests.pgmnemo.integrations.langgraph_sequences 5000 [first seed]

PostgresStore is the oracle of all but filters that it does not know or compares as texts, InMemoryStore of
these, and of no question, namespace or TTL: it keeps what it has forgotten (langgraph#8356), for ever.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import psycopg
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from psycopg.rows import dict_row

from pgmnemo.integrations.langgraph import PgmnemoStore
from pgmnemo.integrations.langgraph_items import key_of

NAMESPACES = [
    ("acme",), ("acme-corp",), ("acme", "corp"), ("acme_",), ("acmeX",), ("acme%",), ("ACME",), ("acme ",),
    ("a",), ("a", "b"), ("a", "b", "c"), ("a", "b\n"), ("a\n",), ("b", "a"), ("a\\",), ("a\\", "b"),
    ("'; DROP TABLE store; --",), ('"',), ("*",), ("é",), ("e\u0301",), ("_", "%"), ("%", "_"),
    ("x" * 300, "y"),
]  # fmt: skip
PREFIXES = [*NAMESPACES, (), (), ("x",), ("acme", "c"), ("%",), ("_",), ("ac",)]
INVALID = [("a.b",), ("",), ("a", ""), ("a\0",), ("a", 1)]
PATHS = [("*",), ("a", "*"), ("*", "b"), ("acme",), ("acme", "*"), ("b",), ("_",), ("%",), ("corp",), ("c",)]
KEYS = ["k", "K", "k ", "", "k.k", "%", "_", "k\n", "'", "ключ", "k" * 1500, "raw 1", "raw 2"]
SCALARS: list[Any] = [
    None, True, False, 0, -1, 2**53 + 1, 0.1, 1.5, -2.25e-7, 1e15, "", "a", "b", "ab", "é\n\t\\\"'", "null",
    "1",
]  # fmt: skip
WORDS = ["pizza", "violin", "Lisbon", "kettle", "rain"]
EVERYTHING = 10_000
Op = tuple[str, tuple[Any, ...], dict[str, Any]]  # a method with its arguments


def embed(texts: Any) -> list[list[float]]:
    """Vectors that mean nothing: only which items answer is compared, never their order."""
    return [[byte / 255 + 0.01 for byte in sha256(text.encode()).digest()[:8]] for text in texts]


@contextmanager
def postgres_store(dsn: str) -> Iterator[PostgresStore]:
    """LangGraph's own, empty, with its vectors and TTL."""
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
        index: Any = {"dims": 8, "embed": embed, "ann_index_config": {"kind": "flat"}}
        store = PostgresStore(connection, index=index, ttl={"omit_expired": True, "refresh_on_read": True})
        store.setup()
        yield store


def value(chance: random.Random) -> dict[str, Any]:
    """`n` has two digits, `s` small letters: PostgresStore compares both as texts, and so rightly."""
    made: dict[str, Any] = {"n": chance.randint(10, 99), "text": " ".join(chance.sample(WORDS, 2))}
    for name in ("a", "b", "a.b", "", "é"):
        if chance.random() < 0.5:
            made[name] = chance.choice(SCALARS)
    if chance.random() < 0.5:
        made["s"] = chance.choice(["ada", "bob", "b", "bobby"])
    if chance.random() < 0.5:
        made["o"] = {"p": chance.choice([1, 2, "x"]), "q": {"r": chance.choice(["x", "y"])}}
    if chance.random() < 0.5:
        made["l"] = chance.choice([[], ["a"], ["a", "b"], [1, [2]], [{"x": 1}], ["b", "a"]])
    return made


def filters(chance: random.Random) -> tuple[dict[str, Any], str]:
    """A filter, and whose answer counts."""
    order = chance.choice(["$gt", "$gte", "$lt", "$lte"])
    return chance.choice(
        [
            ({"text": " ".join(chance.sample(WORDS, 2))}, "both"),
            ({"a": chance.choice(SCALARS)}, "postgres"), ({"a": {"$eq": chance.choice(SCALARS)}}, "postgres"),
            ({"a.b": chance.choice(SCALARS)}, "postgres"), ({"": chance.choice(SCALARS)}, "postgres"),
            ({"b": {"$ne": chance.choice(SCALARS)}}, "postgres"),
            ({"n": {order: chance.randint(10, 99)}}, "both"),
            ({"n": {"$gte": chance.randint(10, 50), "$lt": chance.randint(50, 99)}, "a": None}, "postgres"),
            ({"n": {"$gt": chance.choice([5, 9.5, 100, -3])}}, "memory"),
            ({"s": {order: chance.choice(["ada", "b", "bobb"])}}, "postgres"),
            ({"l": chance.choice([[], ["a"], ["a", "b"], [1, [2]], [{"x": 1}]])}, "postgres"),
            ({"l": {"$eq": ["b", "a"]}}, "both"), ({"l": "a"}, "both"),
            ({"o": {"$eq": {"q": {"r": "x"}, "p": 1}}}, "both"), ({"o": {"q": {"r": "x"}}}, "memory"),
            ({"o": {"p": chance.choice([1, 2]), "q": {"r": {"$eq": "y"}}}}, "memory"),
            ({"n": {"$in": [1]}}, "postgres"),
        ]
    )  # fmt: skip


@dataclass
class Drawing:
    """What a sequence is drawn from: few namespaces and keys, so that they meet again."""

    chance: random.Random

    def __post_init__(self) -> None:
        self.timed = self.chance.random() < 0.3
        self.namespaces = self.chance.sample(NAMESPACES, 5)
        self.keys = self.chance.sample(KEYS, 4)
        heads = [space[:depth] for space in self.namespaces for depth in range(len(space) + 1)]
        self.prefixes = [*heads, *self.chance.sample(PREFIXES, 3)]
        self.paths = [*self.namespaces, *PATHS]

    def place(self) -> tuple[tuple[str, ...], str]:
        return self.chance.choice(self.namespaces), self.chance.choice(self.keys)

    def put(self) -> PutOp:
        """Keys that begin with `raw` are never indexed, so no stale vector of the oracle's is asked for."""
        namespace, key = self.place()
        raw = key.startswith("raw")
        index: Any = False if raw else self.chance.choice([None, None, ["text"], ["text", "l[*]"]])
        ttl = self.chance.choice([None, 5, 30]) if self.timed else None
        return PutOp(namespace, key, value(self.chance), index, ttl)

    def reading(self) -> Any:
        """A read that can be part of a batch."""
        chance, refresh = self.chance, self.chance.random() < 0.5
        kind = chance.randrange(3)
        if kind == 0:
            return GetOp(*self.place(), refresh)
        if kind == 1:
            return SearchOp(chance.choice(self.prefixes), None, EVERYTHING, 0, None, refresh)
        conditions = tuple(
            MatchCondition(chance.choice(["prefix", "suffix"]), chance.choice(self.paths))
            for _ in range(chance.randint(0, 2))
        )
        return ListNamespacesOp(conditions, chance.choice([None, 1, 2]), EVERYTHING, 0)

    def batch(self) -> list[Any]:
        """Reads and writes in any order, some writes to one item."""
        drawn = [self.chance.choice([self.put, self.reading])() for _ in range(self.chance.randint(1, 6))]
        puts = [one for one in drawn if isinstance(one, PutOp)]
        drawn += [one._replace(value=self.chance.choice([None, value(self.chance)])) for one in puts[:2]]
        self.chance.shuffle(drawn)
        return drawn

    def step(self) -> tuple[Op, str]:
        """What is done next, and whose answer counts."""
        chance, drawn = self.chance, self.chance.random()
        prefix = chance.choice(self.prefixes)
        if drawn < 0.4:
            one = self.put()
            return ("put", one[:3], {"index": one.index, "ttl": one.ttl}), "both"
        if drawn < 0.48:
            return ("delete", self.place(), {}), "both"
        if drawn < 0.58:
            return ("get", self.place(), {"refresh_ttl": chance.choice([None, False])}), "both"
        if drawn < 0.66:
            page = {"limit": chance.choice([0, 1, 3, EVERYTHING]), "offset": chance.choice([0, 0, 1, 2])}
            return ("search", (prefix,), {**page, "refresh_ttl": False}), "both"
        if drawn < 0.76:
            wanted, whose = filters(chance)
            return (
                "search",
                (prefix,),
                {"filter": wanted, "limit": EVERYTHING, "refresh_ttl": whose == "both"},
            ), whose
        if drawn < 0.8:
            asked = {"query": chance.choice(WORDS), "limit": 200, "refresh_ttl": False}
            return ("search", (prefix,), asked), "postgres"
        if drawn < 0.84:
            ends = {name: chance.choice([None, *self.paths]) for name in ("prefix", "suffix")}
            depth = chance.choice([None, None, 1, 2])
            return ("list_namespaces", (), {**ends, "max_depth": depth, "limit": EVERYTHING}), "postgres"
        if drawn < 0.86:
            methods: dict[str, Any] = {"put": ("k", {"a": 1}), "get": ("k",), "search": (), "delete": ("k",)}
            method = chance.choice([*methods])
            return (method, (chance.choice(INVALID), *methods[method]), {}), "both"
        return ("batch", (self.batch(),), {}), "postgres"


def told(answer: Any, batch: bool = False) -> Any:
    """An answer as it is compared: items and namespaces of a list in an order of their own."""
    if isinstance(answer, Exception):
        return "invalid" if isinstance(answer, InvalidNamespaceError) else "refused"
    if isinstance(answer, list):
        parts = [told(one) for one in answer]
        return parts if batch else sorted(parts)
    if hasattr(answer, "value"):
        return json.dumps([answer.namespace, answer.key, answer.value], sort_keys=True)
    return answer


@dataclass
class Sequences:
    """Our store and its oracles, and how one of ours is called: `call` awaits where that is asynchronous."""

    ours: Callable[[str], tuple[PgmnemoStore, Any]]
    postgres: PostgresStore
    call: Callable[..., Any] = lambda store, method, *given, **named: getattr(store, method)(*given, **named)
    ask: Callable[[Any], Any] = lambda answer: answer
    done: int = 0
    order: dict[str, int] = field(default_factory=dict)

    def run(self, seed: int, steps: int = 20) -> None:
        """One sequence; an AssertionError names the seed and the operations so far."""
        draw = Drawing(random.Random(seed))
        self.store, self.scope = self.ours(f"sequence {seed}")
        self.memory = None if draw.timed else InMemoryStore()
        self.postgres.conn.execute("TRUNCATE store CASCADE")
        self.order, so_far = {}, []
        for _ in range(steps):
            (method, given, named), whose = draw.step()
            so_far.append((method, given, named))
            mine = self._tried(self.call, self.store, method, given, named)
            agree = self._agree(mine, whose, method, given, named)
            assert agree is None, f"seed {seed}: {agree}\nafter {shown(so_far)}"
            self._note(method, given, mine)
            if draw.timed and draw.chance.random() < 0.3:
                so_far.append(self._age(draw))
            self.done += 1
        if draw.timed:
            mine, others = self._expiries(), self._their_expiries()
            assert mine == others, (
                f"seed {seed}: {set(mine.items()) ^ set(others.items())}\nafter {shown(so_far)}"
            )

    def _agree(self, mine: Any, whose: str, method: str, given: Any, named: Any) -> str | None:
        """None, or how our answer differs from one that counts.

        Of a page without filter or question oracles are asked for all, and told which those are: in ours
        what was stored last comes first, in theirs what was changed last, or nothing in particular.
        """
        paged = method == "search" and "offset" in named
        whole = {**named, "limit": EVERYTHING, "offset": 0} if paged else named
        oracles = {"postgres": self.postgres, "memory": self.memory}
        for name, oracle in oracles.items():
            theirs = oracle and self._tried(_plain_call, oracle, method, given, whole)
            if oracle is None or whose not in ("both", name):
                continue
            if paged and isinstance(theirs, list):
                theirs.sort(key=lambda one: -self.order[key_of(one.namespace, one.key)])
                theirs = theirs[named["offset"] : named["offset"] + named["limit"]]
                if [told(one) for one in mine] != [told(one) for one in theirs]:
                    return f"in another order than {name}: {mine} and {theirs}"
            if told(mine, method == "batch") != told(theirs, method == "batch"):
                return f"not as {name}: {mine} and {theirs}"
        if method == "list_namespaces" and mine != sorted(mine):
            return f"not in order: {mine}"
        return None

    def _tried(self, call: Any, store: BaseStore | None, method: str, given: Any, named: Any) -> Any:
        if store is self.memory:
            named = {name: one for name, one in named.items() if name != "ttl"}
        try:
            return call(store, method, *given, **named)
        except (ValueError, TypeError) as error:
            return error

    def _note(self, method: str, given: Any, mine: Any) -> None:
        """In what order items were first stored: those of one batch as it has them."""
        if isinstance(mine, Exception):
            return
        puts: dict[str, bool] = {}
        if method in ("put", "delete"):
            puts[key_of(*given[:2])] = method == "put"
        elif method == "batch":
            puts = {
                key_of(op.namespace, op.key): op.value is not None for op in given[0] if isinstance(op, PutOp)
            }
        for key, stays in puts.items():
            if not stays:
                self.order.pop(key, None)
            else:
                self.order.setdefault(key, next_number())

    def _age(self, draw: Drawing) -> tuple[Any, ...]:
        """Let time pass: an item that expires has a minute left, or none, in both stores."""
        query = "SELECT prefix, key FROM store WHERE ttl_minutes IS NOT NULL ORDER BY prefix, key"
        if not (rows := self.postgres.conn.execute(query).fetchall()):
            return ()
        row, left = draw.chance.choice(rows), draw.chance.choice([-1, 60, 60])
        end = datetime.now(UTC) + timedelta(seconds=left)
        self.postgres.conn.execute(
            "UPDATE store SET expires_at = %s WHERE prefix = %s AND key = %s",
            (end, row["prefix"], row["key"]),
        )
        self.ask(self.scope.update(key_of(row["prefix"].split("."), row["key"]), expires_at=end))
        if draw.chance.random() < 0.3:
            swept = self.call(self.store, "sweep_ttl")
            assert swept == self.postgres.sweep_ttl()
            self._forget_swept()
        return ("age", row, left)

    def _forget_swept(self) -> None:
        rows = self.postgres.conn.execute("SELECT prefix, key FROM store").fetchall()
        there = {key_of(str(row["prefix"]).split("."), row["key"]) for row in rows}
        self.order = {key: number for key, number in self.order.items() if key in there}

    def _expiries(self) -> dict[str, int | None]:
        """In how many minutes each item expires."""
        found = {key: self.ask(self.scope.get(key)) for key in self.order}
        return {key: _minutes(lesson.expires_at) for key, lesson in found.items()}

    def _their_expiries(self) -> dict[str, int | None]:
        rows = self.postgres.conn.execute("SELECT prefix, key, expires_at FROM store").fetchall()
        return {key_of(row["prefix"].split("."), row["key"]): _minutes(row["expires_at"]) for row in rows}


def _plain_call(store: Any, method: str, *given: Any, **named: Any) -> Any:
    return getattr(store, method)(*given, **named)


def _minutes(end: datetime | None) -> int | None:
    """To ten minutes beyond the first: the two stores are not asked at the same time."""
    if end is None or end.year == 9999:
        return None
    left = (end - datetime.now(UTC)).total_seconds() / 60
    return -1 if left < 0 else 1 if left < 2 else round(left, -1).__int__()


def shown(so_far: list[Any]) -> str:
    """Each operation on a line, long keys cut."""
    return "\n".join(map(repr, so_far)).replace("k" * 1490, "")


_numbers = iter(range(10**12))


def next_number() -> int:
    return next(_numbers)


def main(count: int, first: int) -> None:
    from pgmnemo import AsyncMemory, Memory
    from tests.pgmnemo.client.driving import Place
    from tests.pgmnemo.postgres.memories import memories
    from tests.security.attacked import OURS
    from tests.sql.conftest import POSTGRES

    begun = time.monotonic()
    with memories(POSTGRES) as server:
        place = Place(server, server.install("sequences", OURS))
        server.create("oracle")
        oracle = psycopg.conninfo.make_conninfo(**{**server.conninfo, "dbname": "oracle"})
        with (
            postgres_store(oracle) as theirs,
            Memory.open(place.dsn(), embedder=None) as memory,
            asyncio.Runner() as runner,
        ):
            other = runner.run(AsyncMemory.open(place.dsn(), embedder=None))
            plain = Sequences(lambda name: opened(memory, place, name), theirs)
            awaited = Sequences(
                lambda name: runner.run(aopened(other, place, name)), theirs, acall(runner), runner.run
            )
            for seed in range(first, first + count):
                (awaited if seed % 4 == 0 else plain).run(seed)
                if seed % 100 == 99:
                    print(
                        f"{seed + 1 - first:,} sequences, {plain.done + awaited.done:,} operations",
                        flush=True,
                    )
            runner.run(other.close())
    print(f"{count:,} sequences agree, in {time.monotonic() - begun:.0f} s")


def opened(memory: Any, place: Any, name: str) -> tuple[PgmnemoStore, Any]:
    """A store of a new tenant, and its scope."""
    scope = memory.tenant(place.tenant("alice")).project(name)
    return PgmnemoStore(scope, ttl={"refresh_on_read": True}), scope


async def aopened(memory: Any, place: Any, name: str) -> tuple[PgmnemoStore, Any]:
    """As `opened`, of an asynchronous memory."""
    return opened(memory, place, name)


def acall(runner: asyncio.Runner) -> Callable[..., Any]:
    """Calls of the asynchronous methods."""
    return lambda store, method, *given, **named: runner.run(getattr(store, f"a{method}")(*given, **named))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
