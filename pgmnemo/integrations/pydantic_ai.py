"""Pydantic AI: a toolset that recalls, remembers and forgets, and a history processor.

The history processor stores what user and model say, with the conversation as the topic, and puts what fits a
prompt before it as a quoted block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pgmnemo.client.arguments import check
from pgmnemo.client.blank import is_blank
from pgmnemo.client.records import Item
from pgmnemo.client.rendering import only_blocks
from pgmnemo.client.scope_calls import text_digest
from pgmnemo.errors import UsageError
from pgmnemo.integrations.documents import missing_package
from pgmnemo.integrations.scopes import (
    ScopeSource,
    answer,
    context_text,
    errors_as,
    exact_key,
    project_scope,
    recall_options,
    session_topic,
    spoken_text,
    verb_call,
)

try:
    from pydantic_ai import FunctionToolset, ModelRetry, RunContext
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import ModelMessage, ModelRequest, SystemPromptPart, UserPromptPart
except ModuleNotFoundError:
    raise missing_package("pydantic-ai-slim", "pydantic-ai") from None

NOTHING = "Nothing in memory fits this question."


def memory_toolset(
    scope: ScopeSource, *, max_tokens: int = 800, writes: bool = True, id: str = "pgmnemo", **asked: Any
) -> FunctionToolset[Any]:
    """Return the tools `recall_memory`, `remember` and `forget_memory` over a scope.

    scope: a scope of one project, or a function that returns the scope of the current user from the
        RunContext.
    writes: whether the model may remember and forget.
    asked: arguments of `context`, such as k, role, filter, since, min_fit and mode.

    A wrong argument raises ModelRetry, which asks the model to try again, any other error of the memory
    ToolFailed.
    """

    options = recall_options("context", asked, max_tokens=max_tokens)

    async def recall_memory(ctx: RunContext[Any], query: str) -> str:
        """Search what was said and noted in earlier conversations: quoted notes, each with its date and key.

        Args:
            query: What to look for, as a question or some words.
        """
        with errors_as(ModelRetry, ToolFailed):
            return await answer(project_scope(scope, ctx), context_text(query, options)) or NOTHING

    async def remember(ctx: RunContext[Any], text: str) -> str:
        """Keep a note for later conversations, such as a preference, a decision or a fact about the user.

        Args:
            text: The note, to be understood without the conversation.
        """
        with errors_as(ModelRetry, ToolFailed):
            return str((await answer(project_scope(scope, ctx), verb_call("add", text))).outcome)

    async def forget_memory(ctx: RunContext[Any], key: str) -> str:
        """Take one note out of memory.

        Args:
            key: The key that recall_memory showed.
        """
        with errors_as(ModelRetry, ToolFailed):
            gone = await answer(project_scope(scope, ctx), verb_call("forget", key))
        return "forgotten" if gone else "there is no note with this key"

    return FunctionToolset([recall_memory, *([remember, forget_memory] if writes else [])], id=id)


class MemoryHistory:
    """A history processor: `Agent(…, capabilities=[ProcessHistory(MemoryHistory(scope))])`.

    scope: as in `memory_toolset`.
    max_tokens: the most tokens of the recalled block.
    keep_turns: the number of last prompts that stay in the history, with what follows them; None: all.
    metadata, language: those of every lesson, as in `add`.
    asked: arguments of `context`.

    PgmnemoErrors end the run.
    """

    def __init__(
        self,
        scope: ScopeSource,
        *,
        max_tokens: int = 800,
        keep_turns: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        language: str | None = None,
        **asked: Any,
    ) -> None:
        check("metadata", metadata, Mapping[str, Any] | None)
        check("keep_turns", keep_turns, int | None)
        if keep_turns is not None and keep_turns < 1:
            raise UsageError(f"keep_turns is {keep_turns}, but must be 1 or more, or None for all")
        self._scope, self._keep = scope, keep_turns
        self._given: dict[str, Any] = {"metadata": metadata, "language": language}
        self._asked = recall_options("context", asked, max_tokens=max_tokens)

    async def __call__(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        """Store the messages, and return them with the lessons that fit the last prompt before it."""
        prompt = _prompt(messages[-1]) if messages else ""
        if not prompt:
            return messages  # after a call of a tool the block stands before the prompt already
        bare = [one for one in map(_without_block, messages) if one.parts]
        await self.store(ctx, bare[:-1])
        own = project_scope(self._scope, ctx)
        block = await answer(own, context_text(prompt, self._asked))
        await self.store(ctx, bare[-1:])
        kept = _last_turns(bare, self._keep)
        if block:
            kept[-1] = _with_block(cast(ModelRequest, kept[-1]), block)
        return kept

    async def store(self, ctx: RunContext[Any], messages: Sequence[ModelMessage]) -> None:
        """Store messages that are not stored yet, such as a run's last answer: `result.new_messages()`."""
        conversation = ctx.conversation_id or ""
        items = [item for message in messages for item in self._items(message, conversation)]
        if items:
            await answer(project_scope(self._scope, ctx), verb_call("add_many", items))

    def _items(self, message: ModelMessage, conversation: str) -> Iterator[Item]:
        text = _prompt(message) if isinstance(message, ModelRequest) else spoken_text(message.text or "")
        if not is_blank(text):
            role = "user" if isinstance(message, ModelRequest) else "assistant"
            at = message.timestamp
            digest = text_digest(exact_key(conversation, role, str(at), text))
            yield Item(text, digest[:24], role, session_topic(conversation), at=at, **self._given)


def _prompt(message: ModelMessage) -> str:
    """Return the words of the user's prompts in a message, without recalled blocks."""
    if not isinstance(message, ModelRequest):
        return ""
    contents = [part.content for part in message.parts if isinstance(part, UserPromptPart)]
    texts = [
        [one] if isinstance(one, str) else [part for part in one if isinstance(part, str)] for one in contents
    ]
    return spoken_text("\n".join(text for some in texts for text in some))


def _with_block(message: ModelRequest, block: str) -> ModelRequest:
    """Return a message with a block before its first prompt, because system prompts stay first."""
    parts: list[Any] = [*message.parts]
    first = next(number for number, part in enumerate(parts) if isinstance(part, UserPromptPart))
    return replace(message, parts=[*parts[:first], UserPromptPart(block), *parts[first:]])


def _without_block(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    return replace(message, parts=[part for part in message.parts if not _is_block(part)])


def _is_block(part: Any) -> bool:
    return isinstance(part, UserPromptPart) and isinstance(part.content, str) and only_blocks(part.content)


def _last_turns(messages: list[ModelMessage], most: int | None) -> list[ModelMessage]:
    """Return the messages from the last `most` prompts on, with the system prompts of all messages."""
    begins = [number for number, message in enumerate(messages) if _prompt(message)]
    if most is None or len(begins) <= most:
        return [*messages]
    first = begins[-most]
    system = [part for one in messages[:first] for part in one.parts if isinstance(part, SystemPromptPart)]
    begin = cast(ModelRequest, messages[first])
    return [replace(begin, parts=[*system, *begin.parts]), *messages[first + 1 :]]
