"""A memory in plain Python: what each verb answers, and what is kept afterwards. One project of a tenant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

DAYS = [datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=30 * n) for n in range(10)]
KEYS = [f"k{n}" for n in range(12)]
MISSING, IN_THE_WAY, WRONG = "P0002", "55000", "22023"


@dataclass(frozen=True)
class Kept:
    content: str
    occurred_at: datetime | None = None
    role: str | None = None
    topic: str | None = None
    importance: int = 3
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None
    commit_sha: str | None = None
    verified_at: datetime | None = None
    position: int | None = None
    embedded: bool = False
    active: bool = True
    ended: tuple[datetime, str | None] | None = None  # from when on it does not hold, and what does
    reason: str | None = None

    def holds(self, moment: datetime) -> bool:
        return (
            self.active and (self.ended is None or moment < self.ended[0])
            and (self.expires_at is None or moment < self.expires_at)
        )  # fmt: skip


class Refused(Exception):
    """The model refuses what the extension must refuse, with this SQLSTATE."""


def cleared(one: Kept, names: Collection[str]) -> Kept:
    nothing = {"importance": 3, "metadata": {}}
    return replace(one, **{name: nothing.get(name) for name in names})


class Model:
    """Each method returns what the verb of its name answers."""

    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}

    def store(
        self, key: str, content: str, vector: bool, given: Mapping[str, Any], clear: Collection[str] = ()
    ) -> str:
        was = self.kept.get(key)
        if was is None:
            self.kept[key] = Kept(content, embedded=vector, **given)
            return "inserted"
        same_text = was.content == content
        embedded = vector or (was.embedded and same_text)
        now = replace(cleared(was, clear), content=content, active=True, embedded=embedded, **given)
        if now == was and not vector:
            return "unchanged"
        revived = was.ended is not None and not same_text
        self.kept[key] = replace(now, ended=None, reason=None) if revived else now
        if was.embedded and not embedded:
            return "unembedded"
        if now == was:
            return "unchanged"
        return "updated" if was.active and not revived else "restored"

    def append(self, content: str, vector: bool, given: Mapping[str, Any]) -> str:
        place = max([0, *(one.position for one in self.kept.values() if one.position is not None)]) + 1
        number = place
        while f"turn/{number}" in self.kept:
            number += 1
        self.kept[f"turn/{number}"] = Kept(content, embedded=vector, position=place, **given)
        return f"turn/{number}"

    def update(self, key: str, given: Mapping[str, Any], clear: Collection[str]) -> str:
        was = self._known(key)
        self.kept[key] = replace(cleared(was, clear), **given)
        return "unchanged" if self.kept[key] == was else "updated"

    def supersede(self, old: str, new: str | None, at: datetime, reason: str | None = None) -> str:
        was = self._known(old)
        if new is not None:
            self._known(new)
        if not was.active or (new is not None and not self.kept[new].active):
            raise Refused(IN_THE_WAY)
        if was.ended is not None and was.ended[1] != new:
            raise Refused(IN_THE_WAY)
        if was.ended == (at, new) and reason in (None, was.reason):
            return "unchanged"
        self._end(old, new, at, reason or (was.reason if was.ended else None))
        return "corrected" if was.ended else "superseded"

    def _end(self, old: str, new: str | None, at: datetime, reason: str | None) -> None:
        if old in self.after(new):
            raise Refused(WRONG)
        self.kept[old] = replace(self.kept[old], ended=(at, new), reason=reason)

    def after(self, key: str | None) -> list[str]:
        """A lesson and those that took its place, one after the other."""
        found = []
        while key is not None:
            found.append(key)
            ended = self.kept[key].ended
            key = ended[1] if ended else None
        return found

    def undo(self, old: str) -> bool:
        was = self._known(old)
        self.kept[old] = replace(was, ended=None, reason=None)
        return was.ended is not None

    def forget(self, key: str, hard: bool, revive: bool) -> bool:
        was = self.kept.get(key)
        if was is None:
            return False
        self._forget([key], hard, revive)
        return hard or was.active

    def forget_matching(self, lang: str) -> int:
        return self.forget_where(lambda one: one.metadata.get("lang") == lang)

    def forget_where(
        self, matches: Callable[[Kept], bool], hard: bool = False, dry_run: bool = False, revive: bool = False
    ) -> int:
        found = [key for key, one in self.kept.items() if (hard or one.active) and matches(one)]
        if not dry_run:
            self._forget(found, hard, revive)
        return len(found)

    def _forget(self, keys: Collection[str], hard: bool, revive: bool) -> None:
        before = {name: one for name, one in self.kept.items() if one.ended and one.ended[1] in keys}
        bereft = {name for name, one in before.items() if name not in keys and self._without_heir(one, keys)}
        for name, one in before.items():
            if revive and name in bereft:
                self.kept[name] = replace(one, ended=None, reason=None)
            elif hard and one.ended:
                self.kept[name] = replace(one, ended=(one.ended[0], None))
        for key in keys:
            if hard:
                del self.kept[key]
            else:
                self.kept[key] = replace(self.kept[key], active=False)

    def _without_heir(self, one: Kept, keys: Collection[str]) -> bool:
        """Whether all that took its place, one after the other, are forgotten, and none ended without one."""
        followers = self.after(one.ended[1] if one.ended else None)
        ended = self.kept[followers[-1]].ended
        return ended is None and all(name in keys or not self.kept[name].active for name in followers)

    def _known(self, key: str) -> Kept:
        if key not in self.kept:
            raise Refused(MISSING)
        return self.kept[key]
