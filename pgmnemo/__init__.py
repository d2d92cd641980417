"""Agent memory in PostgreSQL.

    from pgmnemo import Memory
    with Memory.open("./memory") as memory:
        me = memory.tenant("ada").project("kitchen")
        me.add("I moved to Lisbon in May.", role="user")
        hits = me.recall("Where do I live?", k=3)

`Memory` and `AsyncMemory` have the same verbs. Below them `postgres` finds, starts and prepares a PostgreSQL
with the extension, `embedders` and `models` turn texts into vectors, `passages` cuts texts, and `calls`
defines each verb of the extension once. This package imports neither the runner nor the shards. Importing it
is cheap: the module of a name is imported at the first use of the name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgmnemo.client.aio.memory import AsyncMemory as AsyncMemory
    from pgmnemo.client.aio.scope import AsyncScope as AsyncScope
    from pgmnemo.client.records import AddResult as AddResult
    from pgmnemo.client.records import BatchResult as BatchResult
    from pgmnemo.client.records import Context as Context
    from pgmnemo.client.records import Count as Count
    from pgmnemo.client.records import Duplicate as Duplicate
    from pgmnemo.client.records import Fact as Fact
    from pgmnemo.client.records import FactResult as FactResult
    from pgmnemo.client.records import Feedback as Feedback
    from pgmnemo.client.records import Hit as Hit
    from pgmnemo.client.records import Item as Item
    from pgmnemo.client.records import Lesson as Lesson
    from pgmnemo.client.records import Reason as Reason
    from pgmnemo.client.records import SimilarLesson as SimilarLesson
    from pgmnemo.client.records import Stats as Stats
    from pgmnemo.client.records import Step as Step
    from pgmnemo.client.records import Turn as Turn
    from pgmnemo.client.sync.memory import Memory as Memory
    from pgmnemo.client.sync.scope import Scope as Scope
    from pgmnemo.errors import ConflictError as ConflictError
    from pgmnemo.errors import DatabaseError as DatabaseError
    from pgmnemo.errors import EmbedderError as EmbedderError
    from pgmnemo.errors import GrantError as GrantError
    from pgmnemo.errors import HiddenError as HiddenError
    from pgmnemo.errors import LostError as LostError
    from pgmnemo.errors import MissingError as MissingError
    from pgmnemo.errors import PgmnemoError as PgmnemoError
    from pgmnemo.errors import RefusedError as RefusedError
    from pgmnemo.errors import UsageError as UsageError

_RECORDS = (
    "AddResult", "BatchResult", "Context", "Count", "Duplicate", "Fact", "FactResult", "Feedback", "Hit",
    "Item", "Lesson", "Reason", "SimilarLesson", "Stats", "Step", "Turn",
)  # fmt: skip
_ERRORS = (
    "ConflictError", "DatabaseError", "EmbedderError", "GrantError", "HiddenError", "LostError",
    "MissingError", "PgmnemoError", "RefusedError", "UsageError",
)  # fmt: skip
_PLACES = {
    "Memory": "client.sync.memory", "Scope": "client.sync.scope", "AsyncMemory": "client.aio.memory",
    "AsyncScope": "client.aio.scope",
    **dict.fromkeys(_ERRORS, "errors"),
    **dict.fromkeys(_RECORDS, "client.records"),
}  # fmt: skip
__all__ = tuple(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
