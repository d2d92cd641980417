"""The record of what a memory acknowledged, and its comparison with what the memory returns."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from lab.reliability.bed import AGENT, KEPT, MEMORY, Databases
from lab.reliability.texts import DAY, ENDED, EXACT, FORGOTTEN, HOLDS, LIMIT, PROJECT, State, set_limit, signs
from pgmnemo import Memory
from pgmnemo.calls import check
from pgmnemo.client.naming import tenant_id

QUESTIONS = (
    "Where is the river harbour?", "running children and a violin in winter", "lantern lantern bicycle",
    "quietly the captain painted bridges in the forest market", "letter",
)  # fmt: skip
AS_OF = DAY + timedelta(days=200)
LEAST_OVERLAP = 0.9  # least overlap of the ten nearest by the graph and by an exact scan
# The number of lessons of each lexeme; the empty lexeme counts all lessons and their tokens.
RECOUNT = """
WITH counted AS (
    SELECT v.lexeme COLLATE "C" AS lexeme, count(*) AS lessons, 0::bigint AS tokens
      FROM pgmnemo.lesson l, unnest(l.lexemes) v WHERE l.tenant_id = %(tenant)s AND l.active GROUP BY 1
     UNION ALL
    SELECT '', count(*), coalesce(sum(token_count), 0) FROM pgmnemo.lesson
     WHERE tenant_id = %(tenant)s AND active
), kept AS (
    SELECT k.lexeme COLLATE "C" AS lexeme, sum(k.lessons)::bigint AS lessons,
           coalesce(sum(k.tokens) FILTER (WHERE k.lexeme = ''), 0)::bigint AS tokens
      FROM (SELECT lexeme, lesson_count AS lessons, token_total AS tokens
              FROM pgmnemo.posting WHERE tenant_id = %(tenant)s
             UNION ALL
            SELECT lexeme, lesson_count, 0 FROM pgmnemo.segment_term WHERE tenant_id = %(tenant)s
             UNION ALL
            SELECT '', lesson_count, token_total FROM pgmnemo.segment WHERE tenant_id = %(tenant)s) k
     GROUP BY 1
)
SELECT lexeme, c.lessons, k.lessons, c.tokens, k.tokens FROM counted c FULL JOIN kept k USING (lexeme)
 WHERE (coalesce(c.lessons, 0), coalesce(c.tokens, 0)) <> (coalesce(k.lessons, 0), coalesce(k.tokens, 0))
"""


@dataclass(frozen=True)
class PendingCall:
    """A call: the expected state of each key after it, and a text that gets a new key (None: no such
    text).
    """

    after: Mapping[str, State | None]
    new: str | None


@dataclass
class Acknowledged:
    """The acknowledged state of every key of a tenant's project; `unsure` are unanswered calls."""

    states: dict[str, State] = field(default_factory=dict)
    unsure: list[PendingCall] = field(default_factory=list)
    refused: int = 0

    def hear(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Read a process's output; the last call may lack its answer."""
        asked: PendingCall | None = None
        for line in lines:
            if "asks" in line:
                after = {key: tuple(state) if state else None for key, state in line["asks"].items()}
                asked = PendingCall(after, line["new"])
            elif asked is not None and line.keys() & {"answers", "unanswered", "refused"}:
                if "answers" in line:
                    self._did(asked, line["answers"])
                elif "unanswered" in line:
                    self.unsure.append(asked)
                else:
                    self.refused += 1
                asked = None
        if asked is not None:
            self.unsure.append(asked)

    def _did(self, asked: PendingCall, key: str | None) -> None:
        for one, state in asked.after.items():
            if state is None:
                self.states.pop(one, None)
            else:
                self.states[one] = state
        if asked.new is not None and key is not None:
            self.states[key] = (asked.new, HOLDS)

    def settle(self, found: Mapping[str, State]) -> None:
        """Decide for each unanswered call whether it took effect.

        It did if its whole effect is visible; otherwise no part of it may be visible.
        """
        for asked in self.unsure:
            if asked.new is not None:
                keys = [key for key, (text, _) in found.items() if text == asked.new]
                if keys:
                    self._did(asked, keys[0])
            elif all(found.get(key) == state for key, state in asked.after.items()):
                self._did(asked, None)
        self.unsure.clear()


@dataclass
class Losses:
    """Sentences on lost and wrong data; both lists should be empty."""

    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.wrong)


def spoken(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects that a process has written to `path`, without an incomplete last line."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def opened(databases: Databases, name: str = MEMORY, limit: int = EXACT, **more: Any) -> Memory:
    dsn = databases.dsn(AGENT, name, options=set_limit(limit))
    return Memory.open(dsn, embedder=signs, connections=1, **more)


def held(scope: Any) -> dict[str, State]:
    """Return the text and the status of every lesson in a scope, by its key."""

    def status(one: Any) -> str:
        return FORGOTTEN if not one.active else HOLDS if one.superseded_at is None else ENDED

    return {one.key: (one.text, status(one)) for one in scope.list(include_inactive=True)}


def answers(scope: Any, mode: str | None = None, k: int = 50) -> list[list[Any]]:
    found = [scope.recall(question, k=k, as_of=AS_OF, mode=mode) for question in QUESTIONS]
    return [[(hit.key, hit.score, tuple(hit.components.values())) for hit in hits] for hits in found]


def judge(
    databases: Databases, name: str, tenant: str, known: Acknowledged, fresh: Databases | None = None
) -> Losses:
    """Return the data that a tenant has lost or that is wrong in it.

    Its content is compared with `known`, with the extension's own check, with its counts, and with a fresh
    database.
    """
    verdict = Losses()
    with opened(databases, name) as memory:
        scope = memory.tenant(tenant).project(PROJECT)
        compare(known, held(scope), verdict)
        verdict.wrong += [f"check: {row}" for row in scope._call(check(tenant_id(tenant)))]
        with databases.connect(name=name) as root:
            rows = root.execute(RECOUNT, {"tenant": tenant_id(tenant)}).fetchall()
        verdict.wrong += [f"statistics: {row}" for row in rows[:3]]
        if fresh is not None:
            file = io.BytesIO()
            scope.export(file, vectors=False)
            if answers(scope) != anew(fresh, tenant, file.getvalue()):
                verdict.wrong.append("answers differ from those of a fresh database")
        exact = answers(scope, "vector", 10)
        memory._executor.settings = {**memory._executor.settings, "hnsw_min_vectors": str(LIMIT)}
        if (share := overlap(exact, answers(scope, "vector", 10))) < LEAST_OVERLAP:
            verdict.wrong.append(f"the graph finds {share:.2f} of the ten nearest")
    return verdict


def compare(known: Acknowledged, found: Mapping[str, State], verdict: Losses) -> None:
    known.settle(found)
    for key in known.states.keys() - found.keys():
        verdict.lost.append(f"{key} was acknowledged and is gone")
    for key in known.states.keys() & found.keys():
        if known.states[key] != found[key]:
            verdict.lost.append(f"{key} is {found[key]}, acknowledged was {known.states[key]}")
    for key in found.keys() - known.states.keys():
        verdict.wrong.append(f"{key} is there: {found[key]}")


def anew(fresh: Databases, tenant: str, export: bytes) -> list[list[Any]]:
    """Return the answers of a fresh database that holds the same texts, with new vectors."""
    fresh.copy(KEPT, "again")
    fresh.grant(tenant, "again")
    with opened(fresh, "again") as memory:
        scope = memory.tenant(tenant).project(PROJECT)
        scope.import_(io.BytesIO(export))
        return answers(scope)


def overlap(exact: list[list[Any]], near: list[list[Any]]) -> float:
    """Return the mean share of keys that two lists of answers have in common."""
    shares = [
        len({hit[0] for hit in one} & {hit[0] for hit in other}) / max(len(one), 1)
        for one, other in zip(exact, near, strict=True)
        if one
    ]
    return sum(shares) / len(shares) if shares else 1.0
