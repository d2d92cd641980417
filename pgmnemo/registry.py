"""Registries of parts by name: from a table, or from the files of a package.

Suites, embedders, systems and texts are in tables; gates and metrics are read from files. Listing the names
of a table loads none of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules, resolve_name
from typing import Any, Generic, TypeVar, cast

from pgmnemo.errors import UsageError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """An ordered mapping from name to part; its error for an unknown name lists the known names."""

    def __init__(self, kind: str, members: Mapping[str, T]) -> None:
        self.kind = kind
        self._members: dict[str, Any] = dict(members)

    def __getitem__(self, name: str) -> T:
        try:
            return cast(T, self._members[name])
        except KeyError:
            known = ", ".join(self)
            raise UsageError(f"there is no {self.kind} named {name!r}; choose one of: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members


class Parts(Registry[T]):
    """A registry of parts as `module:attribute`; each part is imported at its first use.

    `group` names entry points of other packages, which add parts. A name with two entry points, or equal to a
    built-in name, is ambiguous: its use raises UsageError.
    """

    def __init__(self, kind: str, places: Mapping[str, str], group: str = "") -> None:
        super().__init__(kind, {})
        self._members = dict(places)
        self._twice: dict[str, str] = {}  # sentences by name
        for entry in entry_points(group=group) if group else ():
            if self._members.setdefault(entry.name, entry) is not entry:
                taken = "a built-in name" if entry.name in places else "a name that another package brings"
                self._twice[entry.name] = (
                    f"{_package(entry)} brings a {kind} named {entry.name}, which is {taken}; "
                    f"rename it there, or remove the package"
                )

    def __getitem__(self, name: str) -> T:
        if name in self._twice:
            raise UsageError(self._twice[name])
        member = super().__getitem__(name)
        if isinstance(member, str):
            self._members[name] = resolve_name(member)
        elif isinstance(member, EntryPoint):
            try:
                self._members[name] = member.load()
            except Exception as error:  # any error in another package's import
                raise UsageError(
                    f"the {self.kind} {name} cannot be loaded from {member.value} ({type(error).__name__}: "
                    f"{error}); mend the package that brings it, or remove it"
                ) from error
        return super().__getitem__(name)


def _package(entry: EntryPoint) -> str:
    """Return `the package NAME` for an entry point; the name of its module if the package is unknown."""
    return f"the package {entry.dist.name if entry.dist else entry.module}"


def members(package: str, attribute: str) -> Iterator[Any]:
    """Yield each member of the tuple `attribute` of every module of a package that has one, by file name."""
    for module in iter_modules(import_module(package).__path__):
        yield from getattr(import_module(f"{package}.{module.name}"), attribute, ())
