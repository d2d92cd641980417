"""Systems that rank, our own extension among them: one file each, and one line here.

Other packages add theirs by the entry point group `pgmnemo.systems` (runner/systems/README.md). A name may
carry a version, as `pgmnemo@0.3.0`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from types import ModuleType

from runner.database.folders import leased, watched
from runner.errors import SystemAbsent, SystemFault, UsageError
from runner.registry import Parts
from runner.systems.asking import PATIENCE, faults, within
from runner.systems.system import (
    Kind,
    Lesson,
    Lessons,
    Link,
    Match,
    Place,
    Query,
    System,
)

GROUP = "pgmnemo.systems"
FILES = "files"  # a system's own folder, inside the one that a killed run does not leave
SYSTEMS: Parts[Kind] = Parts(
    "system",
    {
        "pgmnemo": "runner.systems.pgmnemo:PGMNEMO",
        "sqlite-fts5": "runner.systems.sqlite_fts5:SQLITE_FTS5",
        "sqlite-hybrid": "runner.systems.sqlite_hybrid:SQLITE_HYBRID",
        "chroma": "runner.systems.chroma:CHROMA",
        "bm25s": "runner.systems.bm25s:BM25S",
        "gin-hnsw": "runner.systems.gin_hnsw:GIN_HNSW",
        "pgvector": "runner.systems.pgvector:PGVECTOR",
        "pg-textsearch": "runner.systems.pg_textsearch:PG_TEXTSEARCH",
        "pg-textsearch-bm25": "runner.systems.pg_textsearch:PG_TEXTSEARCH_BM25",
        "langgraph": "runner.systems.langgraph:LANGGRAPH",
        "mem0": "runner.systems.mem0:MEM0",
        "mempalace": "runner.systems.mempalace:MEMPALACE",
        "upstream-pgmnemo": "runner.systems.upstream_pgmnemo:UPSTREAM_PGMNEMO",
        "http": "runner.systems.http:HTTP",
    },
    GROUP,
)
MODES = ("hybrid", "vector", "keyword")  # of pgmnemo


def kind_of(name: str) -> Kind:
    """The kind that a name means; UsageError for an unknown one, and for a version that it does not take."""
    known, _, version = name.partition("@")
    kind = SYSTEMS[known]
    if not isinstance(kind, Kind):
        raise UsageError(f"the system {known} is no Kind of runner.systems, but {type(kind).__name__}")
    if "@" in name and not (version and kind.versions):
        what = "takes no version" if version else "lacks the version behind its @"
        raise UsageError(f"the system {known} {what}: {name!r}")
    return kind


def absent(kind: Kind, environ: Mapping[str, str] = os.environ) -> str:
    """What is missing for the system and how to mend it, in one sentence; empty if nothing is."""
    lacking = [package for package in kind.packages if not _installed(package)]
    if not lacking:
        return kind.missing(environ) if kind.missing else ""
    remedy = f"; {kind.remedy}" if kind.remedy else ""
    return f"not installed: {' and '.join(lacking)}{remedy}"


@contextmanager
def open_system(name: str, place: Place) -> Iterator[System]:
    """The system `name` at `place`, in a folder of its own, for the length of the block.

    A version in the name goes before the place's. Raises SystemAbsent where a package of it is missing or
    broken, and what its `open` raises. The folder outlives no run, not even a killed one.
    """
    kind, version = kind_of(name), name.partition("@")[2]
    if lacking := absent(kind, place.environ):
        raise SystemAbsent(f"{name} is {lacking}")
    with leased(place.folder) as held, watched(held), _whole(name, kind):
        own = held / FILES
        own.mkdir()
        with faults(name):
            system = kind.open(replace(place, folder=own, version=version or place.version))
        try:
            yield system
        except BaseException:  # it tells more than what goes wrong afterwards
            within(PATIENCE, system.close)
            raise
        with faults(name):
            system.close()


@contextmanager
def _whole(name: str, kind: Kind) -> Iterator[None]:
    """Inside the block, an import that fails and a module that lacks something say how to mend it."""
    try:
        yield
    except Exception as error:
        cause = error.__cause__ if isinstance(error, SystemFault) else error
        lacks = isinstance(cause, AttributeError) and isinstance(cause.obj, ModuleType)
        if not (kind.packages and (lacks or isinstance(cause, ImportError))):
            raise
        packages = " ".join(kind.packages)
        reinstall = f"pip install -c constraints.txt --force-reinstall --no-deps {packages}"
        told = str(error) if cause is not error else f"{name} failed: {type(error).__name__}: {error}"
        raise SystemAbsent(f"{told}; reinstall what it needs: {reinstall}") from cause


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


__all__ = [
    "GROUP", "MODES", "SYSTEMS", "Kind", "Lesson", "Lessons", "Link", "Match", "Place", "Query", "System",
    "absent", "kind_of", "open_system",
]  # fmt: skip
