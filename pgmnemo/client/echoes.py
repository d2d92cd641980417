"""Texts that a memory handed out as context, so that `add` knows a text that only repeats a lesson."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from uuid import UUID

from pgmnemo.client import scope_calls
from pgmnemo.client.records import Hit, Lesson

ECHOES = 10_000  # texts of all tenants


class Echoes:
    """The texts handed out to each tenant, at most `most` in all.

    Above this limit, the tenant with the most texts loses the older half of them.
    """

    def __init__(self, most: int = ECHOES) -> None:
        self._most, self._lock = most, Lock()
        self._texts: dict[UUID, dict[str, tuple[UUID, str, str]]] = {}

    def keep(self, tenant: UUID, hits: Iterable[Hit]) -> None:
        """Remember the texts and passages of hits, each with its lesson."""
        with self._lock:
            texts = self._texts.setdefault(tenant, {})
            for hit in hits:
                for text in filter(None, (hit.text, hit.passage)):
                    texts.pop(_digest(text), None)
                    texts[_digest(text)] = hit.project, hit.key, _digest(hit.text)
            while sum(map(len, self._texts.values())) > self._most:
                self._shorten()

    def lesson_of(self, tenant: UUID, project: UUID | None, text: str) -> str | None:
        """Return the key of the project's lesson from which a handed-out text came; None for any
        other text.
        """
        found = self._texts.get(tenant, {}).get(_digest(text))
        return found[1] if found and found[0] == project else None

    def repeats(self, tenant: UUID, text: str, lesson: Lesson | None) -> bool:
        """Return whether a handed-out text is still part of its lesson.

        It is not if the lesson is missing, is not current, or has changed.
        """
        found = self._texts.get(tenant, {}).get(_digest(text))
        if found is None or lesson is None or not lesson.is_current():
            return False
        return _digest(lesson.text) == found[2] and _normalized(text) in _normalized(lesson.text)

    def _shorten(self) -> None:
        tenant = max(self._texts, key=lambda one: len(self._texts[one]))
        texts = self._texts[tenant]
        for text in list(texts)[: (len(texts) + 1) // 2]:
            del texts[text]
        if not texts:
            del self._texts[tenant]


def _normalized(text: str) -> str:
    return " ".join(text.split())


def _digest(text: str) -> str:
    """Return a digest of a text that ignores differences in blanks."""
    return scope_calls.text_digest(_normalized(text))
