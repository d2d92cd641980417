"""Random calls of both shells on one tenant, against a memory in plain Python (tests/sql/model.py).

A run is made again by its seed: PGMNEMO_MODEL_SEED names one, and PGMNEMO_MODEL_STEPS how many calls.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from pgmnemo import AddResult, BatchResult, FactResult, Item, Lesson, Turn
from pgmnemo.errors import RefusedError
from tests.pgmnemo.client.driving import SHELLS, Place, Shell
from tests.sql.model import DAYS, IN_THE_WAY, KEYS, WRONG, Kept, Model, Refused

pytestmark = pytest.mark.filterwarnings("ignore::pgmnemo.errors.ForeignProjectWarning")
STEPS = int(os.environ.get("PGMNEMO_MODEL_STEPS", "800"))
SEED = os.environ.get("PGMNEMO_MODEL_SEED", "")
BETWEEN_LOOKS, BETWEEN_MOVES = 25, 400
WORDS = ("kettle", "lantern", "Lisbon", "violin")
SUBJECTS, RELATIONS, OBJECTS = ("Ada", "Bob"), ("lives in", "likes"), ("Lisbon", "Porto", "Faro")
KINDS = ("related", "follows")
CLEARED = ("topic", "role", "metadata", "expires_at", "importance", "position", "verified_at", "occurred_at")
NAMES = {"occurred_at": "at", "content": "text"}  # what the client calls otherwise
EARLY = DAYS[0] - timedelta(days=400)


def toy(texts: list[str]) -> Any:
    """Eight numbers by the words of each text."""
    return [np.frombuffer(sha256(text.encode()).digest(), dtype=np.uint8)[:8] + 1.0 for text in texts]


class Project(Model):
    """What the client has besides: facts, links, timelines."""

    def __init__(self) -> None:
        super().__init__()
        self.links: dict[tuple[str, str, str], tuple[float, datetime | None, datetime | None]] = {}

    def _forget(self, keys: Collection[str], hard: bool, revive: bool) -> None:
        super()._forget(keys, hard, revive)
        self.links = {name: link for name, link in self.links.items() if {*name[:2]} <= self.kept.keys()}

    def link(self, source: str, target: str, kind: str, told: Any) -> str:
        self._known(source), self._known(target)
        if source == target:
            raise Refused(WRONG)
        was = self.links.get((source, target, kind))
        self.links[source, target, kind] = told
        return "inserted" if was is None else "unchanged" if was == told else "updated"

    def unlink(self, source: str, target: str, kind: str) -> bool:
        self._known(source), self._known(target)
        return self.links.pop((source, target, kind), None) is not None

    def fact(self, said: Mapping[str, str], at: datetime, single: bool, more: Any, key: str) -> Any:
        """The answer; `key` is that of the lesson, if a new one was stored."""
        if more["source"] is not None:
            self._known(more["source"])
        same = self._stating(said, at)
        stored = same[0] if same else key
        if not same:
            assert key.startswith("fact/")
            assert key not in self.kept
            text = " ".join(said.values())
            self.kept[key] = Kept(text, at, metadata={"fact": said}, embedded=more["vector"])
        if more["source"] == stored:
            raise Refused("23514")
        if more["source"] is not None:
            self.links.setdefault((more["source"], stored, "asserts"), (1.0, at, None))
        others = self._single(said, at, stored, more["reason"], new=not same) if single else []
        return stored, "unchanged" if same else "inserted", len(others)

    def _single(
        self, said: Mapping[str, str], at: datetime, stored: str, reason: str | None, new: bool
    ) -> list[str]:
        about = {name: said[name] for name in ("subject", "relation")}
        others = [key for key in self._stating(about, at) if self._told(key)["object"] != said["object"]]
        later = sorted(
            (happened(one), number, key)
            for number, key in enumerate(self._stating(about, None))
            if key != stored and happened(one := self.kept[key]) > at and one.holds(happened(one))
        )
        if later and new:
            self._end(stored, later[0][2], later[0][0], reason)  # type: ignore[arg-type]
        if {*others} & {*self.after(stored)}:
            raise Refused(IN_THE_WAY)
        for key in others:
            self._end(key, stored, at, reason)
        return others

    def end_fact(self, said: Mapping[str, str], at: datetime, reason: str | None) -> int:
        held = self._stating(said, at)
        for key in held:
            self._end(key, None, at, reason)
        return len(held)

    def _told(self, key: str) -> dict[str, str]:
        told: dict[str, str] = self.kept[key].metadata.get("fact", {})
        return told

    def _stating(self, said: Mapping[str, str], at: datetime | None) -> list[str]:
        """The facts that say so much and hold at a moment (None: ever), in the order of their ids."""
        return [
            key for key, one in self.kept.items()
            if (told := self._told(key)) and one.active and said.items() <= told.items()
            and (at is None or (one.holds(at) and happened(one) <= at))
        ]  # fmt: skip

    def timeline(self, key: str) -> list[str]:
        self._known(key)
        steps, before = {key: 0}, [key]
        for name in before:
            found = [one for one, kept in self.kept.items() if kept.ended and kept.ended[1] == name]
            steps |= dict.fromkeys(found, steps[name] - 1)
            before += found
        steps |= {name: place for place, name in enumerate(self.after(key))}
        return sorted(steps, key=lambda name: (steps[name], name))


def happened(one: Kept) -> datetime:
    """When, as a filter sees it; what was stored without a time was so in the present, after all DAYS."""
    return one.occurred_at or datetime.now(UTC)


class Beside:
    """The memory beside the model."""

    def __init__(self, chance: random.Random, place: Place, memories: list[Any], vector: bool) -> None:
        self.chance, self.place, self.memories, self.vector = chance, place, memories, vector
        tenant = place.tenant()
        self.scopes = [memory.tenant(tenant) for memory in memories]
        self.projects = {name: Project() for name in ("kitchen", "garden")}
        self.ids: dict[tuple[str, str], int] = {}
        self.said: list[str] = []
        self.step = 0

    # One call, and what it must answer

    def agree(self, wanted: Callable[[Any], Any], verb: str, *given: Any, on: Any, **named: Any) -> None:
        """The memory answers as the model: `wanted` has the memory's answer, for keys that it made."""
        before = [(dict(one.kept), dict(one.links)) for one in self.projects.values()]
        self.said.append(f"{self.step} {type(on).__name__} {verb} {given} {named}")
        try:
            found = getattr(on, verb)(*given, **named)
        except RefusedError as error:
            found = error.sqlstate
        try:
            expected = wanted(found)
        except Refused as refused:
            expected = str(refused)
            for project, (kept, links) in zip(self.projects.values(), before, strict=True):
                project.kept, project.links = kept, links
        assert found == expected, "\n".join(self.said[-20:])
        self._number()

    def _number(self) -> None:
        """New lessons get the next ids, those that are gone lose theirs."""
        there = [(name, key) for name, project in self.projects.items() for key in project.kept]
        last = max(self.ids.values(), default=0)
        fresh = [one for one in there if one not in self.ids]
        self.ids = {one: self.ids[one] for one in there if one in self.ids}
        self.ids |= {one: last + number for number, one in enumerate(fresh, start=1)}

    def some(self) -> tuple[Any, Project]:
        """A project in either shell, and its model."""
        name = self.chance.choice(["kitchen", "kitchen", "garden"])
        return self.chance.choice(self.scopes).project(name), self.projects[name]

    def key(self, model: Model) -> str:
        return self.chance.choice([*KEYS, *KEYS, *model.kept])

    def told(self, share: float = 0.25) -> dict[str, Any]:
        """Some of what a writer may say besides the text, by the names of the model."""
        pick, chance = self.chance.choice, self.chance
        every = {
            "role": pick(["user", "assistant", "Ada"]), "topic": pick(["home/cat", "home", "work"]),
            "importance": chance.randint(1, 5), "occurred_at": pick(DAYS),
            "metadata": {"lang": pick("abc"), "n": chance.randint(0, 3), "deep": {"of": [1, None, "ä\n"]}},
            "expires_at": pick([DAYS[4], DAYS[8], datetime(2090, 1, 1, tzinfo=UTC)]),
            "commit_sha": pick(["c0ffee", "decade"]), "verified_at": pick(DAYS),
            "position": chance.randint(-2, 40),
        }  # fmt: skip
        return {name: value for name, value in every.items() if chance.random() < share}

    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 3)))

    # Writing

    def add(self) -> None:
        on, model = self.some()
        key, given, text = self.key(model), self.told(), self.text()
        if self.chance.random() < 0.5:
            given.setdefault("occurred_at", DAYS[1])
        clear = [name for name in CLEARED if name not in given and self.chance.random() < 0.05]

        def wanted(_: Any) -> AddResult:
            return AddResult(key, model.store(key, text, self.vector, given, clear))

        self.agree(wanted, "add", text, key=key, clear=clear or None, **named(given), on=on)

    def add_without_key(self) -> None:
        on, model = self.some()
        given, text = self.told(), self.text()
        turn = "role" in given and "position" not in given

        if turn:
            given.setdefault("occurred_at", DAYS[1])

        def wanted(found: AddResult) -> AddResult:
            if turn:
                key = model.append(text, self.vector, given)
                return AddResult(key, "inserted", model.kept[key].position)
            assert found.key not in model.kept
            return AddResult(found.key, model.store(found.key, text, self.vector, given))

        self.agree(wanted, "add", text, **named(given), on=on)

    def add_conversation(self) -> None:
        on, model = self.some()
        key, at, day = self.key(model), *(self.chance.choice([None, day]) for day in DAYS[2:4])
        turns = [Turn(self.text(), self.chance.choice(["user", "assistant", None]), day) for _ in range(3)]
        when = at or day
        head = [f"[{when.day} {when:%B %Y}]"] if when else []
        lines = [f"{turn.role}: {turn.text}" if turn.role else turn.text for turn in turns]
        text = "\n".join([*head, *lines])
        kept = {"occurred_at": when} if when else {}

        def wanted(_: Any) -> AddResult:
            return AddResult(key, model.store(key, text, self.vector, kept))

        self.agree(wanted, "add", turns, key=key, at=at, on=on)

    def add_many(self) -> None:
        on, model = self.some()
        items = [(self.key(model), self.text(), self.told()) for _ in range(self.chance.randint(1, 6))]
        size, now = self.chance.randint(1, 6), self.chance.choice([None, DAYS[1]])

        def wanted(_: Any) -> BatchResult:
            outcomes: dict[str, int] = {}
            for start in range(0, len(items), size):
                batch = {key: (text, given) for key, text, given in items[start : start + size]}
                for key, (text, given) in batch.items():
                    given = {**given, **({"occurred_at": given.get("occurred_at", now)} if now else {})}
                    outcome = model.store(key, text, self.vector, given)
                    outcomes[outcome] = outcomes.get(outcome, 0) + 1
            return BatchResult(outcomes)

        given = [Item(text, key, **named(told)) for key, text, told in items]
        self.agree(wanted, "add_many", given, batch=size, at=now, on=on)

    def update(self) -> None:
        on, model = self.some()
        key, given, patch = self.key(model), self.told(), None
        given.pop("commit_sha", None)
        if "metadata" not in given and self.chance.random() < 0.3:
            patch = {"lang": self.chance.choice("abc"), "new": {"n": self.chance.randint(0, 3)}}
        clear = [name for name in CLEARED if name not in given and self.chance.random() < 0.1]

        def wanted(_: Any) -> str:
            merged = {}
            if patch is not None and key in model.kept:
                was = {} if "metadata" in clear else model.kept[key].metadata
                merged = {"metadata": {**was, **patch}}
            return model.update(key, {**given, **merged}, clear)

        self.agree(wanted, "update", key, patch=patch, clear=clear or None, **named(given), on=on)

    def forget(self) -> None:
        on, model = self.some()
        key, hard, revive = self.key(model), self.chance.random() < 0.4, self.chance.random() < 0.5
        dry = self.chance.random() < 0.2

        def wanted(_: Any) -> int:
            if dry:
                return int(key in model.kept and (hard or model.kept[key].active))
            return int(model.forget(key, hard, revive))

        self.agree(wanted, "forget", key, permanent=hard, revive=revive, dry_run=dry, on=on)

    def forget_matching(self) -> None:
        on, model = self.some()
        asked, passes = self.filter()
        options = {name: self.chance.random() < 0.5 for name in ("permanent", "dry_run", "revive")}
        everywhere = self.chance.random() < 0.3
        models = [*self.projects.values()] if everywhere else [model]
        on = self.chance.choice(self.scopes) if everywhere else on
        if not asked or (options["permanent"] and "topic" in asked):
            return
        if options["permanent"]:  # else little would be left
            asked, passes = {**asked, "topic": "work"}, both(passes, lambda one: one.topic == "work")

        def wanted(_: Any) -> int:
            hard, dry_run, revive = options["permanent"], options["dry_run"], options["revive"]
            return sum(one.forget_where(passes, hard, dry_run, revive) for one in models)

        self.agree(wanted, "forget", filter=asked, **options, on=on)

    def forget_everything(self) -> None:
        on, model = self.some()
        dry = self.chance.random() < 0.7

        def wanted(_: Any) -> int:
            return model.forget_where(lambda _: True, hard=True, dry_run=dry)

        self.agree(wanted, "forget", all_lessons=True, dry_run=dry, on=on)

    def forget_tenant(self) -> None:
        def wanted(_: Any) -> int:
            return sum(one.forget_where(lambda _: True, hard=True) for one in self.projects.values())

        self.agree(wanted, "forget", all_lessons=True, on=self.chance.choice(self.scopes))

    def delete_expired(self) -> None:
        before = self.chance.choice([*DAYS[:5], EARLY])

        def expired(one: Kept) -> bool:
            return one.expires_at is not None and one.expires_at <= before

        def wanted(_: Any) -> int:
            return sum(one.forget_where(expired, hard=True) for one in self.projects.values())

        self.agree(wanted, "delete_expired", before, on=self.chance.choice(self.scopes))

    # Time, facts, links

    def supersede(self) -> None:
        on, model = self.some()
        old, new = self.key(model), self.chance.choice([None, self.key(model), self.key(model)])
        at, reason = self.chance.choice(DAYS), self.chance.choice([None, "moved", "wrong"])
        given = {"reason": reason, "at": at}
        self.agree(lambda _: model.supersede(old, new, at, reason), "supersede", old, new, **given, on=on)

    def undo(self) -> None:
        on, model = self.some()
        old = self.key(model)
        self.agree(lambda _: model.undo(old), "undo_supersede", old, on=on)

    def fact(self) -> None:
        on, model = self.some()
        said = dict(zip(("subject", "relation", "object"), self.words(), strict=True))
        at, single = self.chance.choice(DAYS), self.chance.random() < 0.5
        source = self.key(model) if self.chance.random() < 0.3 else None
        reason = self.chance.choice([None, "moved"])

        def wanted(found: Any) -> Any:
            more = {"source": source, "reason": reason, "vector": self.vector}
            return FactResult(*model.fact(said, at, single, more, getattr(found, "key", "fact/refused")))

        given = {"at": at, "exclusive": single, "source": source, "reason": reason}
        self.agree(wanted, "fact", *said.values(), **given, on=on)

    def end_fact(self) -> None:
        on, model = self.some()
        at, said = self.chance.choice(DAYS), self.words()[: self.chance.randint(2, 3)]
        names = dict(zip(("subject", "relation", "object"), said, strict=False))
        given = {"at": at, "reason": "over"}
        self.agree(lambda _: model.end_fact(names, at, "over"), "end_fact", *said, **given, on=on)

    def words(self) -> tuple[str, ...]:
        return tuple(map(self.chance.choice, (SUBJECTS, RELATIONS, OBJECTS)))

    def link(self) -> None:
        on, model = self.some()
        ends, kind = (self.key(model), self.key(model)), self.chance.choice(KINDS)
        told: Any = self.chance.choice([(1.0, None, None), (0.5, DAYS[0], None), (0.25, DAYS[0], DAYS[5])])
        given = dict(zip(("weight", "valid_from", "valid_to"), told, strict=True))
        self.agree(lambda _: model.link(*ends, kind, told), "link", *ends, kind, **given, on=on)

    def unlink(self) -> None:
        on, model = self.some()
        source, target, kind = self.chance.choice([*model.links, (*self.chance.sample(KEYS, 2), "related")])
        self.agree(lambda _: model.unlink(source, target, kind), "unlink", source, target, kind, on=on)

    # Reading

    def filter(self) -> tuple[dict[str, Any], Callable[[Kept], bool]]:
        """A filter document, and whether a lesson passes it."""
        lang, n, since = self.chance.choice("abc"), self.chance.randint(0, 3), self.chance.choice(DAYS)
        parts: list[tuple[dict[str, Any], Callable[[Kept], bool]]] = [
            ({"role": ["user", "Ada"]}, lambda one: one.role in ("user", "Ada")),
            ({"topic": "home"}, lambda one: one.topic == "home"),
            ({"topic_prefix": "home"}, lambda one: (one.topic or "").startswith("home")),
            ({"since": since}, lambda one: happened(one) >= since),
            ({"until": since}, lambda one: happened(one) < since),
            ({"metadata": {"lang": lang}}, lambda one: one.metadata.get("lang") == lang),
            ({"metadata": {"n": {"gte": n}}}, lambda one: one.metadata.get("n", -1) >= n),
            ({"metadata": {"not": {"lang": lang}}}, lambda one: one.metadata.get("lang") != lang),
        ]
        asked, passes = {}, (lambda _: True)
        for part, test in self.chance.sample(parts, self.chance.choice([0, 1, 1, 2])):
            if not part.keys() & asked.keys() and not {"since", "until"} <= {*part, *asked}:
                asked, passes = {**asked, **part}, both(passes, test)
        return asked, passes

    def expected(self, names: Collection[str], passes: Callable[[Kept], bool]) -> list[tuple[str, str]]:
        """In order of id."""
        kept = ((name, key, one) for name in names for key, one in self.projects[name].kept.items())
        return sorted(((name, key) for name, key, one in kept if passes(one)), key=self.ids.__getitem__)

    def look(self) -> None:
        """What is listed, counted, recalled and told is what the model has."""
        name = self.chance.choice([None, *self.projects])
        names = [name] if name else [*self.projects]
        for inner in self.scopes:
            on = inner.project(name) if name else inner
            numbers = {on.project(one).project_id: one for one in self.projects}
            every, wanted = list(on.list(include_inactive=True)), self.expected(names, lambda _: True)
            assert [(numbers[one.project], one.key) for one in every] == wanted
            assert [told(one) for one in every] == [
                comparable(self.projects[where].kept[key]) for where, key in wanted
            ]
            self._listed(on, names, numbers)
            self._recalled(on, names, numbers)
        self._facts(on, names)
        self._one()

    def _listed(self, on: Any, names: Collection[str], numbers: Mapping[Any, str]) -> None:
        asked, passes = self.filter()
        at, newest, most = map(self.chance.choice, ([None, *DAYS], [True, False], [None, 1, 3, 1000]))
        now = at or datetime.now(UTC)
        held = both(passes, lambda one: one.holds(now) and (at is None or happened(one) <= at))
        wanted = self.expected(names, held)
        found = list(on.list(filter=asked, valid_at=at, newest=newest, limit=most))
        assert [(numbers[one.project], one.key) for one in found] == wanted[:: -1 if newest else 1][:most]
        assert on.count(filter=asked, valid_at=at).lessons == len(wanted)

    def _recalled(self, on: Any, names: Collection[str], numbers: Mapping[Any, str]) -> None:
        asked, passes = self.filter()
        at, how = self.chance.choice(DAYS), self.chance.choice(["valid_at", "as_of"])
        held = both(passes, lambda one: one.holds(at) and (how != "valid_at" or happened(one) <= at))
        hits = on.recall(self.text(), k=1000, filter=asked, duplicates=True, **{how: at})
        assert sorted((numbers[hit.project], hit.key) for hit in hits) == sorted(self.expected(names, held))
        for hit in hits:
            kept = self.projects[numbers[hit.project]].kept[hit.key]
            assert (hit.text, hit.role, hit.topic, hit.metadata, hit.at) == (
                kept.content, kept.role, kept.topic, kept.metadata, kept.occurred_at)  # fmt: skip

    def _facts(self, on: Any, names: Collection[str]) -> None:
        at, subject = self.chance.choice(DAYS), self.chance.choice([None, *SUBJECTS])
        for history in (False, True):
            found = on.facts(subject, at=at, history=history)
            wanted = [
                (*project._told(key).values(), key)
                for project in map(self.projects.__getitem__, names)
                for key in project._stating({"subject": subject} if subject else {}, None if history else at)
            ]
            assert sorted((one.subject, one.relation, one.object, one.key) for one in found) == sorted(wanted)

    def _one(self) -> None:
        on, model = self.some()
        key = self.key(model)
        found = on.get(key)
        assert (found and told(found)) == (comparable(model.kept[key]) if key in model.kept else None)
        self.agree(lambda _: model.timeline(key), "timeline", key, on=Keys(on))

    # Out and in

    def move(self) -> None:
        """All of it goes into a new tenant by one shell and out of it by the other, and is as it was."""
        data = exported(self.chance.choice(self.scopes))
        lines = [json.loads(line) for line in data.splitlines()]
        kinds = Counter(line.get("kind") for line in lines)
        lessons = [one for project in self.projects.values() for one in project.kept.values()]
        assert kinds["lesson"] == len(lessons)
        assert kinds["supersession"] == sum(one.ended is not None for one in lessons)
        assert kinds["link"] == sum(len(project.links) for project in self.projects.values())
        if self.vector and lessons:
            assert all("vector" in line for line in lines if line.get("kind") == "lesson")
        name = self.place.tenant()
        one, other = self.chance.sample([memory.tenant(name) for memory in self.memories], 2)
        everything = {"inserted": len(lessons)} if lessons else {}
        assert one.import_(io.BytesIO(data), dry_run=True).lessons == len(lessons)
        assert other.count(include_inactive=True).lessons == 0
        assert one.import_(io.BytesIO(data)).outcomes == everything
        assert essence(exported(other)) ^ essence(data) == set()
        assert other.import_(io.BytesIO(data)).outcomes == {"unchanged": len(lessons)} if lessons else {}
        assert essence(exported(one)) ^ essence(data) == set()


class Keys:
    """A scope whose timeline is told by its keys."""

    def __init__(self, scope: Any) -> None:
        self.scope = scope

    def timeline(self, key: str) -> list[str]:
        return [step.key for step in self.scope.timeline(key)]


def named(given: Mapping[str, Any]) -> dict[str, Any]:
    """By the client's names."""
    return {NAMES.get(name, name): value for name, value in given.items()}


def both(one: Callable[[Kept], bool], other: Callable[[Kept], bool]) -> Callable[[Kept], bool]:
    return lambda kept: one(kept) and other(kept)


def comparable(one: Kept) -> tuple[Any, ...]:
    return (
        one.content, one.occurred_at, one.role, one.topic, one.importance, one.metadata, one.expires_at,
        one.commit_sha, one.verified_at, one.position, one.active, one.ended and one.ended[0],
    )  # fmt: skip


def told(one: Lesson) -> tuple[Any, ...]:
    return (
        one.text, one.at, one.role, one.topic, one.importance, one.metadata, one.expires_at, one.commit_sha,
        one.verified_at, one.position, one.active, one.superseded_at,
    )  # fmt: skip


def exported(scope: Any) -> bytes:
    file = io.BytesIO()
    scope.export(file)
    return file.getvalue()


def essence(data: bytes) -> set[str]:
    """The lines without what is another tenant's or another moment's, in one order."""
    lines = [json.loads(line) for line in data.splitlines()]
    moved = ("tenant", "stored_at", "recorded_at")
    return {json.dumps({name: line[name] for name in line if name not in moved}) for line in lines}


VERBS = {
    Beside.add: 24, Beside.add_without_key: 6, Beside.add_conversation: 3, Beside.add_many: 6,
    Beside.update: 10, Beside.forget: 10, Beside.forget_matching: 4, Beside.forget_everything: 0.5,
    Beside.forget_tenant: 0.1, Beside.delete_expired: 1, Beside.supersede: 14, Beside.undo: 4,
    Beside.fact: 10,
    Beside.end_fact: 3, Beside.link: 8, Beside.unlink: 3,
}  # fmt: skip


@pytest.mark.parametrize("vector", [False, True], ids=["words", "vectors"])
def test_what_both_shells_do_to_one_tenant_is_what_the_model_says(place: Place, vector: bool) -> None:
    seed = SEED or f"vectors: {vector}"
    print(f"PGMNEMO_MODEL_SEED={seed!r}")
    chance = random.Random(seed)
    with asyncio.Runner() as runner, ExitStack() as stack:
        given = {"embedder": toy if vector else None}
        memories = [Shell(kind, stack, runner).open(place.dsn(), **given) for kind in SHELLS]
        beside = Beside(chance, place, memories, vector)
        for beside.step in range(1, STEPS + 1):
            chance.choices([*VERBS], weights=[*VERBS.values()])[0](beside)
            if beside.step % BETWEEN_LOOKS == 0:
                beside.look()
            if beside.step % BETWEEN_MOVES == 0:
                beside.move()
