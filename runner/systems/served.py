"""What systems share that answer through clients, and that are at home on a PostgreSQL server."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Generic, TypeVar

from runner.systems.memory import of_server
from runner.systems.system import Client, Match, Query, System

if TYPE_CHECKING:
    from runner.database.handle import Connectable

C = TypeVar("C", bound=Client)


class Served(System, Generic[C]):
    """A system with a client of its own, opened with the first question; `stack` holds what it closes."""

    def __init__(self, stack: ExitStack | None = None) -> None:
        self._stack = stack or ExitStack()
        self._asking: C | None = None

    @abstractmethod
    def client(self, settings: Mapping[str, str] | None = None) -> C:
        """One more client."""

    @property
    def own(self) -> C:
        """Its own client."""
        if self._asking is None:
            self._asking = self.client()
            self._stack.callback(self._asking.close)
        return self._asking

    def ask(self, query: Query, k: int) -> Sequence[Match]:
        return self.own.ask(query, k)

    def close(self) -> None:
        self._stack.close()


class OnServer(Served[C]):
    """One whose data lie in a database."""

    database: Connectable

    def memory(self) -> int | None:
        with self.database.admin() as owner:
            return of_server(owner.info.backend_pid)
