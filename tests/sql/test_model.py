"""Random calls of two writers against a plain-Python model of what must be kept, known and recalled.

Now and then a writer takes his snapshot, the other one writes, and then the first one does. Under READ
COMMITTED his call must see what was written; under REPEATABLE READ it may fail instead, or find nothing to
do, and then nothing may be changed.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from tests.sql.model import DAYS, KEYS, Kept, Model, Refused

STEPS, BETWEEN_LOOKS = int(os.environ.get("PGMNEMO_MODEL_STEPS", "800")), 10
AFTER_ALL = datetime(2090, 1, 1, tzinfo=UTC)
REFUSALS = (errors.NoDataFound, errors.ObjectNotInPrerequisiteState, errors.InvalidParameterValue)


def told(chance: random.Random) -> dict[str, Any]:
    """Some of what a writer may say besides the text."""
    every = {
        "topic": chance.choice(["harbour", "market"]), "importance": chance.randint(1, 5),
        "metadata": {"lang": chance.choice("abc"), "n": chance.randint(0, 3)},
        "expires_at": chance.choice([DAYS[4], DAYS[8]]),
    }  # fmt: skip
    return {name: value for name, value in every.items() if chance.random() < 0.3}


def some_call(chance: random.Random, project: Any) -> tuple[str, list[Any], str, list[Any]]:
    """A method of the model with its arguments, and the statement with its parameters."""
    key, kind = chance.choice(KEYS), chance.random()
    if kind < 0.35:
        content, vector = f"lesson {chance.randint(0, 3)}", chance.random() < 0.4
        given = {"occurred_at": DAYS[0], **told(chance)}
        named = {**given, "embedding": [1.0] + [0.0] * 1023} if vector else given
        names = "".join(f", {name} => %s{'::real[]' * (name == 'embedding')}" for name in named)
        values = [Jsonb(value) if isinstance(value, dict) else value for value in named.values()]
        return (
            "store", [key, content, vector, given],
            f"SELECT pgmnemo.store(NULL, %s, %s, %s{names})",
            [project, key, content, *values],
        )  # fmt: skip
    if kind < 0.42:
        return (
            "append", ["lesson in a row", False, {"occurred_at": DAYS[0]}],
            "SELECT external_id FROM pgmnemo.append(NULL, %s, 'lesson in a row', occurred_at => %s)",
            [project, DAYS[0]],
        )  # fmt: skip
    if kind < 0.55:
        given = told(chance)
        clear = [
            name
            for name in ("topic", "metadata", "expires_at")
            if name not in given and chance.random() < 0.3
        ]
        names = "".join(f", {name} => %s" for name in given)
        values = [Jsonb(value) if isinstance(value, dict) else value for value in given.values()]
        return (
            "update", [key, given, clear],
            f"SELECT pgmnemo.update(NULL, %s, %s, clear => %s{names})", [project, key, clear, *values],
        )  # fmt: skip
    if kind < 0.75:
        new, at = chance.choice([None, *KEYS]), chance.choice(DAYS)
        return (
            "supersede", [key, new, at], "SELECT pgmnemo.supersede(NULL, %s, %s, %s, at => %s)",
            [project, key, new, at],
        )  # fmt: skip
    if kind < 0.85:
        return "undo", [key], "SELECT pgmnemo.undo_supersede(NULL, %s, %s)", [project, key]
    if kind < 0.97:
        hard, revive = chance.random() < 0.4, chance.random() < 0.5
        query = "SELECT pgmnemo.forget(NULL, %s, %s, %s, %s)"
        return "forget", [key, hard, revive], query, [project, key, hard, revive]
    lang = chance.choice("abc")
    query = "SELECT pgmnemo.forget_matching(NULL, %s, %s)"
    return "forget_matching", [lang], query, [Jsonb({"metadata": {"lang": lang}}), project]


class Watch:
    """The extension beside the model."""

    def __init__(self, tenant: Any) -> None:
        self.tenant, self.model = tenant, Model()
        self.known: list[tuple[datetime, dict[str, Kept]]] = []

    def call(self, connection: psycopg.Connection[Any], said: Any, stale: bool) -> None:
        name, arguments, query, parameters = said
        before = dict(self.model.kept)
        try:
            wanted: Any = getattr(self.model, name)(*arguments)
        except Refused:
            wanted = Refused
        try:
            found: Any = connection.execute(query, parameters).fetchone()[0]  # type: ignore[index]
            connection.commit()
        except REFUSALS:
            connection.rollback()
            found = Refused
            assert wanted is Refused or stale, said
        except (errors.SerializationFailure, errors.UniqueViolation):
            connection.rollback()
            assert stale, said
            found = Refused
        if stale and found in (Refused, "unchanged", False):
            self.model.kept = before
        else:
            assert found == wanted, said

    def look(self, chance: random.Random) -> None:
        """Everything that is kept, recalled, known and indexed is as the model has it."""
        rows = self.tenant.rows(
            "SELECT external_id, content, occurred_at, topic, importance, metadata, expires_at, position, "
            "active, superseded_at, EXISTS (SELECT FROM pgmnemo.vectors v WHERE v.lesson_id = l.id) "
            "FROM pgmnemo.lessons l"
        )
        assert {row[0]: row[1:] for row in rows} == {
            key: (one.content, one.occurred_at, one.topic, one.importance, one.metadata, one.expires_at,
                  one.position, one.active, one.ended and one.ended[0], one.embedded)
            for key, one in self.model.kept.items()
        }  # fmt: skip
        moment, lang = chance.choice([*DAYS, AFTER_ALL]), chance.choice("abc")
        asked = Jsonb({"metadata": {"lang": lang}})
        holding = {key for key, one in self.model.kept.items() if one.holds(moment)}
        matching = {key for key in holding if self.model.kept[key].metadata.get("lang") == lang}
        assert set(self.tenant.ids("lesson", k=1000, as_of=moment)) == holding
        assert set(self.tenant.ids("lesson", k=1000, valid_at=moment, filter=asked)) == matching
        count = "SELECT lessons FROM pgmnemo.count(NULL, %s, %s, valid_at => %s)"
        assert self.tenant.value(count, self.tenant.project, asked, moment) == len(matching)
        if self.known:
            at, then = chance.choice(self.known)
            believed = {
                key for key, one in self.model.kept.items()
                if key in then and then[key].occurred_at == one.occurred_at
                and replace(one, ended=then[key].ended).holds(moment)
            }  # fmt: skip
            since = self.tenant.rows("SELECT external_id FROM pgmnemo.lessons WHERE stored_at > %s", at)
            believed -= {key for (key,) in since}  # forgotten for good, and stored anew
            assert set(self.tenant.ids("lesson", k=1000, as_of=moment, known_at=at)) == believed
        self.known = [*self.known, (self.tenant.value("SELECT clock_timestamp()"), dict(self.model.kept))][
            -20:
        ]


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ"])
def test_what_two_writers_do_is_what_the_model_says(tenant: Any, level: str) -> None:
    chance = random.Random(level)
    watch = Watch(tenant)
    writers = [tenant.connect(), tenant.connect()]
    for writer in writers:
        writer.autocommit = False
        writer.isolation_level = psycopg.IsolationLevel[level.replace(" ", "_")]
    for step in range(STEPS):
        chance.shuffle(writers)
        first, second = writers
        said = some_call(chance, tenant.project)
        late = chance.random() < 0.3 and said[0] != "forget_matching"
        if late:
            second.execute("SELECT count(*) FROM pgmnemo.lessons")
        watch.call(first, some_call(chance, tenant.project), False)
        if late:
            watch.call(second, said, level != "READ COMMITTED")
        if step % BETWEEN_LOOKS == 0:
            watch.look(chance)
    watch.look(chance)
    assert tenant.rows("SELECT * FROM pgmnemo.check()") == []
