"""OpenAI Agents SDK: a session whose items are lessons, and a tool that recalls from every session.

The items of a session are lessons with the session's topic. A message of a user or an assistant is found by
recall; any other item is a forgotten lesson, which only the session reads. The item itself is JSON in the
metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import methodcaller
from typing import Any
from uuid import uuid4

from pgmnemo.client import scope_calls
from pgmnemo.client.arguments import check
from pgmnemo.client.records import Item, Lesson
from pgmnemo.errors import UsageError
from pgmnemo.integrations.documents import missing_package
from pgmnemo.integrations.openai_items import ITEM, SILENT, is_item, item_of, lesson_of
from pgmnemo.integrations.scopes import (
    AnyScope,
    ScopeSource,
    answer,
    context_text,
    errors_as,
    project_scope,
    recall_options,
    session_topic,
    verb_call,
)
from pgmnemo.integrations.sync_async import Work

try:
    from agents import (
        FunctionTool,
        RunContextWrapper,
        SessionSettings,
        TResponseInputItem,
        default_tool_error_function,
        function_tool,
    )
    from agents.exceptions import UserError
    from agents.memory.session_settings import resolve_session_limit
except ModuleNotFoundError:
    raise missing_package("openai-agents", "openai-agents") from None

NOTHING = "Nothing in memory fits this question."


class SessionError(UsageError, UserError):
    """An error: a session cannot be made, or cannot store an item."""


class PgmnemoSession:
    """A session of the SDK, for `Runner.run(agent, …, session=…)`, over a scope that the caller closes.

    session_id: the conversation; it becomes the topic of the lessons.
    scope: the scope of the user's project, of `Memory` or of `AsyncMemory`.
    session_settings: `limit` is the default number of items of `get_items`.
    metadata, language: those of every lesson, as in `add`.

    The methods raise SessionError, a UserError of the SDK, for an item that cannot be stored, and other
    PgmnemoErrors as the scope's verbs do.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        scope: AnyScope,
        *,
        session_settings: SessionSettings | None = None,
        metadata: Mapping[str, Any] | None = None,
        language: str | None = None,
    ) -> None:
        with errors_as(SessionError):
            self._scope, self._topic = project_scope(scope), session_topic(session_id)
            check("metadata", metadata, Mapping[str, Any] | None)
        self.session_id, self.session_settings = session_id, session_settings or SessionSettings()
        self._metadata, self._language = dict(metadata or {}), language

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest `limit` items in the order in which they were added; all by default."""
        limit = resolve_session_limit(limit, self.session_settings)
        with errors_as(SessionError):
            check("limit", limit, int | None)
        if limit == 0:
            return []
        most = None if limit is None or limit < 0 else limit  # below 0 all, as in SQLiteSession
        lessons = await answer(self._scope, self._newest(most))
        return [item_of(lesson) for lesson in reversed(lessons)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items after those of the session, all or none."""
        if not isinstance(items, Sequence) or isinstance(items, str | bytes):
            raise SessionError(f"items is a list of items, not {type(items).__name__}")
        mark = uuid4().hex[:16]  # short, because the keys are shown with a recall
        given: dict[str, Any] = {
            "topic": self._topic, "metadata": self._metadata, "language": self._language,
        }  # fmt: skip
        with errors_as(SessionError):
            lessons = [
                lesson_of(item, f"{mark}-{number}", mark, **given) for number, item in enumerate(items)
            ]
        if lessons:
            await answer(self._scope, _store(self._topic, lessons, mark))

    async def pop_item(self) -> TResponseInputItem | None:
        """Delete the newest item permanently and return it; None if the session is empty."""
        lesson = await answer(self._scope, self._pop())
        return None if lesson is None else item_of(lesson)

    async def clear_session(self) -> None:
        """Delete all items of the session permanently."""
        filter = {"topic": self._topic, "metadata": {ITEM: {"exists": True}}}
        await answer(self._scope, verb_call("forget", filter=filter, permanent=True))

    def _newest(self, most: int | None) -> Work[list[Lesson]]:
        """Return the newest items, the last first; all if `most` is None."""
        filter = scope_calls.filter_document({"topic": self._topic})
        place, size = (self._scope.tenant_id, self._scope.project_id), scope_calls.PAGE_SIZE
        size = size if most is None else min(most, size)
        found: list[Lesson] = []
        after: int | None = None
        while most is None or len(found) < most:
            page = scope_calls.list_page(*place, after, size, filter=filter, newest=True, everything=True)
            lessons: list[Lesson] = yield methodcaller("_call", page)
            found += [lesson for lesson in lessons if is_item(lesson)]
            if not lessons:
                break
            after = lessons[-1].id
        return found[:most]

    def _pop(self) -> Work[Lesson | None]:
        while newest := (yield from self._newest(1)):
            if (yield methodcaller("forget", newest[0].key, permanent=True)):
                return newest[0]
        return None


def recall_tool(
    scope: ScopeSource,
    *,
    name: str = "recall_memory",
    description: str = "Search what was said and noted in earlier conversations with this user.",
    max_tokens: int = 800,
    **asked: Any,
) -> FunctionTool:
    """Return a tool that recalls the lessons that fit a question, as quoted data.

    scope: a scope, or a function that returns the scope of the current user from the RunContextWrapper.
    asked: arguments of `context`, such as k, role, filter, since, min_fit and mode.

    A wrong argument is the tool's answer to the model, as any other error is in the SDK's own words.
    """

    with errors_as(SessionError):
        options = recall_options("context", asked, max_tokens=max_tokens)

    async def recall(context: RunContextWrapper[Any], query: str) -> str:
        return await answer(project_scope(scope, context), context_text(query, options)) or NOTHING

    return function_tool(
        recall, name_override=name, description_override=description, failure_error_function=_failure
    )


def _failure(context: RunContextWrapper[Any], error: Exception) -> str:
    return str(error) if isinstance(error, UsageError) else default_tool_error_function(context, error)


def _store(topic: str, lessons: Sequence[Item], mark: str) -> Work[None]:
    yield methodcaller("add_many", lessons, batch=len(lessons))
    if any(SILENT in (lesson.metadata or {}) for lesson in lessons):
        yield methodcaller("forget", filter={"topic": topic, "metadata": {SILENT: mark}})
