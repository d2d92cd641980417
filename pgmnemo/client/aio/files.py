"""The lessons of a project as files: the key is the path, the lesson's text is the file's text.

A folder exists if it contains files. A file is changed only if its text is still the text that the writer has
read, and a move of several files is atomic; other writers of the same lessons wait meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pgmnemo import calls
from pgmnemo.client import scope_calls, staging
from pgmnemo.client.aio.executor import Ask
from pgmnemo.client.records import Item, Lesson

if TYPE_CHECKING:
    from pgmnemo.client.aio.scope import AsyncScope

SIZE = ("external_id", "pg_catalog.octet_length(content)", "nullif(metadata, '{}')", "id")
PAGE = 10_000
EMPTY = "(empty file)"  # no lesson is empty, so this text marks the lesson of a blank file,
BLANK = "blank"  # and this key of its metadata holds the file's text
StorableFile = tuple[Item, Any, staging.LessonVectors]


class AsyncFiles:
    """The files under `root`, such as "/memories", in a scope that has a project.

    A path begins with the root and a slash. Forgotten, superseded and expired lessons are not files.
    """

    def __init__(self, scope: AsyncScope, root: str) -> None:
        self._scope, self._project, self._under = scope, scope._require_project(), f"{root}/"

    async def sizes(self) -> dict[str, int]:
        """Return the size of each file in bytes, by its path."""
        return await self._sizes(self._scope._call)

    async def read(self, path: str) -> str | None:
        """Return the text of a file, or None if there is no file."""
        return _text(await self._scope.get(path)) if path.startswith(self._under) else None

    async def write(self, path: str, text: str, was: str | None = None) -> bool:
        """Write a file if its text is still `was`, or a new file at a free path; else return False.

        Raise UsageError for a text with NUL, a text too long for a lesson, or a path of more than 1,000
        bytes.
        """
        [made] = await self._with_vectors([Item(text, path)])

        async def work(ask: Ask) -> bool:
            held = await ask(scope_calls.get(self._scope.tenant_id, self._project, path))
            if _text(held) != was or (was is None and not is_free(path, await self._sizes(ask))):
                return False
            await self._store(ask, made, held)
            return True

        with self._scope._span("upsert_memory", path):
            return bool(await self._locked(work))

    async def move(self, old: str, new: str) -> bool:
        """Give a file, or every file of a folder, a new path; return False and change nothing if the path is
        taken or another session changes the files meanwhile.

        Role, metadata and times are kept, links are not.
        """
        paths = [path for path in await self.sizes() if is_in(path, old)]
        lessons = [lesson for path in paths if (lesson := await self._scope.get(path)) is not None]
        made = await self._with_vectors(
            [_copy_to(lesson, new + lesson.key[len(old) :]) for lesson in lessons]
        )

        async def work(ask: Ask) -> bool:
            tenant, there = self._scope.tenant_id, await self._sizes(ask)
            held = [await ask(scope_calls.get(tenant, self._project, lesson.key)) for lesson in lessons]
            if held != lessons or not lessons or not is_free(new, there):
                return False
            for lesson in lessons:
                await ask(calls.forget(tenant, self._project, lesson.key, hard=True))
            for one in made:
                await self._store(
                    ask, one, await ask(scope_calls.get(tenant, self._project, str(one[0].key)))
                )
            return True

        with self._scope._span("update_memory", old):
            return bool(await self._locked(work))

    async def remove(self, path: str) -> int:
        """Delete a file, or all files of a folder, permanently; return the number of deleted files."""

        async def work(ask: Ask) -> int:
            paths = [one for one in await self._sizes(ask) if is_in(one, path)]
            for one in paths:
                await ask(calls.forget(self._scope.tenant_id, self._project, one, hard=True))
            return len(paths)

        with self._scope._span("delete_memory", path):
            return int(await self._locked(work))

    async def _sizes(self, ask: Ask) -> dict[str, int]:
        found: dict[str, int] = {}
        after: int | None = None
        while True:
            page = await ask(
                calls.list_page(self._scope.tenant_id, self._project, after=after, most=PAGE, columns=SIZE)
            )
            for key, size, metadata, _ in page:
                if key.startswith(self._under):
                    blank = (metadata or {}).get(BLANK) if size == len(EMPTY) else None
                    found[key] = size if blank is None else len(blank.encode())
            if len(page) < PAGE:
                return found
            after = page[-1][-1]

    async def _with_vectors(self, files: Iterable[Item]) -> list[StorableFile]:
        """Return files with their vectors, which are computed before the lock is taken."""
        items = [_with_blank_marked(item) for item in files]
        for item in items:
            staging.checked_key(str(item.key))
        embedded = await self._scope._with_vectors(items)
        return [(item, *vectors) for item, vectors in zip(items, embedded, strict=True)]

    async def _store(self, ask: Ask, made: StorableFile, held: Lesson | None) -> None:
        """Store a file in place of the lesson `held`; first delete a `held` lesson that is not a file."""
        tenant, scope = self._scope.tenant_id, self._scope
        item, whole, vectors = made
        given = {
            **scope_calls.lesson_fields(item, item.at),
            **staging.vector_arguments(whole, vectors, scope._vector_oid, scope._width),
        }
        if held is not None and _text(held) is None:
            await ask(calls.forget(tenant, self._project, held.key, hard=True))
        elif held is not None:
            kept = {name: value for name, value in held.metadata.items() if name != BLANK}
            given["metadata"] = scope_calls.json_document({**kept, **(item.metadata or {})}, "metadata")
        added = await ask(scope_calls.store(tenant, self._project, str(item.key), whole.text, **given))
        if (held is None or _text(held) is None) and added.outcome != "inserted":
            raise _KeyConflict

    async def _locked(self, work: Callable[[Ask], Any]) -> Any:
        """Return the result of `work` as `AsyncScope._locked` does, False if another writer took a key."""
        try:
            return await self._scope._locked(work)
        except _KeyConflict:
            return False


class _KeyConflict(Exception):
    """Raised if another writer has just stored a lesson with the same key."""


def is_in(path: str, folder: str) -> bool:
    """Return whether a path is the folder itself or inside it."""
    return path == folder or path.startswith(f"{folder}/")


def is_free(path: str, files: Mapping[str, int]) -> bool:
    """Return whether a path is free: it is no file and no folder, and none of its parents is a file."""
    return not any(is_in(one, path) or is_in(path, one) for one in files)


def _text(lesson: Lesson | None) -> str | None:
    """Return the text of the file in a lesson; None if the lesson is missing or not current."""
    if lesson is None or not lesson.is_current():
        return None
    return str(lesson.metadata.get(BLANK, EMPTY)) if lesson.text == EMPTY else lesson.text


def _with_blank_marked(item: Item) -> Item:
    """Return a file as an item; a blank file gets the text EMPTY, and its own text in the metadata."""
    if str(item.text).strip():
        return item
    return Item(EMPTY, item.key, metadata={BLANK: item.text})


def _copy_to(lesson: Lesson, path: str) -> Item:
    return Item(
        lesson.text, path, lesson.role, lesson.topic, lesson.importance, lesson.metadata, lesson.at,
        lesson.expires_at, lesson.commit_sha, lesson.artifact_hash, lesson.verified_at, lesson.position,
        language=lesson.language,
    )  # fmt: skip
