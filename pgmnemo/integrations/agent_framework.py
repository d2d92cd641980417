"""Microsoft Agent Framework: a context provider, which stores what is said and recalls what fits.

Before a run it adds the lessons that fit the user's messages as a quoted block; after the run it stores the
messages of user and assistant with the session as their topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import methodcaller
from typing import Any

from pgmnemo.client.arguments import check
from pgmnemo.client.blank import is_blank
from pgmnemo.integrations.documents import missing_package
from pgmnemo.integrations.scopes import (
    ScopeSource,
    answer,
    context_text,
    errors_as,
    project_scope,
    recall_options,
    session_topic,
    spoken_text,
)
from pgmnemo.integrations.sync_async import Work

try:
    from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun
    from agent_framework.exceptions import IntegrationException, IntegrationInvalidRequestException
except ModuleNotFoundError:
    raise missing_package("agent-framework-core", "agent-framework") from None

SPEAKERS = ("user", "assistant")


class PgmnemoContextProvider(ContextProvider):
    """A context provider for `Agent(…, context_providers=[…])`, over a scope that the caller closes.

    scope: a scope of one project, or a function that returns the scope of the current user from the
        AgentSession.
    source_id: the name under which the framework attributes the recalled messages.
    max_tokens: the most tokens of the recalled block.
    stores: whether messages are stored after a run.
    metadata, language: those of every lesson, as in `add`.
    asked: arguments of `context`, such as k, role, filter, since, min_fit and mode.

    The methods raise IntegrationException for an error of the memory, and IntegrationInvalidRequestException
    for a wrong argument.
    """

    def __init__(
        self,
        scope: ScopeSource,
        *,
        source_id: str = "pgmnemo",
        max_tokens: int = 800,
        stores: bool = True,
        metadata: Mapping[str, Any] | None = None,
        language: str | None = None,
        **asked: Any,
    ) -> None:
        super().__init__(source_id)
        with errors_as(IntegrationInvalidRequestException, IntegrationException):
            check("metadata", metadata, Mapping[str, Any] | None)
            project_scope(scope) if not callable(scope) else None
            self._asked = recall_options("context", asked, max_tokens=max_tokens)
        self._scope, self._stores = scope, stores
        self._given = {"metadata": metadata, "language": language}

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the lessons that fit the user's messages as a message; add nothing if no lesson fits."""
        asked = [message for message in context.input_messages if message.role == "user"]
        question = "\n".join(message.text for message in asked or context.input_messages)
        with errors_as(IntegrationInvalidRequestException, IntegrationException):
            own = project_scope(self._scope, session)
            block = await answer(own, context_text(question, self._asked))
        if block:
            context.extend_messages(self, [Message("user", [block])])

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Store the messages of user and assistant, in their order, after the project's last turn."""
        said = [*context.input_messages, *(context.response.messages if context.response else ())]
        turns = [
            (text, str(message.role))
            for message in said
            if message.role in SPEAKERS and not is_blank(text := spoken_text(message.text))
        ]
        if turns and self._stores:
            with errors_as(IntegrationInvalidRequestException, IntegrationException):
                own = project_scope(self._scope, session)
                await answer(own, _store(turns, topic=session_topic(session.session_id), **self._given))


def _store(turns: list[tuple[str, str]], **given: Any) -> Work[None]:
    for text, role in turns:
        yield methodcaller("add", text, role=role, **given)
