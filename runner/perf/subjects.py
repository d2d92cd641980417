"""What is measured: systems by the names of their registry, each with passages or without."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from runner.errors import UsageError
from runner.naming import Name
from runner.systems import Kind, Place, System, absent, kind_of, open_system
from runner.systems.wrappers import PASSAGES
from runner.versions import release

USUAL = ("pgmnemo", "sqlite-hybrid", "chroma", "gin-hnsw", "pgmnemo+passages")  # unless others are named
SINCE = (0, 3, 0)  # the first version of pgmnemo that takes passages


@dataclass(frozen=True, slots=True)
class Subject:
    """A system as it is measured here. `name` is that of the command line."""

    name: str
    kind: Kind
    passages: bool

    @property
    def system(self) -> str:
        """The name in the registry of systems."""
        return str(Name.of(self.name).bare)

    @property
    def title(self) -> str:
        """Its name in tables."""
        version = Name.of(self.name).version
        named = f"{self.kind.title} {version}".strip()
        return f"{named}, two passages a lesson" if self.passages else named

    def missing(self, version: str) -> str:
        """Why it cannot be measured here and how to mend it, in one sentence; empty if it can."""
        number = Name.of(self.name).version or version
        if self.passages and self.kind.versions and release(number) < SINCE:
            return f"pgmnemo {number} takes no passages; measure --version v0.3.0 or later"
        return absent(self.kind)

    def open(self, place: Place, version: str) -> AbstractContextManager[System]:
        """The system, on a server or in files of its own that keep what they are given."""
        settings = {"gate_strict": "off"} if self.kind.versions else {}
        own = replace(place, version=version, label="perf", settings=settings, durable=True, walled=True)
        return open_system(self.system, replace(own, explained=False))


def subject(name: str) -> Subject:
    """The subject of that name; UsageError for an unknown system, and for one that takes no passages."""
    parts = Name.of(name)
    kind, passages = kind_of(str(parts.bare)), parts.wrappers == (PASSAGES,)
    if passages and not kind.versions:
        raise UsageError(f"only pgmnemo is measured with passages here, not {parts.bare}")
    if parts.wrappers and not passages:
        raise UsageError(f"no wrapper but +{PASSAGES} is measured here: {name!r}")
    return Subject(name, kind, passages)


def subjects(names: Sequence[str]) -> list[Subject]:
    """Those that are named, each once, or the usual ones."""
    return [subject(name) for name in dict.fromkeys(names or USUAL)]
