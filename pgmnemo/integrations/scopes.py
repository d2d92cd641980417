"""Users, agents and sessions of a framework as tenants, projects and topics.

The table is in docs/integrations/index.md. A memory takes a name in Unicode's composed form and without
blanks around it; `exact_name` keeps names apart that differ only in this, as frameworks do.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from operator import methodcaller
from typing import Any

from pgmnemo.client.aio.memory import AsyncMemory
from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.client.arguments import check
from pgmnemo.client.naming import LONGEST, nfc
from pgmnemo.client.records import Context, Hit
from pgmnemo.client.rendering import without_blocks
from pgmnemo.client.staging import LONGEST_KEY
from pgmnemo.client.sync.memory import Memory
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.integrations.sync_async import Answer, Work, arun, run

AnyScope = Scope | AsyncScope
ScopeSource = AnyScope | Callable[[Any], AnyScope]
"""A scope, or a function that returns the scope of the current user from a framework's run context."""
LONGEST_QUESTION = 20_000  # characters of a question that a framework passes on


def user_scope(memory: Memory | AsyncMemory, user: str, agent: str) -> AnyScope:
    """Return the scope of a user's memory with an agent: the user's tenant, and the agent's project in it."""
    if not isinstance(memory, Memory | AsyncMemory):
        raise UsageError(f"the memory is a Memory or an AsyncMemory, not {type(memory).__name__}")
    return memory.tenant(exact_name(user)).project(exact_name(agent))


def session_topic(session: str) -> str:
    """Return the topic of a session's lessons: its id, as `exact_name` writes it."""
    return exact_name(session)


def exact_name(text: str) -> str:
    """Return a name that is unique to a text: the text itself if a memory keeps it unchanged.

    Any other text is quoted as JSON in ASCII, or replaced by its hash if that is too long.
    """
    if not isinstance(text, str):
        raise UsageError(f"a user, an agent and a session are named by a text, not {type(text).__name__}")
    if text == nfc(text).strip() and 1 <= len(text) <= LONGEST and text[0] != '"' and _is_stored(text):
        return text
    quoted = json.dumps(text)
    return quoted if len(quoted) <= LONGEST else f'"sha256 {sha256(quoted.encode()).hexdigest()}'


def exact_key(*names: str) -> str:
    """Return a key that is unique to some names: their JSON in ASCII, or its hash if that is too long."""
    quoted = json.dumps(names)
    return quoted if len(quoted) <= LONGEST_KEY else f"sha256 {sha256(quoted.encode()).hexdigest()}"


def project_scope(scope: ScopeSource, context: Any = None) -> AnyScope:
    """Return the scope of a run; raise UsageError unless it is a scope of one project."""
    found = scope if isinstance(scope, Scope | AsyncScope) or not callable(scope) else scope(context)
    if not isinstance(found, Scope | AsyncScope):
        raise UsageError(
            "the scope is one of a memory, as memory.tenant('ada').project('chat'), not "
            f"{type(found).__name__}"
        )
    found._require_project()
    return found


def recall_options(verb: str, asked: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
    """Return the arguments of `recall` or `context` for every question.

    Raise UsageError for an unknown name.
    """
    check("the arguments of recall", asked, Mapping[str, Any] | None)
    known = inspect.signature(getattr(AsyncScope, verb)).parameters.keys() - {"self", "query"}
    if unknown := sorted(map(str, (asked or {}).keys() - known)):
        raise UsageError(f"{verb} takes no {', '.join(unknown)}; it takes {', '.join(sorted(known))}")
    return {**more, **(asked or {})}


def verb_call(verb: str, *given: Any, **named: Any) -> Work[Any]:
    """Return the answer of one verb."""
    return (yield methodcaller(verb, *given, **named))


async def answer(scope: AnyScope, work: Work[Answer]) -> Answer:
    """Return the result of work over a scope without blocking the event loop."""
    if isinstance(scope, AsyncScope):
        return await arun(scope, work)
    return await asyncio.to_thread(run, scope, work)


def recalled(query: str, asked: Mapping[str, Any]) -> Work[list[Hit]]:
    """Return the hits that share words or meaning with a question, best first."""
    hits: list[Hit] = yield methodcaller("recall", _question(query), **asked)
    return [hit for hit in hits if hit.relevance() > 0]


def context_text(query: str, asked: Mapping[str, Any]) -> Work[str]:
    """Return the lessons that fit a question as a quoted block; empty if no lesson fits."""
    found: Context = yield methodcaller("context", _question(query), **asked)
    return found.text


def spoken_text(text: str) -> str:
    """Return the part of a text to store: no recalled blocks, no characters that a database refuses."""
    return without_blocks(_storable(text)).strip()


@contextmanager
def errors_as(usage: type[Exception], other: type[Exception] | None = None) -> Iterator[None]:
    """Convert a UsageError in the block into `usage`, and any other PgmnemoError into `other` if given."""
    try:
        yield
    except UsageError as error:
        raise usage(str(error)) from error
    except PgmnemoError as error:
        if other is None:
            raise
        raise other(str(error)) from error


def _question(query: str) -> str:
    if not isinstance(query, str):
        raise UsageError(f"query is a text, not {type(query).__name__}")
    return _storable(query)[:LONGEST_QUESTION]


def _storable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _is_stored(text: str) -> bool:
    return text == _storable(text)
