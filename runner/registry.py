"""An ordered mapping from name to thing whose error message lists its names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from runner.errors import UsageError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """One registry for each kind of part: suites, embedders, metrics, systems, gates."""

    def __init__(self, kind: str, members: Mapping[str, T]) -> None:
        self.kind = kind
        self._members = dict(members)

    def __getitem__(self, name: str) -> T:
        try:
            return self._members[name]
        except KeyError:
            known = ", ".join(self._members)
            raise UsageError(f"there is no {self.kind} named {name!r}; choose one of: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members
